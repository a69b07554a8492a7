"""Every registered agent with the options that tests play it with: an agent that is added here is tested everywhere.

Contracts, equivalence of the engines, plain loops and partners all take their cases from this table.
"""

from __future__ import annotations

from typing import Any

from cobandit import AGENTS, Agent

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "partner-aware-ucb": [
        {},
        {"window": 1, "repeat": 2},
        {"window": 7, "repeat": 3, "index": "companion"},
        {"index": "anytime", "ties": "random"},
        {"index": "companion", "ties": "random", "exploration": 0.0},
        {"ties": "random", "exploration": 0.5},
        {"index": "kl-ucb", "window": 2, "repeat": 2},
        {"index": "kl-ucb", "ties": "random", "exploration": 0.25},
        {"window": 1, "repeat": 2, "exploration": 0.5, "follower_exploration": 4.5},
        {"index": "anytime", "follower_exploration": 0.1},
        {"window": 1, "repeat": 2, "exploration": 2.0, "heed": True},
        {"window": 2, "exploration": 0.6, "follower_exploration": 1.0, "heed": True, "ties": "random"},
        {"index": "kl-ucb", "window": 1, "exploration": 0.6, "follower_exploration": 1.0, "heed": True},
    ],
    "partner-aware-ts": [{}, {"window": 2, "repeat": 2, "prior_sd": 2.0, "noise_sd": 0.1}],
    "naive-ucb": [
        {},
        {"index": "companion", "ties": "random"},
        {"index": "anytime"},
        {"exploration": 0.0},
        {"index": "kl-ucb"},
    ],
    "naive-ts": [{}, {"ties": "random", "prior_mean": 0.1}],
    "very-naive-ucb": [
        {},
        {"index": "companion"},
        {"index": "anytime", "ties": "random"},
        {"ties": "random"},
        {"index": "kl-ucb"},
    ],
    "knowledge-gradient": [{}, {"discount": 0.9}, {"discount": 0.0, "ties": "random"}],
    "centralised-ucb": [{}, {"index": "companion"}, {"index": "anytime", "ties": "random"}, {"index": "kl-ucb"}],
    "centralised-ts": [{}, {"ties": "random"}],
    "steered": [
        {},
        {"index": "gittins", "stay": 9, "leader_sight": 0.6},
        {"index": "ucb", "exploration": 0.1, "stay": 1},
        {"index": "ucb", "exploration": 0.0},
        {"leader_sight": 0.5, "follower_sight": 0.5},
    ],
    "elected": [
        {},
        {"play": "partner-aware", "exploration": 0.1},
        {"sweeps": 1, "index": "ucb", "stay": 9},
        {"sweeps": 3, "index": "gittins"},
    ],
    "bank": [{"sight": 0.5}, {"plan": True, "exploration": 0.2}],
    "handshake": [{"sight": 0.5}, {"index": "gittins", "leader_sight": 0.6, "plan": True}, {"index": "ucb", "stay": 1}],
    "centralised-gittins": [{}, {"index": "gittins", "sight": 0.7}, {"index": "ucb"}],
    "optimal": [{}],
    "mucb-intervals": [{}, {"exploration": 0.02}, {"exploration": 0.0}],
    "mdsee": [{}, {"sweeps": 2, "ties": "random"}],
    "mucb": [{}, {"index": "anytime", "exploration": 0.1}, {"index": "kl-ucb"}],
    "softmax": [{}, {"memory": 1}, {"memory": 50, "temperature": 0.02}, {"temperature": 1e-3}],
    "win-stay-lose-shift": [{}, {"slip": 0.0}, {"slip": 1.0}],
    "epsilon-greedy": [{}, {"epsilon": 0.5}, {"epsilon": 0.0}],
    "recency-softmax": [{}, {"values": "own-arms", "rate": 1.0, "temperature": 0.01}],
    "forgetful-knowledge-gradient": [
        {},
        {"recall": 0.5, "discount": 0.9, "ties": "random"},
        {"recall": 0.8, "temperature": 0.2},
    ],
    "softmax-ucb": [{}, {"exploration": 0.5, "temperature": 0.02, "lapse": 0.0}, {"lapse": 1.0}],
    "partner-aware-discounted-ucb": [
        {},
        {"recall": 0.5, "window": 2, "repeat": 2, "ties": "random"},
        {"recall": 0.0},
        {"follower_exploration": 0.5},
    ],
    "partner-aware-sliding-ucb": [
        {},
        {"memory": 3, "window": 2, "repeat": 2, "ties": "random"},
        {"exploration": 0.5},
        {"follower_exploration": 0.5},
    ],
    "language-model": [{}, {"history": "rounds", "memory": 5, "temperature": 0.7, "fallback": "naive-ts"}],
}
CASES = [(name, options) for name, rows in OPTIONS.items() for options in rows]
COMPILED = [(name, options) for name, options in CASES if AGENTS[name].compiled]
ONE_SEAT = [(name, options) for name, options in CASES if issubclass(AGENTS[name], Agent)]
"""Without those that play for the whole team."""


def label(case: tuple[str, dict[str, Any]]) -> str:
    """What a case is called in a report of tests."""
    name, options = case
    return "-".join([name, *(f"{key}={value}" for key, value in options.items())])
