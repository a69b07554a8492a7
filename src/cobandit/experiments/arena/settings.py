"""The problems of the arena: of the paper, beyond it, held out, with an exact limit, and those with states.

No default of any agent was chosen by looking at a problem of the family *held out*. The other families were looked at
while the agents were made.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from cobandit.agents import Briefing, Steered
from cobandit.agents.signalling import has_reports
from cobandit.base.errors import UnknownName
from cobandit.base.json_types import JsonObject
from cobandit.mdp import MarkovProblem, make_problem
from cobandit.problem import Noisy, Problem, RandomMeans
from cobandit.problem.means import local_optima, two_corners
from cobandit.problem.problem import make_observation, ranks_of

MARKOV = "markov"
"""The family of problems with states, which teams of their own play."""

FAMILIES = {
    "paper": "the paper's simulations",
    "beyond": "beyond the paper: weaker leaders, many arms, drawn roles, the casino's length",
    "held out": "held out: no default of any agent was tuned on these",
    "exact": "small enough for an exact limit",
    MARKOV: "Markov decision processes: episodes through states",
}
"""Each family of problems in words."""

SIGHT = (1.0, 0.5)
BLIND = 0.0
"""In place of the followers' observability where one brain has the leader's eyes alone."""


@dataclass(frozen=True)
class Setting:
    """One problem of the arena and its rounds.

    Without ``pairs`` whole teams play alone: problems with states are left to them. With ``costly_pairs`` pairs, and
    the teams named in ``costly_teams``, take part only where some settings are asked for, and not in the whole arena,
    most of whose time they would take.
    """

    name: str
    title: str
    family: str
    problem: Problem | MarkovProblem
    horizon: int
    pairs: bool = True
    costly_pairs: bool = False
    costly_teams: tuple[str, ...] = ()

    @property
    def markov(self) -> bool:
        """Whether the problem has states."""
        return isinstance(self.problem, MarkovProblem)

    @property
    def sights(self) -> tuple[float, ...]:
        """Each agent's chance to see a reward; 1 where rewards are seen with noise."""
        observation: Any = self.problem.observation
        if isinstance(observation, Noisy):
            return (1.0,) * self.problem.agents
        return tuple(float(p) for p in observation.levels)

    @property
    def leader_sight(self) -> float:
        """The best observer's chance to see a reward."""
        return max(self.sights)

    @property
    def follower_sight(self) -> float:
        """The worst observer's chance to see a reward."""
        return min(self.sights)

    @property
    def everybody_sight(self) -> float:
        """The chance that anybody sees a reward."""
        return 1.0 - math.prod(1.0 - p for p in self.sights)

    @property
    def drawn_roles(self) -> bool:
        """Whether the agents' observability is unknown before a run."""
        return self.problem.roles == "random"

    def pair_ranks(self) -> list[tuple[int, ...]]:
        """Return the ranks with which pairs play: the known ones; with drawn roles those in which each agent leads
        once.
        """
        if not self.drawn_roles:
            return [self.problem.known_ranks()]
        seats = range(self.problem.agents)
        return [ranks_of([lead, *(seat for seat in seats if seat != lead)]) for lead in seats]

    @property
    def has_reports(self) -> bool:
        """Whether the follower of a steered team reports of its own accord here."""
        problem = self.problem
        if self.drawn_roles or isinstance(problem, MarkovProblem):
            return False
        seen: JsonObject = {"binary": problem.binary, "observation": problem.observation.name}
        briefing = Briefing(0, problem.arms, problem.known_ranks(), self.horizon, **seen)
        return has_reports(Steered(leader_sight=self.leader_sight, follower_sight=self.follower_sight), briefing)

    def leaders_eyes(self) -> Problem | None:
        """Return the problem with blind followers, for one brain with the leader's eyes; None where there are no
        sights.
        """
        problem = self.problem
        if isinstance(problem, MarkovProblem) or isinstance(problem.observation, Noisy) or self.drawn_roles:
            return None
        ranks = problem.known_ranks()
        sights = [p if rank == 0 else BLIND for p, rank in zip(self.sights, ranks, strict=True)]
        observation = make_observation(problem.observation.name, sights, None, problem.agents)
        return replace(problem, observation=observation, roles=ranks)

    def relabelled(self) -> Setting:
        """Return the setting with a relabelled problem (`Problem.relabelled`); one with states keeps its labels."""
        return self if isinstance(self.problem, MarkovProblem) else replace(self, problem=self.problem.relabelled())


def _random(arms: tuple[int, ...], sight: tuple[float, ...], low: float = 0.0, high: float = 1.0) -> Problem:
    return Problem.bernoulli(RandomMeans(arms, low, high), sight)


def _corners(agents: int) -> Problem:
    return Problem.bernoulli(two_corners(agents), [(i + 1) / agents for i in range(agents)])


MANY_STATES = 20
"""With this many states or more, teams that draw all transition rows in each episode are left out."""
POSTERIOR_TEAMS = ("naive-psrl", "centralised-psrl")


