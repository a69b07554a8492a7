"""Steered teams by hand: the public slots, and the leader's way through them.

With `index="ucb"` and no exploration the index is the posterior mean (1 + ones) / (2 + n); untried cells have 1/2.
"""

from __future__ import annotations

import pytest

from cobandit import CentralisedGittins, Steered


def test_leader_of_two(play):
    # Slots: 0 (free) in odd rounds; in even ones the follower's arm moves as the leader's does. A way has three rounds
    # and the best of the column it ends in. "col" is what the follower plays.
    #  t  col  (0,0) (0,1) (1,0) (1,1)  what the leader wants                                              own  seen
    #  1   0    1/2   1/2   1/2   1/2   (0,0), the first of equals, is within reach                          0    0
    #  2   0    1/3   1/2   1/2   1/2   row 1: 1/2 + 3 * 1/2 in column 1; row 0: 1/3 and no better           1    1
    #  3   1    1/3   1/2   2/3   1/2   (1,0): row 0, then 1 moves to column 0: 1/2 + 1/2 + 2/3 + 2/3;
    #                                   row 1, then 0 does as well: the first                                0    0
    #  4   1    1/3   1/3   2/3   1/2   row 1: 1/2, then column 0: 3 * 2/3                                   1    1
    #  5   0    1/3   1/3   2/3   2/3   (1,0) is within reach                                                1    0
    #  6   0    1/3   1/3   1/2   2/3   row 0 moves to column 1: 1/3 + 3 * 2/3 = 7/3; row 1: 2 at most       0    0
    #  7   1    1/4   1/3   1/2   2/3   (1,1) is within reach, in a free slot                                1
    own = play(
        Steered(index="ucb", exploration=0.0),
        place=0,
        partner=[0, 0, 1, 1, 0, 0],
        seen=[0, 1, 0, 1, 0, 0],
        foresees=[{1: 0}, {1: 0}, {1: 1}, {1: 1}, {1: 0}, {1: 0}, {1: 1}],
    )
    assert own == [0, 1, 0, 1, 1, 0, 1]


def test_follower_of_that_leader(play):
    own = play(Steered(), place=1, partner=[0, 1, 0, 1, 1, 0], seen=[0, 1, 0, 0, 1, 0], foresees=[{}] * 7)
    assert own == [0, 0, 1, 1, 0, 0, 1]


def test_follower_with_three_arms(play):
    # Even rounds move: 0 -> 2 by 2, 2 -> 1 by -1, 0 -> 2 by 2 (1 + 2 = 3, which is arm 0).
    own = play(Steered(), arms=(3, 3), place=1, partner=[0, 2, 2, 1, 0, 2], seen=[1] * 6)
    assert own == [0, 0, 2, 2, 1, 1, 0]


def test_follower_with_more_arms_than_the_leader(play):
    # Five arms, written with two: slots are free, 1, 2, 4. The leader moves by +1 (slot 1), -1 (slot 2), +1 (slot 4):
    # 0 + 1 = 1, 1 - 2 = -1 = 4, 4 + 4 = 8 = 3.
    own = play(Steered(), arms=(2, 5), place=1, partner=[0, 1, 0, 1, 1], seen=[0] * 5)
    assert own == [0, 0, 1, 4, 3, 3]


def test_followers_of_three_take_turns(play):
    #  t         1     2        3        4     5        6
    #  slot      free  agent 1  agent 2  free  agent 1  agent 2
    #  leader    0     1        1        0     0        1
    #  moves     -     +1       0        -     0        +1
    rows = [0, 1, 1, 0, 0, 1]
    first = play(Steered(), arms=(2, 2, 2), ranks=(0, 1, 2), place=1, partner=[(i, 0) for i in rows], seen=[0] * 6)
    assert first == [0, 0, 1, 1, 1, 1, 1]
    last = play(Steered(), arms=(2, 2, 2), ranks=(0, 1, 2), place=2, partner=[(i, 0) for i in rows], seen=[0] * 6)
    assert last == [0, 0, 0, 0, 0, 0, 1]


def test_who_has_one_arm_steers_nobody(play):
    # The leader has nothing to say, so the next in rank steers, and is alone: it plays the best mean of its own.
    own = play(
        Steered(index="ucb", exploration=0.0),
        arms=(1, 2),
        place=1,
        partner=[0, 0, 0],
        seen=[0, 1, 0],
        foresees=[{0: 0}] * 4,
    )
    assert own == [0, 1, 1, 1]


@pytest.mark.parametrize(("index", "own"), [("gittins", [0, 0, 1]), ("gittins-horizon", [0, 0, 0])])
def test_gittins_index_of_two_cells(play, index, own):
    # Two arms beside one, T = 3. Untried: l - 1/2 = H (1 - l)^2 / 2, so l = .5, .586, .634, .667 for H = 0 to 3.
    # t = 1: both untried: the first. It pays: Beta(2, 1) has the mean 2/3, so it is above .634. Then it does not pay.
    # t = 3: Beta(2, 2) has E[(x - l)+] = 1/2 - l + l^3 - l^4 / 2. "gittins" has H = 3: at l = .62 three times that is
    # .136 and l - 1/2 is .12; at .65 they are .106 and .15. So it has less than .65, and the untried arm .667.
    # "gittins-horizon" has H = 0: both are worth their mean, 1/2: the first.
    got = play(Steered(index=index), arms=(2, 1), place=0, partner=[0, 0], seen=[1, 0], horizon=3)
    assert got == own


def test_one_brain_of_the_same_index(play_joint):
    # H = 2, 1, 0. Untried cells have .634, .586, .5; Beta(1, 2) after a 0 has less, Beta(2, 1) after a 1 has 2/3.
    actions = play_joint(CentralisedGittins(), seen=[(0, 0), (0, 1)], horizon=3)
    assert actions == [(0, 0), (0, 1), (0, 1)]
