"""Knowledge gradient by hand: posterior mean m_a + (rounds left) * v_a.

v_a is the expected rise of the best posterior mean after one more look at a. With posterior Beta(x, y), m = x / (x + y)
and r the best mean among the other cells,

    v = m max((x + 1) / (x + y + 1), r) + (1 - m) max(x / (x + y + 1), r) - max(m, r).

Some values used below, with the rival r:

    Beta(1,1), r = 1/2:   1/2 * 2/3 + 1/2 * 1/2 - 1/2 = 1/12 = .083
    Beta(2,2), r = 1/2:   1/2 * 3/5 + 1/2 * 1/2 - 1/2 = 1/20 = .050
    Beta(1,1), r = 2/3:   a success only draws level (2/3), so 0
    Beta(1,1), r = 3/5:   1/2 * 2/3 + 1/2 * 3/5 - 3/5 = 1/30 = .033
    Beta(2,1), r = 1/2:   2/3 * 3/4 + 1/3 * 1/2 - 2/3 = 0
    Beta(3,2), r = 1/2:   3/5 * 4/6 + 2/5 * 3/6 - 3/5 = 0
"""

from __future__ import annotations

import pytest

from cobandit import KnowledgeGradient


def test_finite_horizon(play):
    # T = 10; left = T - t. Each cell's column is m + left * v.
    #  t  left  (0,0)              (0,1)              (1,0)              (1,1)              own  partner  seen
    #  1   9    .5 + 9/12 = 1.25   1.25               1.25               1.25                0      0      1
    #  2   8    .667 + 0           .5 + 0             .5 + 0             .5 + 0              0      0      0
    #  3   7    .5 + 7/20 = .85    .5 + 7/12 = 1.083  1.083              1.083               1      0      0
    #  4   6    .5 + 6/20 = .8     .333 + 0           .5 + 6/12 = 1.0    1.0                 0      1      1
    #  5   5    .5 + 0             .333               .667 + 0           .5 + 0              0      1      0
    #  6   4    .5 + 4/20 = .7     .333               .7                 .5 + 4/12 = .833    1      1      0
    #  7   3    .5 + 3/20 = .65    .333               .65                .333                0      0      0
    #  8   2    .4                 .333               .5                 .333                0      1      0
    #  9   1    .4 + .04 = .44     .333 + .033        .44                .367                0
    #           with r = 2/5, Beta(2,3) has v = .4 * 3/6 + .6 * .4 - .4 = .04 and
    #           Beta(1,2) has v = 1/3 * 2/4 + 2/3 * .4 - .4 = .033
    own = play(
        KnowledgeGradient(),
        horizon=10,
        place=1,
        partner=[0, 0, 0, 1, 1, 1, 0, 1],
        seen=[1, 0, 0, 1, 0, 0, 0, 0],
    )
    assert own == [0, 0, 1, 0, 0, 1, 0, 0, 0]


def test_a_look_is_worth_nothing_in_the_last_round(play):
    # The first two rounds are those above. With T = 3 nothing is left in round 3: all means are 1/2, the first wins.
    assert play(KnowledgeGradient(), horizon=3, place=1, partner=[0, 0], seen=[1, 0]) == [0, 0, 0]
    # With T = 4 one round is left: (0,0) has .5 + 1/20, the others .5 + 1/12.
    assert play(KnowledgeGradient(), horizon=4, place=1, partner=[0, 0], seen=[1, 0]) == [0, 0, 1]


THREE_LOOKS = {"place": 1, "partner": [0, 0, 0], "seen": [1, 1, 0]}
"""(0,0) has Beta(3,2), m = .6 and v = 0; the others Beta(1,1), m = .5 and v = 1/30: they win above 3 rounds to come."""


@pytest.mark.parametrize(("horizon", "last"), [(6, 0), (8, 1)])
def test_enough_rounds_must_be_left_to_pay_for_a_look(play, horizon, last):
    # In round 4: T = 6 leaves 2, .5 + 2/30 = .567 < .6. T = 8 leaves 4, .5 + 4/30 = .633 > .6.
    assert play(KnowledgeGradient(), horizon=horizon, **THREE_LOOKS) == [0, 0, 0, last]


@pytest.mark.parametrize(("discount", "last"), [(0.0, 0), (0.5, 0), (0.7, 0), (0.8, 1), (0.9, 1)])
@pytest.mark.parametrize("horizon", [4, 2000])
def test_discounted_form(play, discount, last, horizon):
    # gamma / (1 - gamma) rounds to come: 0, 1, 2.33 stay below 3; 4 and 9 are above. The horizon does not matter.
    assert play(KnowledgeGradient(discount=discount), horizon=horizon, **THREE_LOOKS) == [0, 0, 0, last]


def test_random_ties(play):
    # Round 1: four equal, .9 * 4 -> the fourth, (1,1). A success there leaves one best: nothing is drawn.
    own = play(KnowledgeGradient(ties="random"), horizon=10, place=0, partner=[1], seen=[1], draws=[[0.9], []])
    assert own == [1, 1]


def test_nothing_is_learnt_where_nothing_was_seen(play):
    own = play(
        KnowledgeGradient(), horizon=10, place=1, observation="missed-known", partner=[0, 0, 0], seen=[None, 1, None]
    )
    assert own == [0, 0, 0, 0]


@pytest.mark.parametrize(("horizon", "last"), [(3, 0), (6, 0), (7, 1), (10, 1)])
def test_gaussian_rewards(play, horizon, last):
    # Prior N(.5, .5^2), noise .5: m = (.5 + sum) / (1 + n), precision 4 + 4 n. One look more moves the mean by
    # s = sqrt(1 / (4 + 4 n) - 1 / (8 + 4 n)): .354 for n = 0, .204 for n = 1. With d = |m - r| / s,
    # v = s (phi(d) - d Phi(-d)).
    # After a reward of .9 in (0,0), m = .7:
    #   (0,0): r = .5, d = .2 / .204 = .980, v = .204 * (.2468 - .980 * .1636) = .0177
    #   others: m = .5, r = .7, d = .2 / .354 = .566, v = .354 * (.3400 - .566 * .2858) = .0630
    # In round 2, T = 3 leaves 1 round: .718 > .563; T = 6 leaves 4: .771 > .752; T = 7 leaves 5: .788 < .815;
    # T = 10 leaves 8: .841 < 1.004.
    own = play(KnowledgeGradient(), horizon=horizon, binary=False, place=1, partner=[0], seen=[0.9])
    assert own == [0, last]
