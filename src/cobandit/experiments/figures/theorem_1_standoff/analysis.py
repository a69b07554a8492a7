"""What it must show: the regret grows with the rounds, and passes the bounds."""

from __future__ import annotations

from cobandit.experiments.claims import AgainstBound, Linear

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
