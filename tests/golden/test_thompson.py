"""Naive and Partner-Aware Thompson sampling by hand: which posterior is sampled for which cell, and in which order.

Where rewards are 0 or 1, a cell with so many ones and zeros has the posterior Beta(1 + ones, 1 + zeros).
"""

from __future__ import annotations

from cobandit import NaiveTS, PartnerAwareTS

ANY = 0.3


def test_naive_samples_every_cell_in_order(play):
    #  t  (0,0)         (0,1)         (1,0)         (1,1)         best    own  partner  seen
    #  1  Beta(1,1) .2  Beta(1,1) .9  Beta(1,1) .5  Beta(1,1) .1  (0,1)    0      0      1
    #  2  Beta(2,1) .3  Beta(1,1) .1  Beta(1,1) .2  Beta(1,1) .8  (1,1)    1      0      0
    #  3  Beta(2,1) .4  Beta(1,1) .3  Beta(1,2) .5  Beta(1,1) .1  (1,0)    1      0      1
    #  4  Beta(2,1) .6  Beta(1,1) .3  Beta(2,2) .5  Beta(1,1) .1  (0,0)    0
    own = play(
        NaiveTS(),
        place=0,
        partner=[0, 0, 0],
        seen=[1, 0, 1],
        draws=[
            [(1, 1, 0.2), (1, 1, 0.9), (1, 1, 0.5), (1, 1, 0.1)],
            [(2, 1, 0.3), (1, 1, 0.1), (1, 1, 0.2), (1, 1, 0.8)],
            [(2, 1, 0.4), (1, 1, 0.3), (1, 2, 0.5), (1, 1, 0.1)],
            [(2, 1, 0.6), (1, 1, 0.3), (2, 2, 0.5), (1, 1, 0.1)],
        ],
    )
    assert own == [0, 1, 1, 0]


def test_naive_breaks_equal_samples_at_random_if_asked_to(play):
    # Three equal samples: the draw follows the samples, .7 * 3 -> the third of the equals, (1,1).
    draws = [[(1, 1, 0.5), (1, 1, 0.1), (1, 1, 0.5), (1, 1, 0.5), 0.7]]
    assert play(NaiveTS(ties="random"), place=1, partner=[], seen=[], draws=draws) == [1]
    assert play(NaiveTS(ties="first"), place=1, partner=[], seen=[], draws=[draws[0][:4]]) == [0]


def test_naive_with_gaussian_rewards(play):
    # Prior N(.5, .5^2) and noise .5: after n rewards the posterior is N((.5 + sum) / (1 + n), .5^2 / (1 + n)).
    #  t  (0,0)                    (0,1)            (1,0)            (1,1)                    best   own  partner  seen
    #  1  .5 + .5 * .2 = .6        .5 - .5 = 0      .5 + .2 = .7     .5                       (1,0)   1      1     1.3
    #  2  .5 + .5 * 1 = 1          .5 + .25 = .75   .5 + .45 = .95   .9 - .354 * .2 = .829    (0,0)   0      0     -.3
    #  3  .1 + .354 * 2 = .807     .75              .5 + .3 = .8     .829                     (1,1)   1
    own = play(
        NaiveTS(),
        binary=False,
        place=0,
        partner=[1, 0],
        seen=[1.3, -0.3],
        draws=[
            [("z", 0.2), ("z", -1), ("z", 0.4), ("z", 0)],
            [("z", 1), ("z", 0.5), ("z", 0.9), ("z", -0.2)],
            [("z", 2), ("z", 0.5), ("z", 0.6), ("z", -0.2)],
        ],
    )
    assert own == [1, 0, 1]


def test_naive_with_another_gaussian_prior(play):
    # Prior N(0, 1), noise .5: precision 1 + 4 n, mean 4 sum / (1 + 4 n).
    # t = 1: 1, 0, 0, 0 -> (0,0), which pays 1: N(.8, 1/5), standard deviation .447.
    # t = 2: .8 - .447 * .2 = .7106, .7, .71, .1 -> (0,0)
    own = play(
        NaiveTS(prior_mean=0, prior_sd=1, noise_sd=0.5),
        binary=False,
        place=0,
        partner=[0],
        seen=[1],
        draws=[[("z", 1), ("z", 0), ("z", 0), ("z", 0)], [("z", -0.2), ("z", 0.7), ("z", 0.71), ("z", 0.1)]],
    )
    assert own == [0, 0]


