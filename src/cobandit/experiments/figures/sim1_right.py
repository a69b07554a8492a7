"""Fig. "sim1 right" (Effect of Partner-Awareness).

What varies: the algorithm of both agents.
What it must show: the same as with fixed means.
"""

from __future__ import annotations

from cobandit.experiments.figures.common import HORIZON, RANDOM
from cobandit.experiments.figures.sim1_left import CLAIMS, curves_of
from cobandit.experiments.spec import Panel

PANEL = Panel(
    name="sim1-right",
    title="What partner-awareness is worth: random means",
    varies="Partner-Aware UCB, naive UCB, naive Thompson",
    fixed="random means, L = 1, W = 25",
    curves=curves_of(RANDOM),
    horizon=HORIZON,
    claims=CLAIMS,
)
