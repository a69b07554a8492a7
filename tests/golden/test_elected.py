"""Election by hand: the sweep, the votes, and the team that comes of them.

With `index="ucb"` and no exploration the index is the posterior mean (1 + ones) / (2 + n).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cobandit import Briefing, Elected
from cobandit.agents.election import LONGEST_SWEEP

ONE_SWEEP: dict[str, Any] = {"sweeps": 1, "index": "ucb", "exploration": 0.0}


def test_who_has_seen_more_leads(play):
    # Rounds 1 to 4 sweep (0,0), (0,1), (1,0), (1,1). Two of four were seen: the vote is 2 * 8 / 4 = 4, in bits 1 0 0.
    # The partner votes 0 1 1 = 3, so this one leads, and the partner stands at 1, its last bit.
    # Round 8, free slot: (0,0) 2/3, (0,1) 3/5, (1,0) 2/4, (1,1) 1/3. To (0,0) it takes 3/5 + 1/3 + 2 * 2/3 = 2.27;
    # staying gives 4 * 3/5 = 2.4.
    own = play(
        Elected(**ONE_SWEEP),
        place=0,
        partner=[0, 1, 0, 1, 0, 1, 1],
        seen=[1, 0, 1, 0, 0, 1, 1],
        foresees=[{1: 0}, {1: 1}, {1: 0}, {1: 1}, {}, {}, {}, {1: 1}],
    )
    assert own == [0, 0, 1, 1, 1, 0, 0, 0]


def test_who_has_seen_less_is_steered(play):
    # One of four: the vote is 2, in bits 0 1 0; the partner's is 4. From round 8 on slots are free and moving in turn:
    # in round 9 the leader's arm goes from 1 to 0, and so the own one from 0 to -1 = 1.
    own = play(
        Elected(**ONE_SWEEP),
        place=1,
        partner=[0, 0, 1, 1, 1, 0, 0, 1, 0],
        seen=[0, 0, 0, 1, 0, 1, 0, 0, 0],
        foresees=[{0: 0}, {0: 0}, {0: 1}, {0: 1}, *[{}] * 6],
    )
    assert own == [0, 1, 0, 1, 0, 1, 0, 0, 0, 1]


def test_an_elected_follower_is_partner_aware(play):
    # As above, but by Alg. 1 with W = 1: the leader's last row was 0, where (0,0) has 1/4 and (0,1) 2/4.
    own = play(
        Elected(play="partner-aware", sweeps=1, exploration=0.0),
        place=1,
        partner=[0, 0, 1, 1, 1, 0, 0],
        seen=[0, 0, 0, 1, 0, 1, 0],
        foresees=[{0: 0}, {0: 0}, {0: 1}, {0: 1}, {}, {}, {}, {0: 0}],
    )
    assert own == [0, 1, 0, 1, 0, 1, 0, 1]


@pytest.mark.parametrize(
    ("observation", "seen", "bits"),
    [
        ("missed", [1, 1, 1, 0], [1, 1, 0]),  # three of four: 6
        ("flipped", [1, 1, 1, 0], [0, 1, 0]),  # what is missed comes as 1, so one of four was seen for sure: 2
        ("missed-known", [0, None, None, 1], [1, 0, 0]),  # two looks of four: 4
        ("missed", [1, 1, 1, 1], [1, 1, 1]),  # eight of eight are 7
    ],
)
def test_what_tells_who_sees_more(observation, seen, bits):
    agent = Elected(sweeps=1)
    agent.reset(Briefing(0, (2, 2), (1, 0), 100, observation=observation), np.random.default_rng(0))
    for cell, reward in enumerate(seen):
        agent.choose()
        agent.observe((cell // 2, cell % 2), reward)
    own = []
    for _ in range(3):
        own.append(agent.choose())
        agent.observe((own[-1], 0), 0)
    assert own == bits


@pytest.mark.parametrize(("others", "ranks"), [(0, (0, 1)), (1, (1, 0))])
def test_of_equal_votes_the_lower_index_leads(others, ranks):
    # Nothing was seen in the sweep: agent 0 votes 0 0 0. Agent 1 votes the same, or 1 1 1.
    agent = Elected(sweeps=1)
    agent.reset(Briefing(0, (2, 2), (1, 0), 100), np.random.default_rng(0))
    for cell in range(4):
        agent.choose()
        agent.observe((cell // 2, cell % 2), 0)
    for _ in range(3):
        agent.observe((agent.choose(), others), 0)
    assert agent.elected_ranks == ranks


def test_many_team_actions_are_swept_in_part():
    agent = Elected()
    agent.reset(Briefing(0, (30, 30), (0, 1), 100), np.random.default_rng(0))
    rows = []
    for _ in range(LONGEST_SWEEP):
        rows.append(agent.choose())
        agent.observe((rows[-1], 0), 0)
    assert rows == [(t * 900 // 32) // 30 for t in range(32)]
