"""What it must show: sublinear regret whatever is seen."""

from __future__ import annotations

from cobandit.experiments.claims import Sublinear
from cobandit.experiments.figures.sim2_right.sweep import CURVES

CLAIMS = tuple(Sublinear(curve.name, f"With p_2 = {curve.name[2:]} the regret is sublinear.") for curve in CURVES)
