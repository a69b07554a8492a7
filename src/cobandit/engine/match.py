"""One run under way: the round loop for any number of players."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from cobandit.agents.base import Agent, Briefing, Controller, TeamAction, pass_over
from cobandit.agents.checks import checked_choice
from cobandit.agents.team import Team, require_visible_actions
from cobandit.base.errors import InvalidInput
from cobandit.engine.environment import Environment, Outcome, run_streams
from cobandit.engine.partner import Partner
from cobandit.problem import Problem


class OpenMatch:
    """An environment with agents in some seats; the caller passes the arms of the other seats in every round.

    ``agents`` has an agent for each seat, which is reset and driven, or None for an open one. The run is that of a
    simulation with the same seed: the random numbers of nature and of every agent are the same.
    """

    controller: Controller | None = None

    def __init__(self, problem: Problem, agents: Sequence[Agent | None], horizon: int, seed: int, run: int) -> None:
        self._streams = run_streams(problem, seed, run)
        self.environment = Environment(problem, self._streams)
        self.horizon = horizon
        for i, agent in enumerate(agents):
            if agent is not None:
                self._reset(agent, i)
        self.partners = tuple(Partner.around(agent) for agent in agents if agent is not None)

    def _reset(self, player: Agent | Controller, seat: int) -> None:
        player.reset(briefing_for(player, self.environment, seat, self.horizon), self._streams.choices[seat])

    def play(self, given: Mapping[int, int] = MappingProxyType({})) -> tuple[TeamAction, Outcome]:
        """Play one round with these arms in the open seats."""
        if self.environment.begin_round():
            tell_oracles(self.environment, (self.controller, *(partner.agent for partner in self.partners)))
        action = self._choose(given)
        outcome = self.environment.step(action)
        self._tell(action, outcome)
        return action, outcome

    def _choose(self, given: Mapping[int, int]) -> TeamAction:
        chosen = {partner.seat: partner.choose() for partner in self.partners}
        return tuple(chosen[i] if i in chosen else given[i] for i in range(self.environment.problem.agents))

    def _tell(self, action: TeamAction, outcome: Outcome) -> None:
        """Pass the round just played to all agents."""
        for partner in self.partners:
            partner.observe(action, outcome.seen[partner.seat])


class Match(OpenMatch):
    """An environment and the players reset for it: a partner in every seat, or one joint controller."""

    def __init__(self, problem: Problem, team: Team, horizon: int, seed: int, run: int) -> None:
        agents = team.playing(problem).agents(problem.agents)
        require_patience(problem, agents or (team.controller,))
        require_visible_actions(problem, agents)
        super().__init__(problem, agents, horizon, seed, run)
        self._waiting: deque[tuple[TeamAction, Outcome]] = deque()
        if team.controller is not None:
            self.controller = team.controller.clone()
            self._reset(self.controller, 0)

    @property
    def ranks(self) -> tuple[int, ...]:
        """Each agent's rank: what nature fixed, or what the team has elected so far."""
        voter: Any = self.partners[0].agent if self.partners else None
        if voter is None or self.environment.problem.roles != "elected":
            return self.environment.instance.ranks
        return tuple(voter.elected_ranks)

    def rounds(self) -> Iterator[tuple[TeamAction, Outcome]]:
        """Play all rounds, one at a time."""
        for _ in range(self.horizon):
            yield self.play()

    def _choose(self, given: Mapping[int, int]) -> TeamAction:
        if self.controller is None:
            return tuple(partner.choose() for partner in self.partners)
        arms = self.environment.problem.arms
        return checked_choice(self.controller.choose(), arms, (self.controller,), self.controller.round)

    def _tell(self, action: TeamAction, outcome: Outcome) -> None:
        """Pass the round played ``delay`` rounds ago to all agents, if there was one."""
        delay = self.environment.problem.delay
        if delay:
            self._waiting.append((action, outcome))
            if len(self._waiting) <= delay:
                self._pass_round()
                return
            action, outcome = self._waiting.popleft()
        if self.controller is not None:
            self.controller.observe(action, outcome.seen)
        for partner in self.partners:
            partner.observe(action, outcome.seen[partner.seat], override=delay > 0)

    def _pass_round(self) -> None:
        if self.controller is not None:
            pass_over(self.controller, 1)
        for partner in self.partners:
            partner.pass_round()


def require_patience(problem: Problem, players: Iterable[Agent | Controller | None]) -> None:
    """Refuse agents that need feedback on each round before the next if the problem has a feedback delay."""
    for player in players:
        if problem.delay and player is not None and player.needs_each_round:
            raise InvalidInput(
                f"The problem has a delay of {problem.delay:,} rounds, but {player.title} needs feedback on each "
                "round before the next one. Use a delay of 0 or another agent."
            )


def briefing_for(player: Agent | Controller, environment: Environment, agent: int, horizon: int) -> Briefing:
    """Return the briefing of a player in the seat of an agent."""
    problem, instance = environment.problem, environment.instance
    return Briefing(
        agent,
        problem.arms,
        instance.ranks,
        horizon,
        binary=problem.binary,
        observation=problem.observation.name,
        means=instance.means.copy() if player.oracle else None,
        best_observer=problem.best_observer if isinstance(player, Controller) else -1,
        actions="observed" if isinstance(player, Controller) else problem.actions,  # a controller chooses all arms
    )


def tell_oracles(environment: Environment, players: Iterable[Agent | Controller | None]) -> None:
    """Give agents that know the means the new ones."""
    for player in players:
        if player is not None and player.oracle:
            player.briefing = dataclasses.replace(player.briefing, means=environment.means.copy())
