"""Every agent of Markov problems with its options: contracts, both engines and the one-state case take theirs here."""

from __future__ import annotations

import itertools

from cobandit.agents.beliefs import LINES

OPTIMISTIC: list[dict] = [
    {"index": index, "ties": ties} for index, ties in itertools.product(LINES, ("first", "random"))
]

OPTIONS: dict[str, list[dict]] = {
    "partner-aware-ucbvi": [
        *(row | {"window": window, "repeat": repeat} for row in OPTIMISTIC for window, repeat in ((1, 1), (4, 3))),
        {"window": 25, "follower_exploration": 0.2},
        {"prediction": "bank"},
        {"staleness": 1.0},
        {"restart": 4, "window": 3},
        {"restart": 4, "staleness": 0.5, "prediction": "bank", "index": "anytime"},
    ],
    "joint-max-ucbvi": [{}, {"index": "paper", "window": 3}],
    "steered-ucbvi": [{}, {"patience": 0.0, "stay": 2}],
    "naive-ucbvi": OPTIMISTIC,
    "naive-psrl": [{}, {"ties": "random", "move_prior": 4.0}],
    "very-naive-ucbvi": OPTIMISTIC,
    "centralised-ucbvi": [*OPTIMISTIC, {"eyes": "best"}],
    "centralised-psrl": [{}, {"eyes": "best"}],
    "optimal": [{}],
}

CASES = [(name, options) for name, rows in OPTIONS.items() for options in rows]

BANDIT = {
    "partner-aware-ucbvi": "partner-aware-ucb",
    "joint-max-ucbvi": "partner-aware-ucb",
    "steered-ucbvi": "steered",
    "naive-ucbvi": "naive-ucb",
    "naive-psrl": "naive-ts",
    "very-naive-ucbvi": "very-naive-ucb",
    "centralised-ucbvi": "centralised-ucb",
    "centralised-psrl": "centralised-ts",
    "optimal": "optimal",
}
"""The same algorithm in the bandit."""
