"""The handshake by hand: the greetings, and what comes of them."""

from __future__ import annotations

import itertools
from typing import cast

import pytest

from cobandit import EpsilonGreedy, Handshake, Problem, Team
from cobandit.agents.handshake import ROUNDS, greeting
from cobandit.engine.match import Match


def test_greetings_sweep_all_team_actions():
    rounds = range(1, ROUNDS + 1)
    assert [greeting(0, t, 2) for t in rounds] == [0, 1, 1, 0, 1, 0, 0, 1]
    assert [greeting(1, t, 2) for t in rounds] == [0, 0, 1, 1, 1, 0, 1, 0]
    pairs = [(greeting(0, t, 2), greeting(1, t, 2)) for t in rounds]
    assert sorted(pairs) == sorted(2 * list(itertools.product((0, 1), repeat=2)))
    triples = [tuple(greeting(rank, t, 2) for rank in range(3)) for t in rounds]
    assert sorted(triples) == list(itertools.product((0, 1), repeat=3))


@pytest.mark.parametrize("arms", [1, 3, 5, 30])
def test_any_number_of_arms_can_greet(arms):
    for rank in range(5):
        greeted = [greeting(rank, t, arms) for t in range(1, ROUNDS + 1)]
        assert set(greeted) <= set(range(arms))
        assert len(set(greeted)) >= min(arms, 2)


def test_a_follower_that_is_greeted_is_steered(play):
    # Rows are the leader's greeting. From round 9 on slots are free and moving in turn; the team stands at (1, 0).
    # In round 10 the leader's arm goes from 0 to 1, and so does the own one.
    own = play(
        Handshake(),
        place=1,
        partner=[0, 1, 1, 0, 1, 0, 0, 1, 0, 1],
        seen=[0] * 10,
        foresees=[{}] * 11,
    )
    assert own == [0, 0, 1, 1, 1, 0, 1, 0, 0, 0, 1]


def test_a_follower_that_is_not_greeted_goes_on_with_the_bank(play):
    # In round 2 the leader should have played 1. The bank knows both rounds: (0,0) has 3/4, then 3/5, 3/6 (a tie with
    # (0,1), the first), and at last 3/7, less than the 1/2 of (0,1).
    own = play(
        Handshake(exploration=0.0),
        place=1,
        partner=[0, 0, 0, 0, 0],
        seen=[1, 1, 0, 0, 0],
        foresees=[{}, {}, *[{0: 0}] * 4],
    )
    assert own == [0, 0, 0, 0, 0, 1]


def test_a_leader_that_is_greeted_steers(play):
    # Every cell was seen twice, (0,1) alone paid, so it has 3/4 and the others 1/4. The team stands at (1, 0). In the
    # free round 9 it stays or goes, and from round 11 on it is there: from 0 to 1 moves the follower to 1.
    own = play(
        Handshake(index="ucb", exploration=0.0),
        place=0,
        partner=[0, 0, 1, 1, 1, 0, 1, 0, 0, 0, 1],
        seen=[0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1],
        foresees=[*[{}] * 8, {1: 0}, {1: 0}, {1: 1}, {1: 1}],
    )
    assert own[:8] == [0, 1, 1, 0, 1, 0, 0, 1]
    assert own[8:10] == [0, 1]
    assert own[10:] == [0, 0]


def test_strangers_are_seldom_taken_for_friends():
    problem = Problem.bernoulli("random", [1.0, 0.4], arms=(2, 2))
    accepted = 0
    for run in range(300):
        match = Match(problem, Team([EpsilonGreedy(epsilon=0.5), Handshake()]), ROUNDS, 5, run)
        list(match.rounds())
        accepted += cast(Handshake, match.partners[1].agent).greeted
    assert accepted <= 4
    both = Match(problem, Team.of("handshake"), ROUNDS, 5, 0)
    list(both.rounds())
    assert all(cast(Handshake, partner.agent).greeted for partner in both.partners)
