"""What an agent is: the contract between any agent and the engines.

An agent knows what the paper lets it know: the sizes of the problem, the roles, the horizon, every past team
action and its own seen rewards. `Briefing` carries the first three; `observe` brings the rest, round by round.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from cobandit.checks import Check, shown
from cobandit.errors import InvalidInput, UnknownName
from cobandit.problem.means import Tensor

T = TypeVar("T")

TeamAction = tuple[int, ...]

_ON_RESET = ("briefing", "rng", "round")


def option(default: T, help: str, check: Check) -> T:
    """One row of an agent's options: its default, its help and its check.

    The same row feeds the constructor, ``cobandit agents``, the command line and the docs.
    """
    return field(default=default, kw_only=True, metadata={"help": help, "check": check})


@dataclass(frozen=True)
class Briefing:
    """What an agent is told before the first round.

    ``agent`` is its own index, ``arms`` holds |A_i| of every agent, ``ranks`` every agent's rank (0 leads),
    ``horizon`` is T, ``binary`` says whether seen rewards are all 0 or 1, ``observation`` names the model.
    ``means`` is None but for an agent that declares itself an oracle, which gets a new briefing whenever they change;
    ``best_observer`` is -1 but for a joint controller, which knows whose eyes are best.
    """

    agent: int
    arms: tuple[int, ...]
    ranks: tuple[int, ...]
    horizon: int
    binary: bool = True
    observation: str = "missed"
    means: Tensor | None = None
    best_observer: int = -1

    @property
    def own_arms(self) -> int:
        """The number of the agent's own arms, |A_i|."""
        return self.arms[self.agent]

    @property
    def rank(self) -> int:
        """The agent's own rank: 0 is the leader."""
        return self.ranks[self.agent]

    @property
    def higher(self) -> tuple[int, ...]:
        """The agents that rank higher, the leader first."""
        above = [i for i, rank in enumerate(self.ranks) if rank < self.rank]
        return tuple(sorted(above, key=lambda i: self.ranks[i]))


@dataclass
class _Player:
    """What agents and joint controllers share: options, a registry name, reset and clone."""

    name: ClassVar[str] = ""
    paper: ClassVar[str] = ""
    oracle: ClassVar[bool] = False
    compiled: ClassVar[Any] = ""

    def __post_init__(self) -> None:
        for spec in fields(self):
            check = spec.metadata.get("check")
            if check is not None:
                setattr(self, spec.name, check(spec.name, getattr(self, spec.name)))

    @classmethod
    def of(cls, **options: Any) -> Self:
        """Made from named options; an unknown one gets the nearest right one."""
        known = {spec.name for spec in fields(cls) if spec.init}
        for key in options:
            if key not in known:
                title = cls.__dict__.get("name") or cls.__name__
                if not known:
                    raise InvalidInput(f"{title} has no options, but {key}={shown(options[key])} was given.")
                raise UnknownName(f"option of {title} called", key, sorted(known))
        return cls(**options)

    @property
    def options(self) -> dict[str, Any]:
        """The options by name: the fields of a dataclass, or what a plain class set before it was first reset."""
        named = {spec.name: getattr(self, spec.name) for spec in fields(self) if spec.init}
        if "__dataclass_fields__" in type(self).__dict__:
            return named
        own = {key: value for key, value in vars(self).items() if not key.startswith("_") and key not in _ON_RESET}
        return named | own

    @classmethod
    def option_rows(cls) -> list[tuple[str, Any, str]]:
        """Name, default and help of each option."""
        return [
            (spec.name, None if spec.default is MISSING else spec.default, spec.metadata.get("help", ""))
            for spec in fields(cls)
            if spec.init
        ]

    def clone(self) -> Self:
        """One like this, to be reset and played with; this one stays as it is."""
        return copy.deepcopy(self)

    def reset(self, briefing: Briefing, rng: np.random.Generator) -> None:
        """Forget everything and get ready for a new run. Overriding it, call ``super().reset`` first."""
        self.briefing = briefing
        self.rng = rng
        self.round = 1

    @property
    def title(self) -> str:
        """The registry name, or the class name of an agent that has none of its own."""
        return str(type(self).__dict__.get("name") or type(self).__name__)

    def __str__(self) -> str:
        settings = ", ".join(f"{key}={value}" for key, value in self.options.items())
        return f"{self.title}({settings})"


@dataclass
class Agent(_Player, ABC):
    """One member of a team. A custom agent subclasses this and writes `choose` and `observe`.

    `reset` sets ``self.briefing`` (what it may know), ``self.rng`` (its own random stream) and
    ``self.round`` (t, counted from 1; the engine moves it on).
    """

    @abstractmethod
    def choose(self) -> int:
        """The own arm to play this round, from 0 to ``self.briefing.own_arms - 1``."""

    @abstractmethod
    def observe(self, team_action: TeamAction, reward: float | None) -> None:
        """Learn from the round just played: everybody's arms, and the own seen reward.

        ``reward`` is None when the agent knows it saw nothing, as under *missed-known* observation.
        """

    @property
    def predictions(self) -> Mapping[int, int]:
        """The arms it foresaw in its latest choice, by agent; empty for agents that foresee nothing."""
        return MappingProxyType({})


@dataclass
class Controller(_Player, ABC):
    """One brain for the whole team: it chooses everybody's arms and gets everybody's seen rewards."""

    @abstractmethod
    def choose(self) -> TeamAction:
        """The team action to play this round."""

    @abstractmethod
    def observe(self, team_action: TeamAction, rewards: tuple[float | None, ...]) -> None:
        """Learn from the round just played: the team action and all agents' seen rewards."""