def _with_states(name: str, title: str, horizon: int, kind: str, **options: Any) -> Setting:
    problem = make_problem(kind, **options)
    costly = POSTERIOR_TEAMS if problem.states >= MANY_STATES else ()
    return Setting(f"mdp-{name}", title, MARKOV, problem, horizon, pairs=False, costly_teams=costly)


_FIXED = local_optima(2)
_SQUARE = (2, 2)

SETTINGS: tuple[Setting, ...] = (
    Setting("fixed", "fixed means", "paper", Problem.bernoulli(_FIXED, SIGHT), 2_000),
    Setting("random", "random means", "paper", _random(_SQUARE, SIGHT), 2_000),
    Setting("fixed-500", "fixed means, 500 rounds", "paper", Problem.bernoulli(_FIXED, SIGHT), 500),
    Setting("random-500", "random means, 500 rounds", "paper", _random(_SQUARE, SIGHT), 500),
    Setting("arms-3", "3 x 3 arms, local optima", "paper", Problem.bernoulli(local_optima(3), SIGHT), 500),
    Setting("agents-3", "3 agents, two corners", "paper", _corners(3), 500),
    Setting("agents-4", "4 agents, two corners", "paper", _corners(4), 500),
    Setting(
        "flipped", "flipped rewards", "paper",
        Problem.bernoulli("random", SIGHT, arms=_SQUARE, observation="flipped"), 500,
    ),
    Setting(
        "gaussian", "Gaussian rewards", "paper",
        Problem.gaussian("random", (0.1, 0.5), arms=_SQUARE, sd=(0.1, 0.5)), 500,
    ),
    Setting("agents-3-random", "3 agents, random means", "beyond", _random((2, 2, 2), (1.0, 0.5, 0.5)), 500),
    Setting("sight-6-5", "p = (.6, .5), fixed means", "beyond", Problem.bernoulli(_FIXED, (0.6, 0.5)), 500),
    Setting("sight-6-5-random", "p = (.6, .5), random means", "beyond", _random(_SQUARE, (0.6, 0.5)), 500),
    Setting("sight-4-4", "p = (.4, .4), fixed means", "beyond", Problem.bernoulli(_FIXED, (0.4, 0.4)), 500),
    Setting("sight-4-4-random", "p = (.4, .4), random means", "beyond", _random(_SQUARE, (0.4, 0.4)), 500),
    Setting(
        "unknown", "unknown observability, p = (.5, 1), fixed means", "beyond",
        Problem.bernoulli(_FIXED, (0.5, 1.0), roles="random"), 500,
    ),
    Setting(
        "unknown-random", "unknown observability, p = (.5, 1), random means", "beyond",
        Problem.bernoulli("random", (0.5, 1.0), arms=_SQUARE, roles="random"), 500,
    ),
    Setting("large", "30 x 30 arms, random means", "beyond", _random((30, 30), SIGHT), 500, costly_pairs=True),
    Setting("casino", "the casino's length, p = (1, .4)", "beyond", _random(_SQUARE, (1.0, 0.4)), 1_000),
    Setting("near-half", "random means in [.4, .6]", "held out", _random(_SQUARE, SIGHT, 0.4, 0.6), 500),
    Setting("rare", "random means in [0, .2]", "held out", _random(_SQUARE, SIGHT, 0.0, 0.2), 500),
    Setting("wide", "2 x 5 arms, random means", "held out", _random((2, 5), SIGHT), 500),
    Setting("tall", "5 x 2 arms, random means", "held out", _random((5, 2), SIGHT), 500),
    Setting("dim", "p = (.9, .1), random means", "held out", _random(_SQUARE, (0.9, 0.1)), 500),
    Setting("exact-12", "2 x 2 arms, 12 rounds", "exact", _random(_SQUARE, SIGHT), 12),
    Setting("exact-20", "2 x 2 arms, 20 rounds", "exact", _random(_SQUARE, SIGHT), 20),
    _with_states("chain", "chain, 4 states and steps", 2_000, "chain"),
    _with_states("burger-line-2", "burger line, 2 steps", 2_000, "burger-line", steps=2),
    _with_states("burger-line-3", "burger line, 3 steps", 2_100, "burger-line", steps=3),
    _with_states("box-push", "box push, 5 states, 6 steps", 2_100, "box-push"),
    _with_states("random", "random transitions and means, 5 states and steps", 2_000, "random"),
    _with_states(
        "chain-three", "chain, 3 agents", 2_000, "chain", agents=3, observability=(1.0, 0.5, 0.5)
    ),
)  # fmt: skip
"""Every problem of the arena, family by family."""


def setting(name: str) -> Setting:
    """Return the setting of that name; an unknown name gets the nearest right one."""
    for candidate in SETTINGS:
        if candidate.name == name:
            return candidate
    raise UnknownName("setting of the arena", name, [candidate.name for candidate in SETTINGS])
