"""Reports by hand: two bits of a steered follower, and what its leader makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cobandit import Briefing, InvalidInput, Steered
from cobandit.agents.signalling import has_reports

HALVES: dict[str, Any] = {"reports": "on", "leader_sight": 0.5, "follower_sight": 0.5}


def test_a_follower_says_its_quarter(play):
    # After four plays of (0,0) a report is due. With p_F = 1 the quartiles are those of Bin(4, 1/2): 1/16, 5/16, 11/16,
    # 15/16 have at most 0, 1, 2, 3 successes, so levels begin at 2, 3 and 4. Three successes are level 2: bits 1 0.
    # The leader holds row 1 meanwhile. Round 7 is a free slot; in round 8 the leader's -1 moves the arm from 0 to 1.
    own = play(
        Steered(reports="on", leader_sight=0.5, follower_sight=1.0),
        place=1,
        partner=[0, 0, 0, 0, 1, 1, 1, 0],
        seen=[1, 0, 1, 1, 0, 1, 0, 0],
        foresees=[{}] * 9,
    )
    assert own == [0, 0, 0, 0, 1, 0, 0, 0, 1]


@pytest.mark.parametrize(
    ("bits", "last"),
    [
        ((0, 0), 1),  # silence: neither has seen more, and row 1 begins the way to an untried team action
        ((1, 1), 0),  # at least three of four successes: (0,0) is as good as any team action can be
    ],
)
def test_a_leader_hears_a_report(play, bits, last):
    # Index: the posterior mean of v = p_L mu, which is uniform on [0, 1/2] at first: 1/4. In rounds 1 to 4 the leader
    # sees 1 0 0 0 at (0,0): 1/3, .31, .29 and, by v (1 - v)^3, .27, so it stays. Levels begin at 1, 2, 3 (Bin(4, 1/4)).
    # Silence is f = 0: the chance is 1/2 for the round that the leader saw, and (1 - 1.5 v) / (1 - v) for each other
    # round. If rounds 5 to 7 bring 1 0 0 at (0,0), its posterior is v^2 (1 - 1.5 v)^3 (1 - v)^2 with the mean .245: it
    # is left in round 8. Without the report it would be v^2 (1 - v)^5 with the mean .291.
    own = play(
        Steered(index="ucb", exploration=0.0, **HALVES),
        place=0,
        partner=[0, 0, 0, 0, *bits, 0],
        seen=[1, 0, 0, 0, 1, 0, 0] if bits == (0, 0) else [1, 0, 0, 0, 0, 0, 0],
        foresees=[{1: 0}] * 4 + [{}] * 2 + [{1: 0}] * 2,
    )
    assert own == [0, 0, 0, 0, 0, 0, 0, last]


def test_without_reports_the_same_leader_stays(play):
    own = play(
        Steered(index="ucb", exploration=0.0, leader_sight=0.5, reports="off"),
        place=0,
        partner=[0] * 7,
        seen=[1, 0, 0, 0, 1, 0, 0],
    )
    assert own == [0] * 8


@pytest.mark.parametrize(
    ("options", "setting", "reports"),
    [
        ({"leader_sight": 0.6, "follower_sight": 0.5}, {}, True),
        ({"leader_sight": 0.61, "follower_sight": 0.5}, {}, False),
        ({"leader_sight": 0.6}, {}, False),
        ({"leader_sight": 0.6, "follower_sight": 0.5, "reports": "off"}, {}, False),
        ({"leader_sight": 0.6, "follower_sight": 0.5}, {"arms": (3, 2)}, False),
        ({"leader_sight": 0.6, "follower_sight": 0.5}, {"observation": "flipped"}, False),
        ({"leader_sight": 1.0, "follower_sight": 0.5, "reports": "on"}, {"arms": (3, 2)}, True),
    ],
)
def test_where_reports_are_on(options, setting, reports):
    briefing = Briefing(0, **({"arms": (2, 2), "ranks": (0, 1), "horizon": 100} | setting))
    assert has_reports(Steered(**options), briefing) is reports


@pytest.mark.parametrize(
    ("options", "setting", "needed"),
    [
        ({"leader_sight": 0.5}, {}, "follower_sight above 0"),
        (HALVES, {"arms": (2, 2, 2), "ranks": (0, 1, 2)}, "two agents"),
        (HALVES, {"binary": False, "observation": "noisy"}, "rewards of 0 and 1"),
    ],
)
def test_reports_that_cannot_be(options, setting, needed):
    briefing = Briefing(0, **({"arms": (2, 2), "ranks": (0, 1), "horizon": 100} | setting))
    with pytest.raises(InvalidInput, match=needed):
        Steered(**{**options, "reports": "on"}).reset(briefing, np.random.default_rng(0))


def test_a_report_survives_its_memory():
    """In the middle of a report: who takes the memory over says the second bit."""
    briefing = Briefing(1, (2, 2), (0, 1), 100)
    agent, heir = Steered(**HALVES), Steered(**HALVES)
    for player in (agent, heir):
        player.reset(briefing, np.random.default_rng(0))
    for _ in range(4):
        agent.choose()
        agent.observe((0, 0), 1)
    assert agent.choose() == 1
    agent.observe((0, 1), 0)
    heir.load_memory(agent.dump_memory())
    assert heir.choose() == agent.choose() == 1
