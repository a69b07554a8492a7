"""What varies: L, for how many rounds the leader keeps an arm."""

from __future__ import annotations

from cobandit.experiments.figures.common import FIXED, HORIZON, aware
from cobandit.experiments.spec import Curve

TITLE = "How long the leader keeps an arm (L)"
VARIES = "L in {1, 2, 3, 4}"
FIXED_AT = "fixed means, W = 1"
ROUNDS = HORIZON
CURVES = tuple(Curve(f"l-{repeat}", f"L = {repeat}", FIXED, aware(window=1, repeat=repeat)) for repeat in (1, 2, 3, 4))
