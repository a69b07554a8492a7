"""What it must show: linear regret for every window, the longest one being the best."""

from __future__ import annotations

from cobandit.experiments.claims import Beats, Linear
from cobandit.experiments.figures.apx1.sweep import CURVES

CLAIMS = (
    *(
        Linear(
            curve.name,
            f"With {curve.label} the regret is linear.",
            note="At T = 2000 the first exploration still weighs and the growth is about 1.7; at T = 10,000 it is 1.9.",
        )
        for curve in CURVES
    ),
    Beats(
        "w-25",
        ("w-1", "w-5"),
        "W = 25 ends with less regret than the shorter windows.",
        note="Not seen at 2,000 runs; at 100 runs the standard error alone is about 12.",
    ),
)
