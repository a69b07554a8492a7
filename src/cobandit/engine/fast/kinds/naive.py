"""Naive UCB and naive Thompson, compiled (`agents.naive`)."""

from __future__ import annotations

from typing import Any

from cobandit.agents.naive import NaiveTS, NaiveUCB
from cobandit.engine.fast.kinds.thompson import thompson
from cobandit.engine.fast.kinds.ucb_search import quickest_ucb
from cobandit.engine.fast.players import Seat


def naive_ucb(agent: NaiveUCB, seat: Seat) -> Any:
    """Return the index over all team actions."""
    return quickest_ucb(agent, seat)


def naive_ts(agent: NaiveTS, seat: Seat) -> Any:
    """Posterior draws over all team actions."""
    return thompson(agent, seat)
