"""Partner-aware UCBVI: the paper's leader and followers, planning over the steps of an episode.

The leader plans as if all agents played the best team action, and plays its row of it. A follower backs values up over
the arms that it *predicts* for the higher-ranked agents in later states, not over the best ones:

    V_h(s) = sum over arms i of the higher-ranked of rho_h(s, i) min(H-h, max over the rest of Q_h(s, i, .))
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cobandit.agents.base import TeamAction, option
from cobandit.agents.beliefs import best, random_arm
from cobandit.agents.foresight import block_of, own_axis
from cobandit.agents.partner_aware import follower_option, role_exploration
from cobandit.base.checks import MOST, one_of, real, whole
from cobandit.mdp.agents.base import MarkovAgent
from cobandit.mdp.agents.foresight import StateBanks, StateWindows
from cobandit.mdp.agents.memory import StateMemory
from cobandit.mdp.agents.optimism import OptimisticPlan
from cobandit.problem.means import Tensor

BACKUPS = ("predicted", "joint-max")
PREDICTIONS = ("window", "bank")


@dataclass
class PartnerAwareUCBVI(OptimisticPlan, MarkovAgent):
    """Predicts every higher-ranked agent in every state, plans with the predictions, plays the best remaining action.

    The leader (rank 0) predicts no one and keeps an arm for ``repeat`` (L) visits of a step and state; every other
    agent samples each higher-ranked agent's last ``window`` (W) arms there. ``staleness`` and ``restart`` make a
    follower optimistic again about states that were not visited for long: there it backs up, in part or completely, the
    joint maximum.
    """

    name: ClassVar[str] = "partner-aware-ucbvi"
    paper: ClassVar[str] = "Conclusion (future work), after Alg. 1, Alg. 2 and Generalization to More Agents"
    compiled: ClassVar[str] = "cobandit.mdp.fast.kinds.ucbvi:ucbvi"

    window: int = option(1, "W: number of past arms that a prediction samples from", whole(1, MOST))
    repeat: int = option(1, "L: visits of a state for which the leader keeps an arm", whole(1, MOST))
    backup: str = option("predicted", "what later states are worth: " + ", ".join(BACKUPS), one_of(BACKUPS))
    prediction: str = option("window", "how partners are foreseen: " + ", ".join(PREDICTIONS), one_of(PREDICTIONS))
    staleness: float = option(0.0, "optimism after this multiple of visits without one; 0: none", real(0))
    restart: int = option(0, "first episode of an optimistic restart, doubling; 0: none", whole(0, MOST))
    follower_exploration: float | None = follower_option()

    def reset(self, briefing: Any, rng: np.random.Generator) -> None:
        """Alg. 1 and 2, line "Initialize"."""
        super().reset(briefing, rng)
        places = briefing.steps, briefing.states
        self._memory = StateMemory(briefing.states, int(np.prod(briefing.arms)))
        self._foresight: StateWindows | StateBanks = (
            StateWindows(briefing, self.window) if self.prediction == "window" else StateBanks(briefing)
        )
        self._visits = np.zeros(places, dtype=np.int64)
        self._latest = np.full(places, -1)
        self._arms = np.zeros(places, dtype=np.int64)
        self._predictions: dict[int, int] = {}
        self._begun = 0

    @property
    def constant(self) -> float:
        """The exploration constant of the agent's role."""
        return role_exploration(self, self.briefing.rank)

    @property
    def predictions(self) -> Mapping[int, int]:
        """The latest foreseen arm of each higher-ranked agent."""
        return self._predictions

    def plan(self) -> None:
        """Alg. 1 and 2, the indices, for all steps of the episode to come."""
        if self.restart and self.episode >= self.restart:
            begun = self.restart
            while begun * 2 <= self.episode:
                begun *= 2
            self._begun = begun
        self._q = self.plan_values(self._memory, self._backup)

    def choose(self, state: int, step: int) -> int:
        """Alg. 1, lines 5-6; Alg. 2, lines 5-8, the rounds counted by visits of the state."""
        me = self.briefing
        if me.rank == 0 and self._visits[step, state] % self.repeat != 0:
            return int(self._arms[step, state])
        if self.starts_at_random():
            arm = random_arm(me.own_arms, self.rng)
        else:
            self._predictions = self._foresight.predict(step, state, self.rng)
            block = self._q[step, state].reshape(me.arms)[block_of(me, self._predictions)]
            arm = best(block, self.ties, self.rng)[own_axis(me, self._predictions)]
        self._arms[step, state] = arm
        return arm

    def observe(self, team_action: TeamAction, reward: float | None, state: int, step: int, next_state: int) -> None:
        """Alg. 1, lines 8-11; Alg. 2, lines 10-12."""
        cell = int(np.ravel_multi_index(team_action, self.briefing.arms))
        self._memory.record(state, cell, reward, next_state)
        self._foresight.record(team_action, step, state)
        self._visits[step, state] += 1
        self._latest[step, state] = self.episode

    def _backup(self, h: int, q: Tensor) -> Tensor:
        me = self.briefing
        most = me.ceiling * (me.steps - h)
        hopeful: Tensor = np.minimum(q.max(axis=1), most)
        if not me.higher or self.backup == "joint-max":
            return hopeful
        cells = np.arange(q.shape[1]).reshape(me.arms)
        chances = [self._foresight.chances(agent, h) for agent in me.higher]
        values = np.zeros(me.states)
        for arms in _in_seat_order(me.higher, me.arms):
            weights = np.ones(me.states)
            for rank, agent in enumerate(me.higher):
                weights = weights * chances[rank][:, arms[agent]]
            block = cells[block_of(me, arms)].ravel()
            values = values + weights * np.minimum(q[:, block].max(axis=1), most)
        hope = self._hope(h)
        return values if hope is None else np.where(hope > 0.0, hope * hopeful + (1.0 - hope) * values, values)

    def _hope(self, h: int) -> Tensor | None:
        """Return how much of each state's value is the joint maximum; None: nothing of any."""
        if self.staleness == 0.0 and not self.restart:
            return None
        hope = np.zeros(self.briefing.states)
        if self.staleness > 0.0:
            gap = np.maximum(self.episode - self._latest[h] - 1.0, 0.0)
            known = self._visits[h] > 0
            hope = np.where(known, gap / np.maximum(gap + self.staleness * self._visits[h], 1e-300), 1.0)
        if self.restart:
            hope = np.where(self._latest[h] < self._begun, 1.0, hope)
        return hope


def _in_seat_order(agents: tuple[int, ...], arms: tuple[int, ...]) -> list[dict[int, int]]:
    """Return every combination of some agents' arms, in the row-major order of the team actions."""
    seats = sorted(agents)
    return [dict(zip(seats, pick, strict=True)) for pick in itertools.product(*(range(arms[seat]) for seat in seats))]


@dataclass
class JointMaxUCBVI(PartnerAwareUCBVI):
    """Partner-aware UCBVI whose followers hope, in later states, for the best team action: a warning example."""

    name: ClassVar[str] = "joint-max-ucbvi"
    paper: ClassVar[str] = "Conclusion (future work): what happens without a backup over predictions"
    compiled: ClassVar[str] = "cobandit.mdp.fast.kinds.ucbvi:ucbvi"

    backup: str = option("joint-max", "what later states are worth: " + ", ".join(BACKUPS), one_of(BACKUPS))
