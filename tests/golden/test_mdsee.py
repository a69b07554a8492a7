"""mDSEE by hand: phase k sweeps k times over all team actions, then commits until a power of two is reached."""

from __future__ import annotations

from cobandit import MDSEE

SWEEP = [0, 0, 1, 1]  # agent 0's arms in (0,0), (0,1), (1,0), (1,1)
OTHER = [0, 1, 0, 1]  # agent 1's


def test_three_phases(play):
    # rounds  1-4    one sweep; 0 0 1 0 is seen            means 0, 0, 1, 0
    # rounds  5-8    commits to (1,0): arm 1. Four rounds are the next power of two after 4 itself: "next" is strict.
    #                nothing pays: (1,0) has 1/5
    # rounds  9-16   two sweeps; only (0,1) pays, twice    means 0, 2/3, 1/7, 0
    # rounds 17-32   commits to (0,1): arm 0; nothing pays, so (0,1) has 2/19
    # rounds 33-44   three sweeps, nothing pays            means 0, 2/22 = .091, 1/10 = .1, 0
    # rounds 45-64   commits to (1,0): arm 1
    # round  65      the fourth phase starts its sweeps
    own = play(
        MDSEE(),
        place=0,
        partner=[*OTHER, *[0] * 4, *OTHER * 2, *[1] * 16, *OTHER * 3, *[0] * 20],
        seen=[*[0, 0, 1, 0], *[0] * 4, *[0, 1, 0, 0] * 2, *[0] * 16, *[0] * 12, *[0] * 20],
    )
    assert own == [*SWEEP, *[1] * 4, *SWEEP * 2, *[0] * 16, *SWEEP * 3, *[1] * 20, 0]


def test_hidden_actions_leave_the_rewards_of_commitments_out(play):
    # rounds  1-4    one sweep; 0 0 1 0 is seen             means 0, 0, 1, 0
    # rounds  5-8    commits to (1,0): arm 1; nothing pays, and nobody knows which action did not: (1,0) still has 1
    # rounds  9-16   two sweeps; only (0,1) pays, twice     means 0, 2/3, 1/3, 0
    # rounds 17-32   commits to (0,1): arm 0; nothing pays
    # rounds 33-44   three sweeps, nothing pays             means 0, 2/6, 1/6, 0
    # rounds 45-64   commits to (0,1): arm 0
    # round  65      the fourth phase starts its sweeps
    # The partner plays column 1 throughout, against the schedule; the agent cannot know.
    own = play(
        MDSEE(),
        place=0,
        actions="hidden",
        partner=[1] * 64,
        seen=[*[0, 0, 1, 0], *[0] * 4, *[0, 1, 0, 0] * 2, *[0] * 16, *[0] * 12, *[0] * 20],
    )
    assert own == [*SWEEP, *[1] * 4, *SWEEP * 2, *[0] * 16, *SWEEP * 3, *[0] * 20, 0]


def test_three_actions_do_not_fill_a_power_of_two(play):
    # rounds  1-3   sweep; 0 1 0 is seen
    # round   4     commits to arm 1 until 4 rounds are played; 0 is seen
    # rounds  5-10  two sweeps; 0 0 1 0 0 1 is seen: means 0, 1/4, 2/3
    # rounds 11-16  commits to arm 2
    # round  17     three sweeps to come
    own = play(
        MDSEE(),
        arms=(1, 3),
        place=1,
        partner=[0] * 16,
        seen=[0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0],
    )
    assert own == [0, 1, 2, 1, 0, 1, 2, 0, 1, 2, 2, 2, 2, 2, 2, 2, 0]


def test_the_schedule_does_not_wait_for_a_partner_who_does_not_follow(play):
    # The partner always plays 1: rounds 1 and 2 both show (0,1), rounds 3 and 4 both (1,1). (0,1) has 1/2, (1,1) 0.
    own = play(MDSEE(), place=0, partner=[1] * 6, seen=[0, 1, 0, 0, 0, 0])
    assert own == [*SWEEP, 0, 0, 0]


def test_more_sweeps(play):
    # F(k) = 2 k, two actions: rounds 1-4 sweep, 5-8 commit, 9-16 sweep, 17 commits. Arm 1 paid once in round 4.
    own = play(MDSEE(sweeps=2), arms=(2, 1), place=0, partner=[0] * 16, seen=[0, 0, 0, 1] + [0] * 12)
    assert own == [0, 1, 0, 1] + [1] * 4 + [0, 1] * 4 + [1]


def test_random_ties_are_drawn_once_for_a_commitment(play):
    # Four means of 0: .6 * 4 -> the third, (1,0). The commitment then stands for rounds 5-8.
    own = play(
        MDSEE(ties="random"), place=0, partner=[0, 1, 0, 1, 0, 0], seen=[0] * 6, draws=[[], [], [], [], [0.6], [], []]
    )
    assert own == [*SWEEP, 1, 1, 1]


def test_an_action_never_seen_is_not_the_best(play):
    # Only (0,1) was seen, and it did not pay; still it is the only one with a mean.
    own = play(MDSEE(), place=1, observation="missed-known", partner=[0, 0, 1, 1], seen=[None, 0, None, None])
    assert own == [0, 1, 0, 1, 1]
