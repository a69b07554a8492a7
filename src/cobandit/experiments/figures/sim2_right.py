"""Fig. "sim2 right" (Varying Other Conditions).

What varies: the observability of the follower. What it must show: sublinear regret for every observability.
"""

from __future__ import annotations

from cobandit.experiments.claims import Sublinear
from cobandit.experiments.figures.common import HORIZON, aware
from cobandit.experiments.spec import Curve, Panel
from cobandit.problem import Problem
from cobandit.problem.means import local_optima

CURVES = tuple(
    Curve(f"p-{sight}", f"$p_2$ = {sight}", Problem.bernoulli(local_optima(2), (1.0, sight)), aware())
    for sight in (0.2, 0.5, 0.8)
)

CLAIMS = tuple(Sublinear(curve.name, f"With p_2 = {curve.name[2:]} the regret is sublinear.") for curve in CURVES)

PANEL = Panel(
    name="sim2-right",
    title="How much the follower sees",
    varies="p_2 in {0.2, 0.5, 0.8}",
    fixed="fixed means, L = 1, W = 25, p_1 = 1",
    curves=CURVES,
    horizon=HORIZON,
    claims=CLAIMS,
)
