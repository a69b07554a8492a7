"""What it must show: ignoring the partner costs more in the long run."""

from __future__ import annotations

from cobandit.experiments.claims import Beats

CLAIMS = (
    Beats(
        "partner-aware-ucb",
        ("very-naive-ucb",),
        "Partner-Aware UCB ends with less regret than very naive UCB.",
        note="This is about the mean. The median of very naive UCB is lower: right more often, far off when wrong.",
    ),
)
