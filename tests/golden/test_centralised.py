"""One brain for all, by hand: what it makes of everybody's eyes, and what it plays.

UCB with c = .025 and T = 2000: the bonus is .616, .436, .356, .308 for n = 1, 2, 3, 4.
"""

from __future__ import annotations

import pytest

from cobandit import CentralisedTS, CentralisedUCB


def test_missed_rewards_are_ored(play_joint):
    #  t  f(0,0)  f(0,1)  f(1,0)               f(1,1)  plays   seen by 0, 1   OR
    #  1  inf     inf     inf                  inf     (0,0)      0 1          1
    #  2  1.616   inf     inf                  inf     (0,1)      0 0          0
    #  3  1.616   .616    inf                  inf     (1,0)      1 0          1
    #  4  1.616   .616    1.616                inf     (1,1)      0 0          0
    #  5  1.616   .616    1.616                .616    (0,0)      0 0          0
    #  6  .936    .616    1.616                .616    (1,0)      1 1          1   (one reward, seen twice)
    #  7  .936    .616    1 + .436 = 1.436     .616    (1,0)      0 0          0
    #  8  .936    .616    2/3 + .356 = 1.023   .616    (1,0)      0 0          0
    #  9  .936    .616    2/4 + .308 = .808    .616    (0,0)
    actions = play_joint(CentralisedUCB(), seen=[(0, 1), (0, 0), (1, 0), (0, 0), (0, 0), (1, 1), (0, 0), (0, 0)])
    assert actions == [(0, 0), (0, 1), (1, 0), (1, 1), (0, 0), (1, 0), (1, 0), (1, 0), (0, 0)]


@pytest.mark.parametrize("ranks", [(0, 1), (1, 0)])
def test_flipped_rewards_come_from_the_best_observer_whoever_leads(play_joint, ranks):
    # By agent 1's eyes (0,1) alone paid; by agent 0's eyes all the others did, and (0,0) is the first of them.
    told = {"ranks": ranks, "observation": "flipped", "seen": [(1, 0), (0, 1), (1, 0), (1, 0)]}
    actions = play_joint(CentralisedUCB(), best_observer=1, **told)
    assert actions == [(0, 0), (0, 1), (1, 0), (1, 1), (0, 1)]
    actions = play_joint(CentralisedUCB(), best_observer=0, **told)
    assert actions == [(0, 0), (0, 1), (1, 0), (1, 1), (0, 0)]


@pytest.mark.parametrize("ranks", [(0, 1), (1, 0)])
def test_noisy_rewards_come_from_the_best_observer_whoever_leads(play_joint, ranks):
    # By agent 1's eyes the means are .1, .4, .3, .2: after one look each, (0,1) has 1.016. By agent 0's eyes they are
    # .9, 0, 0, 0: (0,0) has 1.516.
    told = {"ranks": ranks, "observation": "noisy", "binary": False}
    seen = [(0.9, 0.1), (0.0, 0.4), (0.0, 0.3), (0.0, 0.2)]
    assert play_joint(CentralisedUCB(), best_observer=1, seen=seen, **told)[-1] == (0, 1)
    assert play_joint(CentralisedUCB(), best_observer=0, seen=seen, **told)[-1] == (0, 0)


