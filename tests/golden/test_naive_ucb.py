"""Naive UCB by hand, under the three index variants and both rules for ties; very naive UCB.

paper:      bonus sqrt(2 c log T / n); with c = .025 and T = 2000 it is .616, .436, .356, .308 for n = 1, 2, 3, 4
anytime:    bonus sqrt(2 c log t / n)
companion:  estimate (1 + sum) / (2 + n), bonus sqrt(2 c log(t - 1) / max(n, 1e-6))
"""

from __future__ import annotations

import pytest

from cobandit import NaiveUCB, VeryNaiveUCB


def test_paper_index(play):
    #  t  f(0,0)   f(0,1)   f(1,0)   f(1,1)   best    own  partner  seen
    #  1  inf      inf      inf      inf      (0,0)    0      1      1
    #  2  inf      inf      1.616    inf      (0,0)    0      0      0
    #  3  .616     inf      1.616    inf      (0,1)    1      0      1
    #  4  .616     1.616    1.616    inf      (1,1)    1      0      0    the partner does not comply
    #  5  .616     .936     1.616    inf      (1,1)    1      1      0
    #  6  .616     .936     1.616    .616     (1,0)    0
    own = play(NaiveUCB(), place=1, ranks=(0, 1), partner=[1, 0, 0, 0, 1], seen=[1, 0, 1, 0, 0])
    assert own == [0, 0, 1, 1, 1, 0]


@pytest.mark.parametrize("ranks", [(0, 1), (1, 0)])
def test_ranks_mean_nothing_to_it(play, ranks):
    own = play(NaiveUCB(), place=1, ranks=ranks, partner=[1, 0, 0, 0, 1], seen=[1, 0, 1, 0, 0])
    assert own == [0, 0, 1, 1, 1, 0]


def test_without_exploration_only_the_estimate_counts(play):
    # After one look at each: 1, 0, 0, 1. Then (0,0) until its mean falls below that of (1,1).
    #  t  f(0,0)  f(0,1)  f(1,0)  f(1,1)  best    own  partner  seen
    #  5  1       0       0       1       (0,0)    0      0      1
    #  6  1       0       0       1       (0,0)    0      0      0
    #  7  2/3     0       0       1       (1,1)    1
    own = play(NaiveUCB(exploration=0), place=0, partner=[0, 1, 0, 1, 0, 0], seen=[1, 0, 0, 1, 1, 0])
    assert own == [0, 0, 1, 1, 0, 0, 1]


def test_what_was_never_tried_comes_before_any_bonus(play):
    # c = 50: the bonus is sqrt(100 * 7.601) = 27.569, and the reward of 40 is no small one; still (0,1) comes next.
    assert play(NaiveUCB(exploration=50), binary=False, place=1, partner=[0], seen=[40.0]) == [0, 1]


def test_three_agents_each_with_their_own_number_of_arms(play):
    # Arms 1 x 2 x 3, own are the 3: the cells in order are (0,0,0), (0,0,1), (0,0,2), (0,1,0), ...
    own = play(NaiveUCB(), arms=(1, 2, 3), ranks=(0, 1, 2), place=2, partner=[(0, 0)] * 3, seen=[0] * 3)
    assert own == [0, 1, 2, 0]


def test_anytime_index(play):
    # c = .5, so the bonus is sqrt(log t / n); sqrt(log t) = 1.269, 1.339, 1.395, 1.442 at t = 5, 6, 7, 8.
    #  t  f(0,0)                        f(0,1)           f(1,0)  f(1,1)  best    own  partner  seen
    #  1-4  one look at each                                              all     0 1 0 1  0 0 1 1  1 0 0 0
    #  5  1 + 1.269 = 2.269             1.269            1.269   1.269   (0,0)    0      0      0
    #  6  1/2 + 1.339/1.414 = 1.447     1.339            1.339   1.339   (0,0)    0      0      0
    #  7  1/3 + 1.395/1.732 = 1.139     1.395            1.395   1.395   (0,1)    1      0      0
    #  8  1/3 + 1.442/1.732 = 1.166     1.442/1.414=1.02 1.442   1.442   (1,0)    0
    own = play(
        NaiveUCB(index="anytime", exploration=0.5),
        place=1,
        partner=[0, 0, 1, 1, 0, 0, 0],
        seen=[1, 0, 0, 0, 0, 0, 0],
    )
    assert own == [0, 1, 0, 1, 0, 0, 1, 0]


def test_paper_index_parts_from_anytime_where_t_is_far_from_the_horizon(play):
    # As above with delta = 1/T^2: sqrt(log 2000) = 2.757, so in round 6 (0,0) has 1/2 + 1.949 = 2.449 < 2.757.
    own = play(NaiveUCB(exploration=0.5), place=1, partner=[0, 0, 1, 1, 0], seen=[1, 0, 0, 0, 0])
    assert own == [0, 1, 0, 1, 0, 1]


