"""What is tried: the very setting of the theorem, beside its bounds."""

from __future__ import annotations

from cobandit.experiments.figures.common import FIXED, HORIZON, aware
from cobandit.experiments.spec import Curve

TITLE = "Theory beside practice"
VARIES = "nothing: L = 2, W = 1, c = 2"
FIXED_AT = "fixed means"
ROUNDS = HORIZON
CURVES = (Curve("measured", "Partner-Aware UCB, L = 2, W = 1, c = 2", FIXED, aware(1, 2, exploration=2.0)),)
