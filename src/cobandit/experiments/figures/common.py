"""What most panels share: the default setting of the simulations (Simulations, first paragraph)."""

from __future__ import annotations

from typing import Any

from cobandit.agents import Team
from cobandit.problem import Problem
from cobandit.problem.means import local_optima

HORIZON = 2_000
LONG_HORIZON = 10_000
SIGHT = (1.0, 0.5)
FIXED = Problem.bernoulli(local_optima(2), SIGHT)
RANDOM = Problem.bernoulli("random", SIGHT, arms=(2, 2))


LOCKED_ON = (
    "With the paper's index about 3 runs in 100 lock onto a wrong cell and carry nearly all late regret: "
    "at T = 10,000 the growth is 1.5 to 1.8, which is doubtful; with the companion's it is 1.2 to 1.5."
)
"""Why a growth well below 2 at T = 2000 is not the last word."""


def aware(window: int = 25, repeat: int = 1, **options: Any) -> Team:
    """Partner-Aware UCB with W and L."""
    return Team.of("partner-aware-ucb", window=window, repeat=repeat, **options)
