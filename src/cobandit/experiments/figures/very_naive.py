"""Fig. "very_naive" (Additional Simulations).

What varies: the algorithm of both agents.
What it must show: ignoring the partner costs more in the long run.
"""

from __future__ import annotations

from cobandit.agents import Team
from cobandit.experiments.claims import Beats
from cobandit.experiments.figures.common import LONG_HORIZON, RANDOM, aware
from cobandit.experiments.spec import Curve, Panel

CURVES = (
    Curve("partner-aware-ucb", "Partner-Aware UCB", RANDOM, aware()),
    Curve("very-naive-ucb", "Very naive UCB", RANDOM, Team.of("very-naive-ucb")),
)

CLAIMS = (
    Beats(
        "partner-aware-ucb",
        ("very-naive-ucb",),
        "Partner-Aware UCB ends with less regret than very naive UCB.",
        note="This is about the mean. The median of very naive UCB is lower: right more often, far off when wrong.",
    ),
)

PANEL = Panel(
    name="very-naive",
    title="Blind to the partner",
    varies="Partner-Aware UCB, very naive UCB",
    fixed="random means, L = 1, W = 25",
    curves=CURVES,
    horizon=LONG_HORIZON,
    claims=CLAIMS,
)
