"""mUCB by hand: rewards count for the planned team action, whatever the partners play."""

from __future__ import annotations

import pytest

from cobandit import MUCB


@pytest.mark.parametrize("actions", ["hidden", "observed"])
@pytest.mark.parametrize("partner", [[0] * 8, [1] * 8])
def test_rewards_are_credited_to_the_plan(play, actions, partner):
    # c = .5, T = 2000: f = mean + b / sqrt(n) with b = sqrt(2 * .5 * log 2000) = 2.757. Agent 1 plays the column.
    # rounds 1-4   each action once, in order; 0 1 1 0 is seen       f  2.757  3.757  3.757  2.757
    # round  5     (0,1), the first of equals; 0 is seen             f(0,1) = 1/2 + 1.950 = 2.450
    # round  6     (1,0); 1 is seen                                  f(1,0) = 1 + 1.950 = 2.950
    # round  7     (1,0); 0 is seen                                  f(1,0) = 2/3 + 1.592 = 2.258
    # round  8     (0,0), the first of equals; 1 is seen             f(0,0) = 1/2 + 1.950 = 2.450
    # round  9     (1,1), which has 2.757
    own = play(MUCB(), place=1, actions=actions, partner=partner, seen=[0, 1, 1, 0, 0, 1, 0, 1])
    assert own == [0, 1, 0, 1, 1, 0, 0, 0, 1]


def test_two_agents_with_common_rewards_know_each_others_arms(play):
    # The same rewards as above: agent 0 plays the rows of the very team actions whose columns agent 1 plays.
    own = play(MUCB(), place=0, actions="hidden", partner=[0] * 8, seen=[0, 1, 1, 0, 0, 1, 0, 1])
    assert own == [0, 0, 1, 1, 0, 1, 1, 0, 1]


def test_the_anytime_index_grows_with_the_round(play):
    # c = .5: f = mean + sqrt(log t / n). Agent 0 has one arm, agent 1 three.
    # rounds 1-3  each arm once; 1 0 0 is seen
    # round  4    log 4 = 1.386, root 1.177: f = 2.177, 1.177, 1.177: arm 0; 0 is seen
    # round  5    log 5 = 1.609: arm 0 has 1/2 + sqrt(1.609 / 2) = 1.397, the others 1.269: arm 0; 0 is seen
    # round  6    log 6 = 1.792: arm 0 has 1/3 + sqrt(1.792 / 3) = 1.106, the others 1.339: arm 1
    own = play(MUCB(index="anytime"), arms=(1, 3), place=1, actions="hidden", partner=[0] * 5, seen=[1, 0, 0, 0, 0])
    assert own == [0, 1, 2, 0, 0, 1]


def test_a_reward_that_was_not_seen_counts_for_nothing(play):
    # Round 1 shows nothing: (0,0) is still untried in round 2.
    own = play(MUCB(), place=1, actions="hidden", observation="missed-known", partner=[0] * 3, seen=[None, 0, 1])
    assert own == [0, 0, 1, 0]
