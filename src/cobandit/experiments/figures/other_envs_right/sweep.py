"""What varies: the algorithm of both agents."""

from __future__ import annotations

from cobandit.agents import Team
from cobandit.experiments.figures.common import HORIZON, aware
from cobandit.experiments.spec import Curve
from cobandit.problem import Problem

TITLE = "Another bandit: Gaussian rewards"
VARIES = "Partner-Aware UCB, naive UCB"
FIXED_AT = "random means, s_a ~ Unif[.1, .5], sigma = (.1, .5), L = 1, W = 25"
ROUNDS = HORIZON
PROBLEM = Problem.gaussian("random", (0.1, 0.5), arms=(2, 2), sd=(0.1, 0.5))
CURVES = (
    Curve("partner-aware-ucb", "Partner-Aware UCB", PROBLEM, aware()),
    Curve("naive-ucb", "Naive UCB", PROBLEM, Team.of("naive-ucb")),
)
