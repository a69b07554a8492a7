"""What it must show: the measured regret stays below the proved bound."""

from __future__ import annotations

from cobandit.experiments.claims import AgainstBound

CLAIMS = (
    AgainstBound(
        "measured",
        "below",
        "proved",
        "The measured regret stays below the bound as proved.",
        shown=("printed", "safe", "linear"),
    ),
)
