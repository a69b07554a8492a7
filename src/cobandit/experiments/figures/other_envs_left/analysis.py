"""What it must show: partner-awareness pays here too."""

from __future__ import annotations

from cobandit.experiments.claims import Beats, Sublinear

CLAIMS = (
    Sublinear("partner-aware-ucb", "The regret of Partner-Aware UCB is sublinear."),
    Beats("partner-aware-ucb", ("naive-ucb",), "Partner-Aware UCB ends with less regret than naive UCB."),
)
