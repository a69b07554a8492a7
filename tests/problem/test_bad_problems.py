"""Bad problems are refused at the door: the error is ours, and it says what came and what was needed."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any, cast

import numpy as np
import pytest

from cobandit import (
    AgentError,
    CobanditError,
    InvalidInput,
    MissingExtra,
    Problem,
    TooLarge,
    UnknownName,
    local_optima,
    two_corners,
)
from cobandit.problem import Missed, Noisy, RandomMeans

FIXED = [[0.8, 0.4], [0.2, 0.6]]
NAN = math.nan


WRONG: dict[str, list[Any]] = {
    "means": [
        None, 0.5, [], [[]], [0.8, 0.4], np.empty((2, 0)), {"a": 1}, [[0.8, 0.4], [0.2]], [[0.8, None], [0.2, 0.6]],
        [["a", "b"], ["c", "d"]], [["0.8", "0.4"], ["0.2", "0.6"]], [[0.8, "0.4"], [0.2, 0.6]], [[1j, 0], [0, 0]],
        [[True, False], [False, True]], [[10**400, 0], [0, 0]], [[0.8, 1.2], [0.2, 0.6]], [[0.8, -0.1], [0.2, 0.6]],
        [[0.8, NAN], [0.2, 0.6]], [[0.8, 0.4], [0.2, math.inf]],
    ],
    "arms": [
        (2,), (), (2, 0), (2, -3), (2, 2.5), (2, True), (2, NAN), ("2", "2"), (2, None),
        "22", b"22", 5, 2.5, True, (3, 2),
    ],
    "observability": [
        {0: 0.5, 1: 1.0}, [1.0], [1.0, 0.5, 0.5], [], [1.0, 1.5], [-0.1, 0.5], [1.0, NAN], [math.inf, 1.0],
        [1, 10**400], [1.0, "0.5"], [1.0, None], [1.0, True], [[1.0], [0.5]], 0.5, "10",
    ],
    "noise": [[0.1], [0.1, -0.5], [0.1, NAN], [0.1, math.inf], [0.1, 1e13], 0.1],
    "weights": [
        [1.0, -1.0], [0.0, 0.0], [1.0], [1.0, 1.0, 1.0], [1.0, NAN], [1.0, math.inf], [1.0, 1e7], "ab", 0.5, None,
    ],
    "roles": [(0, 0), (0, 2), (0, -1), (0,), (0, 1, 2), (0, 0.5), ("leader", "follower"), None, 0],
    "sd": [
        -0.1, NAN, 1e13, "wide", "0.3", True, None, (0.5, 0.1), (-0.5, 0.1), [0.5, 0.1], [0.1, NAN], [0.1, 0.2, 0.3],
        [[0.1, 0.2, 0.3]], [[0.1, 0.2], [0.3, -0.4]], ["0.1", "0.5"], [False, True], [[0.1, 0.2], [0.3]],
    ],
}  # fmt: skip


@pytest.mark.parametrize("argument", WRONG)
def test_wrong_values_are_refused_and_the_argument_is_named(argument):
    makes = {"sd": (Problem.gaussian,), "noise": (Problem.gaussian, noisy)}.get(argument, (Problem.bernoulli,))
    for make in makes:
        for value in WRONG[argument]:
            with pytest.raises(InvalidInput) as caught:
                make(**({"means": FIXED} | {argument: value}))
            assert str(caught.value).startswith(argument), value


def noisy(**given):
    return Problem.bernoulli(observation="noisy", **given)


def test_a_long_value_is_cut_short_in_the_message():
    with pytest.raises(InvalidInput) as caught:
        Problem.bernoulli([[0.5] * 1000, [0.5] * 999])
    assert len(str(caught.value)) < 200


def test_gaussian_means_may_lie_anywhere_but_must_be_finite():
    assert Problem.gaussian([[5.0, -3.0], [0.0, 100.0]]).arms == (2, 2)
    assert Problem.gaussian([[1e12, -1e12], [0.0, 100.0]]).arms == (2, 2)
    needed = r"finite numbers from -1e\+12 to 1e\+12 are needed\.$"
    with pytest.raises(InvalidInput, match=r"^means\[1, 0\] is nan; " + needed):
        Problem.gaussian([[5.0, -3.0], [NAN, 100.0]])
    with pytest.raises(InvalidInput, match=r"^means\[0, 1\] is -1.1e\+16; " + needed):
        Problem.gaussian([[5.0, -1.1e16], [0.0, 100.0]])


def test_random_means_of_bernoulli_rewards_stay_in_the_unit_interval():
    with pytest.raises(InvalidInput, match=r"means holds 2; .* \[0, 1\]"):
        Problem.bernoulli(RandomMeans((2, 2), 0.0, 2.0))
    with pytest.raises(InvalidInput, match=r"the highest random mean must be a finite number of at least 0.5"):
        RandomMeans((2, 2), 0.5, 0.2)


@pytest.mark.parametrize("arms", [(10**6, 10**6), (2,) * 29, (10**30, 1), (2**28 + 1, 1)])
def test_more_team_actions_than_can_be_held(arms):
    with pytest.raises(TooLarge, match=r"team actions; at most 268,435,456 can be held"):
        Problem.bernoulli(arms=arms, observability=[1.0] * len(arms))


def test_arms_that_disagree_with_the_means():
    with pytest.raises(InvalidInput, match=r"arms is \(3, 2\), but the means have shape \(2, 2\); leave arms out"):
        Problem.bernoulli(FIXED, arms=(3, 2))
    assert Problem.bernoulli(FIXED, arms=[2, 2]).arms == (2, 2)


def test_a_level_that_belongs_to_another_observation_model():
    with pytest.raises(InvalidInput, match=r"observability was given, but observation 'noisy' is described by noise"):
        Problem.gaussian(FIXED, observability=[1.0, 0.5])
    with pytest.raises(InvalidInput, match=r"noise was given, but observation 'missed' is described by observability"):
        Problem.bernoulli(FIXED, noise=[0.1, 0.5])


def test_an_unknown_observation_model():
    with pytest.raises(UnknownName, match=r"no observation model 'mised'. Did you mean 'missed'"):
        Problem.bernoulli(FIXED, observation="mised")  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match=r"Did you mean 'missed-known'"):
        Problem.bernoulli(FIXED, observation="missed_known")  # type: ignore[arg-type]
    with pytest.raises(UnknownName) as caught:
        Problem.bernoulli(FIXED, observation=cast("Any", ["missed"]))
    assert str(caught.value) == (
        "There is no observation model ['missed']. Did you mean 'missed'? Known: missed, missed-known, flipped, noisy."
    )


def test_an_observation_made_by_hand_for_another_number_of_agents():
    ready = Problem.bernoulli(FIXED)
    with pytest.raises(InvalidInput, match=r"observability has 3 entries .* the means have 2 axes"):
        Problem(ready.means, ready.reward, Missed((1.0, 0.5, 0.5)))
    with pytest.raises(InvalidInput, match=r"noise has 1 entries .* the means have 2 axes"):
        Problem(ready.means, ready.reward, Noisy((0.1,)))


@pytest.mark.parametrize(
    ("make", "name", "most"), [(local_optima, "arms", "4,096"), (two_corners, "agents", "7")], ids=["optima", "corners"]
)
@pytest.mark.parametrize("size", [1, 0, -2, 2.5, "3", None, True, 4097, 10**30])
def test_named_means_of_a_wrong_size(make, name, most, size):
    with pytest.raises(InvalidInput) as caught:
        make(size)
    assert str(caught.value) == f"{name} must be an integer from 2 to {most}, got {size!r}."


def test_a_leader_who_is_not_in_the_team():
    with pytest.raises(InvalidInput, match=r"leader must be an integer from 0 to 2"):
        two_corners(3, leader=3)


def test_every_error_is_of_one_tree():
    assert issubclass(InvalidInput, CobanditError)
    assert issubclass(InvalidInput, ValueError)
    assert issubclass(UnknownName, InvalidInput)
    assert issubclass(TooLarge, InvalidInput)
    assert issubclass(MissingExtra, ImportError)


ERRORS = [
    CobanditError("text"),
    InvalidInput("text"),
    UnknownName("agent", "x", ["xy", "z"]),
    UnknownName("observation model", ["missed"], ("missed", "noisy")),
    TooLarge("text"),
    MissingExtra("fast", "The fast engine"),
    MissingExtra(["parquet", "plot"], "A sweep"),
    AgentError("text"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("travel", [lambda error: pickle.loads(pickle.dumps(error)), copy.copy, copy.deepcopy])
def test_errors_travel_between_processes(error, travel):
    arrived = travel(error)
    assert type(arrived) is type(error)
    assert str(arrived) == str(error)
    assert arrived.args == error.args
    assert str(travel(arrived)) == str(error)
