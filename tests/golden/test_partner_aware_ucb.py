"""Partner-Aware UCB by hand: Alg. 1 (follower), Alg. 2 (leader), and three agents.

Unless said otherwise c = .025 and T = 2000, so the bonus is sqrt(2 c log T / n) = .616 / sqrt(n):

    n       1     2     3     4     5
    bonus  .616  .436  .356  .308  .276

"f" is the index, estimate + bonus; "inf" stands for a team action never tried.
"""

from __future__ import annotations

import pytest

from cobandit import PartnerAwareUCB

ANY = [0.3]  # a window of one arm is sampled too, whatever the draw


def test_follower_with_window_1(play):
    #  t  foresees       f(row, 0)          f(row, 1)       own  leader  seen
    #  1  .7 * 2 -> 1    inf                inf              0     0      1
    #  2  last arm: 0    1 + .616 = 1.616   inf              1     0      0
    #  3  0              1.616              0 + .616 = .616  0     1      1
    #  4  1              1.616              inf              1     1      0
    #  5  1              1.616              .616             0     0      0
    #  6  0              1/2 + .436 = .936  .616             0     0      0
    #  7  0              1/3 + .356 = .689  .616             0     0      0
    #  8  0              1/4 + .308 = .558  .616             1
    own = play(
        PartnerAwareUCB(window=1),
        place=1,
        partner=[0, 0, 1, 1, 0, 0, 0],
        seen=[1, 0, 1, 0, 0, 0, 0],
        draws=[[0.7], ANY, ANY, ANY, ANY, ANY, ANY, ANY],
        foresees=[{0: 1}, {0: 0}, {0: 0}, {0: 1}, {0: 1}, {0: 0}, {0: 0}, {0: 0}],
    )
    assert own == [0, 1, 0, 1, 0, 0, 0, 1]


def test_follower_with_window_2_samples_the_last_two_arms(play):
    # A draw below .5 takes the older of the two remembered rounds, from .5 on the newer one.
    #  t  window  draw  foresees  f(row, 0)           f(row, 1)  own  leader  seen
    #  1  -       .2    0 (of 2)  inf                 inf         0     1      1
    #  2  1       .9    1         1.616               inf         1     0      0
    #  3  1 0     .49   1         1.616               inf         1     0      0
    #  4  0 0     .1    0         inf                 .436        0     1      0
    #  5  0 1     .5    1         1/2 + .436 = .936   inf         1     1      1
    #  6  1 1     .99   1         .936                1.616       1
    own = play(
        PartnerAwareUCB(window=2),
        place=1,
        partner=[1, 0, 0, 1, 1],
        seen=[1, 0, 0, 0, 1],
        draws=[[0.2], [0.9], [0.49], [0.1], [0.5], [0.99]],
        foresees=[{0: 0}, {0: 1}, {0: 1}, {0: 0}, {0: 1}, {0: 1}],
    )
    assert own == [0, 1, 1, 0, 1, 1]


@pytest.mark.parametrize(("draw", "foreseen"), [(0.0, 0), (0.33, 0), (0.34, 1), (0.66, 1), (0.67, 2), (0.999, 2)])
def test_follower_foresees_each_arm_alike_in_round_1(play, draw, foreseen):
    foresees = [{0: foreseen}]
    play(PartnerAwareUCB(), arms=(3, 2), place=1, partner=[], seen=[], draws=[[draw]], foresees=foresees)


@pytest.mark.parametrize(("draw", "foreseen"), [(0.0, 2), (0.24, 2), (0.25, 0), (0.5, 2), (0.74, 2), (0.75, 1)])
def test_follower_samples_the_histogram_of_a_full_window(play, draw, foreseen):
    # The leader played 1, 2, 0, 2, 1; W = 4 remembers 2, 0, 2, 1, so arm 2 has half of the draws.
    foresees = [{0: 0}, {0: 1}, {0: 1}, {0: 1}, {0: 1}, {0: foreseen}]
    play(
        PartnerAwareUCB(window=4),
        arms=(3, 2),
        place=1,
        partner=[1, 2, 0, 2, 1],
        seen=[0, 0, 0, 0, 0],
        draws=[[0.0], [0.0], [0.0], [0.0], [0.0], [draw]],
        foresees=foresees,
    )


