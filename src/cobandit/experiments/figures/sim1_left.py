"""Fig. "sim1 left" (Effect of Partner-Awareness).

What varies: the algorithm of both agents.
What it must show: naive teams lose at a constant rate, the partner-aware one does not.
"""

from __future__ import annotations

from cobandit.agents import Team
from cobandit.experiments.claims import Beats, Linear, Sublinear
from cobandit.experiments.figures.common import FIXED, HORIZON, LOCKED_ON, aware
from cobandit.experiments.spec import Curve, Panel
from cobandit.problem import Problem


def curves_of(problem: Problem) -> tuple[Curve, ...]:
    """Return a curve for each algorithm on a problem."""
    return (
        Curve("partner-aware-ucb", "Partner-Aware UCB", problem, aware()),
        Curve("naive-ucb", "Naive UCB", problem, Team.of("naive-ucb")),
        Curve("naive-ts", "Naive Thompson", problem, Team.of("naive-ts")),
    )


CLAIMS = (
    Sublinear("partner-aware-ucb", "The regret of Partner-Aware UCB is sublinear.", note=LOCKED_ON),
    Linear("naive-ucb", "The regret of naive UCB is linear."),
    Linear(
        "naive-ts",
        "The regret of naive Thompson sampling is linear.",
        note="It is nearly so: its growth is about 1.7 at 2,000 rounds and 1.8 at 10,000, and keeps rising slowly.",
    ),
    Beats(
        "partner-aware-ucb", ("naive-ucb", "naive-ts"), "Partner-Aware UCB ends with less regret than both naive teams."
    ),
)

PANEL = Panel(
    name="sim1-left",
    title="What partner-awareness is worth: fixed means",
    varies="Partner-Aware UCB, naive UCB, naive Thompson",
    fixed="fixed means, L = 1, W = 25",
    curves=curves_of(FIXED),
    horizon=HORIZON,
    claims=CLAIMS,
)
