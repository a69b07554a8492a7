"""Tasks with states: a burger is stacked layer by layer, and tasted when it is finished (Conclusion: future work).

Each round adds one layer; the state is what lies on the plate. It follows from the arms alone, so a log of arms brings
back states, rewards and AIs. The AIs are agents of `cobandit.mdp`, which see the states of its problem ``burger-line``;
simulated people are agents of bandits, one for each state.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cobandit.agents import Agent, Briefing
from cobandit.agents.base import TeamAction
from cobandit.base.errors import InvalidInput
from cobandit.mdp import AGENTS, MarkovAgent, MarkovBriefing

if TYPE_CHECKING:
    from cobandit.studies.design import StudyDesign

LINE = "burger-line"
"""The kind of task that has states."""

MOST_BURGERS = 256
"""The page counts the outcomes of every burger."""

LINE_AGENTS: dict[str, type[MarkovAgent]] = {
    name: kind for name, kind in AGENTS.items() if issubclass(kind, MarkovAgent) and not kind.oracle
}
"""The agents that may work at a line."""

Burger = tuple[tuple[int, ...], ...]
"""The team actions of the layers on the plate, from below."""


def state_number(plate: Sequence[TeamAction], arms: Sequence[int]) -> int:
    """Return the number of a state, as the problem ``burger-line`` of `cobandit.mdp` counts its states."""
    cells, stack = math.prod(arms), 0
    for action in plate:
        stack = stack * cells + int(np.ravel_multi_index(tuple(action), tuple(arms)))
    return stack + int(sum(cells**layer for layer in range(len(plate))))


def plates(arms: Sequence[int], layers: int) -> list[Burger]:
    """Return what lies on the plate in each state, in the order of `state_number`."""
    cells = list(itertools.product(*map(range, arms)))
    return [plate for height in range(layers) for plate in itertools.product(cells, repeat=height)]


def states_of(actions: NDArray[np.int64], arms: Sequence[int], layers: int) -> NDArray[np.int64]:
    """Return the number of the state before each round; ``actions`` is rounds x seats, from the start of a burger."""
    rows = actions.tolist()
    return np.array(
        [state_number(rows[t - t % layers : t], arms) for t in range(len(rows))],
        dtype=np.int64,
    )


def line_regret(means: NDArray[np.float64], actions: NDArray[np.int64], layers: int) -> NDArray[np.float64]:
    """Return V* - Q* of each round against the optimal joint policy; ``actions`` as in `states_of`.

    ``means`` has an axis for each seat and layer. The value of a state is the mean of the best burger that can still be
    stacked, so the rounds of a burger sum up to what it lacks of the best one.
    """
    seats = actions.shape[1]
    best = [means.max(axis=tuple(range(seats * height, means.ndim))) for height in range(layers + 1)]
    regret = np.zeros(len(actions))
    for t in range(len(actions)):
        height = t % layers
        plate = tuple(actions[t - height : t].ravel())
        regret[t] = best[height][plate] - best[height + 1][(*plate, *actions[t])]
    return regret


class _AtLine(Agent):
    """An agent of a bandit that follows the plate: what both players of a line share."""

    layers: int

    def reset(self, briefing: Briefing, rng: np.random.Generator) -> None:
        """Begin with an empty plate."""
        super().reset(briefing, rng)
        self._plate: list[TeamAction] = []

    @property
    def _state(self) -> int:
        return state_number(self._plate, self.briefing.arms)

    def _stack(self, team_action: TeamAction) -> bool:
        """Put a layer on the plate; return whether the burger is finished, after which the plate is empty."""
        self._plate.append(team_action)
        if len(self._plate) < self.layers:
            return False
        self._plate = []
        return True


@dataclass
class LineAgent(_AtLine):
    """An agent of `cobandit.mdp` at a line: it plans before each burger, and chooses by the state."""

    player: MarkovAgent
    layers: int

    def reset(self, briefing: Briefing, rng: np.random.Generator) -> None:
        """Brief the agent on the states."""
        super().reset(briefing, rng)
        cells = math.prod(briefing.arms)
        self.player.reset(
            MarkovBriefing(
                briefing.agent,
                briefing.arms,
                briefing.ranks,
                briefing.horizon,
                binary=briefing.binary,
                observation=briefing.observation,
                states=sum(cells**layer for layer in range(self.layers)),
                steps=self.layers,
            ),
            rng,
        )

    def choose(self) -> int:
        """Return the arm of the agent in the present state."""
        if not self._plate:
            self.player.plan()
        return self.player.choose(self._state, len(self._plate))

    def observe(self, team_action: TeamAction, reward: float | None) -> None:
        """Tell the agent where its step led."""
        state, step = self._state, len(self._plate)
        self._stack(team_action)
        self.player.observe(team_action, reward, state, step, self._state)

    @property
    def predictions(self) -> Mapping[int, int]:
        """The arms that the agent foresaw."""
        return self.player.predictions


@dataclass
class LinePerson(_AtLine):
    """A simulated person at a line: a bandit agent for each state, which all learn from the finished burger."""

    behaviour: Agent
    layers: int

    def reset(self, briefing: Briefing, rng: np.random.Generator) -> None:
        """Forget all states."""
        if self.behaviour.oracle:
            raise InvalidInput(f"{self.behaviour.title} needs the means of single choices, which a line does not have.")
        super().reset(briefing, rng)
        self._agents: dict[int, Agent] = {}
        self._choosing: list[tuple[Agent, TeamAction]] = []

    def choose(self) -> int:
        """Return the arm of the state's own agent."""
        return int(self._agent().choose())

    def observe(self, team_action: TeamAction, reward: float | None) -> None:
        """Wait for the outcome of the burger, from which the agents of all its states learn."""
        self._choosing.append((self._agent(), team_action))
        if not self._stack(team_action):
            return
        for agent, action in self._choosing:
            agent.observe(action, reward)
        self._choosing = []

    def _agent(self) -> Agent:
        state = self._state
        if state not in self._agents:
            me = self.briefing
            agent = self.behaviour.clone()
            horizon = max(1, me.horizon // self.layers)
            agent.reset(
                Briefing(me.agent, me.arms, me.ranks, horizon, binary=me.binary, observation=me.observation), self.rng
            )
            self._agents[state] = agent
        return self._agents[state]


def at_line(behaviour: Agent, layers: int) -> Agent:
    """Return a simulated person for a task: the behaviour itself, where a round is all there is to a burger."""
    return behaviour if layers == 1 else LinePerson(behaviour, layers)


def check_line(design: StudyDesign) -> None:
    """Check that a task with states has agents that know states, and whole burgers; and other tasks have neither."""
    choices: list[tuple[str, Any]] = [(f"conditions.{entry.name}", entry) for entry in design.conditions]
    choices += [("practice", design.practice)] if design.practice is not None else []
    if design.task.kind != LINE:
        for name, choice in choices:
            if choice.agent in LINE_AGENTS:
                raise InvalidInput(f"{name}.agent is {choice.agent!r}, which needs task.kind = {LINE!r}.")
        return
    for name, choice in choices:
        if choice.agent not in LINE_AGENTS:
            raise InvalidInput(
                f"{name}.agent must be one of {', '.join(LINE_AGENTS)} with task.kind = {LINE!r}, got {choice.agent!r}."
            )
    _check_burgers(design)


def _check_burgers(design: StudyDesign) -> None:
    """Check that rounds are whole burgers, and that nothing else is asked for that a line does not have."""
    layers, whole = design.task.steps, f"with task.kind = {LINE!r}"
    lengths = {"rounds": design.rounds}
    lengths |= {f"rounds of {entry.name!r}": entry.rounds for entry in design.conditions if entry.rounds is not None}
    lengths |= {} if design.practice is None else {"practice.rounds": design.practice.rounds}
    for name, rounds in lengths.items():
        if rounds % layers:
            raise InvalidInput(f"{name} must be a multiple of the {layers} layers of a burger, got {rounds}.")
    burgers = math.prod(design.arms) ** layers
    if burgers > MOST_BURGERS:
        raise InvalidInput(f"The layers make {burgers} burgers; a page counts at most {MOST_BURGERS}.")
    for observation in (design.observation, *(design.observation_of(entry.name) for entry in design.conditions)):
        if observation not in ("missed", "missed-known"):
            raise InvalidInput(f"observation must be 'missed' or 'missed-known' {whole}, got {observation!r}.")
    if any(rule.draw != "uniform" or rule.drifts for rule in (design.means, *design.means_rules.values())):
        raise InvalidInput(f"means must be drawn, and must not drift, {whole}.")
    parts = {"warm_start": design.warm_start, "group": design.group}
    for name, part in parts.items():
        if part is not None:
            raise InvalidInput(f"{name} must be left out {whole}.")
    if design.has_recorded_seats:
        raise InvalidInput(f"All seats but the participant's must be those of AIs {whole}.")
