"""One run under way: the round loop for any number of players."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from cobandit.agents.base import Agent, Briefing, Controller, TeamAction, pass_over
from cobandit.agents.checks import checked_choice
from cobandit.agents.team import Team
from cobandit.base.errors import InvalidInput
from cobandit.engine.environment import Environment, Outcome, run_streams
from cobandit.engine.partner import Partner
from cobandit.problem import Problem


class Match:
    """An environment and the players reset for it: a partner in every seat, or one joint controller."""

    def __init__(self, problem: Problem, team: Team, horizon: int, seed: int, run: int) -> None:
        streams = run_streams(problem, seed, run)
        self.environment = Environment(problem, streams)
        self.horizon = horizon
        self._waiting: deque[tuple[TeamAction, Outcome]] = deque()
        agents = team.playing(problem).agents(problem.agents)
        require_patience(problem, agents or (team.controller,))
        for i, agent in enumerate(agents):
            agent.reset(briefing_for(agent, self.environment, i, horizon), streams.choices[i])
        self.partners = tuple(Partner.around(agent) for agent in agents)
        self.controller = None if team.controller is None else team.controller.clone()
        if self.controller is not None:
            self.controller.reset(briefing_for(self.controller, self.environment, 0, horizon), streams.choices[0])

    @property
    def ranks(self) -> tuple[int, ...]:
        """Each agent's rank: what nature fixed, or what the team has elected so far."""
        voter: Any = self.partners[0].agent if self.partners else None
        if voter is None or self.environment.problem.roles != "elected":
            return self.environment.instance.ranks
        return tuple(voter.elected_ranks)

    def rounds(self) -> Iterator[tuple[TeamAction, Outcome]]:
        """Play all rounds, one at a time."""
        tell = self._tell_late if self.environment.problem.delay else self._tell
        for _ in range(self.horizon):
            if self.environment.begin_round():
                tell_oracles(self.environment, (self.controller, *(partner.agent for partner in self.partners)))
            if self.controller is not None:
                action = checked_choice(
                    self.controller.choose(), self.environment.problem.arms, (self.controller,), self.controller.round
                )
            else:
                action = tuple(partner.choose() for partner in self.partners)
            outcome = self.environment.step(action)
            tell(action, outcome)
            yield action, outcome

    def _tell(self, action: TeamAction, outcome: Outcome) -> None:
        """Everybody learns of the round just played."""
        if self.controller is not None:
            self.controller.observe(action, outcome.seen)
        else:
            for partner, seen in zip(self.partners, outcome.seen, strict=True):
                partner.observe(action, seen)

    def _tell_late(self, action: TeamAction, outcome: Outcome) -> None:
        """Everybody learns of the round that was played ``delay`` rounds before this one, if there was one."""
        self._waiting.append((action, outcome))
        if len(self._waiting) > self.environment.problem.delay:
            known, then = self._waiting.popleft()
            if self.controller is not None:
                self.controller.observe(known, then.seen)
            for partner, seen in zip(self.partners, then.seen, strict=False):
                partner.observe(known, seen, override=True)
        else:
            if self.controller is not None:
                pass_over(self.controller, 1)
            for partner in self.partners:
                partner.pass_round()


class OpenMatch:
    """An environment with agents in some seats; whoever plays in the other ones is outside and says so every round.

    ``agents`` has an agent for each seat, which is reset and driven, or None for an open one. The run is that of a
    simulation with the same seed: nature's luck, and every agent's own draws.
    """

    def __init__(self, problem: Problem, agents: Sequence[Agent | None], horizon: int, seed: int, run: int) -> None:
        streams = run_streams(problem, seed, run)
        self.environment = Environment(problem, streams)
        self.horizon = horizon
        self.partners: dict[int, Partner] = {}
        for i, agent in enumerate(agents):
            if agent is not None:
                agent.reset(briefing_for(agent, self.environment, i, horizon), streams.choices[i])
                self.partners[i] = Partner.around(agent)

    def play(self, given: Mapping[int, int]) -> tuple[TeamAction, Outcome]:
        """Play one round with these arms in the open seats."""
        if self.environment.begin_round():
            tell_oracles(self.environment, [partner.agent for partner in self.partners.values()])
        seats = range(self.environment.problem.agents)
        action = tuple(self.partners[i].choose() if i in self.partners else given[i] for i in seats)
        outcome = self.environment.step(action)
        for i, partner in self.partners.items():
            partner.observe(action, outcome.seen[i])
        return action, outcome


def require_patience(problem: Problem, players: Iterable[Agent | Controller | None]) -> None:
    """Whoever counts on being told of each round before the next cannot play where news come late."""
    for player in players:
        if problem.delay and player is not None and player.needs_each_round:
            raise InvalidInput(
                f"The problem has a delay of {problem.delay:,} rounds, but {player.title} counts on being told of each "
                "round before the next one; a delay of 0 or another agent is needed."
            )


def briefing_for(player: Agent | Controller, environment: Environment, agent: int, horizon: int) -> Briefing:
    """What a player in the seat of an agent is told before the first round."""
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
    )


def tell_oracles(environment: Environment, players: Iterable[Agent | Controller | None]) -> None:
    """Whoever is told the means is told the new ones."""
    for player in players:
        if player is not None and player.oracle:
            player.briefing = dataclasses.replace(player.briefing, means=environment.means.copy())
