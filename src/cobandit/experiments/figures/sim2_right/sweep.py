"""What varies: how much the follower sees."""

from __future__ import annotations

from cobandit.experiments.figures.common import HORIZON, aware
from cobandit.experiments.spec import Curve
from cobandit.problem import Problem
from cobandit.problem.means import local_optima

TITLE = "How much the follower sees"
VARIES = "p_2 in {0.2, 0.5, 0.8}"
FIXED_AT = "fixed means, L = 1, W = 25, p_1 = 1"
ROUNDS = HORIZON
CURVES = tuple(
    Curve(f"p-{sight}", f"$p_2$ = {sight}", Problem.bernoulli(local_optima(2), (1.0, sight)), aware())
    for sight in (0.2, 0.5, 0.8)
)
