"""Partners for tests, a world to play in, and a way through JSON and back."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import pytest

from cobandit import AGENTS, Agent, Partner
from cobandit.studies import PEOPLE

ARMS = (2, 3)
MEANS = [[0.8, 0.4, 0.3], [0.2, 0.6, 0.5]]
SEATED = {name: kind for name, kind in AGENTS.items() if issubclass(kind, Agent)}


def new_partner(agent="partner-aware-ucb", **changes):
    setting: dict[str, Any] = {
        "arms": ARMS,
        "seat": 1,
        "horizon": 500,
        "observability": (1.0, 0.4),
        "seed": 7,
    } | changes
    return Partner(agent, **setting)


class World:
    """Somebody at every other seat and what each round pays, repeatable from any point by a deep copy."""

    def __init__(self, arms=ARMS, seat=1, seed=11, missing=False, spread=None):
        self.arms, self.seat, self.missing, self.spread = arms, seat, missing, spread
        self.rng = np.random.default_rng(seed)

    def round(self, arm):
        action = tuple(arm if i == self.seat else int(self.rng.integers(size)) for i, size in enumerate(self.arms))
        hit = float(self.rng.random() < 0.2 + 0.6 * (sum(action) % 2))
        if self.spread is not None:
            hit += float(self.spread * self.rng.standard_normal())
        return action, None if self.missing and self.rng.random() < 0.5 else hit


def play(partner, world, rounds):
    """The own arms and the predictions of so many rounds."""
    played = []
    for _ in range(rounds):
        arm = partner.choose()
        played.append((arm, dict(partner.predictions)))
        partner.observe(*world.round(arm))
    return played


def travelled(state):
    """A state that went through strict JSON, and a database that keeps the members of objects in its own order."""
    return json.loads(json.dumps(state, allow_nan=False, sort_keys=True))


def goes_on(partner, world, agent=None, rounds=60):
    """The partner and the one made of its state play the same rounds."""
    again = Partner.from_state(travelled(partner.state()), agent)
    assert again.round == partner.round
    assert again.state() == partner.state()
    assert play(again, copy.deepcopy(world), rounds) == play(partner, copy.deepcopy(world), rounds)
    assert again.state() == partner.state()
    return again


KINDS: list[tuple[str, type[Agent], dict[str, object]]] = [(name, kind, {}) for name, kind in (SEATED | PEOPLE).items()]
OTHER_INDEX: dict[str, object] = {"index": "companion", "ties": "random"}
KINDS += [
    (name, kind, OTHER_INDEX)
    for name, kind in SEATED.items()
    if "ucb" in name and hasattr(kind, "index") and name != "mucb"  # its agents must agree: no random draws
]
KINDS += [("mucb", SEATED["mucb"], {"index": "kl-ucb", "exploration": 0.1})]
KINDS += [("partner-aware-ucb", SEATED["partner-aware-ucb"], {"repeat": 3, "window": 1})]
EVERY_KIND = pytest.mark.parametrize(
    ("name", "kind", "options"), KINDS, ids=[f"{name}-{len(o)}" for name, _, o in KINDS]
)


def partner_of_kind(name, kind, options, **changes):
    if name == "optimal":
        changes |= {"means": MEANS}
    return new_partner(kind(**options), **changes)
