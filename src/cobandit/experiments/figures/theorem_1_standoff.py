"""Thm 1 where it fails: a standoff holds the team in a row that is not the best (not a figure of the paper).

What is tried: the very setting of the theorem (L = 2, W = 1, c = 2), in three problems with a standoff.
The leader stays in a row for the sake of an action that the follower has seen enough of (docs/discussion/theorem-1.md).
What it must show: the regret grows with the rounds, and passes the bounds.
"""

from __future__ import annotations

from cobandit.experiments.claims import AgainstBound, Linear
from cobandit.experiments.figures.common import aware
from cobandit.experiments.spec import Curve, Panel
from cobandit.problem import Problem

COLUMNS = 31
"""Actions of a row: one good one, and thirty that give the leader something to hope for."""

MEANS = [[1.0] + [0.0] * (COLUMNS - 1), [0.95] + [0.4] * (COLUMNS - 1)]
TEAM = aware(1, 2, exploration=2.0)

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

_LATER = (
    "Bounds are loose: in a million rounds the regret still lies far below this one, and its growth is on the way from "
    "1.5 to 2. A hundred million (--horizon long) decide it."
)
_LATEST = f"{_LATER} Here three hundred million were needed."

CLAIMS = (
    Linear("footnote", "Where the worse observer leads, the regret grows in proportion to the rounds."),
    AgainstBound(
        "footnote", "above", "unknown", "Where the worse observer leads, the regret passes the footnote's bound."
    ),
    Linear("equal-sight", "Where both see alike, the regret grows in proportion to the rounds.", _LATER),
    AgainstBound(
        "equal-sight", "above", "proved", "Where both see alike, the regret passes the bound of the theorem.", _LATER
    ),
    Linear("better-leader", "Where the better observer leads, too, it grows in proportion to the rounds.", _LATEST),
    AgainstBound(
        "better-leader", "above", "proved", "Where the better observer leads, too, it passes the bound.", _LATEST
    ),
)

PANEL = Panel(
    name="theorem-1-standoff",
    title="A standoff: Theorem 1 fails",
    varies="who sees how well",
    fixed="L = 2, W = 1, c = 2",
    curves=CURVES,
    horizon=1_000_000,
    claims=CLAIMS,
    long_horizon=100_000_000,  # the regret passes the theorem's own bound only after so many rounds
)
