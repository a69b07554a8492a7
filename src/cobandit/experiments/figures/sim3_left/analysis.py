"""What it must show: more arms cost more, and the regret stays sublinear."""

from __future__ import annotations

from cobandit.experiments.claims import Rises, Sublinear
from cobandit.experiments.figures.sim3_left.sweep import CURVES

CLAIMS = (
    *(Sublinear(curve.name, f"With {curve.label} the regret is sublinear.") for curve in CURVES),
    Rises(tuple(curve.name for curve in CURVES), "The regret rises with the number of arms."),
)
