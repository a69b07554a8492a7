"""The contract between an agent in a Markov decision process and its driver.

An agent knows the sizes, the roles, the length of the game, every past state and team action, and its own seen rewards.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from cobandit.agents.base import Briefing, Controller, Player, TeamAction
from cobandit.agents.checks import checked_reward
from cobandit.base.checks import MOST, real, whole
from cobandit.base.errors import InvalidInput
from cobandit.problem.means import LARGEST_MEAN, Tensor


@dataclass(frozen=True)
class MarkovBriefing(Briefing):
    """The information that an agent gets before the first episode.

    To the bandit's `Briefing` it adds ``states`` (S), ``steps`` (H) and ``ceiling``, an upper bound on all means;
    ``horizon`` is T, all steps of all episodes. ``optimal`` is None except for an oracle, which knows Q*: H x S x team
    actions.
    """

    states: int = 1
    steps: int = 1
    ceiling: float = 1.0
    optimal: Tensor | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("states", "steps"):
            object.__setattr__(self, name, whole(1, MOST)(name, getattr(self, name)))
        object.__setattr__(self, "ceiling", real(0.0, LARGEST_MEAN, above=True)("ceiling", self.ceiling))
        if self.horizon % self.steps:
            raise InvalidInput(
                f"horizon must be a multiple of the {self.steps} steps of an episode, got {self.horizon}."
            )

    @property
    def episodes(self) -> int:
        """E, how many episodes there are."""
        return self.horizon // self.steps


class _InStates(Player):
    """What agents and joint controllers share: a briefing that knows states, and a plan for every episode."""

    briefing: MarkovBriefing

    def plan(self) -> None:
        """Called at the start of every episode, before the first choice."""

    @property
    def episode(self) -> int:
        """The number of the episode, counted from 0."""
        return (self.round - 1) // self.briefing.steps

    def _start(self, briefing: Any, rng: Any) -> None:
        if not isinstance(briefing, MarkovBriefing):
            raise InvalidInput(f"briefing must be a cobandit.mdp.MarkovBriefing, got {briefing!r:.60}.")
        super()._start(briefing, rng)


@dataclass
class MarkovAgent(_InStates, ABC):
    """One member of a team. A custom agent subclasses this and implements `choose` and `observe`, and `plan` if it
    plans.

    `reset` sets ``self.briefing``, ``self.rng`` and ``self.round`` (t, counted from 1 over all episodes). The driver
    calls `plan` at the start of each episode, then `choose` and `observe` at each step.
    """

    @abstractmethod
    def choose(self, state: int, step: int) -> int:
        """Return the own arm to play in ``state`` at ``step``, from 0 to ``self.briefing.own_arms - 1``."""

    @abstractmethod
    def observe(self, team_action: TeamAction, reward: float | None, state: int, step: int, next_state: int) -> None:
        """Learn from the last step: the arms of all agents, the agent's own seen reward, and the next state.

        ``reward`` is None if the agent knows that it saw nothing, as under *missed-known* observation.
        """

    @property
    def predictions(self) -> Mapping[int, int]:
        """The arms it foresaw in its latest choice, by agent; empty for agents that foresee nothing."""
        return MappingProxyType({})

    def _checked_seen(self, seen: Any) -> float | None:
        return checked_reward("reward", seen, self.briefing.binary)


@dataclass
class MarkovController(_InStates, ABC):
    """A joint controller: it chooses the arms of all agents and gets the seen rewards of all agents."""

    @abstractmethod
    def choose(self, state: int, step: int) -> TeamAction:
        """Return the team action to play in ``state`` at ``step``."""

    @abstractmethod
    def observe(
        self, team_action: TeamAction, rewards: tuple[float | None, ...], state: int, step: int, next_state: int
    ) -> None:
        """Learn from the step just made: the team action, all agents' seen rewards, and where it led."""

    _checked_seen = Controller._checked_seen
