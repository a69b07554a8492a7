"""Fig. "sim0 right" (Validation of Theoretical Results).

What varies: W, the window the follower predicts from.
What it must show: the shortest window is the best one.
"""

from __future__ import annotations

from cobandit.experiments.claims import Beats, Claim, Sublinear
from cobandit.experiments.figures.common import FIXED, HORIZON, aware
from cobandit.experiments.spec import Curve, Panel

CURVES = tuple(Curve(f"w-{window}", f"W = {window}", FIXED, aware(window)) for window in (1, 5, 10, 25, 50, 100))

CLAIMS: tuple[Claim, ...] = (
    *(Sublinear(curve.name, f"With {curve.label} the regret is sublinear.") for curve in CURVES),
    Beats(
        "w-1",
        tuple(curve.name for curve in CURVES[1:]),
        "W = 1 ends with less regret than any longer window.",
        note="W = 5 and W = 10 are so close that 4,000 runs do not tell them all apart; after T = 2000 the three tie.",
    ),
)

PANEL = Panel(
    name="sim0-right",
    title="How far the follower looks back (W)",
    varies="W in {1, 5, 10, 25, 50, 100}",
    fixed="fixed means, L = 1",
    curves=CURVES,
    horizon=HORIZON,
    claims=CLAIMS,
)
