"""What is tried: thirty arms per agent."""

from __future__ import annotations

from cobandit.experiments.figures.common import LONG_HORIZON, SIGHT, aware
from cobandit.experiments.spec import Curve
from cobandit.problem import Problem

TITLE = "Thirty arms each"
VARIES = "nothing: K = 30"
FIXED_AT = "random means, L = 1, W = 25"
ROUNDS = LONG_HORIZON
CURVES = (Curve("k-30", "K = 30", Problem.bernoulli("random", SIGHT, arms=(30, 30)), aware()),)
