"""What curiosity costs and gains: followers that explore more, or less, than their leader (not a figure of the paper).

What varies: c_F / c_L from 1/2 to 8, on settings of the paper with its c = .025: fixed and random 2 x 2 means, 30 x 30
arms, and teams of 3 and 4 agents, of which all but the first follow.
What it must show: in 2 x 2 a less curious follower is worse than a more curious one; with 900 team actions and with
four agents curiosity costs more than it gains.
"""

from __future__ import annotations

from cobandit.experiments.claims import Beats, Claim
from cobandit.experiments.figures.common import FIXED, HORIZON, LONG_HORIZON, RANDOM, SIGHT, aware
from cobandit.experiments.spec import Curve, Panel
from cobandit.problem import Problem
from cobandit.problem.means import two_corners

RATIOS = (0.5, 1.0, 2.0, 4.0, 8.0)
EXPLORATION = 0.025
"""c_L, as in the paper's simulations; no theorem is about so small a constant."""

_TAILS = "Tails are heavy: 4,000 runs and more (--runs 4000) decide it."


def _corners(agents: int) -> Problem:
    return Problem.bernoulli(two_corners(agents), [(i + 1) / agents for i in range(agents)])


SETTINGS = {
    "curiosity-fixed": ("fixed 2 x 2 means", FIXED, HORIZON),
    "curiosity-random": ("random 2 x 2 means", RANDOM, HORIZON),
    "curiosity-30": ("random 30 x 30 means", Problem.bernoulli("random", SIGHT, arms=(30, 30)), LONG_HORIZON),
    "curiosity-n-3": ("3 agents, two local optima", _corners(3), HORIZON),
    "curiosity-n-4": ("4 agents, two local optima", _corners(4), HORIZON),
}

CURIOSITY = tuple(SETTINGS)
"""The names of these panels."""


def _claims(name: str, words: str) -> tuple[Claim, ...]:
    if name in ("curiosity-fixed", "curiosity-random"):
        return (
            Beats("ratio-2", ("ratio-0.5",), "A follower twice as curious as its leader beats one half as curious."),
            Beats("ratio-2", ("ratio-1",), "A follower twice as curious as its leader beats an equal one.", _TAILS),
        )
    if name == "curiosity-n-3":
        text = "With 3 agents, equal constants beat 4 and 8 times."
        return (Beats("ratio-1", ("ratio-4", "ratio-8"), text, _TAILS),)
    costs = f"With {words}, curiosity costs more than it gains: equal constants beat 2, 4 and 8 times."
    return (Beats("ratio-1", ("ratio-2", "ratio-4", "ratio-8"), costs, _TAILS),)


def curiosity_panel(name: str) -> Panel:
    """Return the panel of one setting."""
    words, problem, horizon = SETTINGS[name]
    return Panel(
        name=name,
        title=f"What curiosity costs and gains: {words}",
        varies="c_F / c_L in {1/2, 1, 2, 4, 8}",
        fixed=f"c_L = {EXPLORATION:g}, L = 1, W = 25",
        curves=tuple(
            Curve(
                f"ratio-{ratio:g}",
                f"c_F = {ratio:g} c_L",
                problem,
                aware(exploration=EXPLORATION, follower_exploration=ratio * EXPLORATION),
            )
            for ratio in RATIOS
        ),
        horizon=horizon,
        claims=_claims(name, words),
    )
