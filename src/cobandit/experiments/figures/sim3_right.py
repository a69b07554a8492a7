"""Fig. "sim3 right" (Varying Other Conditions).

What is tried: thirty arms per agent.
What it must show: sublinear regret even with 900 team actions.
"""

from __future__ import annotations

from cobandit.experiments.claims import Sublinear
from cobandit.experiments.figures.common import LONG_HORIZON, SIGHT, aware
from cobandit.experiments.spec import Curve, Panel
from cobandit.problem import Problem

CURVES = (Curve("k-30", "K = 30", Problem.bernoulli("random", SIGHT, arms=(30, 30)), aware()),)

CLAIMS = (Sublinear("k-30", "With K = 30 the regret is sublinear."),)

PANEL = Panel(
    name="sim3-right",
    title="Thirty arms each",
    varies="nothing: K = 30",
    fixed="random means, L = 1, W = 25",
    curves=CURVES,
    horizon=LONG_HORIZON,
    claims=CLAIMS,
)
