"""Partner-Aware UCB that forgets, by hand: counts that fade, and a memory of the latest rounds.

Everywhere c = .5, so the bonus is sqrt(log x / n). "f" is the index; "inf" stands for a team action without a count.
"""

from __future__ import annotations

import numpy as np

from cobandit import PartnerAwareDiscountedUCB, PartnerAwareSlidingUCB, PartnerAwareUCB

ANY = [0.3]  # a window of one arm is sampled too, whatever the draw


def test_a_leader_whose_counts_fade_by_half(play):
    # n and s fade to a half with every round, and x, their sum, goes 1, 1.5, 1.75, 1.875, 1.9375, 1.96875.
    #  t  root   n00    n01    n10   n11   f00                 f01    f10    f11                own  partner  seen
    #  1         0      0      0     0     inf                 inf    inf    inf                 0     0       1
    #  2         1      0      0     0                         inf                               0     1       0
    #  3         .5     1      0     0                                inf                        1     0       0
    #  4         .25    .5     1     0                                       inf                 1     1       1
    #  5  .793   .125   .25    .5    1     1 + 2.243 = 3.243   1.586  1.121  1 + .793 = 1.793    0     0       0
    #  6  .813   1.063  .125   .25   .5    .059 + .789 = .848  2.300  1.627  1 + 1.150 = 2.150   0     1       0
    #  7  .823   .531   1.063  .125  .25   .059 + 1.129        .798   2.328  1 + 1.646 = 2.646   1
    game = {"place": 0, "partner": [0, 1, 0, 1, 0, 1], "seen": [1, 0, 0, 1, 0, 0]}
    assert play(PartnerAwareDiscountedUCB(recall=0.5, exploration=0.5), **game) == [0, 0, 1, 1, 0, 0, 1]
    # Who forgets nothing prefers (1, 1) in round 6, which has always paid: 1 + .616.
    assert play(PartnerAwareUCB(), **game)[5] == 1


def test_a_follower_with_a_memory_of_three_rounds(play):
    # x is min(t, 3): the bonus is .833 / sqrt(n) in round 2, then 1.048 / sqrt(n); 1.048 / sqrt(2) = .741.
    #  t  remembers, as (leader, own) = seen  foresees  f(row, 0)           f(row, 1)  own  leader  seen
    #  1  -                                   1 (.7)    inf                 inf         0     0      1
    #  2  00 = 1                              0         1 + .833            inf         1     0      0
    #  3  00 = 1, 01 = 0                      0         1 + 1.048           1.048       0     0      0
    #  4  00 = 1, 01 = 0, 00 = 0              0         1/2 + .741 = 1.241  1.048       0     0      0
    #  5  01 = 0, 00 = 0, 00 = 0              0         .741                1.048       1     0      0
    #  6  00 = 0, 00 = 0, 01 = 0              0         .741                1.048       1     0      0
    #  7  00 = 0, 01 = 0, 01 = 0              0         1.048               .741        0     1      1
    #  8  01 = 0, 01 = 0, 10 = 1              1         1 + 1.048           inf         1     0      0
    #  9  01 = 0, 10 = 1, 01 = 0              0         inf                 .741        0
    game = {
        "place": 1,
        "partner": [0, 0, 0, 0, 0, 0, 1, 0],
        "seen": [1, 0, 0, 0, 0, 0, 1, 0],
        "draws": [[0.7], *[ANY] * 8],
    }
    foresees = [{0: arm} for arm in (1, 0, 0, 0, 0, 0, 0, 1, 0)]
    agent = PartnerAwareSlidingUCB(memory=3, exploration=0.5, window=1)
    assert play(agent, foresees=foresees, **game) == [0, 1, 0, 0, 1, 1, 0, 1, 0]
    # Who forgets nothing tries arm 0 once more in round 5: 1/3 + .356 is more than .616.
    assert play(PartnerAwareUCB(window=1), **game)[4] == 0


def test_a_round_in_which_nothing_was_seen_takes_a_place_in_the_memory(play):
    # In round 4 the memory holds rounds 2 and 3, neither of them seen: (0, 0) counts as never tried again.
    agent = PartnerAwareSlidingUCB(memory=2, exploration=0.0)
    game = {"place": 0, "partner": [0, 1, 0], "seen": [1, None, None], "observation": "missed-known"}
    assert play(agent, **game) == [0, 0, 0, 0]
    assert np.asarray(agent.ratings()).tolist() == [[float("inf")] * 2] * 2
    faded = PartnerAwareDiscountedUCB(recall=0.5, exploration=0.0)
    assert play(faded, **game) == [0, 0, 0, 0]
    assert np.asarray(faded.ratings())[0, 0] == 1.0
