"""Thm 1 where it fails, and the two corrections (not a figure of the paper).

The setting is exactly that of the theorem (L = 2, W = 1, c = 2) in three problems with standoffs, in which the
leader stays in a row for an action that the follower no longer plays; in addition a follower that explores enough
(Theorem A) and a leader that heeds refusals (Theorem B; docs/discussion/theorem-1.md).
What it must show: the printed regret grows almost as the rounds; the corrected teams lose less and grow slowly.
"""

from __future__ import annotations

from cobandit.experiments.claims import AgainstBound, Beats, Claim, Linear, Sublinear
from cobandit.experiments.figures.common import aware
from cobandit.experiments.spec import Curve, Panel
from cobandit.problem import Problem
from cobandit.theory import curious_constants

COLUMNS = 31
"""Actions of a row: one good one, and thirty that give the leader something to hope for."""

MEANS = [[1.0] + [0.0] * (COLUMNS - 1), [0.95] + [0.4] * (COLUMNS - 1)]

PROBLEMS = {
    "footnote": (
        "the worse observer leads: 2 x 2, p = (1, .5)",
        Problem.bernoulli([[1.0, 0.67], [0.75, 0.0]], [1.0, 0.5], roles=(1, 0)),
    ),
    "equal-sight": ("both see alike: 2 x 31, p = (.5, .5)", Problem.bernoulli(MEANS, [0.5, 0.5])),
    "better-leader": ("the better observer leads: 2 x 31, p = (.52, .5)", Problem.bernoulli(MEANS, [0.52, 0.5])),
}

PRINTED = aware(1, 2, exploration=2.0)
HEEDING = aware(1, 2, exploration=2.0, heed=True)


def _curves(name: str) -> tuple[Curve, ...]:
    """Return the printed, the curious and the heeding team on one problem."""
    label, problem = PROBLEMS[name]
    sees = problem.observation.levels
    leader = problem.known_ranks().index(0)
    constants = curious_constants(sees[leader], sees[1 - leader])
    curious = aware(1, 2, exploration=constants.leader, follower_exploration=constants.follower)
    return (
        Curve(name, label, problem, PRINTED),
        Curve(f"{name}-curious", f"{label}; curious follower, c_F = {constants.follower:.3g}", problem, curious),
        Curve(f"{name}-heeding", f"{label}; heeding leader", problem, HEEDING),
    )


_LATER = (
    "Bounds are loose: up to ten million rounds the regret lies below this one. A hundred million "
    "(--horizon 100000000) decide it."
)
_LATEST = f"{_LATER} Here three hundred million were needed."


_PRICE = (
    "Curiosity has its price first: with 61 wrong actions the curious team has lost more than the printed one after "
    "200,000 rounds, and less from 1,000,000 rounds on."
)


def _corrected(name: str, words: str) -> tuple[Claim, ...]:
    """Return what the corrected teams must show on one problem."""
    price = "" if name == "footnote" else _PRICE
    curious, heeding = f"{name}-curious", f"{name}-heeding"
    return (
        Sublinear(curious, f"{words}, a curious follower makes the regret sublinear."),
        Sublinear(heeding, f"{words}, a heeding leader makes the regret sublinear."),
        Beats(curious, (name,), f"{words}, the curious follower's team loses less than the printed one.", price),
        Beats(heeding, (name,), f"{words}, the heeding leader's team loses less than the printed one."),
    )


CLAIMS: tuple[Claim, ...] = (
    Linear("footnote", "Where the worse observer leads, the regret grows in proportion to the rounds."),
    AgainstBound(
        "footnote", "above", "unknown", "Where the worse observer leads, the regret passes the footnote's bound."
    ),
    *_corrected("footnote", "Where the worse observer leads"),
    AgainstBound(
        "equal-sight", "above", "proved", "Where both see alike, the regret passes the bound of the theorem.", _LATER
    ),
    *_corrected("equal-sight", "Where both see alike"),
    AgainstBound(
        "better-leader", "above", "proved", "Where the better observer leads, too, it passes the bound.", _LATEST
    ),
    *_corrected("better-leader", "Where the better observer leads"),
)

PANEL = Panel(
    name="theorem-1-standoff",
    title="A standoff: Theorem 1 fails, and two corrections",
    varies="who sees how well, and the team",
    fixed="L = 2, W = 1, c = 2 (curious: 1/2 and c_F)",
    curves=tuple(curve for name in PROBLEMS for curve in _curves(name)),
    horizon=200_000,
    claims=CLAIMS,
    long_horizon=10_000_000,
)
