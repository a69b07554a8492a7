"""What varies: the algorithm of both agents."""

from __future__ import annotations

from cobandit.agents import Team
from cobandit.experiments.figures.common import HORIZON, SIGHT, aware
from cobandit.experiments.spec import Curve
from cobandit.problem import Problem

TITLE = "Another bandit: flipped rewards"
VARIES = "Partner-Aware UCB, naive UCB"
FIXED_AT = "random means, q = (0, .5), L = 1, W = 25"
ROUNDS = HORIZON
PROBLEM = Problem.bernoulli("random", SIGHT, arms=(2, 2), observation="flipped")
CURVES = (
    Curve("partner-aware-ucb", "Partner-Aware UCB", PROBLEM, aware()),
    Curve("naive-ucb", "Naive UCB", PROBLEM, Team.of("naive-ucb")),
)
