"""Partner-aware agents that elect their leader, by hand: eight rounds of sweeps, three of votes, then Alg. 1 and 2."""

from __future__ import annotations

from cobandit.agents.elected_aware import ElectedAwareTS, ElectedAwareUCB

SWEEPS = [0, 1, 0, 1, 0, 1, 0, 1]
"""The second agent's arms while both sweep (0,0), (0,1), (1,0), (1,1) twice."""
ROWS = [0, 0, 1, 1, 0, 0, 1, 1]


def foreseen(agent, arms):
    """What is foreseen of another agent while it is agreed, and while it votes."""
    return [*({agent: arm} for arm in arms), {}, {}, {}]


def test_who_has_seen_less_follows(play):
    # Seen 1 in (0,1) twice and in (1,1) once: 3 of 8, the vote is 3, in bits 0 1 1; the partner votes 1 0 0 = 4 and
    # leads, whatever the briefed ranks say. W = 3: its last rows are its votes 1, 0, 0.
    # Own looks: (0,0) n 2, sum 0; (0,1) n 2, sum 2; (1,0) n 3, sum 0 (round 9); (1,1) n 2, sum 1; rounds 10 and 11
    # were (0,1) both, seen 0 and 1: n 4, sum 3.
    # Round 12: u = .5 takes the second of three, row 0: means 0 against 3/4, so column 1.
    # Round 13, the leader having played 1 (seen 0 in (1,1): n 3, sum 1): rows 0, 0, 1; u = .9 takes row 1:
    # 0 against 1/3, column 1.
    own = play(
        ElectedAwareUCB(window=3, exploration=0.0),
        place=1,
        ranks=(1, 0),
        partner=[*ROWS, 1, 0, 0, 1],
        seen=[0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0],
        draws=[*[()] * 11, (0.5,), (0.9,)],
        foresees=[*foreseen(0, ROWS), {0: 0}, {0: 1}],
    )
    assert own == [*SWEEPS, 0, 1, 1, 1, 1]


def test_who_has_seen_more_leads_and_repeats(play):
    # Seen 1 in (0,0), (0,1) and (1,0) in both sweeps: 6 of 8, in bits 1 1 0; the partner's 0 0 1 is less. L = 4: a
    # leader decides in rounds 1, 5, 9, 13, so in round 12 the last vote is played on. Round 13: votes were (1,0) seen
    # 0, (1,0) seen 0, (0,1) seen 1, round 12 (0,1) seen 1: means (0,0) 2/2, (0,1) 4/4, (1,0) 2/4, (1,1) 0: the first.
    own = play(
        ElectedAwareUCB(repeat=4, exploration=0.0),
        place=0,
        ranks=(1, 0),
        partner=[*SWEEPS, 0, 0, 1, 1],
        seen=[1, 1, 1, 0, 1, 1, 1, 0, 0, 0, 1, 1],
        foresees=[*foreseen(1, SWEEPS), {}, {}],
    )
    assert own == [*ROWS, 1, 1, 0, 0, 0]


def test_a_sampler_follows_by_what_it_saw_in_the_opening(play):
    # Nothing seen but in (1,1), once: 1 of 8 votes 0 0 1, the partner 0 1 0. W = 1: row 0, its last bit. Posteriors:
    # (0,0) had looks in rounds 1, 5, 9 and (0,1) in 2, 6, 11, all 0 (round 10 was (1,0)).
    own = play(
        ElectedAwareTS(window=1),
        place=1,
        partner=[*ROWS, 0, 1, 0],
        seen=[0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0],
        draws=[*[()] * 11, (0.7, (1, 4, 0.3), (1, 4, 0.2))],
        foresees=[*foreseen(0, ROWS), {0: 0}],
    )
    assert own == [*SWEEPS, 0, 0, 1, 0]
