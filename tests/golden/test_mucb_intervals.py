"""mUCB-Intervals by hand: the agreed schedule, the deviation, the drop.

c = .025 and T = 2000: half an interval is .616, .436, .356, .308 wide for n = 1, 2, 3, 4. The schedule is
(0,0), (0,1), (1,0), (1,1), and round again.
"""

from __future__ import annotations

from cobandit import MUCBIntervals

PAID = [1, 0, 1, 1]


def test_an_interval_wholly_below_another_makes_it_deviate(play):
    # All but (0,1) always pay. (0,1) is scheduled in rounds 2, 6, 10:
    #  t   upper end of (0,1)    highest lower end       own  partner
    #  2   never tried           -                        0      1
    #  6   0 + .616 = .616       (0,0): 1 - .436 = .564   0      1     not below
    # 10   0 + .436 = .436       (0,0): 1 - .356 = .644   1      1     below: deviates, and (1,1) is played
    # 11 on: (1,0), (1,1), (0,0), and no more (0,1)
    own = play(
        MUCBIntervals(exploration=0.025),
        place=0,
        partner=[0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0],
        seen=[*PAID, *PAID, 1, 1, 1, 1, 1],
    )
    assert own == [0, 0, 1, 1, 0, 0, 1, 1, 0, 1, 1, 1, 0, 1]


def test_a_partners_deviation_drops_the_action_for_all(play):
    # This agent sees nothing but zeros and never deviates. In round 10 the partner leaves (0,1) for (1,1).
    own = play(
        MUCBIntervals(exploration=0.025),
        place=1,
        partner=[0, 0, 1, 1, 0, 0, 1, 1, 0, 1, 1, 1, 0, 1],
        seen=[0] * 14,
    )
    #  two cycles, (0,0) and (0,1) once more; then (1,0), (1,1), (0,0), (1,0), (1,1)
    assert own == [*[0, 1, 0, 1] * 2, 0, 1, *[0, 1, 0, 0, 1]]


def test_what_a_deviation_showed_counts_for_the_cell_that_was_played(play):
    # Own arms 3, the partner has 1: cells 0, 1, 2. One cycle: 1, 1, 0; the next: 1, 1.
    #  t  scheduled  upper end          highest lower end                own  seen
    #  4  0          1.616              -                                 0    1
    #  5  1          1.616              -                                 1    1
    #  6  2          0 + .616 = .616    1 - .436 = .564                   2    0
    #  7  0          1.436                                                0    1
    #  8  1          1.436                                                1    0
    #  9  2          0 + .436 = .436    cell 0: 1 - .356 = .644           0    0   deviates to (2 + 1) mod 3 = 0
    # 10  0          3/4 + .308 = 1.058 cell 0: .442                      0    0   (its n is 4: the deviation counted)
    # 11  1          2/3 + .356 = 1.023                                   1    0
    # 12  0          3/5 + .276 = .876  cell 1: 2/4 - .308 = .192         0
    own = play(
        MUCBIntervals(exploration=0.025),
        arms=(1, 3),
        place=1,
        partner=[0] * 11,
        seen=[1, 1, 0, 1, 1, 0, 1, 0, 0, 0, 0],
    )
    assert own == [0, 1, 2, 0, 1, 2, 0, 1, 0, 0, 1, 0]


def test_a_deviation_may_bring_down_the_cell_it_went_to(play):
    # c = 0: intervals are points. Own arms 3, the partner has 1.
    #  t    scheduled  its mean  highest  own  seen
    #  1-3  0, 1, 2    never tried        0 1 2   1 0 1
    #  4    0          1         1         0    1
    #  5    1          0         1         2    0     deviates to 2, whose mean falls to 1/2; 1 is dropped
    #  6    2          1/2       1         0    0     deviates to (2 + 1) mod 3 = 0; 2 is dropped
    #  7    0          2/3       2/3       0
    own = play(MUCBIntervals(exploration=0), arms=(1, 3), place=1, partner=[0] * 6, seen=[1, 0, 1, 1, 0, 0])
    assert own == [0, 1, 2, 0, 2, 0, 0]


