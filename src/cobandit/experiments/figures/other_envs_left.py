"""Fig. "other_envs left" (Generalization to Other Bandits).

What varies: the algorithm of both agents.
What it must show: partner-awareness pays here too.
"""

from __future__ import annotations

from cobandit.agents import Team
from cobandit.experiments.claims import Beats, Sublinear
from cobandit.experiments.figures.common import HORIZON, SIGHT, aware
from cobandit.experiments.spec import Curve, Panel
from cobandit.problem import Problem

PROBLEM = Problem.bernoulli("random", SIGHT, arms=(2, 2), observation="flipped")


def curves_of(problem: Problem) -> tuple[Curve, ...]:
    """Return a curve for each algorithm on a problem."""
    return (
        Curve("partner-aware-ucb", "Partner-Aware UCB", problem, aware()),
        Curve("naive-ucb", "Naive UCB", problem, Team.of("naive-ucb")),
    )


CLAIMS = (
    Sublinear("partner-aware-ucb", "The regret of Partner-Aware UCB is sublinear."),
    Beats("partner-aware-ucb", ("naive-ucb",), "Partner-Aware UCB ends with less regret than naive UCB."),
)

PANEL = Panel(
    name="other-envs-left",
    title="Another bandit: flipped rewards",
    varies="Partner-Aware UCB, naive UCB",
    fixed="random means, q = (0, .5), L = 1, W = 25",
    curves=curves_of(PROBLEM),
    horizon=HORIZON,
    claims=CLAIMS,
)