def test_paper_index_knows_a_short_horizon(play):
    # T = 6: sqrt(log 6) = 1.339; round 6 is the one of the anytime play: (0,0) has 1.447 > 1.339.
    own = play(NaiveUCB(exploration=0.5), horizon=6, place=1, partner=[0, 0, 1, 1, 0], seen=[1, 0, 0, 0, 0])
    assert own == [0, 1, 0, 1, 0, 0]


def test_companion_index(play):
    #  t  bonus, n=1  f(0,0)              f(0,1)              f(1,0)             f(1,1)              own  partner  seen
    #  1  random own arm: .2 * 2 -> 0                                                                 0      0      1
    #  2  0           2/3 = .667          1/2                 1/2                1/2                  0      0      0
    #     every bonus is 0, also of cells never tried: it stays
    #  3  .186        1/2 + .132 = .632   1/2 + .186 * 1000   the same           the same             1      0      0
    #  4  .234        .5 + .166           1/3 + .234          1/2 + .234 * 1000  the same             0      1      0
    #  5  .263        .5 + .186           1/3 + .263          1/3 + .263         1/2 + .263 * 1000    1      1      1
    #  6  .284        .5 + .201 = .701    1/3 + .284 = .617   .617               2/3 + .284 = .950    1      0      1
    #  7  .299        .5 + .212 = .712    2/4 + .212 = .712   1/3 + .299 = .633  2/3 + .299 = .966    1      1      0
    #  8  .312        .5 + .221 = .721    .721                1/3 + .312 = .645  2/4 + .221 = .721    0    the first
    own = play(
        NaiveUCB(index="companion"),
        place=1,
        partner=[0, 0, 0, 1, 1, 0, 1],
        seen=[1, 0, 0, 0, 1, 1, 0],
        draws=[[0.2], [], [], [], [], [], [], []],
    )
    assert own == [0, 0, 1, 0, 1, 1, 1, 0]


def test_random_ties_are_drawn_only_where_there_is_a_tie(play):
    #  t  f(0,0)  f(0,1)  f(1,0)  f(1,1)  equal           draw              best    own  partner  seen
    #  1  inf     inf     inf     inf     all four        .6 * 4 -> third   (1,0)    1      1      1
    #  2  inf     inf     inf     1.616   first three     .34 * 3 -> second (0,1)    0      0      0
    #  3  .616    inf     inf     1.616   (0,1) (1,0)     .5 * 2 -> second  (1,0)    1      0      0
    #  4  .616    inf     .616    1.616   -               -                 (0,1)    0      1      0
    #  5  .616    .616    .616    1.616   -               -                 (1,1)    1      1      0
    #  6  .616    .616    .616    .936    -               -                 (1,1)    1      1      0
    #  7  .616    .616    .616    .689    -               -                 (1,1)    1      1      0
    #  8  .616    .616    .616    .558    first three     .7 * 3 -> third   (1,0)    1
    own = play(
        NaiveUCB(ties="random"),
        place=0,
        partner=[1, 0, 0, 1, 1, 1, 1],
        seen=[1, 0, 0, 0, 0, 0, 0],
        draws=[[0.6], [0.34], [0.5], [], [], [], [], [0.7]],
    )
    assert own == [1, 0, 1, 0, 1, 1, 1, 1]


@pytest.mark.parametrize("partner", [[0, 0, 0, 0, 0], [1, 0, 2, 1, 0], [2, 2, 1, 2, 2]])
def test_very_naive_is_blind_to_the_partner(play, partner):
    #  t  f(0)   f(1)                 own  seen
    #  1  inf    inf                   0    0
    #  2  .616   inf                   1    1
    #  3  .616   1.616                 1    0
    #  4  .616   1/2 + .436 = .936     1    0
    #  5  .616   1/3 + .356 = .689     1    0
    #  6  .616   1/4 + .308 = .558     0
    own = play(VeryNaiveUCB(), arms=(2, 3), place=0, partner=partner, seen=[0, 1, 0, 0, 0])
    assert own == [0, 1, 1, 1, 1, 0]


def test_very_naive_with_the_companion_index(play):
    #  t  bonus, n=1  f(0)                  f(1)                 own  seen
    #  1  random own arm: .5 * 2 -> 1                             1    1
    #  2  0           1/2                   2/3                   1    0
    #  3  .186        1/2 + .186 * 1000     2/4 + .132            0    0
    #  4  .234        1/3 + .234 = .568     2/4 + .166 = .666     1    0
    #  5  .263        1/3 + .263 = .597     2/5 + .152 = .552     0
    own = play(
        VeryNaiveUCB(index="companion"),
        place=0,
        partner=[0, 1, 0, 1],
        seen=[1, 0, 0, 0],
        draws=[[0.5], [], [], [], []],
    )
    assert own == [1, 1, 0, 1, 0]


def test_very_naive_who_knows_it_saw_nothing_tries_again(play):
    own = play(VeryNaiveUCB(), place=1, observation="missed-known", partner=[0, 0, 0], seen=[None, None, 0])
    assert own == [0, 0, 0, 1]
