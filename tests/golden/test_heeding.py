"""The heeding leader of Partner-Aware UCB, by hand (Theorem B of docs/discussion/theorem-1.md)."""

import numpy as np
import pytest

from cobandit import Briefing, InvalidInput, PartnerAwareUCB, Problem, Team, simulate


def leader(**options):
    agent = PartnerAwareUCB(repeat=1, exploration=2.0, **options)
    agent.reset(Briefing(agent=0, arms=(2, 2), ranks=(0, 1), horizon=1000), np.random.default_rng(0))
    return agent


def play(agent, *rounds):
    """Let the agent observe rounds, whatever it would have chosen."""
    for action, reward in rounds:
        agent.choose()
        agent.observe(action, reward)
    return agent.choose()


# All bonuses after one play are b = 2 sqrt(log 1000) = 5.26: (1, 1) paid once and has 1 + b, both cells of row 0 b.
OPENING = [((0, 0), 0.0), ((0, 1), 0.0), ((1, 1), 1.0)]
REFUSED = ((1, 0), 0.0)


@pytest.mark.parametrize(
    ("window", "refusals", "arm"),
    [
        # Round 3 + r is the r-th refusal. With W = 1 the row was played in the round before, so each one is an answer;
        # the plays of (1, 0) before it are A = r - 1. theta = ((2 + 1) / (2 - 1))^2 = 9 and (1, 1) has 1 play: the
        # leader passes it over where 9 < A, from the 11th refusal on.
        (1, 10, 1),
        (1, 11, 0),
        # An answer needs the same row in the W rounds before. With W = 11 these are round 3 and 10 refusals: the 11th
        # is the first answer, with A = 10. With W = 12 there is none yet.
        (11, 11, 0),
        (12, 11, 1),
    ],
)
def test_a_declined_cell_is_passed_over(window, refusals, arm):
    assert play(leader(window=window, heed=True), *OPENING, *[REFUSED] * refusals) == arm


def test_without_heed_the_leader_waits():
    assert play(leader(window=1), *OPENING, *[REFUSED] * 500) == 1


def test_a_play_of_the_declined_cell_renews_the_hope():
    # With 4 plays each, row 0 has b / 2 = 2.63, more than (1, 0) has: 5.26 / sqrt(11) = 1.59. A second play of (1, 1),
    # which gives 1 + 5.26 / sqrt(2) = 4.72, is the latest answer itself.
    opening = OPENING[:2] * 4 + OPENING[2:]
    assert play(leader(window=1, heed=True), *opening, *[REFUSED] * 11) == 0
    assert play(leader(window=1, heed=True), *opening, *[REFUSED] * 11, ((1, 1), 1.0)) == 1


def test_a_broken_streak_is_no_answer():
    # Every other round is in row 0: with W = 1 no refusal is an answer.
    rounds = [REFUSED, ((0, 0), 0.0)] * 40
    agent = leader(window=1, heed=True)
    play(agent, *OPENING, *rounds)
    assert agent.aimed_at == (1, 1)


def test_the_threshold_is_that_of_the_follower():
    # s = sqrt(2 * 4.5) = 3: theta = ((3 + 1) / (3 - 1))^2 = 4, so 4 < A from the 6th refusal on.
    assert play(leader(window=1, heed=True, follower_exploration=4.5), *OPENING, *[REFUSED] * 5) == 1
    assert play(leader(window=1, heed=True, follower_exploration=4.5), *OPENING, *[REFUSED] * 6) == 0


def test_a_follower_explores_by_its_own_constant():
    agent = PartnerAwareUCB(window=1, exploration=0.0, follower_exploration=2.0)
    for ranks, choice in (((1, 0), 0), ((0, 1), 1)):
        # (0, 0) paid .5 on average in 2 plays, (0, 1) nothing in 1. The follower adds 2 sqrt(log T / n) and prefers
        # (0, 1): .5 + 3.72 against 5.26; the leader adds nothing and prefers agent 1's arm 0.
        agent.reset(Briefing(agent=1, arms=(1, 2), ranks=ranks, horizon=1000), np.random.default_rng(0))
        assert play(agent, ((0, 0), 1.0), ((0, 0), 0.0), ((0, 1), 0.0)) == choice


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "exploration must be above 0.5 for a heeding leader .* got 0.025"),
        ({"exploration": 0.5}, "exploration must be above 0.5 for a heeding leader .* got 0.5"),
        ({"exploration": 0.1, "follower_exploration": 2.0}, "^exploration must be at least 0.5 .* got 0.1"),
        ({"exploration": 2.0, "follower_exploration": 0.5}, "follower_exploration must be above 0.5 .* got 0.5"),
        ({"exploration": 2.0, "heed": "yes"}, "heed must be .*got 'yes'"),
    ],
)
def test_refused(options, words):
    with pytest.raises(InvalidInput, match=words):
        PartnerAwareUCB(**({"heed": True} | options))


def test_elected_roles_are_refused():
    problem = Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], [1.0, 0.5], roles="elected")
    with pytest.raises(InvalidInput, match="heed must be False where roles are elected"):
        simulate(problem, Team.of("partner-aware-ucb", exploration=2.0, heed=True), 100)


def test_defaults_leave_descriptions_as_they_were():
    names = {"exploration", "index", "ties", "window", "repeat"}
    assert set(PartnerAwareUCB().options) == names
    assert set(PartnerAwareUCB(exploration=2.0, heed=True).options) == names | {"heed"}
    described = Team.of("partner-aware-ucb", exploration=2.0, follower_exploration=8.0, heed=True)
    assert Team.from_dict(described.describe()) == described
