"""Fig. "sim3 left" (Varying Other Conditions).

What varies: the number of arms of each agent.
What it must show: more arms cost more, and the regret stays sublinear.
"""

from __future__ import annotations

from cobandit.experiments.claims import Claim, Rises, Sublinear
from cobandit.experiments.figures.common import HORIZON, SIGHT, aware
from cobandit.experiments.spec import Curve, Panel
from cobandit.problem import Problem
from cobandit.problem.means import local_optima

CURVES = tuple(
    Curve(f"k-{arms}", f"K = {arms}", Problem.bernoulli(local_optima(arms), SIGHT), aware()) for arms in (2, 3, 4)
)

CLAIMS: tuple[Claim, ...] = (
    *(Sublinear(curve.name, f"With {curve.label} the regret is sublinear.") for curve in CURVES),
    Rises(tuple(curve.name for curve in CURVES), "The regret rises with the number of arms."),
)

PANEL = Panel(
    name="sim3-left",
    title="More arms",
    varies="arms per agent K in {2, 3, 4}",
    fixed="K local optima, L = 1, W = 25",
    curves=CURVES,
    horizon=HORIZON,
    claims=CLAIMS,
)
