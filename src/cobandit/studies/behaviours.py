"""Simulated participants: any registered agent, and noisy people.

People in bandit tasks remember little, repeat what has just worked and now and then try something for no reason; the
three below are the usual simple models of that, each over what the page shows. They rehearse a study; nobody should
take them for people.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cobandit.agents import AGENTS, Agent, Briefing, TeamAction
from cobandit.agents.base import option
from cobandit.agents.beliefs import Memory, best, random_arm
from cobandit.checks import MOST, real, whole
from cobandit.errors import InvalidInput, UnknownName

_UNKNOWN = 0.5
"""What a configuration is taken to be worth before it was ever seen."""


@dataclass
class Softmax(Agent):
    """Remembers the last few rounds, values each configuration by them and aims at one by softmax."""

    name: ClassVar[str] = "softmax"
    paper: ClassVar[str] = "Experiments (a stand-in for a participant)"

    temperature: float = option(0.1, "how noisy the aim is: near 0 always at the best", real(1e-3, 1e3))
    memory: int = option(8, "how many past rounds are remembered", whole(1, MOST))

    def reset(self, briefing: Briefing, rng: np.random.Generator) -> None:
        """Nothing remembered."""
        super().reset(briefing, rng)
        self._past: deque[tuple[TeamAction, float]] = deque(maxlen=self.memory)

    def choose(self) -> int:
        """The own part of the configuration aimed at."""
        sums, counts = np.full(self.briefing.arms, _UNKNOWN), np.ones(self.briefing.arms)
        for action, reward in self._past:
            sums[action] += reward
            counts[action] += 1.0
        values = (sums / counts).ravel() / self.temperature
        weights = np.cumsum(np.exp(values - values.max()))
        pick = int(np.searchsorted(weights, self.rng.random() * weights[-1], side="right"))
        cell = np.unravel_index(min(pick, len(weights) - 1), self.briefing.arms)
        return int(cell[self.briefing.agent])

    def observe(self, team_action: TeamAction, reward: float | None) -> None:
        """Remember the round, if anything was seen."""
        if reward is not None:
            self._past.append((team_action, reward))


@dataclass
class WinStayLoseShift(Agent):
    """Keeps the own arm after a good round and changes it after a bad one, but for slips.

    A round is good where the reward is at least the mean of all seen so far, and above 0.
    """

    name: ClassVar[str] = "win-stay-lose-shift"
    paper: ClassVar[str] = "Experiments (a stand-in for a participant)"

    slip: float = option(0.1, "chance of any arm at random instead", real(0.0, 1.0))

    def reset(self, briefing: Briefing, rng: np.random.Generator) -> None:
        """No arm yet."""
        super().reset(briefing, rng)
        self._arm = -1
        self._won = True
        self._sum, self._count = 0.0, 0

    def choose(self) -> int:
        """The last arm, another one, or a slip."""
        arms = self.briefing.own_arms
        if self._arm < 0 or self.rng.random() < self.slip:
            return random_arm(arms, self.rng)
        if self._won or arms == 1:
            return self._arm
        return (self._arm + 1 + random_arm(arms - 1, self.rng)) % arms

    def observe(self, team_action: TeamAction, reward: float | None) -> None:
        """Remember the own arm and whether it was good; a round in which nothing was seen changes nothing."""
        self._arm = team_action[self.briefing.agent]
        if reward is not None:
            self._sum += reward
            self._count += 1
            self._won = reward > 0.0 and reward * self._count >= self._sum


@dataclass
class EpsilonGreedy(Agent):
    """Aims at the configuration with the best mean so far, but for a share of rounds at random."""

    name: ClassVar[str] = "epsilon-greedy"
    paper: ClassVar[str] = "Experiments (a stand-in for a participant)"

    epsilon: float = option(0.15, "chance of any arm at random instead", real(0.0, 1.0))

    def reset(self, briefing: Briefing, rng: np.random.Generator) -> None:
        """Nothing counted."""
        super().reset(briefing, rng)
        self._memory = Memory(briefing.arms)

    def choose(self) -> int:
        """The own part of the best configuration, equals by a draw."""
        if self.rng.random() < self.epsilon:
            return random_arm(self.briefing.own_arms, self.rng)
        means = (self._memory.sums + _UNKNOWN) / (self._memory.counts + 1.0)
        return best(means, "random", self.rng)[self.briefing.agent]

    def observe(self, team_action: TeamAction, reward: float | None) -> None:
        """Count the round."""
        self._memory.record(team_action, reward)


PEOPLE: dict[str, type[Agent]] = {
    "softmax": Softmax,
    "win-stay-lose-shift": WinStayLoseShift,
    "epsilon-greedy": EpsilonGreedy,
}
"""The noisy people by name."""

BEHAVIOURS: dict[str, type[Agent]] = PEOPLE | {name: kind for name, kind in AGENTS.items() if issubclass(kind, Agent)}
"""Every simulated participant by name: the noisy people and every registered agent."""


def make_behaviour(name: str | Agent, **options: Any) -> Agent:
    """A simulated participant by name, with options; an agent is taken as it is."""
    if isinstance(name, Agent):
        if options:
            raise InvalidInput(f"{name} is made already; options go with a name.")
        return name.clone()
    if not isinstance(name, str) or name not in BEHAVIOURS:
        raise UnknownName("behaviour", name, BEHAVIOURS)
    return BEHAVIOURS[name].of(**options)
