"""The scripted random stream fails a play that draws more, less or otherwise than scripted."""

from __future__ import annotations

import pytest

from cobandit import NaiveTS, NaiveUCB

ALL = {"place": 0, "partner": [], "seen": []}


def test_more_than_scripted(play):
    with pytest.raises(AssertionError, match=r"round 1: random\(\) was drawn, but the script is at its end"):
        play(NaiveUCB(ties="random"), **ALL)


def test_less_than_scripted(play):
    with pytest.raises(AssertionError, match=r"round 1: the script still holds \[0.5\]"):
        play(NaiveUCB(), draws=[[0.5]], **ALL)


def test_another_posterior_than_scripted(play):
    with pytest.raises(AssertionError, match=r"round 1: Beta\(1, 1\) was asked for where \(2, 1, 0.5\) is scripted"):
        play(NaiveTS(), draws=[[(2, 1, 0.5)]], **ALL)


def test_another_kind_of_draw_than_scripted(play, script):
    with pytest.raises(AssertionError, match=r"standard_normal\(\) was drawn where 0.5 is scripted"):
        play(NaiveTS(), binary=False, draws=[[0.5]], **ALL)
    script.start(3, [("z", 0.1)])
    with pytest.raises(AssertionError, match=r"round 3: random\(\) was drawn where"):
        script.random()


def test_shapes_are_kept(script):
    script.start(1, [(1, 2, 0.1), (1, 3, 0.2), ("z", 1.5), ("z", 2.5), ("z", 3.5)])
    assert script.beta([1, 1], [2, 3]).tolist() == [0.1, 0.2]
    assert script.standard_normal((2, 1)).tolist() == [[1.5], [2.5]]
    assert script.standard_normal() == 3.5
    script.finish()
