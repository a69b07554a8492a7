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


@pytest.mark.parametrize(
    ("means", "came", "needed"),
    [
        ([[0.8, 1.2], [0.2, 0.6]], "means holds 1.2", r"\[0, 1\]"),
        ([[0.8, -0.1], [0.2, 0.6]], "means holds -0.1", r"\[0, 1\]"),
        ([[0.8, NAN], [0.2, 0.6]], r"means\[0, 1\] is nan", r"finite numbers from -1e\+12 to 1e\+12"),
        ([[0.8, 0.4], [0.2, math.inf]], r"means\[1, 1\] is inf", r"finite numbers from -1e\+12 to 1e\+12"),
        ([[0.8, None], [0.2, 0.6]], r"means is \[\[0.8, None\], \[0.2, 0.6\]\]", "a matrix of numbers"),
        ([[0.8, 0.4], [0.2]], r"means is \[\[0.8, 0.4\], \[0.2\]\]", "rows of equal length"),
        ([0.8, 0.4], r"means has shape \(2,\)", "at least 2 axes"),
        (0.5, r"means has shape \(\)", "at least 2 axes"),
        (None, "means is None", "a matrix of numbers"),
        ([], r"means has shape \(0,\)", "none of them empty"),
        ([[]], r"means has shape \(1, 0\)", "none of them empty"),
        (np.empty((2, 0)), r"means has shape \(2, 0\)", "none of them empty"),
        ([["a", "b"], ["c", "d"]], r"means is \[\['a', 'b'\]", "a matrix of numbers"),
        ([["0.8", "0.4"], ["0.2", "0.6"]], r"means is \[\['0.8', '0.4'\], \['0.2', '0.6'\]\]", "a matrix of numbers"),
        ([[0.8, "0.4"], [0.2, 0.6]], r"means is \[\[0.8, '0.4'\], \[0.2, 0.6\]\]", "a matrix of numbers"),
        ([[True, False], [False, True]], r"means is \[\[True, False\], \[False, True\]\]", "a matrix of numbers"),
        ([[10**400, 0], [0, 0]], r"means is \[\[10{54}\.\.\.;", "a matrix of numbers"),
        ({"a": 1}, "means is {'a': 1}", "a matrix of numbers"),
        ([[1j, 0], [0, 0]], "means is", "a matrix of numbers"),
    ],
)
def test_bernoulli_means(means, came, needed):
    with pytest.raises(InvalidInput, match=came) as caught:
        Problem.bernoulli(means)
    assert caught.match(needed)


def test_a_long_value_is_cut_short_in_the_message():
    with pytest.raises(InvalidInput) as caught:
        Problem.bernoulli([[0.5] * 1000, [0.5] * 999])
    assert len(str(caught.value)) < 200


def test_an_unknown_kind_of_means():
    with pytest.raises(UnknownName, match=r"no kind of means 'randm'. Did you mean 'random'"):
        Problem.bernoulli("randm")


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
    with pytest.raises(InvalidInput, match=r"the highest random mean is 0.2; a finite number of at least 0.5"):
        RandomMeans((2, 2), 0.5, 0.2)


@pytest.mark.parametrize(
    ("arms", "message"),
    [
        ((2,), "a team has at least 2 agents, so at least 2 entries are needed"),
        ((), "a team has at least 2 agents"),
        ((2, 0), r"arms\[1\] is 0; a whole number of at least 1"),
        ((2, -3), r"arms\[1\] is -3; a whole number of at least 1"),
        ((2, 2.5), r"arms\[1\] is 2.5; a whole number of at least 1"),
        ((2, True), r"arms\[1\] is True; a whole number"),
        ((2, NAN), r"arms\[1\] is nan; a whole number"),
        (("2", "2"), r"arms\[0\] is '2'; a whole number"),
        ((2, None), r"arms\[1\] is None; a whole number"),
    ],
)
def test_arms(arms, message):
    with pytest.raises(InvalidInput, match=message):
        Problem.bernoulli(arms=arms)


@pytest.mark.parametrize("options", [{}, {"means": FIXED}])
@pytest.mark.parametrize("arms", ["22", b"22", 5, 2.5, True])
def test_arms_that_are_no_list(arms, options):
    with pytest.raises(InvalidInput) as caught:
        Problem.bernoulli(**options, arms=arms)
    assert str(caught.value) == f"arms is {arms!r}; the number of arms of each agent is needed, such as (2, 2)."


