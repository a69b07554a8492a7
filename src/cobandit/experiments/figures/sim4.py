"""Fig. "sim4" (Generalization to More Agents).

What varies: the number of agents.
What it must show: the recursion keeps the regret sublinear.
"""

from __future__ import annotations

from cobandit.experiments.claims import Sublinear
from cobandit.experiments.figures.common import HORIZON, aware
from cobandit.experiments.spec import Curve, Panel
from cobandit.problem import Problem
from cobandit.problem.means import two_corners

CURVES = tuple(
    Curve(
        f"n-{agents}",
        f"N = {agents}",
        Problem.bernoulli(two_corners(agents), [(i + 1) / agents for i in range(agents)]),
        aware(),
    )
    for agents in (2, 3, 4)
)

CLAIMS = tuple(Sublinear(curve.name, f"With {curve.label} agents the regret is sublinear.") for curve in CURVES)

PANEL = Panel(
    name="sim4",
    title="More agents",
    varies="N in {2, 3, 4}",
    fixed="2 arms each, two local optima, p_i = i/N, L = 1, W = 25",
    curves=CURVES,
    horizon=HORIZON,
    claims=CLAIMS,
)
