"""What it must show: naive teams lose at a constant rate, the partner-aware one does not."""

from __future__ import annotations

from cobandit.experiments.claims import Beats, Linear, Sublinear
from cobandit.experiments.figures.common import LOCKED_ON

CLAIMS = (
    Sublinear("partner-aware-ucb", "The regret of Partner-Aware UCB is sublinear.", note=LOCKED_ON),
    Linear("naive-ucb", "The regret of naive UCB is linear."),
    Linear(
        "naive-ts",
        "The regret of naive Thompson sampling is linear.",
        note="It is nearly so: its growth is about 1.7 at 2,000 rounds and 1.8 at 10,000, and keeps rising slowly.",
    ),
    Beats(
        "partner-aware-ucb", ("naive-ucb", "naive-ts"), "Partner-Aware UCB ends with less regret than both naive teams."
    ),
)
