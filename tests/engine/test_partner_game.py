"""The game of a partner with late feedback: what its agent learns when, and the log that restores it."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import cobandit as cb
from cobandit.base.errors import InvalidInput
from cobandit.engine.match import Match
from cobandit.engine.partner_game import DefaultReward, Entry, GameConflict, PartnerGame

SETTING: dict[str, Any] = {"arms": (2, 3), "seat": 1, "horizon": 200, "observability": (1.0, 0.4), "seed": 11}
AGENTS = ("partner-aware-ucb", "partner-aware-ts", "naive-ts", "partner-aware-sliding-ucb", "softmax")


def game_of(agent: str = "partner-aware-ucb", default: DefaultReward | None = None, **more: Any) -> PartnerGame:
    return PartnerGame(cb.Partner(agent, **SETTING | more), default)


def report(game: PartnerGame, t: int, action: Any, *reward: Any, at: int = 0, **more: Any) -> Entry | None:
    entry = game.feedback(t, action, bool(reward), reward[0] if reward else None, at, **more)
    if entry is not None:
        game.apply(entry)
    return entry


@pytest.mark.parametrize("delay", [0, 1, 4])
@pytest.mark.parametrize("agent", AGENTS)
def test_a_constant_delay_plays_the_rounds_of_a_simulation(agent, delay):
    """Each reward comes ``delay`` rounds after its action: the game is that of `Problem.delay`, to the last arm."""
    problem = cb.Problem.bernoulli("random", (1.0, 0.4), arms=(2, 3), delay=delay)
    rows = list(Match(problem, cb.Team.of(agent), 60, seed=11, run=0).rounds())
    arms = [action for action, _ in rows]
    seen = [outcome.seen[1] for _, outcome in rows]
    game = game_of(agent, horizon=60)
    for t in range(1, 61):
        assert game.newest.arm == arms[t - 1][1], f"round {t}"
        if delay == 0:
            report(game, t, arms[t - 1], seen[t - 1])
            continue
        if t > delay:
            report(game, t - delay, None, seen[t - delay - 1])
        report(game, t, arms[t - 1])


def late_play(game: PartnerGame, rounds: int, seed: int) -> list[Entry]:
    """Play with rewards that come at random, in random order, some rounds opened by name before others ended."""
    rng, entries, owed = random.Random(seed), list[Entry](), list[int]()
    at = 0
    for number in range(rounds):
        at += rng.randint(0, 50)
        t, arm = game.round, game.newest.arm
        if rng.random() < 0.2:
            entry = game.opening(f"event-{number}", at)
            game.apply(entry)
            entries.append(entry)
            continue
        given = () if rng.random() < 0.6 else (float(rng.random() < 0.5),)
        made = report(game, t, (rng.randrange(2), arm), *given, at=at)
        entries += [made] if made else []
        owed += [] if given else [t]
        while owed and rng.random() < 0.5:
            late = owed.pop(rng.randrange(len(owed)))
            try:
                made = report(game, late, None, float(rng.random() < 0.5), at=at)
            except GameConflict:  # after its deadline
                continue
            entries += [made] if made else []
    return entries


DEFAULTS = [None, DefaultReward(0.0, rounds=3), DefaultReward(1.0, seconds=0.1)]


@pytest.mark.parametrize("default", DEFAULTS)
@pytest.mark.parametrize("agent", AGENTS)
def test_the_log_restores_the_state_from_any_snapshot(agent, default):
    game = game_of(agent, default)
    entries = late_play(game, 150, 3)
    again = game_of(agent, default).replay(entries)
    assert again.state() == game.state()
    for place in (1, 40, len(entries) - 1):
        early = game_of(agent, default).replay(entries[:place])
        snapshot = json.loads(json.dumps(early.state()))
        restored = PartnerGame.from_state(snapshot, cb.Partner(agent, **SETTING).agent, default)
        assert restored.replay(entries[place:]).state() == game.state()


def test_the_choice_of_a_round_stays_while_late_rewards_arrive():
    game = game_of(arms=(2, 2))
    for t in range(1, 6):
        report(game, t, (t % 2, game.newest.arm))
    before = game.newest.arm
    for t in (3, 1, 5, 2, 4):
        report(game, t, None, 1.0)
        assert game.newest.arm == before
    assert game.round == 6


def test_several_late_rewards_are_learnt_in_the_order_of_the_rounds():
    """Whatever the order of arrival between two boundaries, the agent has the same state afterwards."""
    states = []
    for order in ((1, 2, 3), (3, 1, 2)):
        game = game_of("partner-aware-sliding-ucb")
        for t in (1, 2, 3):
            report(game, t, (t % 2, game.newest.arm))
        for t in order:
            report(game, t, None, float(t == 2))
        report(game, 4, (0, game.newest.arm), 1.0)
        states.append(game.partner.state())
    assert states[0] == states[1]


def test_feedback_counts_once():
    game = game_of()
    arm = game.newest.arm
    assert report(game, 1, (0, arm)) is not None
    assert report(game, 1, (0, arm)) is None
    assert report(game, 1, None, 1.0) is not None
    with pytest.raises(GameConflict, match="complete"):
        report(game, 1, None, 1.0)
    with pytest.raises(GameConflict, match="not open yet"):
        report(game, 9, (0, 0), 1.0)


def test_other_values_for_a_known_round_are_a_conflict():
    game = game_of()
    arm = game.newest.arm
    report(game, 1, (0, arm))
    with pytest.raises(GameConflict, match="another team action"):
        report(game, 1, (1, arm), 1.0)
    game.apply(game.opening("a", 0))
    report(game, 2, None, 1.0)
    with pytest.raises(GameConflict, match="another reward"):
        report(game, 2, None, 0.0)


def test_a_default_after_rounds_is_learnt_at_the_end_of_the_last_of_them():
    late, plain = game_of(default=DefaultReward(0.0, rounds=2)), game_of()
    for t in range(1, 4):
        report(late, t, (0, late.newest.arm))
        report(plain, t, (0, plain.newest.arm))
        if t == 2:
            report(plain, 1, None, 0.0)
    assert late.partner.state() == plain.partner.state()
    with pytest.raises(GameConflict, match="complete"):
        report(late, 1, None, 1.0)


def test_a_default_after_seconds_refuses_a_reward_after_its_deadline():
    game = game_of(default=DefaultReward(0.0, seconds=10))
    report(game, 1, (0, game.newest.arm), at=5_000)
    report(game, 2, (0, game.newest.arm), at=9_000)
    report(game, 1, None, 1.0, at=14_999)
    assert game.overdue(18_999) == {}
    assert game.overdue(19_000) == {2: 0.0}
    with pytest.raises(GameConflict, match="deadline"):
        report(game, 2, None, 1.0, at=19_000)


def test_an_agent_that_needs_each_round_refuses_to_go_on_without_a_reward():
    game = game_of("steered")
    with pytest.raises(GameConflict, match="needs action and reward"):
        report(game, 1, (0, game.newest.arm))
    report(game, 1, (0, game.newest.arm), 1.0)
    game.apply(game.opening("first", 0))
    with pytest.raises(GameConflict, match="needs action and reward"):
        game.opening("second", 0)
    report(game, 2, None, 1.0)
    report(game, 2, (0, game.newest.arm))
    assert game.round == 3


def test_a_name_goes_to_the_fresh_round_and_then_to_further_ones():
    game = game_of()
    for name, t in (("a", 1), ("b", 2), ("c", 3)):
        entry = game.opening(name, 0)
        game.apply(entry)
        assert entry.round == t == game.named(name)
    report(game, 2, (0, game.open[2].arm), 1.0)
    assert game.named("b") is None
    assert game.named("a") == 1
    assert game.round == 3


def test_another_own_arm_needs_an_override():
    game = game_of()
    other = (game.newest.arm + 1) % 3
    with pytest.raises(InvalidInput, match="override: true"):
        report(game, 1, (0, other), 1.0)
    assert report(game, 1, (0, other), 1.0, override=True) is not None


@pytest.mark.parametrize(
    "change",
    [
        {"at": -1},
        {"open": []},
        {"open": 5},
        {"open": [[1, 9, [], None, None, None, False, None]]},
        {"waiting": [1]},
        {"ready": [[1, [7, 7], 1.0]]},
        {"partner_game": 2},
        {"partner": {}},
    ],
)
def test_a_changed_state_is_refused(change):
    game = game_of()
    with pytest.raises(InvalidInput):
        PartnerGame.from_state(game.state() | change, game.partner.agent)


@pytest.mark.parametrize("wrong", [{}, {"rounds": 1, "seconds": 1.0}, {"rounds": 0}, {"seconds": float("nan")}])
def test_a_default_needs_one_deadline(wrong):
    with pytest.raises(InvalidInput):
        DefaultReward(0.0, **wrong)
