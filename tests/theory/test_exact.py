"""The exact limits of small teams: known figures, hand-worked ones, and what must hold between them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import cobandit as cb
from cobandit.theory import blind_team, exact_limits, one_brain, steered_team


def test_one_round_and_two_by_hand():
    # One round: 1/2. Two cells, two rounds: after a 1 (chance 1/2) stay with 2/3, after a 0 change: 1/2 against 1/3.
    assert one_brain(4, 1) == steered_team(1) == blind_team(1) == 0.5
    assert one_brain(2, 2) == pytest.approx(1 / 2 + (2 / 3) / 2 + (1 / 2) / 2)


def test_published_figures():
    assert f"{one_brain(4, 12):.3f}" == "8.039"
    assert f"{steered_team(12):.3f}" == "7.854"
    assert f"{blind_team(4):.3f} {one_brain(4, 4):.3f} {steered_team(4):.3f}" == "2.326 2.368 2.306"


@pytest.mark.slow
def test_twenty_rounds():
    assert f"{one_brain(4, 20):.3f}" == "13.994"


@pytest.mark.parametrize("sight", [1.0, 0.6, 0.0])
def test_who_can_do_more_gets_more(sight):
    blind = 0.5 * 4
    assert blind - 1e-12 <= steered_team(4, sight) <= blind_team(4, sight) + 1e-12 <= one_brain(4, 4, sight) + 2e-12
    if sight == 0.0:
        assert one_brain(4, 4, sight) == pytest.approx(blind)


def test_sight_matters_and_goes_over_into_full_sight():
    values = [one_brain(4, 6, sight) for sight in (0.2, 0.5, 0.9, 0.999999, 1.0)]
    assert values == sorted(values)
    assert values[-1] == pytest.approx(values[-2], abs=1e-5)


def test_one_brain_against_every_policy_of_two_rounds():
    # First any cell; then a cell for each of the two outcomes, with p = .6. E[mu | seen 0] by integration.
    grid = (np.arange(20_000) + 0.5) / 20_000
    after_zero = float((grid * (1 - 0.6 * grid)).sum() / (1 - 0.6 * grid).sum())
    after_one = float((grid * grid).sum() / grid.sum())
    seen = 0.6 * 0.5
    policies = [
        0.5 + seen * (after_one if same_1 else 0.5) + (1 - seen) * (after_zero if same_0 else 0.5)
        for same_1, same_0 in itertools.product([True, False], repeat=2)
    ]
    assert one_brain(2, 2, 0.6) == pytest.approx(max(policies), abs=1e-6)


class TestOfAProblem:
    def test_everything_that_fits(self):
        limits = exact_limits(cb.Problem.bernoulli("random", [0.5, 1.0], arms=(2, 2)), 3)
        assert limits.perfect == pytest.approx(3 * 4 / 5)
        assert (limits.one_brain, limits.blind_team) == (one_brain(4, 3), blind_team(3))

    def test_what_does_not_fit_is_left_out(self):
        limits = exact_limits(cb.Problem.bernoulli("random", [0.5, 1.0], arms=(3, 3)), 40)
        assert limits.to_dict() == {
            "horizon": 40,
            "perfect": 36.0,
            "one_brain": None,
            "steered_team": None,
            "blind_team": None,
        }

    @pytest.mark.parametrize(
        ("problem", "message"),
        [
            (None, "must be a Problem"),
            (cb.Problem.bernoulli(cb.local_optima(2), [1, 0.5]), "use random means"),
            (cb.Problem.gaussian("random", [0.1, 0.5], arms=(2, 2)), "gaussian rewards"),
            (cb.Problem.bernoulli("random", [1, 0.5], arms=(2, 2), observation="flipped"), "'flipped' observation"),
        ],
    )
    def test_what_has_no_exact_limits(self, problem, message):
        with pytest.raises(cb.InvalidInput, match=message):
            exact_limits(problem, 5)

    def test_too_long_an_enumeration(self):
        with pytest.raises(cb.InvalidInput, match="up to 4 rounds"):
            blind_team(5)
