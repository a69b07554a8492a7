"""Steered UCBVI: an agreed protocol in every state, no channel but the actions (beyond the paper).

At every step and state the team goes by the bandit's protocol (`agents.steering`): the followers' arms there are a
public
function of past arms, and the leader moves them about by its own. Its index of a team action is Q of its own plan.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from cobandit.agents.base import TeamAction, option
from cobandit.agents.beliefs import COMPANION_FLOOR
from cobandit.agents.steering import LEADER, SLOTS, most_slots, moved, plan_row, steering_agent, write_slots
from cobandit.base.cells import arms_in_cells, strides_of
from cobandit.base.checks import MOST, real, whole
from cobandit.base.tuples import Floats, Ints, MakeRow
from cobandit.mdp.agents.base import MarkovAgent
from cobandit.mdp.agents.memory import StateMemory
from cobandit.mdp.agents.optimism import joint_max
from cobandit.problem.means import Tensor


class Protocol(NamedTuple):
    """What `plan_row` reads: sizes, every agent's arm in every cell, the slots, the indices, and scratch arrays."""

    cells: int
    arms: Ints
    strides: Ints
    own: Ints
    kept: Floats
    ahead: Floats
    worth: Floats
    movers: Ints
    steps: Ints
    notes: Ints


def make_protocol(arms: tuple[int, ...], ranks: tuple[int, ...], array: MakeRow) -> Protocol:
    """Return the protocol of a team; ``array`` converts a list to the array type in use."""
    cells = math.prod(arms)
    slots = most_slots(arms)
    protocol = Protocol(
        cells=cells,
        arms=array(arms),
        strides=array(strides_of(arms)),
        own=array(arms_in_cells(arms)),
        kept=array([0.0] * cells),
        ahead=array([0.0] * cells),
        worth=array([0.0] * cells),
        movers=array([0] * slots),
        steps=array([0] * slots),
        notes=array([0, 1]),
    )
    order = sorted(range(len(ranks)), key=ranks.__getitem__)
    protocol.notes[LEADER] = steering_agent(arms, order, len(order))
    protocol.notes[SLOTS] = write_slots(arms, order, len(order), protocol.movers, protocol.steps)
    return protocol


def steering_row(me: Protocol, at: int, last: int, slot: int, visits: float) -> int:
    """Return the leader's arm: to the cell of the best index if it is within reach, else on the best way to good ones.

    ``at`` is the cell that is played if the leader plays ``last`` again; for ``visits`` visits a way is planned.
    """
    best = 0
    for cell in range(1, me.cells):
        if me.kept[cell] > me.kept[best]:
            best = cell
    leader = me.notes[LEADER]
    row = me.own[leader * me.cells + best]
    if best == at + (row - last) * me.strides[leader] and (slot == 0 or row == last):
        return int(row)
    return int(plan_row(me, at, slot, max(visits - 2 * me.notes[SLOTS] + 1, 1.0)))


def moved_cell(me: Protocol, played: int, last: int, slot: int) -> int:
    """Return the cell that comes next at this place if the leader repeats its arm."""
    row = me.own[me.notes[LEADER] * me.cells + played]
    mover = me.movers[slot]
    if mover < 0 or row == last:
        return played
    arm = me.own[mover * me.cells + played]
    return int(played + (moved(arm, me.arms[mover], me.steps[slot], row - last) - arm) * me.strides[mover])


