"""What it must show: the shortest window is the best one."""

from __future__ import annotations

from cobandit.experiments.claims import Beats, Sublinear
from cobandit.experiments.figures.sim0_right.sweep import CURVES

CLAIMS = (
    *(Sublinear(curve.name, f"With {curve.label} the regret is sublinear.") for curve in CURVES),
    Beats(
        "w-1",
        tuple(curve.name for curve in CURVES[1:]),
        "W = 1 ends with less regret than any longer window.",
        note="W = 5 and W = 10 are so close that 4,000 runs do not tell them all apart; after T = 2000 the three tie.",
    ),
)
