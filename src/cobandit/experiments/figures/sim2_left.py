"""Fig. "sim2 left" (Varying Other Conditions).

What varies: the observability of the leader. What it must show: sublinear regret for every observability.
"""

from __future__ import annotations

from cobandit.experiments.claims import Sublinear
from cobandit.experiments.figures.common import HORIZON, aware
from cobandit.experiments.spec import Curve, Panel
from cobandit.problem import Problem
from cobandit.problem.means import local_optima

CURVES = tuple(
    Curve(f"p-{sight}", f"$p_1$ = {sight}", Problem.bernoulli(local_optima(2), (sight, 0.5)), aware())
    for sight in (0.6, 0.8, 1.0)
)

CLAIMS = tuple(Sublinear(curve.name, f"With p_1 = {curve.name[2:]} the regret is sublinear.") for curve in CURVES)

PANEL = Panel(
    name="sim2-left",
    title="How much the leader sees",
    varies="p_1 in {0.6, 0.8, 1.0}",
    fixed="fixed means, L = 1, W = 25, p_2 = .5",
    curves=CURVES,
    horizon=HORIZON,
    claims=CLAIMS,
)
