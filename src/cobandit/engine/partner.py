"""One agent in one seat, driven from outside: by an app, a robot, a study, a terminal or the engine itself.

A `Partner` returns its choice and takes the outcome of each round. Its state is plain data for a JSON file, and a log
of the rounds restores it, too. The agent inside is the same one that a simulation plays (Alg. 1, Alg. 2).
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from cobandit.agents.base import Agent, Briefing, Controller, learn_in_one_round, pass_over
from cobandit.agents.checks import checked_action, checked_reward, is_arm, masked_action
from cobandit.agents.lookup import make_agent
from cobandit.agents.team import require_visible_actions
from cobandit.base.checks import MOST, is_list, numeric, short_repr, whole
from cobandit.base.errors import AgentError, InvalidInput
from cobandit.base.streams import Streams, checked_seed
from cobandit.engine.state import read_state, write_state
from cobandit.problem import FixedMeans, Problem
from cobandit.problem.means import Tensor
from cobandit.problem.observation import ObservationName
from cobandit.problem.problem import ActionsName

_NEVER_NONE = {
    "missed": "0 (for a missed reward) or the reward itself",
    "flipped": "1 (for a flipped reward) or the reward itself",
    "noisy": "a number",
}
"""What a seat sees under the observation models that always show something."""


class Partner:
    """An agent in a seat of a team: `choose` returns its arm and `observe` passes the outcome, round after round.

    ``agent`` is an agent, which stays unchanged, or a registry name with its options::

        partner = cb.Partner("partner-aware-ucb", arms=(2, 2), seat=1, horizon=1000, observability=(1, 0.4), window=5)

    ``arms`` has the number of arms of every seat, ``horizon`` (T) the rounds it plans for; it can play longer.
    ``observability``, ``observation``, ``noise`` and ``roles`` have the same meaning as for `Problem.bernoulli` and
    determine the leader. With ``actions="hidden"`` the partner never learns the other seats' arms. ``binary`` says
    whether seen rewards are all 0 or 1 (by default, unless they are noisy), ``means`` is for an oracle only. With one
    seed it draws the same random numbers as the agent of its seat in run 0 of a simulation.
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
        actions: ActionsName = "observed",
        binary: bool | None = None,
        means: Any = None,
        seed: int | None = None,
        **options: Any,
    ) -> None:
        player = _checked_agent(agent, options)
        problem = Problem.bernoulli(
            "random",
            observability,
            arms=arms,
            observation=observation,
            noise=noise,
            roles=roles,
            actions=actions,
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
        """Return a partner for a seat of a problem; ``roles`` says who leads where the problem would draw it."""
        player = _checked_agent(agent, options)
        if not isinstance(problem, Problem):
            raise InvalidInput(f"problem must be a Problem, such as Problem.bernoulli(...), got {short_repr(problem)}.")
        if roles is not None:
            problem = dataclasses.replace(problem, roles=roles)
        if means is None and player.oracle and isinstance(problem.means, FixedMeans) and not problem.relabel:
            means = np.array(problem.means.values).reshape(problem.arms)
        partner = cls.__new__(cls)
        partner._start(player, problem, seat, horizon, seed, problem.binary, means)
        return partner

    @classmethod
    def around(cls, agent: Agent) -> Self:
        """Return a partner around an agent that has been reset; it drives this very agent, not a clone of it."""
        if not isinstance(agent, Agent) or agent.round < 1:
            raise InvalidInput(f"agent must be an agent that has been reset, got {short_repr(agent)}.")
        partner = cls.__new__(cls)
        partner._drive(agent)
        return partner

    @classmethod
    def from_log(
        cls,
        agent: str | Agent,
        rounds: Iterable[tuple[Sequence[int | None], float | None]],
        *,
        overrides: bool = False,
        **setting: Any,
    ) -> Self:
        """Return the partner after these rounds, each of them (team_action, seen), by replaying the log.

        ``setting`` are the arguments that the partner was created with, including the seed. A log in which the
        partner's own arm differs from the agent's choice belongs to another partner and is refused, unless
        ``overrides`` is true: then a person may have decided otherwise.
        """
        if setting.get("seed") is None:
            raise InvalidInput("seed is None; the seed that the partner was made with is needed to play a log again.")
        partner = cls.for_problem(agent, **setting) if "problem" in setting else cls(agent, **setting)
        return partner.replay(rounds, overrides=overrides)

    @classmethod
    def from_state(cls, state: Mapping[str, Any], agent: Agent | type[Agent] | None = None) -> Self:
        """Restore the partner from its `state`: it continues as the original would have.

        ``agent`` is required unless the agent is registered: its class, or an agent with the same options if the class
        cannot be created from options alone.
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
            actions=problem.actions,
        )
        require_visible_actions(problem, (agent,))
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
        """The briefing that the agent got before the first round."""
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
        """Return the own arm of this round: decided once, then the same answer until `observe` ends the round."""
        if self._pending is None:
            arm = self._agent.choose()
            arms = self._arms[self._seat]
            if type(arm) is not int or not 0 <= arm < arms:
                if not is_arm(arm, arms):
                    raise AgentError(
                        f"{self._agent} at place {self._seat} chose {short_repr(arm)} in round {self.round}; "
                        f"its arms are the integers from 0 to {arms - 1}."
                    )
                arm = int(arm)
            self._pending = arm
        return self._pending

    def observe(self, team_action: Sequence[int | None], seen: float | None, *, override: bool = False) -> None:
        """End the round: the arms of all seats, and the reward as this seat saw it (None: it knows that it saw
        nothing).

        None belongs to *missed-known* observation and to user-defined models. It is refused under *missed*, where a
        missed reward is seen as 0, under *flipped*, where it is seen as 1, and under *noisy*, where it is a number. The
        partner's own arm must be its choice. If a person had to decide otherwise, ``override=True`` says so, and the
        agent learns from the arm that was played. If `choose` was not called in a round, the choice is computed anyway,
        so the state depends only on the rounds.

        If actions are hidden, the arms of the other seats may be None, and the agent does not get them in any case.
        """
        if seen is None:
            self.checked_seen(seen)
        self._end_round(team_action, seen, override, "override=True")

    def pass_round(self) -> None:
        """End a round without feedback, or with feedback later: only the round number changes.

        To pass feedback on an earlier round instead, call ``observe`` with that round and ``override=True``; for
        feedback on several earlier rounds, call `observe_rounds`.
        """
        self.choose()
        pass_over(self._agent, 1)
        self._pending = None

    def observe_rounds(self, rounds: Sequence[tuple[Sequence[int], float | None]]) -> None:
        """End the round with feedback on any number of rounds, this one or earlier ones, each (team_action, seen).

        The agent learns them in the given order and the round number rises by one. Without feedback, this is
        `pass_round`; with one round in every call, it is what a simulation with a constant feedback delay does.
        """
        if not rounds:
            self.pass_round()
            return
        checked = [(checked_action(action, self._arms), self.checked_seen(seen)) for action, seen in rounds]
        if len(checked) > 1 and self._agent.needs_each_round:
            raise InvalidInput(f"{self._agent.title} needs feedback on each round before the next one.")
        self.choose()
        learn_in_one_round(self._agent, checked)
        self._pending = None

    def checked_seen(self, seen: object, name: str = "seen") -> float | None:
        """Return the reward that this seat saw as a number, or None; refuse what its observation cannot show.

        ``name`` is what the caller calls it, for the error.
        """
        briefing = self._agent.briefing
        if seen is None and (needed := _NEVER_NONE.get(briefing.observation)):
            raise InvalidInput(
                f"{name} must be {needed} under {briefing.observation!r} observation, got None. Where the "
                "partner knows that it saw nothing, make it with observation='missed-known'."
            )
        return checked_reward(name, seen, briefing.binary)

    def _end_round(self, team_action: Any, seen: Any, override: bool, how_to_say_so: str) -> None:
        try:
            action = checked_action(team_action, self._arms)
        except InvalidInput:
            if self.briefing.actions == "observed":
                raise
            action = masked_action(team_action, self._arms, self._seat)  # the caller does not know hidden arms either
        chosen = self.choose()
        played = action[self._seat]
        if played != chosen and not override:
            raise InvalidInput(
                f"team_action is {short_repr(team_action)}, with arm {played} at seat {self._seat}, but the partner "
                f"chose {chosen} in round {self.round}; if a person decided otherwise, pass {how_to_say_so}."
            )
        self._agent.observe(action, seen)
        self._pending = None

    def replay(self, rounds: Iterable[tuple[Sequence[int | None], float | None]], *, overrides: bool = False) -> Self:
        """Play the rounds of a log, each of them (team_action, seen), as in `from_log`; gives this partner back."""
        if not is_list(rounds):
            raise InvalidInput(
                f"rounds must be a list with a pair of team action and seen reward for each, got {short_repr(rounds)}."
            )
        unseen = 0
        for number, entry in enumerate(rounds, start=1):
            try:
                team_action, seen = entry
            except (TypeError, ValueError):
                raise InvalidInput(
                    f"Round {number} of the log must be a pair of team action and seen reward, got {short_repr(entry)}."
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
        """Return the complete state of the partner as plain data for JSON; its size is independent of the number of
        rounds.

        `from_state` restores it exactly. A checksum detects a state that was changed or truncated.
        """
        return write_state(self._agent, self._pending)

    def __repr__(self) -> str:
        return f"<Partner {self._agent} at seat {self.seat}: round {self.round} of {self.briefing.horizon}>"


def _checked_agent(agent: object, options: dict[str, Any]) -> Agent:
    """Return the agent to drive: a clone of the one given, or a registered one by name."""
    player: Any = make_agent(agent, **options) if isinstance(agent, str) else agent
    if isinstance(player, Controller):
        raise InvalidInput(f"{player.title} is one brain for the whole team; a partner sits in one seat.")
    if not isinstance(player, Agent):
        hint = f" Call the class: {player.__name__}()." if isinstance(player, type) else ""
        raise InvalidInput(f"agent must be a registry name or an agent, got {short_repr(player)}.{hint}")
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
        raise InvalidInput(f"means must be finite numbers in an array of shape {arms}, got {short_repr(means)}.")
    return array
