"""Fig. "other_envs right" (Generalization to Other Bandits).

What varies: the algorithm of both agents.
What it must show: the same as with flipped rewards.
"""

from __future__ import annotations

from cobandit.experiments.figures.common import HORIZON
from cobandit.experiments.figures.other_envs_left import CLAIMS, curves_of
from cobandit.experiments.spec import Panel
from cobandit.problem import Problem

PROBLEM = Problem.gaussian("random", (0.1, 0.5), arms=(2, 2), sd=(0.1, 0.5))

PANEL = Panel(
    name="other-envs-right",
    title="Another bandit: Gaussian rewards",
    varies="Partner-Aware UCB, naive UCB",
    fixed="random means, s_a ~ Unif[.1, .5], sigma = (.1, .5), L = 1, W = 25",
    curves=curves_of(PROBLEM),
    horizon=HORIZON,
    claims=CLAIMS,
)
