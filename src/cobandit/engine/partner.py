"""One agent in one seat, driven from outside: by an app, a robot, a study, a terminal or the engine itself.

A `Partner` is asked what it plays and told what happened. Its state is plain data that fit into a JSON file, and a log
of the rounds brings it back, too. The agent inside is the very same one that a simulation plays (Alg. 1, Alg. 2).
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from cobandit.agents.base import Agent, Briefing, Controller, pass_over
from cobandit.agents.checks import checked_action, is_arm
from cobandit.agents.lookup import make_agent
from cobandit.base.checks import MOST, is_list, numeric, short_repr, whole
from cobandit.base.errors import AgentError, InvalidInput
from cobandit.base.streams import Streams, checked_seed
from cobandit.engine.state import read_state, write_state
from cobandit.problem import FixedMeans, Problem
from cobandit.problem.means import Tensor
from cobandit.problem.observation import ObservationName

_NEVER_NONE = {
    "missed": "0 (for a missed reward) or the reward itself",
    "flipped": "1 (for a flipped reward) or the reward itself",
    "noisy": "a number",
}
"""What a seat sees under the observation models that always show something."""


class Partner:
    """An agent in a seat of a team, asked by `choose` and told by `observe`, round after round.

    ``agent`` is an agent, which stays as it is, or a registry name with its options::

        partner = cb.Partner("partner-aware-ucb", arms=(2, 2), seat=1, horizon=1000, observability=(1, 0.4), window=5)

    ``arms`` holds the number of arms of every seat, ``horizon`` (T) the rounds it plans for; it plays on beyond them.
    ``observability``, ``observation``, ``noise`` and ``roles`` mean what they mean for `Problem.bernoulli` and settle
    who leads. ``binary`` says whether seen rewards are all 0 or 1 (by default, wherever they are not noisy), ``means``
    is for an oracle only. With one seed it draws what the agent of its seat draws in run 0 of a simulation.
    """

    __slots__ = ("_agent", "_arms", "_pending", "_seat")

    def __init__(
        self,
        agent: str | Agent,
        arms: Sequence[int],
        seat: int,
        horizon: int,
        *,
        observability: Sequence[float] | None = None,
        observation: ObservationName = "missed",
        noise: Sequence[float] | None = None,
        roles: Any = "observability",
        binary: bool | None = None,
        means: Any = None,
        seed: int | None = None,
        **options: Any,
    ) -> None:
        player = _checked_agent(agent, options)
        problem = Problem.bernoulli(
            "random", observability, arms=arms, observation=observation, noise=noise, roles=roles
        )
        self._start(player, problem, seat, horizon, seed, problem.binary if binary is None else binary, means)

    @classmethod
    def for_problem(
        cls,
        agent: str | Agent,
        problem: Problem,
        seat: int,
        horizon: int,
        seed: int | None = None,
        *,
        roles: Any = None,
        means: Any = None,
        **options: Any,
    ) -> Self:
        """A partner for a seat of a problem; ``roles`` says who leads where the problem would draw it."""
        player = _checked_agent(agent, options)
        if not isinstance(problem, Problem):
            raise InvalidInput(
                f"problem is {short_repr(problem)}; a Problem is needed, such as Problem.bernoulli(...)."
            )
        if roles is not None:
            problem = dataclasses.replace(problem, roles=roles)
        if means is None and player.oracle and isinstance(problem.means, FixedMeans) and not problem.relabel:
            means = np.array(problem.means.values).reshape(problem.arms)
        partner = cls.__new__(cls)
        partner._start(player, problem, seat, horizon, seed, problem.binary, means)
        return partner

    @classmethod
    def around(cls, agent: Agent) -> Self:
        """A partner around an agent that has been reset; it drives this very agent, not a clone of it."""
        if not isinstance(agent, Agent) or agent.round < 1:
            raise InvalidInput(f"agent is {short_repr(agent)}; an agent that has been reset is needed.")
        partner = cls.__new__(cls)
        partner._drive(agent)
        return partner

    @classmethod
    def from_log(
        cls,
        agent: str | Agent,
        rounds: Iterable[tuple[Sequence[int], float | None]],
        *,
        overrides: bool = False,
        **setting: Any,
    ) -> Self:
        """The partner as it was after these rounds, each of them (team_action, seen): the log is played again.

        ``setting`` is what the partner was made with, the seed among it. A log in which the own arm is not the one
        that the agent chooses belongs to another partner and is refused, unless ``overrides`` says that somebody else
        may have decided.
        """
        if setting.get("seed") is None:
            raise InvalidInput("seed is None; the seed that the partner was made with is needed to play a log again.")
        partner = cls.for_problem(agent, **setting) if "problem" in setting else cls(agent, **setting)
        return partner.replay(rounds, overrides=overrides)

    @classmethod
    def from_state(cls, state: Mapping[str, Any], agent: Agent | type[Agent] | None = None) -> Self:
        """The partner whose `state` this is: it goes on as the other would have.

        ``agent`` is needed where the state is not that of a registered agent: its class, or an agent with the same
        options where the class cannot be made from options alone.
        """
        partner = cls.__new__(cls)
        partner._drive(*read_state(state, agent))
        return partner

    def _start(
        self,
        agent: Agent,
        problem: Problem,
        seat: int,
        horizon: int,
        seed: int | None,
        binary: bool,
        means: object,
    ) -> None:
        briefing = Briefing(
            whole(0, problem.agents - 1)("seat", seat),
            problem.arms,
            _checked_ranks(problem),
            whole(1, MOST)("horizon", horizon),
            binary=binary,
            observation=problem.observation.name,
            means=_oracle_means(agent, means, problem.arms),
        )
        agent.reset(briefing, Streams.of(checked_seed(seed), 0, problem.agents).choices[briefing.agent])
        self._drive(agent)

    def _drive(self, agent: Agent, pending: int | None = None) -> None:
        self._agent = agent
        self._arms, self._seat = agent.briefing.arms, agent.briefing.agent
        self._pending = pending

    @property
    def agent(self) -> Agent:
        """The agent that is driven."""
        return self._agent

    @property
    def briefing(self) -> Briefing:
        """What the agent was told before the first round."""
        return self._agent.briefing

    @property
    def seat(self) -> int:
        """Its place in the team, from 0."""
        return self._seat

    @property
    def round(self) -> int:
        """The number of the round under way, t, from 1."""
        return self._agent.round

    @property
    def predictions(self) -> Mapping[int, int]:
        """The arms it foresaw in its latest choice, by seat; empty for agents that foresee nothing."""
        return self._agent.predictions

    def choose(self) -> int:
        """The own arm of this round: decided once, then the same answer until `observe` ends the round."""
        if self._pending is None:
            arm = self._agent.choose()
            arms = self._arms[self._seat]
            if type(arm) is not int or not 0 <= arm < arms:
                if not is_arm(arm, arms):
                    raise AgentError(
                        f"{self._agent} at place {self._seat} chose {short_repr(arm)} in round {self.round}; "
                        f"its arms are the whole numbers from 0 to {arms - 1}."
                    )
                arm = int(arm)
            self._pending = arm
        return self._pending

    def observe(self, team_action: Sequence[int], seen: float | None, *, override: bool = False) -> None:
        """End the round: everybody's arms, and the reward as this seat saw it (None: it knows it saw nothing).

        None belongs to *missed-known* observation and to models that are not ours. It is refused under *missed*, where
        whoever misses a reward sees 0, under *flipped*, where it sees 1, and under *noisy*, where it sees a number.
        The own arm must be the one that was chosen. Where somebody had to decide otherwise, ``override=True`` says
        so, and the agent learns from what was really played. A round in which nobody asked for the choice is chosen
        all the same, so the rounds alone make the partner what it is.
        """
        if seen is None and (needed := _NEVER_NONE.get(self._agent.briefing.observation)):
            raise InvalidInput(
                f"seen must be {needed} under {self._agent.briefing.observation!r} observation, got None. Where the "
                "partner knows that it saw nothing, make it with observation='missed-known'."
            )
        self._end_round(team_action, seen, override, "override=True")

    def pass_round(self) -> None:
        """End a round of which it is told nothing, or only later: the number of the round moves on, and that is all.

        Who is told of an earlier round instead calls ``observe`` with that round and ``override=True``.
        """
        self.choose()
        pass_over(self._agent, 1)
        self._pending = None

    def _end_round(self, team_action: Any, seen: Any, override: bool, how_to_say_so: str) -> None:
        action = checked_action(team_action, self._arms)
        chosen = self.choose()
        played = action[self._seat]
        if played != chosen and not override:
            raise InvalidInput(
                f"team_action is {short_repr(team_action)}, with arm {played} at seat {self._seat}, but the partner "
                f"chose {chosen} in round {self.round}; if somebody decided otherwise, say so with {how_to_say_so}."
            )
        self._agent.observe(action, seen)
        self._pending = None

    def replay(self, rounds: Iterable[tuple[Sequence[int], float | None]], *, overrides: bool = False) -> Self:
        """Play the rounds of a log, each of them (team_action, seen), as in `from_log`; gives this partner back."""
        if not is_list(rounds):
            raise InvalidInput(
                f"rounds is {short_repr(rounds)}; a list with a pair of team action and seen reward for each is needed."
            )
        unseen = 0
        for number, entry in enumerate(rounds, start=1):
            try:
                team_action, seen = entry
            except (TypeError, ValueError):
                raise InvalidInput(
                    f"Round {number} of the log is {short_repr(entry)}; "
                    f"a pair of team action and seen reward is needed."
                ) from None
            try:
                self._end_round(team_action, seen, overrides, "overrides=True")
                unseen += seen is None
            except InvalidInput as error:
                raise InvalidInput(f"Round {number} of the log cannot have been: {error}") from error
        observation = self._agent.briefing.observation
        if unseen and observation in _NEVER_NONE:  # logs of earlier versions may hold them, so they still load
            warnings.warn(
                f"{unseen:,} rounds of the log have None as the seen reward, from which the partner learns nothing; "
                f"under {observation!r} observation a seat sees {_NEVER_NONE[observation]}.",
                UserWarning,
                stacklevel=2,
            )
        return self

    def state(self) -> dict[str, Any]:
        """Everything that the partner is, as plain data for JSON; its size does not depend on the rounds played.

        `from_state` brings it back, exactly. The checksum tells a state that was changed or cut short.
        """
        return write_state(self._agent, self._pending)

    def __repr__(self) -> str:
        return f"<Partner {self._agent} at seat {self.seat}: round {self.round} of {self.briefing.horizon}>"


def _checked_agent(agent: object, options: dict[str, Any]) -> Agent:
    """The agent to drive: a clone of the one given, or a registered one by name."""
    player: Any = make_agent(agent, **options) if isinstance(agent, str) else agent
    if isinstance(player, Controller):
        raise InvalidInput(f"{player.title} is one brain for the whole team; a partner sits in one seat.")
    if not isinstance(player, Agent):
        hint = f" Call the class: {player.__name__}()." if isinstance(player, type) else ""
        raise InvalidInput(f"agent is {short_repr(player)}; a registry name or an agent is needed.{hint}")
    if isinstance(agent, str):
        return player
    if options:
        raise InvalidInput(f"options {short_repr(options)} go with a name; {player} has its own already.")
    return player.clone()


def _checked_ranks(problem: Problem) -> tuple[int, ...]:
    if problem.draws_roles:
        raise InvalidInput(
            f"roles is {problem.roles!r}; a partner must know who leads: give each seat's rank, such as roles=(0, 1)."
        )
    return problem.known_ranks()


def _oracle_means(agent: Agent, means: object, arms: tuple[int, ...]) -> Tensor | None:
    if not agent.oracle:
        if means is not None:
            raise InvalidInput(f"means was given, but {agent} may not know them; leave means out.")
        return None
    if means is None:
        raise InvalidInput(f"{agent} plays by the true means; means=..., an array of shape {arms}, is needed.")
    array = numeric("means", means, f"an array of shape {arms}")
    if array.shape != arms or not np.isfinite(array).all():
        raise InvalidInput(f"means is {short_repr(means)}; finite numbers in an array of shape {arms} are needed.")
    return array