@pytest.mark.parametrize("ranks", [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
def test_the_middle_one_of_three_may_observe_best(play_joint, ranks):
    # Two cells. By agent 1's eyes the second paid, by those of agents 0 and 2 the first did.
    told = {"ranks": ranks, "arms": (1, 2, 1), "observation": "flipped", "seen": [(1, 0, 1), (0, 1, 0)]}
    assert play_joint(CentralisedUCB(), best_observer=1, **told) == [(0, 0, 0), (0, 1, 0), (0, 1, 0)]
    assert play_joint(CentralisedUCB(), best_observer=2, **told) == [(0, 0, 0), (0, 1, 0), (0, 0, 0)]


@pytest.mark.parametrize("best_observer", [0, 1])
def test_what_anybody_missed_is_pooled_whoever_observes_best(play_joint, best_observer):
    # (0,0) paid for agent 1 only, (0,1) for agent 0 only: both count as paid.
    seen: list[tuple[int | None, ...]] = [(0, 1), (1, 0)]
    actions = play_joint(CentralisedUCB(), arms=(1, 2), best_observer=best_observer, seen=seen)
    assert actions == [(0, 0), (0, 1), (0, 0)]
    # Known misses: what one saw, whichever it was.
    seen = [(None, 0), (1, None)]
    told = {"arms": (1, 2), "observation": "missed-known", "best_observer": best_observer}
    assert play_joint(CentralisedUCB(), seen=seen, **told) == [(0, 0), (0, 1), (0, 1)]


@pytest.mark.parametrize("ranks", [(0, 1), (1, 0)])
def test_thompson_takes_the_best_observers_eyes_too(play_joint, ranks):
    # Flipped. Agent 1 observes best: 1 in (0,0), then 0.
    actions = play_joint(
        CentralisedTS(),
        arms=(1, 2),
        ranks=ranks,
        observation="flipped",
        best_observer=1,
        seen=[(0, 1), (1, 0)],
        draws=[[(1, 1, 0.9), (1, 1, 0.2)], [(2, 1, 0.9), (1, 1, 0.2)], [(2, 2, 0.1), (1, 1, 0.2)]],
    )
    assert actions == [(0, 0), (0, 0), (0, 1)]


def test_what_nobody_saw_changes_nothing(play_joint):
    #  t  plays   seen               taken for
    #  1  (0,0)   nothing, nothing   nothing: (0,0) stays inf
    #  2  (0,0)   nothing, 1         1
    #  3  (0,1)   0, nothing         0
    #  4  (1,0)   nothing, nothing   nothing
    #  5  (1,0)   0, 0               0
    #  6  (1,1)   1, 1               1
    #  7  (0,0) and (1,1) have 1.616: the first
    actions = play_joint(
        CentralisedUCB(),
        observation="missed-known",
        seen=[(None, None), (None, 1), (0, None), (None, None), (0, 0), (1, 1)],
    )
    assert actions == [(0, 0), (0, 0), (0, 1), (1, 0), (1, 0), (1, 1), (0, 0)]


def test_companion_index_starts_with_a_random_arm_for_each_agent(play_joint):
    # t = 1: .9 * 2 -> 1 and .5 * 3 -> 1. t = 2: every bonus is 0; (1,1) has 2/3, the others 1/2.
    # t = 3: cells never tried have 1/2 + .186 * 1000, the first of them is (0,0).
    actions = play_joint(
        CentralisedUCB(index="companion"), arms=(2, 3), seen=[(1, 0), (0, 0)], draws=[[0.9, 0.5], [], []]
    )
    assert actions == [(1, 1), (1, 1), (0, 0)]


def test_random_ties(play_joint):
    # t = 1: six equal, .5 * 6 -> the fourth, (1,0). t = 2: five left, .0 -> (0,0). t = 3: four left, .99 -> (1,2).
    actions = play_joint(CentralisedUCB(ties="random"), arms=(2, 3), seen=[(0, 0)] * 2, draws=[[0.5], [0.0], [0.99]])
    assert actions == [(1, 0), (0, 0), (1, 2)]


def test_thompson_samples_every_cell_in_order(play_joint):
    #  t  (0,0)         (0,1)         (1,0)         (1,1)         plays   seen   taken for
    #  1  Beta(1,1) .1  Beta(1,1) .2  Beta(1,1) .3  Beta(1,1) .9  (1,1)   0 1    1
    #  2  Beta(1,1) .5  Beta(1,1) .6  Beta(1,1) .1  Beta(2,1) .2  (0,1)   0 0    0
    #  3  Beta(1,1) .1  Beta(1,2) .2  Beta(1,1) .7  Beta(2,1) .6  (1,0)   1 1    1
    #  4  Beta(1,1) .1  Beta(1,2) .9  Beta(2,1) .7  Beta(2,1) .6  (0,1)
    actions = play_joint(
        CentralisedTS(),
        seen=[(0, 1), (0, 0), (1, 1)],
        draws=[
            [(1, 1, 0.1), (1, 1, 0.2), (1, 1, 0.3), (1, 1, 0.9)],
            [(1, 1, 0.5), (1, 1, 0.6), (1, 1, 0.1), (2, 1, 0.2)],
            [(1, 1, 0.1), (1, 2, 0.2), (1, 1, 0.7), (2, 1, 0.6)],
            [(1, 1, 0.1), (1, 2, 0.9), (2, 1, 0.7), (2, 1, 0.6)],
        ],
    )
    assert actions == [(1, 1), (0, 1), (1, 0), (0, 1)]


def test_thompson_learns_nothing_from_what_nobody_saw(play_joint):
    actions = play_joint(
        CentralisedTS(),
        arms=(1, 2),
        observation="missed-known",
        seen=[(None, None), (None, 0)],
        draws=[[(1, 1, 0.9), (1, 1, 0.2)], [(1, 1, 0.9), (1, 1, 0.2)], [(1, 2, 0.1), (1, 1, 0.2)]],
    )
    assert actions == [(0, 0), (0, 0), (0, 1)]
