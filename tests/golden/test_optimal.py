"""The oracle plays its part of a_*, whatever happens."""

from __future__ import annotations

import numpy as np
import pytest

from cobandit import Optimal


@pytest.mark.parametrize(("place", "own"), [(0, 0), (1, 1)])
def test_the_first_of_equals_in_row_major_order(play, place, own):
    means = np.array([[0.1, 0.7], [0.7, 0.2]])
    assert play(Optimal(), place=place, means=means, partner=[1, 0, 1], seen=[0, 1, 0]) == [own] * 4


@pytest.mark.parametrize(("place", "own"), [(0, 1), (1, 2), (2, 0)])
def test_three_agents(play, place, own):
    means = np.zeros((2, 3, 2))
    means[1, 2, 0] = 0.5
    partner = [(0, 0)]
    assert (
        play(Optimal(), place=place, arms=(2, 3, 2), ranks=(0, 1, 2), means=means, partner=partner, seen=[0])
        == [own] * 2
    )
