"""Compiled loops on relabelled problems: every model of nature, and both loops, against the reference engine."""

import dataclasses
from typing import Any

import numpy as np
import pytest

import cobandit as cb
from cobandit.engine import fast, reference
from cobandit.engine.fast import lockstep
from cobandit.engine.fast.game import make_game
from tests.equivalence.comparing import assert_same_counts
from tests.equivalence.test_compiled import MOODS, REALS, TURN_LATE, WALK

FIXED = cb.Problem.bernoulli([[0.8, 0.4, 0.3], [0.2, 0.6, 0.5]], [1.0, 0.5])
MANY = cb.Problem.bernoulli("random", [1.0, 0.5], arms=(9, 7))
CORNERS = cb.Problem.bernoulli(cb.two_corners(3), [0.4, 0.7, 1.0])

GAMES: dict[str, tuple[cb.Problem, list[Any]]] = {
    "lock-step": (FIXED, [cb.PartnerAwareUCB(window=3), cb.NaiveUCB()]),
    "lock-step, three agents": (CORNERS, [cb.PartnerAwareUCB(index="companion")] * 3),
    "tournament": (MANY, [cb.PartnerAwareUCB(), cb.PartnerAwareUCB(window=2)]),
    "given spreads": (REALS, [cb.KnowledgeGradient(), cb.PartnerAwareTS()]),
    "walking means": (WALK, [cb.PartnerAwareUCB(window=4), cb.Optimal()]),
    "means that change, told late, drawn roles": (TURN_LATE, [cb.PartnerAwareUCB(window=4), cb.Optimal()]),
    "moods": (MOODS, [cb.PartnerAwareUCB(), cb.NaiveUCB()]),
    "an elected leader": (dataclasses.replace(CORNERS, roles="elected"), [cb.Steered(index="ucb")] * 3),
}


QUICK = ("lock-step", "tournament", "means that change, told late, drawn roles")
"""Both loops and the most that nature does; each of the others takes as long to compile, so `make long` plays them."""


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.long] * (name not in QUICK)) for name in GAMES])
def test_every_round_is_the_same(name: str) -> None:
    plain_problem, players = GAMES[name]
    problem, team = plain_problem.relabelled(), cb.Team(players)
    for run in (0, 3):
        plain = reference.run_trajectory(problem, team, 200, 7, run)
        assert plain.same_as(fast.run_trajectory(problem, team, 200, 7, run))
        assert plain.labels is not None
    points = np.array([1, 50, 100])
    game, setting = make_game(problem, team, 100), (9, range(3, 43), points)
    kernel = "lockstep" if lockstep.can_play(game) else "general"
    assert (kernel == "lockstep") == name.startswith("lock-step")
    expected = reference.play_runs(problem, team, 100, *setting, lambda more: None, diagnose=True)
    alone, nothing = fast.play_runs(game, *setting, 2, lambda more: None, kernel)
    np.testing.assert_array_equal(expected[0], alone)
    assert nothing is None
    assert_same_counts(expected, fast.play_runs(game, *setting, 2, lambda more: None, kernel, diagnose=True))


def test_lock_step_is_still_chosen() -> None:
    team = cb.Team.of("partner-aware-ucb")
    for problem in (FIXED, FIXED.relabelled()):
        assert fast.choose_kernel(make_game(problem, team, 2_000), 1_000) == "lockstep"
