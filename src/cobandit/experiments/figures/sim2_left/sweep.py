"""What varies: how much the leader sees."""

from __future__ import annotations

from cobandit.experiments.figures.common import HORIZON, aware
from cobandit.experiments.spec import Curve
from cobandit.problem import Problem
from cobandit.problem.means import local_optima

TITLE = "How much the leader sees"
VARIES = "p_1 in {0.6, 0.8, 1.0}"
FIXED_AT = "fixed means, L = 1, W = 25, p_2 = .5"
ROUNDS = HORIZON
CURVES = tuple(
    Curve(f"p-{sight}", f"$p_1$ = {sight}", Problem.bernoulli(local_optima(2), (sight, 0.5)), aware())
    for sight in (0.6, 0.8, 1.0)
)
