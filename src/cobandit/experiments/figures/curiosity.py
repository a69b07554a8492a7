"""What curiosity costs and gains: followers that explore more, or less, than their leader (not a figure of the paper).

What varies: c_F / c_L from 1/2 to 8, on settings of the paper with its c = .025: fixed and random 2 x 2 means, 30 x 30
arms, and teams of 3 and 4 agents, of which all but the first follow. Teams of two are also played with a leader that
heeds refusals, which the agent itself refuses for so small a constant; larger teams with a constant that doubles from
rank to rank.
What it must show: in 2 x 2 a less curious follower is worse than a more curious one; with 900 team actions and with
four agents curiosity costs more than it gains; heeding hurts at c = .025.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cobandit.agents import Team
from cobandit.agents.partner_aware_ucb import PartnerAwareUCB
from cobandit.experiments.claims import Beats, Claim
from cobandit.experiments.figures.common import FIXED, HORIZON, LONG_HORIZON, RANDOM, SIGHT, aware
from cobandit.experiments.spec import Curve, Panel
from cobandit.problem import Problem
from cobandit.problem.means import two_corners

RATIOS = (0.5, 1.0, 2.0, 4.0, 8.0)
EXPLORATION = 0.025
"""c_L, as in the paper's simulations; no theorem is about so small a constant."""

FORCED_THRESHOLD = 9.0
"""Theta of Theorem B for c = 2, which has no value for c = .025."""

RUNS = 4_000
"""Tails are heavy: it takes 4,000 runs to decide every claim about few team actions, and 100 for 30 x 30."""

_TAILS = "Tails are heavy: a hundred runs do not decide it."
_HELPS = "With random 2 x 2 means heeding helps on average; with fixed means and with 30 x 30 arms it hurts."


@dataclass
class ForcedHeedingUCB(PartnerAwareUCB):
    """Partner-Aware UCB whose leader heeds refusals with theta = 9, also where Theorem B has no theta (c <= 1/2)."""

    name: ClassVar[str] = "forced-heeding-ucb"
    label: ClassVar[str] = "Partner-Aware UCB, forced to heed"
    compiled: ClassVar[str] = PartnerAwareUCB.compiled

    def refusal_threshold(self) -> float:
        """Return theta = 9 for every exploration constant."""
        return FORCED_THRESHOLD


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
    hurts = f"With {words}, heeding hurts at c = .025: the printed leader beats it."
    heeding = Beats("ratio-1", ("heeding",), hurts, _HELPS if name == "curiosity-random" else "")
    if name in ("curiosity-fixed", "curiosity-random"):
        return (
            Beats("ratio-2", ("ratio-0.5",), "A follower twice as curious as its leader beats one half as curious."),
            Beats("ratio-2", ("ratio-1",), "A follower twice as curious as its leader beats an equal one.", _TAILS),
            heeding,
        )
    if name == "curiosity-n-3":
        text = "With 3 agents, equal constants beat 4 and 8 times."
        return (Beats("ratio-1", ("ratio-4", "ratio-8"), text, _TAILS),)
    costs = f"With {words}, curiosity costs more than it gains: equal constants beat 2, 4 and 8 times."
    beaten = Beats("ratio-1", ("ratio-2", "ratio-4", "ratio-8"), costs, _TAILS)
    if name == "curiosity-30":
        return (beaten, heeding)
    text = "With 4 agents, equal constants beat a constant that doubles from rank to rank."
    return (beaten, Beats("ratio-1", ("by-rank",), text, _TAILS))


def _last_curve(problem: Problem) -> Curve:
    """Return the curve that is not a ratio: a heeding leader, or for more agents a constant that doubles by rank."""
    if problem.agents == 2:
        heeding = Team.of(ForcedHeedingUCB(exploration=EXPLORATION, heed=True))
        return Curve("heeding", f"c_F = c_L, heeding with theta = {FORCED_THRESHOLD:g}", problem, heeding)
    members = [PartnerAwareUCB(exploration=EXPLORATION * 2**rank) for rank in problem.known_ranks()]
    return Curve("by-rank", "c_L, 2 c_L, 4 c_L, ... by rank", problem, Team(members))


def curiosity_panel(name: str) -> Panel:
    """Return the panel of one setting."""
    words, problem, horizon = SETTINGS[name]
    return Panel(
        name=name,
        title=f"What curiosity costs and gains: {words}",
        varies="c_F / c_L in {1/2, 1, 2, 4, 8}",
        fixed=f"c_L = {EXPLORATION:g}, L = 1, W = 25",
        curves=(
            *(
                Curve(
                    f"ratio-{ratio:g}",
                    f"c_F = {ratio:g} c_L",
                    problem,
                    aware(exploration=EXPLORATION, follower_exploration=ratio * EXPLORATION),
                )
                for ratio in RATIOS
            ),
            _last_curve(problem),
        ),
        horizon=horizon,
        claims=_claims(name, words),
        runs=None if name == "curiosity-30" else RUNS,
    )