@dataclass
class SteeredUCBVI(MarkovAgent):
    """A team with an agreed protocol in every state: the leader plans with its own observations and steers all others.

    A path to a team action is planned for ``stay`` + ``patience`` sqrt(visits of the state) visits. Without patience
    this is the bandit's steered team with the index ``ucb``. Every member must be of this kind.
    """

    name: ClassVar[str] = "steered-ucbvi"
    paper: ClassVar[str] = "beyond the paper: an agreed protocol in every state"
    protocol: ClassVar[str | None] = "steered-ucbvi"
    compiled: ClassVar[str] = "cobandit.mdp.fast.kinds.steered:steered"

    stay: int = option(4, "D: minimal number of visits for which a path is planned", whole(1, MOST))
    patience: float = option(1.0, "further visits, as a multiple of the root of past visits", real(0.0, 1e6))
    exploration: float = option(0.025, "exploration constant c of the index", real(0.0))
    prior_mean: float = option(0.5, "mean of the prior (Gaussian settings only)", real(-1e6, 1e6))
    prior_sd: float = option(0.3, "standard deviation of the prior (Gaussian settings only)", real(1e-6, 1e6))
    noise_sd: float = option(0.35, "assumed noise of a seen reward (Gaussian settings only)", real(1e-6, 1e6))

    def reset(self, briefing: Any, rng: np.random.Generator) -> None:
        """Start with all agents at their first arm in every state, the first slot free, and no observations."""
        super().reset(briefing, rng)
        self._protocol = make_protocol(briefing.arms, briefing.ranks, list)
        self._memory = StateMemory(briefing.states, self._protocol.cells)
        places = briefing.steps, briefing.states
        self._at, self._last, self._slot, self._visits = (np.zeros(places, dtype=np.int64) for _ in range(4))
        self._predictions: dict[int, int] = {}

    @property
    def predictions(self) -> Mapping[int, int]:
        """What the leader knows that the others will play."""
        return self._predictions

    def plan(self) -> None:
        """Plan the episode, if this agent is the leader."""
        me = self.briefing
        if me.agent != self._protocol.notes[LEADER]:
            return
        backup = joint_max(me.ceiling, me.steps)
        t = self.round
        scale = math.sqrt(2.0 * self.exploration * math.log(t - 1.0)) if t > 1 else 0.0
        values = np.zeros(me.states)
        self._q = np.zeros((me.steps, me.states, self._protocol.cells))
        for h in range(me.steps - 1, -1, -1):
            self._q[h] = self._indices(scale, me.ceiling * (me.steps - 1 - h), values)
            values = backup(h, self._q[h])

    def _indices(self, scale: float, most: float, values: Tensor) -> Tensor:
        memory = self._memory
        prior, weight, noise = posterior_weights(self, self.briefing.binary)
        estimates = (prior * weight + memory.sums * noise) / (weight + memory.counts * noise)
        floored = np.maximum(memory.counts, COMPANION_FLOOR)
        untried = estimates + most + scale * (1.0 / np.sqrt(floored))
        if most == 0.0:
            return np.asarray(untried)
        visits = np.maximum(memory.visits, 1)
        mean, variance = memory.expected(values)
        spans = np.sqrt(1.0 / floored + (variance + most * most / visits) / visits)
        return np.where(memory.visits > 0, estimates + mean + scale * spans, untried)

    def choose(self, state: int, step: int) -> int:
        """Return the own arm: the leader's decision, or a follower's public arm."""
        seat, place, protocol = self.briefing.agent, (step, state), self._protocol
        at = np.unravel_index(self._at[place], self.briefing.arms)
        if seat != protocol.notes[LEADER]:
            return int(at[seat])
        self._predictions = {other: int(arm) for other, arm in enumerate(at) if other != seat}
        for cell, value in enumerate(self._q[place].tolist()):
            protocol.kept[cell] = value
        left = self.briefing.episodes - self.episode
        stay = min(self.stay + self.patience * math.sqrt(self._visits[place]), float(left))
        return steering_row(protocol, int(self._at[place]), int(self._last[place]), int(self._slot[place]), stay)

    def observe(self, team_action: TeamAction, reward: float | None, state: int, step: int, next_state: int) -> None:
        """Remember the step, and where the partners will be."""
        protocol, place = self._protocol, (step, state)
        played = int(np.ravel_multi_index(team_action, self.briefing.arms))
        self._memory.record(state, played, reward, next_state)
        self._at[place] = moved_cell(protocol, played, int(self._last[place]), int(self._slot[place]))
        self._last[place] = team_action[protocol.notes[LEADER]]
        self._slot[place] = (self._slot[place] + 1) % protocol.notes[SLOTS]
        self._visits[place] += 1


def posterior_weights(agent: Any, binary: bool) -> tuple[float, float, float]:
    """Prior mean, its weight and the weight of a look: Beta(1, 1), or a normal prior and normal noise."""
    if binary:
        return 0.5, 2.0, 1.0
    return agent.prior_mean, agent.prior_sd**-2.0, agent.noise_sd**-2.0