def test_follower_who_knows_it_saw_nothing(play):
    # A round without sight leaves the own statistics as they are, but the leader's arm was seen.
    #  t  foresees  f(row, 0)  f(row, 1)  own  leader  seen
    #  1  0         inf        inf         0     1     nothing
    #  2  1         inf        inf         0     1      0
    #  3  1         .616       inf         1     0     nothing
    #  4  0         inf        inf         0     1      1
    #  5  1         .936       inf         1
    own = play(
        PartnerAwareUCB(window=1),
        place=1,
        observation="missed-known",
        partner=[1, 1, 0, 1],
        seen=[None, 0, None, 1],
        draws=[[0.0], ANY, ANY, ANY, ANY],
        foresees=[{0: 0}, {0: 1}, {0: 1}, {0: 0}, {0: 1}],
    )
    assert own == [0, 0, 1, 0, 1]


def test_follower_with_random_ties_draws_the_prediction_first(play):
    #  t  foresees     f(row, 0)  f(row, 1)  tie           own  leader  seen
    #  1  .6 * 2 -> 1  inf        inf        .5 * 2 -> 2nd  1     1      1
    #  2  1            inf        1.616      none           0     0      0
    #  3  0            .616       inf        none           1     0      0
    #  4  0            .616       .616       .4 * 2 -> 1st  0
    own = play(
        PartnerAwareUCB(window=1, ties="random"),
        place=1,
        partner=[1, 0, 0],
        seen=[1, 0, 0],
        draws=[[0.6, 0.5], ANY, ANY, [*ANY, 0.4]],
    )
    assert own == [1, 0, 1, 0]


def test_follower_with_the_companion_index(play):
    # Round 1 is a random own arm, nobody is foreseen. The bonus is sqrt(.05 log(t - 1) / n).
    #  t  foresees  f(row, 0)              f(row, 1)              own  leader  seen
    #  1  -         (.7 * 2 -> arm 1)                              1     0      0
    #  2  0         1/2 + 0 = .5           1/3 + 0 = .333          0     1      1
    #  3  1         2/3 + .186 = .853      1/2 + .186 * 1000       1
    own = play(
        PartnerAwareUCB(window=1, index="companion"),
        place=1,
        partner=[0, 1],
        seen=[0, 1],
        draws=[[0.7], ANY, ANY],
        foresees=[{}, {0: 0}, {0: 1}],
    )
    assert own == [1, 0, 1]


def test_leader_who_decides_every_round(play):
    #  t  f(0,0)   f(0,1)   f(1,0)   f(1,1)   best    own  follower  seen
    #  1  inf      inf      inf      inf      (0,0)    0      1       1
    #  2  inf      1.616    inf      inf      (0,0)    0      0       0
    #  3  .616     1.616    inf      inf      (1,0)    1      0       0
    #  4  .616     1.616    .616     inf      (1,1)    1      0       1    the follower went elsewhere
    #  5  .616     1.616    .936     inf      (1,1)    1      1       0
    #  6  .616     1.616    .936     .616     (0,1)    0      1       0
    #  7  .616     .936     .936     .616     (0,1)    0      0       1    equal: the first
    #  8  .936     .936     .936     .616     (0,0)    0      0       0
    #  9  .689     .936     .936     .616     (0,1)    0      1       0
    # 10  .689     .689     .936     .616     (1,0)    1
    own = play(
        PartnerAwareUCB(repeat=1),
        place=0,
        partner=[1, 0, 0, 0, 1, 1, 0, 0, 1],
        seen=[1, 0, 0, 1, 0, 0, 1, 0, 0],
        foresees=[{}] * 10,
    )
    assert own == [0, 0, 1, 1, 1, 0, 0, 0, 0, 1]


def test_leader_who_decides_every_second_round(play):
    #  t  f(0,0)   f(0,1)   f(1,0)   f(1,1)   best    own  follower  seen
    #  1  inf      inf      inf      inf      (0,0)    0      0       0
    #  2  kept                                         0      0       0
    #  3  .436     inf      inf      inf      (0,1)    0      1       1
    #  4  kept, although (1,0) is still inf            0      1       1
    #  5  .436     1.436    inf      inf      (1,0)    1      0       0
    #  6  kept                                         1      1       0
    #  7  .436     1.436    .616     .616     (0,1)    0      1       0
    #  8  kept                                         0
    own = play(PartnerAwareUCB(repeat=2), place=0, partner=[0, 0, 1, 1, 0, 1, 1], seen=[0, 0, 1, 1, 0, 0, 0])
    assert own == [0, 0, 0, 0, 1, 1, 0, 0]


