"""Golden plays: the partners' arms and the own seen rewards in, the own arms out.

``play`` puts one agent at a table, with a scripted stand-in for its random stream. A round's script lists what
the agent draws while it chooses, in order:

* a number: what ``rng.random()`` returns,
* a triple ``(a, b, gives)``: the posterior Beta(a, b) it must ask for, and the sample it gets,
* a pair ``("z", value)``: what ``rng.standard_normal()`` returns.

An agent that asks for more, for less or for something else than its script fails the play. A play without a script
expects that nothing is drawn at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from cobandit.agents import Briefing


class Script:
    """Stands in for a numpy Generator and hands out what one round's script says."""

    def __init__(self) -> None:
        self.round = 0
        self.left: list[Any] = []

    def start(self, t: int, script: Sequence[Any]) -> None:
        self.round, self.left = t, list(script)

    def finish(self) -> None:
        assert not self.left, f"round {self.round}: the script still holds {self.left}, which nobody drew"

    def random(self) -> float:
        entry = self._next("random()")
        assert isinstance(entry, (int, float)), f"round {self.round}: random() was drawn where {entry} is scripted"
        return float(entry)

    def beta(self, a: Any, b: Any) -> np.ndarray:
        a, b = np.broadcast_arrays(a, b)
        gives = []
        for one, zero in zip(a.ravel().tolist(), b.ravel().tolist(), strict=True):
            entry = self._next(f"Beta({one:g}, {zero:g})")
            asked = f"round {self.round}: Beta({one:g}, {zero:g}) was asked for where {entry} is scripted"
            assert isinstance(entry, tuple), asked
            assert entry[:2] == (one, zero), asked
            gives.append(entry[2])
        return np.array(gives).reshape(a.shape)

    def standard_normal(self, size: Any = None) -> Any:
        count = 1 if size is None else int(np.prod(size))
        gives = []
        for _ in range(count):
            entry = self._next("standard_normal()")
            scripted = isinstance(entry, tuple) and entry[0] == "z"
            assert scripted, f"round {self.round}: standard_normal() was drawn where {entry} is scripted"
            gives.append(float(entry[1]))
        return gives[0] if size is None else np.array(gives).reshape(size)

    def _next(self, asked: str) -> Any:
        assert self.left, f"round {self.round}: {asked} was drawn, but the script is at its end"
        return self.left.pop(0)


SETTING: dict[str, Any] = {"arms": (2, 2), "ranks": (0, 1), "horizon": 2000, "observation": "missed", "binary": True}
"""What an agent is told where a play says nothing else."""


def play(agent, *, place, partner, seen, draws=(), foresees=(), **setting):
    """The own arms of an agent at ``place``, one for each round.

    ``partner`` holds the other agents' arms (a number, or a tuple where there are several) and ``seen`` the rewards
    the agent sees. After them it chooses once more, so n outcomes in give n + 1 own arms out. ``draws`` holds
    each round's script, ``foresees`` each round's predictions, ``setting`` what the
    briefing says otherwise than `SETTING`.
    """
    rng = Script()
    agent.reset(Briefing(place, **(SETTING | setting)), rng)
    own = []
    assert len(partner) == len(seen), "each outcome has the partner's arm and the seen reward"
    rounds = len(seen) + 1
    assert len(draws) in (0, rounds), f"{rounds} rounds need as many scripts"
    for t in range(1, rounds + 1):
        rng.start(t, draws[t - 1] if draws else ())
        own.append(agent.choose())
        rng.finish()
        if foresees:
            assert dict(agent.predictions) == foresees[t - 1], f"round {t}: foresaw {dict(agent.predictions)}"
        if t < rounds:
            others = partner[t - 1]
            team_action = list(others) if isinstance(others, tuple) else [others]
            team_action.insert(place, own[-1])
            agent.observe(tuple(team_action), seen[t - 1])
    return own


def play_joint(controller, *, seen, draws=(), best_observer=0, **setting):
    """The team actions of a joint controller; ``seen`` holds what each agent saw, round by round."""
    rng = Script()
    controller.reset(Briefing(0, best_observer=best_observer, **(SETTING | setting)), rng)
    actions = []
    for t in range(1, len(seen) + 2):
        rng.start(t, draws[t - 1] if draws else ())
        actions.append(controller.choose())
        rng.finish()
        if t <= len(seen):
            controller.observe(actions[-1], seen[t - 1])
    return actions


@pytest.fixture(name="play")
def play_fixture():
    return play


@pytest.fixture(name="play_joint")
def play_joint_fixture():
    return play_joint


@pytest.fixture
def script():
    return Script()