@pytest.mark.parametrize("arms", [(10**6, 10**6), (2,) * 29, (10**30, 1), (2**28 + 1, 1)])
def test_more_team_actions_than_can_be_held(arms):
    with pytest.raises(TooLarge, match=r"team actions; at most 268,435,456 can be held"):
        Problem.bernoulli(arms=arms, observability=[1.0] * len(arms))


def test_arms_that_disagree_with_the_means():
    with pytest.raises(InvalidInput, match=r"arms is \(3, 2\), but the means have shape \(2, 2\); leave arms out"):
        Problem.bernoulli(FIXED, arms=(3, 2))
    assert Problem.bernoulli(FIXED, arms=[2, 2]).arms == (2, 2)


@pytest.mark.parametrize(
    ("observability", "came", "needed"),
    [
        ({0: 0.5, 1: 1.0}, r"observability is \{0: 0.5, 1: 1.0\}", "a list with one number per agent"),
        ([1.0], r"observability has 1 entries \(\[1.0\]\)", "2 agents, so 2 are needed"),
        ([1.0, 0.5, 0.5], "observability has 3 entries", "so 2 are needed"),
        ([], "observability has 0 entries", "so 2 are needed"),
        ([1.0, 1.5], r"observability\[1\] is 1.5", "at least 0 and at most 1"),
        ([-0.1, 0.5], r"observability\[0\] is -0.1", "a finite number of at least 0"),
        ([1.0, NAN], r"observability\[1\] is nan", "a finite number"),
        ([math.inf, 1.0], r"observability\[0\] is inf", "a finite number"),
        ([1, 10**400], r"observability\[1\] is 10{56}\.\.\.;", "a finite number of at least 0 and at most 1"),
        ([1.0, "0.5"], r"observability\[1\] is '0.5'", "a finite number"),
        ([1.0, None], r"observability\[1\] is None", "a finite number"),
        ([1.0, True], r"observability\[1\] is True", "a finite number"),
        ([[1.0], [0.5]], r"observability\[0\] is \[1.0\]", "a finite number"),
        (0.5, "observability is 0.5", "one number per agent"),
        ("10", "observability is '10'", "one number per agent"),
    ],
)
@pytest.mark.parametrize("observation", ["missed", "missed-known", "flipped"])
def test_observability(observability, came, needed, observation):
    with pytest.raises(InvalidInput, match=came) as caught:
        Problem.bernoulli(FIXED, observability, observation=observation)
    assert caught.match(needed)


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        ([0.1], "noise has 1 entries .* so 2 are needed"),
        ([0.1, -0.5], r"noise\[1\] is -0.5; a finite number of at least 0"),
        ([0.1, NAN], r"noise\[1\] is nan; a finite number of at least 0"),
        ([0.1, math.inf], r"noise\[1\] is inf; a finite number of at least 0"),
        ([0.1, 1e13], r"noise\[1\] is 10000000000000.0; a finite number of at least 0 and at most 1e\+12"),
        (0.1, "noise is 0.1; a list with one number per agent"),
    ],
)
def test_noise(noise, message):
    with pytest.raises(InvalidInput, match=message):
        Problem.gaussian(FIXED, noise)
    with pytest.raises(InvalidInput, match=message):
        Problem.bernoulli(FIXED, observation="noisy", noise=noise)


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
    ("weights", "message"),
    [
        ([1.0, -1.0], r"weights\[1\] is -1.0; a finite number of at least 0"),
        ([0.0, 0.0], "at least one weight above 0 is needed"),
        ([1.0], "weights has 1 entries .* so 2 are needed"),
        ([1.0, 1.0, 1.0], "weights has 3 entries .* so 2 are needed"),
        ([1.0, NAN], r"weights\[1\] is nan; a finite number"),
        ([1.0, math.inf], r"weights\[1\] is inf; a finite number"),
        ([1.0, 1e7], r"weights\[1\] is 10000000.0; a finite number of at least 0 and at most 1e\+06"),
        ("ab", "weights is 'ab'; a list with one number per agent is needed"),
        (0.5, "weights is 0.5; a list with one number per agent is needed"),
        (None, "weights is None; a list with one number per agent is needed"),
    ],
)
def test_weights(weights, message):
    with pytest.raises(InvalidInput, match=message):
        Problem.bernoulli(FIXED, weights=weights)


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ("observabilty", "no role rule 'observabilty'. Did you mean 'observability'"),
        ("leader", "no role rule 'leader'. .*Known: observability, random"),
        ((0, 0), r"roles is \(0, 0\); each rank from 0 \(the leader\) to 1 is needed once"),
        ((0, 2), r"roles\[1\] is 2; a whole number from 0 to 1"),
        ((0, -1), r"roles\[1\] is -1; a whole number from 0 to 1"),
        ((0,), "roles has 1 entries .* so 2 are needed"),
        ((0, 1, 2), "roles has 3 entries .* so 2 are needed"),
        ((0, 0.5), r"roles\[1\] is 0.5; a whole number from 0 to 1"),
        (("leader", "follower"), r"roles\[0\] is 'leader'; a whole number from 0 to 1"),
        (None, "roles is None; a list with one number per agent"),
        (0, "roles is 0; a list with one number per agent"),
    ],
)
def test_roles(roles, message):
    with pytest.raises(InvalidInput, match=message):
        Problem.bernoulli(FIXED, roles=roles)


