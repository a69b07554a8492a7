"""Theorem 1 compared with measurements (not a figure of the paper).

What is tried: the setting of the theorem, with its bounds. What it must show: the measured regret stays below the
proved bound.
"""

from __future__ import annotations

from cobandit.experiments.claims import AgainstBound
from cobandit.experiments.figures.common import FIXED, HORIZON, aware
from cobandit.experiments.spec import Curve, Panel

CURVES = (Curve("measured", "Partner-Aware UCB, L = 2, W = 1, c = 2", FIXED, aware(1, 2, exploration=2.0)),)

CLAIMS = (
    AgainstBound(
        "measured",
        "below",
        "proved",
        "The measured regret stays below the bound as proved.",
        shown=("printed", "safe", "linear"),
    ),
)

PANEL = Panel(
    name="theorem-1",
    title="Theory and practice",
    varies="nothing: L = 2, W = 1, c = 2",
    fixed="fixed means",
    curves=CURVES,
    horizon=HORIZON,
    claims=CLAIMS,
)
