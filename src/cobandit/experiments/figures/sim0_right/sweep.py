"""What varies: W, the window the follower predicts from."""

from __future__ import annotations

from cobandit.experiments.figures.common import FIXED, HORIZON, aware
from cobandit.experiments.spec import Curve

TITLE = "How far the follower looks back (W)"
VARIES = "W in {1, 5, 10, 25, 50, 100}"
FIXED_AT = "fixed means, L = 1"
ROUNDS = HORIZON
CURVES = tuple(Curve(f"w-{window}", f"W = {window}", FIXED, aware(window)) for window in (1, 5, 10, 25, 50, 100))
