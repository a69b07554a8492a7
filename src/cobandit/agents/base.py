"""The contract between an agent and its driver, an engine or your own loop.

An agent knows what the paper allows: the sizes of the problem, the roles, the horizon, every past team action and its
own seen rewards. `Briefing` contains the first three; `observe` passes the rest, round by round.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import MISSING, dataclass, field, fields
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from cobandit.agents.calls import check_calls
from cobandit.agents.checks import HIDDEN as HIDDEN
from cobandit.agents.checks import checked_reward
from cobandit.base.checks import MOST, Check, is_list, one_of, one_per_agent, short_repr, whole
from cobandit.base.errors import AgentError, InvalidInput, UnknownName
from cobandit.problem.means import Tensor
from cobandit.problem.problem import ACTIONS

T = TypeVar("T")

TeamAction = tuple[int, ...]

_ON_RESET = ("briefing", "rng", "round")


def option(default: T, help: str, check: Check, *, described: bool = True) -> T:
    """Return one row of an agent's options: its default, its help and its check.

    The same row feeds the constructor, ``cobandit agents``, the command line and the docs. With ``described=False`` the
    options of an agent leave it out while it is at its default: an option that a later version adds then changes
    neither descriptions nor the digests made of them.
    """
    return field(default=default, kw_only=True, metadata={"help": help, "check": check, "described": described})


@dataclass(frozen=True)
class Briefing:
    """The information that an agent gets before the first round.

    ``agent`` is its own index, ``arms`` contains |A_i| of every agent, ``ranks`` every agent's rank (0 leads),
    ``horizon`` is T, ``binary`` says whether seen rewards are all 0 or 1, ``observation`` names the model. ``means`` is
    None except for an agent that declares itself an oracle, which gets a new briefing whenever they change;
    ``best_observer`` is -1 except for a joint controller, which knows the best observer. With ``actions="hidden"`` the
    agent never learns its partners' arms: each of them is `HIDDEN` in every team action that it observes.
    """

    agent: int
    arms: tuple[int, ...]
    ranks: tuple[int, ...]
    horizon: int
    binary: bool = True
    observation: str = "missed"
    means: Tensor | None = None
    best_observer: int = -1
    actions: str = "observed"

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
            "actions": one_of(ACTIONS)("actions", self.actions),
        }
        if not isinstance(self.binary, (bool, np.bool_)):
            raise InvalidInput(f"binary must be True (rewards of 0 and 1) or False, got {short_repr(self.binary)}.")
        if not isinstance(self.observation, str):
            raise InvalidInput(
                f"observation must be the name of an observation model, got {short_repr(self.observation)}."
            )
        if self.means is not None and getattr(self.means, "shape", None) != arms:
            raise InvalidInput(f"means must be an array of shape {arms} or None, got {short_repr(self.means)}.")
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
    """The common part of agents and joint controllers: options, a registry name, reset, the round number, and clone.

    ``label`` is the name of a registered agent in reports, ``paper`` the part of a paper that it implements. ``oracle``
    means that it knows the means; ``needs_each_round`` that it needs feedback on every round before the next begins, as
    a protocol does, so that it cannot play with a feedback delay (`Problem.delay`). ``protocol`` names a protocol that
    every member of the team must follow, with the same ``protocol_options``; None means that it follows any protocol,
    as a person may. ``waits`` means that its choices wait for an answer from outside, so that runs are played in
    parallel; ``recomputable`` that briefing, stream and rounds determine all its choices.
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
    waits: ClassVar[bool] = False
    recomputable: ClassVar[bool] = True

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
        """Create it from named options; the error for an unknown option suggests the nearest known one."""
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
        named = self.named_options()
        if "__dataclass_fields__" in type(self).__dict__:
            return named
        own = {key: value for key, value in vars(self).items() if not key.startswith("_") and key not in _ON_RESET}
        return named | own

    def named_options(self) -> dict[str, Any]:
        """Return the options that are fields, without those that are omitted at their defaults."""
        named = {}
        for spec in fields(self):
            value = getattr(self, spec.name)
            if spec.init and (spec.metadata.get("described", True) or value != spec.default):
                named[spec.name] = value
        return named

    @classmethod
    def option_rows(cls) -> list[tuple[str, Any, str]]:
        """Name, default and help of each option."""
        return [
            (spec.name, None if spec.default is MISSING else spec.default, spec.metadata.get("help", ""))
            for spec in fields(cls)
            if spec.init
        ]

    def clone(self) -> Self:
        """Return a copy to be reset and played with; the original stays unchanged."""
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
        """The team action that its latest arm was a part of. None: it considered no team actions.

        For diagnostics. A user-defined agent that plays its part of a team action reports it with `part_of`.
        """
        aimed: TeamAction | None = getattr(self, "_aim", None)
        return aimed

    def _start(self, briefing: Briefing, rng: np.random.Generator) -> None:
        if not isinstance(briefing, Briefing):
            raise InvalidInput(f"briefing must be a cobandit.Briefing, got {short_repr(briefing)}.")
        if not callable(getattr(rng, "random", None)):
            raise InvalidInput(
                f"rng must be a random generator, such as numpy.random.default_rng(0), got {short_repr(rng)}."
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
        """Return the reward of a round after a check; raise our own error if it is invalid."""
        raise NotImplementedError

    def ratings(self) -> Tensor | None:
        """Return its present rating of every team action, before it chooses: an array of the shape of the arms.

        For display; nothing is drawn and nothing changes. None: it does not rate team actions, or not yet.
        """
        return None

    def running(self, arms: tuple[int, ...], rounds: int, seats: int) -> AbstractContextManager[None]:
        """Return a context for a simulation in which such players play ``rounds`` rounds in ``seats`` seats.

        A player that costs money overrides it, to report afterwards.
        """
        self.before_runs(arms, rounds, seats)
        return nullcontext()

    def before_runs(self, arms: tuple[int, ...], rounds: int, seats: int, *, processes: bool = False) -> None:
        """Refuse more rounds than such players may play; ``processes`` says that several processes share them."""

    @property
    def title(self) -> str:
        """The registry name, or the class name of an agent that has none of its own."""
        return str(type(self).__dict__.get("name") or type(self).__name__)

    def __str__(self) -> str:
        settings = ", ".join(f"{key}={value}" for key, value in self.options.items())
        return f"{self.title}({settings})"


@dataclass
class Agent(Player, ABC):
    """One member of a team. A custom agent subclasses this and implements `choose` and `observe`.

    `reset` sets ``self.briefing`` (what it may know), ``self.rng`` (its own random stream) and ``self.round`` (t,
    counted from 1; every `observe` increments it). The driver, an engine or your own loop, calls `reset` once and then
    `choose` and `observe` alternately; all arguments are checked before the agent gets them.

    ``needs_actions`` means that it cannot play if its partners' arms are hidden (`Problem.actions`). An agent that uses
    only its own arm and its rewards declares ``needs_actions = False``; a subclass with another `observe` has to
    declare it again.
    """

    needs_actions: ClassVar[bool] = True

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "observe" in vars(cls) and "needs_actions" not in vars(cls):
            cls.needs_actions = True

    @abstractmethod
    def choose(self) -> int:
        """Return the own arm to play this round, from 0 to ``self.briefing.own_arms - 1``."""

    @abstractmethod
    def observe(self, team_action: TeamAction, reward: float | None) -> None:
        """Learn from the last round: the arms of all agents, and the agent's own seen reward.

        Partners' arms that are hidden are `HIDDEN`, -1. ``reward`` is None if the agent knows that it saw nothing, as
        under *missed-known* observation.
        """

    def part_of(self, team_action: TeamAction) -> int:
        """Return the own arm of a team action, which is noted as what this agent aims at until its next choice."""
        self._aim = team_action
        return team_action[self.briefing.agent]

    @property
    def predictions(self) -> Mapping[int, int]:
        """The arms it foresaw in its latest choice, by agent; empty for agents that foresee nothing."""
        return MappingProxyType({})

    def dump_memory(self) -> dict[str, Any]:
        """Return its memory in mid-run, by attribute: everything except its options, briefing, rng and round.

        `Partner.state` stores it. An agent with attributes that are not plain data (numbers, strings, None, tuples,
        lists, dicts, deques, numpy arrays) overrides this and leaves them out, or replaces them by plain data.
        """
        apart = {spec.name for spec in fields(self) if spec.init}.union(_ON_RESET, ("_current_round", "_aim"))
        slots = [name for kind in type(self).__mro__ for name in getattr(kind, "__slots__", ()) if hasattr(self, name)]
        return {name: getattr(self, name) for name in (*vars(self), *slots) if name not in apart}

    def load_memory(self, memory: Mapping[str, Any]) -> None:
        """Restore the result of `dump_memory`, right after a `reset` with the same briefing.

        Attributes that were left out there are as `reset` made them. An override calls ``super().load_memory`` and
        restores the rest.
        """
        for name, value in memory.items():
            setattr(self, name, value)

    def _checked_seen(self, seen: object) -> float | None:
        if type(seen) is float and 0.0 <= seen <= 1.0:
            return seen  # as in nearly every round, without another call
        return checked_reward("reward", seen, self.briefing.binary)


@dataclass
class Controller(Player, ABC):
    """A joint controller: it chooses the arms of all agents and gets the seen rewards of all agents."""

    @abstractmethod
    def choose(self) -> TeamAction:
        """Return the team action to play this round."""

    @abstractmethod
    def observe(self, team_action: TeamAction, rewards: tuple[float | None, ...]) -> None:
        """Learn from the round just played: the team action and all agents' seen rewards."""

    def _checked_seen(self, seen: object) -> tuple[float | None, ...]:
        agents = len(self.briefing.arms)
        if not is_list(seen) or len(rewards := tuple(seen)) != agents:
            raise InvalidInput(f"rewards must be a tuple of {agents} rewards, one per agent, got {short_repr(seen)}.")
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
    """Advance a player over rounds without feedback: only its round number changes."""
    player._current_round += whole(0, MOST)("rounds", rounds)


def learn_in_one_round(agent: Agent, rounds: Iterable[tuple[TeamAction, float | None]]) -> None:
    """Pass feedback on several rounds to an agent in one round, after which its round number is one higher."""
    t = agent._current_round
    for action, seen in rounds:
        agent._current_round = t
        agent.observe(action, seen)
