"""What varies: the number of agents."""

from __future__ import annotations

from cobandit.experiments.figures.common import HORIZON, aware
from cobandit.experiments.spec import Curve
from cobandit.problem import Problem
from cobandit.problem.means import two_corners

TITLE = "More agents"
VARIES = "N in {2, 3, 4}"
FIXED_AT = "2 arms each, two local optima, p_i = i/N, L = 1, W = 25"
ROUNDS = HORIZON
CURVES = tuple(
    Curve(
        f"n-{agents}",
        f"N = {agents}",
        Problem.bernoulli(two_corners(agents), [(i + 1) / agents for i in range(agents)]),
        aware(),
    )
    for agents in (2, 3, 4)
)
