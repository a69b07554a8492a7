"""Every registered agent plays relabelled problems alike on both engines."""

import numpy as np
import pytest

import cobandit as cb
from cobandit.engine import fast, reference
from cobandit.engine.fast import lockstep
from cobandit.engine.fast.game import make_game
from tests.agent_table import COMPILED as CASES
from tests.agent_table import label
from tests.equivalence.comparing import assert_same_counts

PROBLEMS = (
    cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], [1.0, 0.5]),
    cb.Problem.bernoulli("random", [0.9, 0.4, 0.6], arms=(2, 3, 2), observation="missed-known"),
)


@pytest.mark.parametrize(("name", "options"), CASES, ids=[label(case) for case in CASES])
def test_engines_agree(name: str, options: dict) -> None:
    team, points = cb.Team.of(name, **options), np.array([3, 40])
    for plain_problem in PROBLEMS:
        problem = plain_problem.relabelled()
        assert fast.obstacle(problem, team, 40) is None
        plain = reference.run_trajectory(problem, team, 40, 5, 2)
        assert plain.same_as(fast.run_trajectory(problem, team, 40, 5, 2))
        game, setting = make_game(problem, team, 40), (5, range(2, 5), points)
        expected = reference.play_runs(problem, team, 40, *setting, lambda more: None, diagnose=True)
        for kernel in ["general"] + ["lockstep"] * lockstep.can_play(game):
            quick = fast.play_runs(game, *setting, 1, lambda more: None, kernel, diagnose=True)
            assert_same_counts(expected, quick)
