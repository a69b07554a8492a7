"""What varies: the algorithm of both agents."""

from __future__ import annotations

from cobandit.agents import Team
from cobandit.experiments.figures.common import FIXED, HORIZON, aware
from cobandit.experiments.spec import Curve

TITLE = "What partner-awareness is worth: fixed means"
VARIES = "Partner-Aware UCB, naive UCB, naive Thompson"
FIXED_AT = "fixed means, L = 1, W = 25"
ROUNDS = HORIZON
CURVES = (
    Curve("partner-aware-ucb", "Partner-Aware UCB", FIXED, aware()),
    Curve("naive-ucb", "Naive UCB", FIXED, Team.of("naive-ucb")),
    Curve("naive-ts", "Naive Thompson", FIXED, Team.of("naive-ts")),
)
