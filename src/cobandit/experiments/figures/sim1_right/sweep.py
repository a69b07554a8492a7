"""What varies: the algorithm of both agents."""

from __future__ import annotations

from cobandit.agents import Team
from cobandit.experiments.figures.common import HORIZON, RANDOM, aware
from cobandit.experiments.spec import Curve

TITLE = "What partner-awareness is worth: random means"
VARIES = "Partner-Aware UCB, naive UCB, naive Thompson"
FIXED_AT = "random means, L = 1, W = 25"
ROUNDS = HORIZON
CURVES = (
    Curve("partner-aware-ucb", "Partner-Aware UCB", RANDOM, aware()),
    Curve("naive-ucb", "Naive UCB", RANDOM, Team.of("naive-ucb")),
    Curve("naive-ts", "Naive Thompson", RANDOM, Team.of("naive-ts")),
)
