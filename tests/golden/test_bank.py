"""The bank of predictors by hand: who is trusted, what is predicted, what is played."""

from __future__ import annotations

import numpy as np
import pytest

from cobandit import Bank, Briefing


def test_three_rounds_of_a_leader_that_stays(play):
    # No exploration, so a cell is worth (1 + ones) / (2 + n).
    #  t  prediction                                   worth of (row, 0), (row, 1)     own  leader  seen
    #  1  row 0, see below                             all 1/2: the first               0     1      1
    #  2  row 1, see below                             (1,0) has 2/3, the others 1/2    0     1      0
    #  3  row 1                                        all 1/2                          0     1      0
    #  4  row 1                                        (1,0) has 2/5: arm 1             1
    own = play(
        Bank(exploration=0.0),
        place=1,
        partner=[1, 1, 1],
        seen=[1, 0, 0],
        foresees=[{0: 0}, {0: 1}, {0: 1}, {0: 1}],
    )
    assert own == [0, 0, 0, 1]


def test_how_likely_the_rows_are():
    agent = Bank(exploration=0.0)
    agent.reset(Briefing(1, (2, 2), (0, 1), 100), np.random.default_rng(0))
    agent.choose()
    # Nine predictors know nothing yet: 1/2. The two by aims hold row 0, the first of equals: 9/10.
    assert agent._bank.mixture[0] == pytest.approx((9 * 0.5 + 2 * 0.9) / 11)
    agent.observe((1, 0), 1.0)
    # Row 1 had 1/2 nine times and 1/10 twice: 9 of .5 / 4.7, 2 of .1 / 4.7, and a hundredth goes back to all alike.
    trust = [0.99 * chance / 4.7 + 0.01 / 11 for chance in [0.5] * 9 + [0.1] * 2]
    assert agent._bank.trust == pytest.approx(trust)
    agent.choose()
    # Histograms with decay 0, .6, .9, .97, 1 have 1, 1.3, 1.45, 1.485, 1.5 for row 1, of 1, 1.6, 1.9, 1.97, 2, and .05
    # for each row besides; four times "stays" with 2 of 3; greedy by (1,0): 9/10; UCB by a cell never tried: 1/10.
    chances = [1.05 / 1.1, 1.35 / 1.7, 1.5 / 2, 1.535 / 2.07, 1.55 / 2.1, *[2 / 3] * 4, 0.9, 0.1]
    assert agent._bank.mixture[1] == pytest.approx(float(np.dot(trust, chances)))


def test_a_plan_goes_where_the_leader_stays(play):
    # The leader stays in row 0 and pays there; planning or not, its row is what counts.
    for plan in (False, True):
        own = play(Bank(plan=plan, exploration=0.0), place=1, partner=[0] * 6, seen=[0, 1, 1, 1, 1, 1])
        assert own == [0, 1, 1, 1, 1, 1, 1]


def test_as_a_leader_it_plays_the_best(play):
    own = play(Bank(exploration=0.0), place=0, partner=[0, 0, 1], seen=[0, 1, 1], foresees=[{}] * 4)
    assert own == [0, 0, 0, 0]
