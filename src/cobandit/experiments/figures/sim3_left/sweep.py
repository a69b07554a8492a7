"""What varies: the number of arms of each agent."""

from __future__ import annotations

from cobandit.experiments.figures.common import HORIZON, SIGHT, aware
from cobandit.experiments.spec import Curve
from cobandit.problem import Problem
from cobandit.problem.means import local_optima

TITLE = "More arms"
VARIES = "arms per agent K in {2, 3, 4}"
FIXED_AT = "K local optima, L = 1, W = 25"
ROUNDS = HORIZON
CURVES = tuple(
    Curve(f"k-{arms}", f"K = {arms}", Problem.bernoulli(local_optima(arms), SIGHT), aware()) for arms in (2, 3, 4)
)
