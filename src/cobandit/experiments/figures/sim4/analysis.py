"""What it must show: the recursion keeps the regret sublinear."""

from __future__ import annotations

from cobandit.experiments.claims import Sublinear
from cobandit.experiments.figures.sim4.sweep import CURVES

CLAIMS = tuple(Sublinear(curve.name, f"With {curve.label} agents the regret is sublinear.") for curve in CURVES)