def test_leader_with_the_companion_index_keeps_its_random_first_arm(play):
    # t = 1: .7 * 2 -> arm 1, kept in t = 2. The team played (1, 0) twice: 1 and 1, so (1 + 2) / (2 + 2) = .75.
    # t = 3: bonus .186 / sqrt(2) = .132 for (1, 0), .186 * 1000 for the others: (0, 0).
    # t = 4 keeps it.
    own = play(
        PartnerAwareUCB(repeat=2, index="companion"),
        place=0,
        partner=[0, 0, 1],
        seen=[1, 1, 0],
        draws=[[0.7], [], [], []],
    )
    assert own == [1, 1, 0, 0]


RANKS = (2, 0, 1)  # agent 1 leads, agent 2 is in the middle, agent 0 is last
ARMS = (2, 3, 2)


def test_middle_of_three_foresees_the_leader_and_settles_the_last_ones_arm_too(play):
    # Partners are (agent 0, agent 1). With agent 1 at j the choice is among (., j, .), rows before columns.
    #  t  foresees        f(0,j,0)  f(0,j,1)  f(1,j,0)  f(1,j,1)  best      own  partners  seen
    #  1  .5 * 3 -> j=1   inf       inf       inf       inf       (0,1,0)    0   (1, 1)     1
    #  2  j=1             inf       inf       1.616     inf       (0,1,0)    0   (0, 1)     0
    #  3  j=1             .616      inf       1.616     inf       (0,1,1)    1   (1, 1)     0
    #  4  j=1             .616      inf       1.616     .616      (0,1,1)    1   (0, 1)     0
    #  5  j=1             .616      .616      1.616     .616      (1,1,0)    0   (0, 2)     0
    #  6  j=2             .616      inf       inf       inf       (0,2,1)    1
    own = play(
        PartnerAwareUCB(window=1),
        place=2,
        arms=ARMS,
        ranks=RANKS,
        partner=[(1, 1), (0, 1), (1, 1), (0, 1), (0, 2)],
        seen=[1, 0, 0, 0, 0],
        draws=[[0.5], ANY, ANY, ANY, ANY, ANY],
        foresees=[{1: 1}, {1: 1}, {1: 1}, {1: 1}, {1: 1}, {1: 2}],
    )
    assert own == [0, 0, 1, 1, 0, 1]


def test_last_of_three_foresees_the_leader_first_and_then_the_middle(play):
    # Partners are (agent 1, agent 2); agent 1 leads and is drawn first. W = 2.
    #  t  windows      draws   foresees  f(0,j,k)  f(1,j,k)  own  partners  seen
    #  1  -            .9 .4   j=2 k=0   inf       inf        0   (2, 0)     0
    #  2  2     0      .0 .0   j=2 k=0   .616      inf        1   (1, 1)     1
    #  3  2 1   0 1    .2 .8   j=2 k=1   inf       inf        0   (2, 1)     0
    #  4  1 2   1 1    .2 .2   j=1 k=1   inf       1.616      0   (2, 0)     0
    #  5  2 2   1 0    .0 .7   j=2 k=0   .436      inf        1
    #  In round 4 the team played (0, 2, 0) for the second time.
    own = play(
        PartnerAwareUCB(window=2),
        place=0,
        arms=ARMS,
        ranks=RANKS,
        partner=[(2, 0), (1, 1), (2, 1), (2, 0)],
        seen=[0, 1, 0, 0],
        draws=[[0.9, 0.4], [0.0, 0.0], [0.2, 0.8], [0.2, 0.2], [0.0, 0.7]],
        foresees=[{1: 2, 2: 0}, {1: 2, 2: 0}, {1: 2, 2: 1}, {1: 1, 2: 1}, {1: 2, 2: 0}],
    )
    assert own == [0, 1, 0, 0, 1]


def test_leader_of_three_foresees_nobody(play):
    # Row-major over all twelve: (0,0,0), (0,0,1), (0,1,0), ... Partners are (agent 0, agent 2).
    #  t  first never tried  own  partners  seen
    #  1  (0,0,0)             0   (0, 0)     0
    #  2  (0,0,1)             0   (0, 1)     0
    #  3  (0,1,0)             1   (1, 0)     0     so (1,1,0) was played
    #  4  (0,1,0)             1   (0, 0)     0
    #  5  (0,1,1)             1   (0, 1)     0
    #  6  (0,2,0)             2
    own = play(
        PartnerAwareUCB(),
        place=1,
        arms=ARMS,
        ranks=RANKS,
        partner=[(0, 0), (0, 1), (1, 0), (0, 0), (0, 1)],
        seen=[0] * 5,
        foresees=[{}] * 6,
    )
    assert own == [0, 0, 1, 1, 1, 2]
