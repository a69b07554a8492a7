"""What an agent is: the contract between any agent and whoever drives it.

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

from cobandit.agents.calls import check_calls
from cobandit.agents.checks import checked_reward
from cobandit.base.checks import MOST, Check, is_list, one_per_agent, short_repr, whole
from cobandit.base.errors import AgentError, InvalidInput, UnknownName
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

    def __post_init__(self) -> None:
        arms = one_per_agent("arms", self.arms, None, whole(1, MOST))
        agents = len(arms)
        if not agents:
            raise InvalidInput("arms is empty; the number of arms of each agent is needed.")
        ranks = one_per_agent("ranks", self.ranks, agents, whole(0, agents - 1))
        if len(set(ranks)) != agents:
            span = f"from 0 (the leader) to {agents - 1}"
            raise InvalidInput(f"ranks is {short_repr(ranks)}; each rank {span} is needed once.")
        checked = {
            "agent": whole(0, agents - 1)("agent", self.agent),
            "arms": arms,
            "ranks": ranks,
            "horizon": whole(1, MOST)("horizon", self.horizon),
            "best_observer": whole(-1, agents - 1)("best_observer", self.best_observer),
        }
        if not isinstance(self.binary, (bool, np.bool_)):
            raise InvalidInput(f"binary is {short_repr(self.binary)}; True (rewards of 0 and 1) or False is needed.")
        if not isinstance(self.observation, str):
            raise InvalidInput(
                f"observation is {short_repr(self.observation)}; the name of an observation model is needed."
            )
        if self.means is not None and getattr(self.means, "shape", None) != arms:
            raise InvalidInput(f"means is {short_repr(self.means)}; an array of shape {arms} or None is needed.")
        for name, value in checked.items():
            object.__setattr__(self, name, value)

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
class Player:
    """What agents and joint controllers share: options, a registry name, reset, the number of the round, and clone.

    ``label`` is what reports call a registered agent, ``paper`` the part of a paper that it implements.
    ``oracle`` says that it is told the means; ``needs_each_round`` that it counts on being told of every round before
    the next begins, as a protocol does, so that it cannot play where news come late (`Problem.delay`). ``protocol``
    names a protocol that every member of the team must follow, with the same ``protocol_options``; None says that it
    follows any protocol, as a person may.
    """

    name: ClassVar[str] = ""
    label: ClassVar[str] = ""
    paper: ClassVar[str] = ""
    oracle: ClassVar[bool] = False
    needs_each_round: ClassVar[bool] = False
    compiled: ClassVar[Any] = ""
    electing: ClassVar[Any] = ""
    protocol: ClassVar[str | None] = ""
    protocol_options: ClassVar[tuple[str, ...]] = ()

    _current_round = 0  # until the first reset

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        check_calls(cls, Player)

    def __post_init__(self) -> None:
        self._check_options()

    def _check_options(self) -> None:
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
                    raise InvalidInput(f"{title} has no options, but {key}={short_repr(options[key])} was given.")
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
        self._check_options()  # which may have been assigned since the agent was made
        return copy.deepcopy(self)

    def reset(self, briefing: Briefing, rng: np.random.Generator) -> None:
        """Forget everything and get ready for a new run. Overriding it, call ``super().reset`` first."""
        self._start(briefing, rng)

    @property
    def round(self) -> int:
        """t, counted from 1 and moved on by every `observe`; 0 before the first `reset`."""
        return self._current_round

    @round.setter
    def round(self, value: Any) -> None:
        if value == self._current_round:
            return  # a reset that does by hand what this class has just done
        raise AgentError(
            f"{self} had its round set to {short_repr(value)} in round {self._current_round}; "
            f"the number of the round moves on by itself with every observe, so leave that line out."
        )

    @property
    def aimed_at(self) -> TeamAction | None:
        """The team action of which its latest arm was a part: what it waits for. None: it looked at no team actions.

        For diagnostics. An agent of one's own that plays its part of a team action says so by `part_of`.
        """
        aimed: TeamAction | None = getattr(self, "_aim", None)
        return aimed

    def _start(self, briefing: Briefing, rng: np.random.Generator) -> None:
        if not isinstance(briefing, Briefing):
            raise InvalidInput(f"briefing is {short_repr(briefing)}; a cobandit.Briefing is needed.")
        if not callable(getattr(rng, "random", None)):
            raise InvalidInput(
                f"rng is {short_repr(rng)}; a random generator is needed, such as numpy.random.default_rng(0)."
            )
        self._check_options()
        check_calls(type(self), Player)  # again, for methods that were assigned to the class since
        if "observe" in vars(self):
            raise AgentError(
                f"{self} has an observe of its own, assigned to the object, which would not count its rounds; "
                "write a subclass with that observe."
            )
        self.briefing = briefing
        self.rng = rng
        self._current_round = 1
        self._aim: TeamAction | None = None

    def _checked_seen(self, seen: object) -> Any:
        """What came as the reward of a round, made clean; an error of our own where it cannot be one."""
        raise NotImplementedError

    def ratings(self) -> Tensor | None:
        """How it rates every team action now, before it chooses: an array of the shape of the arms.

        For whoever watches; nothing is drawn and nothing changes. None: it rates no team actions, or not yet.
        """
        return None

    @property
    def title(self) -> str:
        """The registry name, or the class name of an agent that has none of its own."""
        return str(type(self).__dict__.get("name") or type(self).__name__)

    def __str__(self) -> str:
        settings = ", ".join(f"{key}={value}" for key, value in self.options.items())
        return f"{self.title}({settings})"


@dataclass
class Agent(Player, ABC):
    """One member of a team. A custom agent subclasses this and writes `choose` and `observe`.

    `reset` sets ``self.briefing`` (what it may know), ``self.rng`` (its own random stream) and
    ``self.round`` (t, counted from 1; every `observe` moves it on). Whoever drives it, an engine or a loop of one's
    own, calls `reset` once and then `choose` and `observe` in turn; what comes in is checked before the agent gets it.
    """

    @abstractmethod
    def choose(self) -> int:
        """The own arm to play this round, from 0 to ``self.briefing.own_arms - 1``."""

    @abstractmethod
    def observe(self, team_action: TeamAction, reward: float | None) -> None:
        """Learn from the round just played: everybody's arms, and the own seen reward.

        ``reward`` is None when the agent knows it saw nothing, as under *missed-known* observation.
        """

    def part_of(self, team_action: TeamAction) -> int:
        """The own arm of a team action, which is noted as what this agent aims at until its next choice."""
        self._aim = team_action
        return team_action[self.briefing.agent]

    @property
    def predictions(self) -> Mapping[int, int]:
        """The arms it foresaw in its latest choice, by agent; empty for agents that foresee nothing."""
        return MappingProxyType({})

    def dump_memory(self) -> dict[str, Any]:
        """What it remembers in mid-run, by attribute: all but its options, briefing, rng and round.

        `Partner.state` writes it. An agent that holds something which is not plain data (numbers, strings, None,
        tuples, lists, dicts, deques, numpy arrays) overrides this and leaves that out, or puts plain data in its place.
        """
        apart = {spec.name for spec in fields(self) if spec.init}.union(_ON_RESET, ("_current_round", "_aim"))
        slots = [name for kind in type(self).__mro__ for name in getattr(kind, "__slots__", ()) if hasattr(self, name)]
        return {name: getattr(self, name) for name in (*vars(self), *slots) if name not in apart}

    def load_memory(self, memory: Mapping[str, Any]) -> None:
        """Take back what `dump_memory` gave, right after a `reset` with the same briefing.

        What was left out there is as `reset` made it. Overriding it, call ``super().load_memory`` and make the rest.
        """
        for name, value in memory.items():
            setattr(self, name, value)

    def _checked_seen(self, seen: object) -> float | None:
        if type(seen) is float and 0.0 <= seen <= 1.0:
            return seen  # as in nearly every round, without another call
        return checked_reward("reward", seen, self.briefing.binary)


@dataclass
class Controller(Player, ABC):
    """One brain for the whole team: it chooses everybody's arms and gets everybody's seen rewards."""

    @abstractmethod
    def choose(self) -> TeamAction:
        """The team action to play this round."""

    @abstractmethod
    def observe(self, team_action: TeamAction, rewards: tuple[float | None, ...]) -> None:
        """Learn from the round just played: the team action and all agents' seen rewards."""

    def _checked_seen(self, seen: object) -> tuple[float | None, ...]:
        agents = len(self.briefing.arms)
        if not is_list(seen) or len(rewards := tuple(seen)) != agents:
            raise InvalidInput(
                f"rewards is {short_repr(seen)}; a tuple of {agents} rewards, what each agent saw, is needed."
            )
        binary = self.briefing.binary
        return tuple(checked_reward(f"rewards[{i}]", reward, binary) for i, reward in enumerate(rewards))


def resume(agent: Agent, t: int, memory: Mapping[str, Any], rng: np.random.Generator) -> None:
    """Bring an agent that has just been reset to round ``t`` of another run, with its memory and its stream."""
    if type(agent).dump_memory is Agent.dump_memory:
        for name in set(agent.dump_memory()) - set(memory):
            delattr(agent, name)  # the agent had dropped it by then
    agent.rng = rng
    agent._current_round = t
    agent.load_memory(memory)


def pass_over(player: Player, rounds: int) -> None:
    """Move a player on over rounds that it was told nothing about: only the number of its round changes."""
    player._current_round += whole(0, MOST)("rounds", rounds)