def test_a_dropped_action_beats_nobody(play):
    # c = 0. (0,0) paid, the others did not. In round 5 the partner leaves (0,0) for (1,0), and the best is gone:
    # in round 6 the scheduled (0,1) is level with what is left, so this agent plays it.
    own = play(MUCBIntervals(exploration=0), place=1, partner=[0, 0, 1, 1, 1], seen=[1, 0, 0, 0, 0])
    assert own == [0, 1, 0, 1, 0, 1]


def test_the_last_active_action_is_played_for_good(play):
    # The partner deviates from (0,0), (0,1) and (1,0) in turn; (1,1) is left.
    own = play(MUCBIntervals(), place=1, partner=[1, 1, 0, 1, 1, 1], seen=[0] * 6)
    assert own == [0, 1, 0, 1, 1, 1, 1]


def test_the_last_active_action_stays_whatever_the_partner_does(play):
    # The partner deviates from (0,0), (0,1) and (1,0), and then from (1,1) as well, round after round: it stays.
    own = play(MUCBIntervals(), place=1, partner=[1, 1, 0, 0, 0, 0, 1, 0], seen=[0] * 8)
    assert own == [0, 1, 0, 1, 1, 1, 1, 1, 1]


def test_the_last_active_action_stays_however_little_it_pays(play):
    # c = 0: intervals are points. Every action is left by the partner, and all but (1,1) pay.
    #  t  scheduled  its mean     best active  own  partner  played  seen
    #  1  (0,0)      never tried  -             0      1     (1,0)    1    (0,0) is dropped
    #  2  (0,1)      never tried  1             1      1     (1,1)    0    (0,1) is dropped
    #  3  (1,0)      1            1             0      0     (0,0)    1    (1,0) is dropped
    #  4  (1,1)      0            0             1      0     (0,1)    1    (1,1) is all there is
    #  5  (1,1)      0            0             1      0     (0,1)    1
    #  6  (1,1)      0            0             1      1     (1,1)    0
    #  7  (1,1)      0            0             1
    own = play(MUCBIntervals(exploration=0), place=1, partner=[1, 1, 0, 0, 0, 1], seen=[1, 0, 1, 1, 1, 0])
    assert own == [0, 1, 0, 1, 1, 1, 1]


def test_the_last_active_action_may_stand_anywhere(play):
    # The partner, in place 1, follows (0,0) and leaves the others: (0,1) for (0,0), (1,0) for (1,1), (1,1) for (1,0).
    # From round 5 on (0,0) is all there is, and the partner leaves it too.
    own = play(MUCBIntervals(), place=0, partner=[0, 0, 1, 0, 1, 1, 1], seen=[0] * 7)
    assert own == [0, 0, 1, 1, 0, 0, 0, 0]


def test_beside_two_partners_who_never_follow(play):
    # Agent 0 plays the other arm than scheduled in every round, so eight cells are left one by one; (1,1,1) stays.
    schedule = [(0, 0), (0, 1), (0, 0), (0, 1), (1, 0), (1, 1), (1, 0), (1, 1)]  # of agents 0 and 2
    own = play(
        MUCBIntervals(),
        arms=(2, 2, 2),
        ranks=(0, 1, 2),
        place=1,
        partner=[*((1 - first, last) for first, last in schedule), (0, 0), (1, 0), (0, 1)],
        seen=[0] * 11,
    )
    assert own == [0, 0, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1]


def test_an_action_never_seen_is_never_below(play):
    # The second and the third action are not seen, so nothing is known of them; (1,1) is beaten in round 8 only if its
    # interval is below: c = 0 makes intervals points, and 0 < 1.
    own = play(
        MUCBIntervals(exploration=0),
        place=0,
        observation="missed-known",
        partner=[0, 1, 0, 1, 0, 1, 0],
        seen=[1, None, None, 0, 1, None, None],
    )
    #  rounds 1-4: 0 0 1 1; rounds 5-7: 0 0 1; round 8: (1,1) has [0, 0] below [1, 1]: deviates to 0
    assert own == [0, 0, 1, 1, 0, 0, 1, 0]


def test_intervals_that_touch_are_not_below(play):
    # c = 0: both actions have the point 0, neither lies below the other.
    own = play(MUCBIntervals(exploration=0), arms=(1, 2), place=1, partner=[0] * 4, seen=[0] * 4)
    assert own == [0, 1, 0, 1, 0]
