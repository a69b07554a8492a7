"""What is tried: the very setting of the theorem (L = 2, W = 1, c = 2), in three problems with a standoff.

The leader stays in a row for the sake of an action that the follower has seen enough of (docs/discussion/theorem-1.md).
"""

from __future__ import annotations

from cobandit.experiments.figures.common import aware
from cobandit.experiments.spec import Curve
from cobandit.problem import Problem

COLUMNS = 31
"""Actions of a row: one good one, and thirty that give the leader something to hope for."""

MEANS = [[1.0] + [0.0] * (COLUMNS - 1), [0.95] + [0.4] * (COLUMNS - 1)]
TEAM = aware(1, 2, exploration=2.0)

TITLE = "A standoff: Theorem 1 fails"
VARIES = "who sees how well"
FIXED_AT = "L = 2, W = 1, c = 2"
ROUNDS = 1_000_000
LONG_ROUNDS = 100_000_000
"""So many rounds it takes until the bound of the theorem itself is passed."""

CURVES = (
    Curve(
        "footnote",
        "the worse observer leads: 2 x 2, p = (1, .5)",
        Problem.bernoulli([[1.0, 0.67], [0.75, 0.0]], [1.0, 0.5], roles=(1, 0)),
        TEAM,
    ),
    Curve("equal-sight", "both see alike: 2 x 31, p = (.5, .5)", Problem.bernoulli(MEANS, [0.5, 0.5]), TEAM),
    Curve(
        "better-leader", "the better observer leads: 2 x 31, p = (.52, .5)", Problem.bernoulli(MEANS, [0.52, 0.5]), TEAM
    ),
)
