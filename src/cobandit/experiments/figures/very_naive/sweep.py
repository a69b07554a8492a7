"""What varies: the algorithm of both agents."""

from __future__ import annotations

from cobandit.agents import Team
from cobandit.experiments.figures.common import LONG_HORIZON, RANDOM, aware
from cobandit.experiments.spec import Curve

TITLE = "Blind to the partner"
VARIES = "Partner-Aware UCB, very naive UCB"
FIXED_AT = "random means, L = 1, W = 25"
ROUNDS = LONG_HORIZON
CURVES = (
    Curve("partner-aware-ucb", "Partner-Aware UCB", RANDOM, aware()),
    Curve("very-naive-ucb", "Very naive UCB", RANDOM, Team.of("very-naive-ucb")),
)