@pytest.mark.parametrize(
    ("sd", "message"),
    [
        (-0.1, "sd is -0.1; a finite number of at least 0"),
        (NAN, "sd is nan; a finite number of at least 0"),
        ((0.5, 0.1), r"sd\[1\] is 0.1; a finite number of at least 0.5"),
        ((-0.5, 0.1), r"sd\[0\] is -0.5; a finite number of at least 0"),
        ([[0.1, 0.2, 0.3]], r"sd has shape \(1, 3\); the shape of the means, \(2, 2\), is needed"),
        ([[0.1, 0.2], [0.3, -0.4]], "sd is -0.4; a finite number of at least 0"),
        ([0.5, 0.1], r"sd\[1\] is 0.1; a finite number of at least 0.5 and at most 1e\+12"),
        ([0.1, NAN], r"sd\[1\] is nan; a finite number of at least 0.1 and at most 1e\+12"),
        ([0.1, 0.2, 0.3], r"sd has shape \(3,\); the shape of the means, \(2, 2\), is needed"),
        (1e13, r"sd is 10000000000000.0; a finite number of at least 0 and at most 1e\+12"),
        ("wide", r"sd is 'wide'; a number, a pair \(low, high\) or an array like the means"),
        ("0.3", r"sd is '0.3'; a number, a pair \(low, high\) or an array like the means"),
        (True, r"sd is True; a number, a pair \(low, high\) or an array like the means"),
        (None, r"sd is None; a number, a pair \(low, high\) or an array like the means"),
        (["0.1", "0.5"], r"sd is \['0.1', '0.5'\]; a number, a pair \(low, high\) or an array like the means"),
        ([False, True], r"sd is \[False, True\]; a number, a pair \(low, high\) or an array like the means"),
        ([[0.1, 0.2], [0.3]], r"sd is \[\[0.1, 0.2\], \[0.3\]\]; a number, a pair \(low, high\) or an array"),
    ],
)
def test_spreads(sd, message):
    with pytest.raises(InvalidInput, match=message):
        Problem.gaussian(FIXED, sd=sd)


@pytest.mark.parametrize(
    ("make", "name", "most"), [(local_optima, "arms", "4,096"), (two_corners, "agents", "7")], ids=["optima", "corners"]
)
@pytest.mark.parametrize("size", [1, 0, -2, 2.5, "3", None, True, 4097, 10**30])
def test_named_means_of_a_wrong_size(make, name, most, size):
    with pytest.raises(InvalidInput) as caught:
        make(size)
    assert str(caught.value) == f"{name} is {size!r}; a whole number from 2 to {most} is needed."


def test_two_corners_of_more_than_seven_agents():
    with pytest.raises(InvalidInput, match=r"^agents is 8; a whole number from 2 to 7 is needed\.$"):
        two_corners(8)
    with pytest.raises(InvalidInput, match=r"^agents is 8; a whole number from 2 to 7 is needed\.$"):
        two_corners(8, leader=0)


def test_a_leader_who_is_not_in_the_team():
    with pytest.raises(InvalidInput, match=r"leader is 3; a whole number from 0 to 2"):
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


def test_what_the_errors_made_of_parts_say():
    assert str(UnknownName("agent", "x", ["xy", "z"])) == "There is no agent 'x'. Did you mean 'xy'? Known: xy, z."
    assert str(MissingExtra("fast", "The fast engine")) == (
        "The fast engine needs the extra 'fast': pip install 'cobandit[fast]'"
    )
    assert str(MissingExtra(["fast", "parquet", "plot"], "All of it")) == (
        "All of it needs the extras 'fast', 'parquet' and 'plot': pip install 'cobandit[fast,parquet,plot]'"
    )
