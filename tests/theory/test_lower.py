"""The Lai-Robbins constant."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobandit import InvalidInput, Problem
from cobandit.theory import lai_robbins

FIXED = [[0.8, 0.4], [0.2, 0.6]]


def kl(x, y):
    return x * math.log(x / y) + (1 - x) * math.log((1 - x) / (1 - y))


def test_by_hand():
    # kl(.4, .8) = .4 log .5 + .6 log 3, kl(.2, .8) = .2 log .25 + .8 log 4, kl(.6, .8) = .6 log .75 + .4 log 2.
    expected = (
        0.4 / (0.4 * math.log(0.5) + 0.6 * math.log(3))
        + 0.6 / (0.2 * math.log(0.25) + 0.8 * math.log(4))
        + 0.2 / (0.6 * math.log(0.75) + 0.4 * math.log(2))
    )
    assert lai_robbins(Problem.bernoulli(FIXED)) == pytest.approx(expected)
    assert expected == pytest.approx(3.68, abs=0.01)


def test_one_full_observer_is_as_good_as_two():
    assert lai_robbins(Problem.bernoulli(FIXED, [1.0, 0.5])) == lai_robbins(Problem.bernoulli(FIXED))


def test_partial_sight_is_the_or_of_the_eyes():
    # q = 1 - .5 * .6 = .7: means .56, .28, .14, .42 as seen.
    expected = 0.4 / kl(0.28, 0.56) + 0.6 / kl(0.14, 0.56) + 0.2 / kl(0.42, 0.56)
    assert lai_robbins(Problem.bernoulli(FIXED, [0.5, 0.4])) == pytest.approx(expected)


def test_any_number_of_agents():
    assert lai_robbins(Problem.bernoulli(np.reshape(FIXED, (2, 2, 1)))) == lai_robbins(Problem.bernoulli(FIXED))


def test_the_ends():
    assert lai_robbins(Problem.bernoulli([[1.0, 0.4]], [0.5, 0.5])) == 0.0
    assert lai_robbins(Problem.bernoulli([[0.4, 0.4]])) == 0.0
    assert lai_robbins(Problem.bernoulli([[0.4, 0.2]], [0.0, 0.0])) == math.inf
    assert lai_robbins(Problem.bernoulli([[0.5, 0.0]])) == pytest.approx(0.5 / math.log(2))


@pytest.mark.parametrize("gap", [1e-3, 1e-5, 1e-7, 1e-9])
def test_means_close_to_each_other(gap):
    # kl(y - d, y) -> d^2 / (2 y (1 - y)), so the constant -> 2 y (1 - y) / d.
    assert lai_robbins(Problem.bernoulli([[0.5, 0.5 - gap]])) == pytest.approx(0.5 / gap, rel=1e-2 * gap + 1e-6)


thousandths = st.integers(0, 1000).map(lambda n: n / 1000)


@given(st.lists(thousandths, min_size=2, max_size=6), thousandths, thousandths)
def test_seeing_less_never_helps(means, one, other):
    less, more = sorted((one, other))
    blurred = lai_robbins(Problem.bernoulli([means], [less, 0.0]))
    clear = lai_robbins(Problem.bernoulli([means], [more, 0.0]))
    assert 0.0 <= clear <= blurred * (1 + 1e-9)


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (FIXED, "must be a Problem"),
        (Problem.bernoulli("random"), "random or drifting means"),
        (Problem.gaussian(FIXED), "gaussian rewards"),
        (Problem.bernoulli(FIXED, observation="flipped"), "'flipped' observation"),
    ],
)
def test_refusals(problem, words):
    with pytest.raises(InvalidInput, match=words):
        lai_robbins(problem)