def test_follower_foresees_then_samples_that_row_only(play):
    #  t  foresees     (row, 0)      (row, 1)      own  leader  seen
    #  1  .6 * 2 -> 1  Beta(1,1) .4  Beta(1,1) .7   1     0      1
    #  2  0            Beta(1,1) .6  Beta(2,1) .5   0     1      0
    #  3  1            Beta(1,2) .9  Beta(1,1) .3   0     1      0
    #  4  1            Beta(1,3) .1  Beta(1,1) .3   1
    own = play(
        PartnerAwareTS(window=1),
        place=1,
        partner=[0, 1, 1],
        seen=[1, 0, 0],
        draws=[
            [0.6, (1, 1, 0.4), (1, 1, 0.7)],
            [ANY, (1, 1, 0.6), (2, 1, 0.5)],
            [ANY, (1, 2, 0.9), (1, 1, 0.3)],
            [ANY, (1, 3, 0.1), (1, 1, 0.3)],
        ],
        foresees=[{0: 1}, {0: 0}, {0: 1}, {0: 1}],
    )
    assert own == [1, 0, 0, 1]


def test_leader_samples_everything_and_keeps_its_arm(play):
    # L = 2. Round 1: (1,0) wins. Round 2: kept, nothing is drawn. Round 3: the posteriors hold both rounds.
    own = play(
        PartnerAwareTS(repeat=2),
        place=0,
        partner=[1, 0, 0],
        seen=[1, 0, 0],
        draws=[
            [(1, 1, 0.2), (1, 1, 0.1), (1, 1, 0.9), (1, 1, 0.8)],
            [],
            [(1, 1, 0.7), (1, 1, 0.1), (1, 2, 0.3), (2, 1, 0.6)],
            [],
        ],
        foresees=[{}] * 4,
    )
    assert own == [1, 1, 0, 0]


def test_middle_of_three_samples_the_block_that_is_left(play):
    # Agent 1 leads, agent 2 plays here, agent 0 is last; partners are (agent 0, agent 1).
    #  t  foresees       (0,j,0)       (0,j,1)       (1,j,0)       (1,j,1)       own  partners  seen
    #  1  .5 * 3 -> j=1  Beta(1,1) .1  Beta(1,1) .2  Beta(1,1) .8  Beta(1,1) .3   0   (1, 1)     1
    #  2  j=1            Beta(1,1) .4  Beta(1,1) .5  Beta(2,1) .3  Beta(1,1) .4   1   (0, 1)     0
    #  3  j=1            Beta(1,1) .1  Beta(1,2) .2  Beta(2,1) .3  Beta(1,1) .9   1   (0, 2)     0
    #  4  j=2            Beta(1,1) .1  Beta(1,2) .2  Beta(1,1) .3  Beta(1,1) .1   0
    own = play(
        PartnerAwareTS(window=1),
        place=2,
        arms=(2, 3, 2),
        ranks=(2, 0, 1),
        partner=[(1, 1), (0, 1), (0, 2)],
        seen=[1, 0, 0],
        draws=[
            [0.5, (1, 1, 0.1), (1, 1, 0.2), (1, 1, 0.8), (1, 1, 0.3)],
            [ANY, (1, 1, 0.4), (1, 1, 0.5), (2, 1, 0.3), (1, 1, 0.4)],
            [ANY, (1, 1, 0.1), (1, 2, 0.2), (2, 1, 0.3), (1, 1, 0.9)],
            [ANY, (1, 1, 0.1), (1, 2, 0.2), (1, 1, 0.3), (1, 1, 0.1)],
        ],
    )
    assert own == [0, 1, 1, 0]


def test_follower_with_gaussian_rewards(play):
    # t = 1: foresees 0; .5 + .5 * .1 = .55 and .5 - .1 = .4 -> 0. The leader plays 0, .1 is seen: N(.3, .125).
    # t = 2: foresees 0; .3 + .354 * .5 = .477 and .5 - .5 * .1 = .45 -> 0.
    own = play(
        PartnerAwareTS(window=1),
        binary=False,
        place=1,
        partner=[0],
        seen=[0.1],
        draws=[[0.0, ("z", 0.1), ("z", -0.2)], [ANY, ("z", 0.5), ("z", -0.1)]],
    )
    assert own == [0, 0]
