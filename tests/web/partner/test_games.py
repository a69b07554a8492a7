"""Choose and observe over HTTP: once, late, in any order, after a restart, from two processes."""

from __future__ import annotations

import asyncio
import concurrent.futures
import itertools
import json
import random
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import text

import cobandit as cb
from cobandit.engine.partner_game import PartnerGame
from cobandit.remote.partner import LATER, PartnerError
from cobandit.web.services.partner import games as games_module
from cobandit.web.services.partner.games import Feedback, Games
from cobandit.web.storage import partner_games as storage
from tests.web.partner.conftest import TEAM, Service

PATH = "/v1/teams/drinks/games/g"


def begin(service: Service, seed: int = 7, name: str = "g", **setting: Any) -> Any:
    client = service.client()
    client.create_team(**{"name": "drinks"} | {key: TEAM[key] for key in TEAM if key != "team"} | setting)
    return client.new_game("drinks", name, seed=seed)


def test_a_game_is_that_of_the_library(service):
    game = begin(service)
    partner = cb.Partner(
        "partner-aware-ucb", arms=(2, 2), seat=1, horizon=1000, observability=(1.0, 0.4), seed=7, window=5
    )
    rng = random.Random(1)
    for t in range(1, 40):
        choice = game.choose()
        assert (choice.round, choice.arm) == (t, partner.choose())
        assert choice.predictions == partner.predictions
        action, reward = (rng.randrange(2), choice.arm), float(rng.random() < 0.5)
        observed = game.observe(action, reward, round=t)
        partner.observe(action, reward)
        assert observed.complete
        assert not observed.duplicate
        assert observed.next.round == t + 1
    partner.choose()
    assert game.state()["state"]["partner"] == partner.state()


def test_a_choice_stays_until_its_round_ends(service):
    game = begin(service)
    first = game.choose()
    assert [game.choose() for _ in range(3)] == [first] * 3
    game.observe((0, first.arm), 1.0, round=1)
    assert game.choose().round == 2
    assert game.choose(round=1) == first
    with pytest.raises(PartnerError) as refused:
        game.choose(round=5)
    assert (refused.value.status, refused.value.code) == (409, "not-open")


def test_rewards_come_late_in_any_order_and_once(service):
    game = begin(service)
    for t in range(1, 9):
        observed = game.observe((t % 2, game.choose().arm), LATER, round=t)
        assert not observed.complete
    assert game.view()["open"] == list(range(1, 9))
    for t in (5, 1, 8, 2):
        assert game.observe(None, 1.0, round=t).complete
        assert game.observe(None, 1.0, round=t).duplicate
    assert game.view()["open"] == [3, 4, 6, 7]
    rows = {row.round: row for row in game.history()}
    assert rows[5].reward == 1.0
    assert rows[3].reward is LATER
    newest = game.choose()
    service.start()
    again = service.client().game("drinks", "g")
    assert again.view()["open"] == [3, 4, 6, 7]
    assert again.choose() == newest


def test_the_same_report_counts_once_and_another_is_refused(service):
    game = begin(service)
    http, arm = service.http(), game.choose().arm
    body = {"round": 1, "action": [0, arm], "reward": 1, "key": "0123456789"}
    first, second = (http.post(f"{PATH}/observe", json=body) for _ in range(2))
    assert (first.status_code, second.status_code) == (200, 200)
    assert first.json()["duplicate"] is False
    assert second.json()["duplicate"] is True
    assert http.post(f"{PATH}/observe", json=body | {"key": "another-key"}).json()["error"] == "already-observed"
    for change in ({"reward": 0}, {"action": [1, arm]}):
        answer = http.post(f"{PATH}/observe", json=body | change)
        assert (answer.status_code, answer.json()["error"]) == (409, "already-observed")
    assert [row.reward for row in game.history()] == [1.0]


def test_simultaneous_retries_are_one_round(service):
    game = begin(service)
    body = {"round": 1, "action": [0, game.choose().arm], "reward": 1, "key": "0123456789"}
    http = service.http()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: http.post(f"{PATH}/observe", json=body).json(), range(16)))
    assert sorted(answer["duplicate"] for answer in answers) == [False] + [True] * 15
    assert game.choose().round == 2


def test_two_processes_play_one_game(service):
    """Each request goes to the other server: reads of own writes, no round lost, the log in one order."""
    game = begin(service)
    other = service.client(url=service.second()).game("drinks", "g")
    for t in range(1, 30):
        one, two = (game, other) if t % 2 else (other, game)
        choice = one.choose(round=t)
        two.observe((t % 2, choice.arm), LATER if t % 3 else 1.0, round=t)
        if t > 5 and (t - 4) % 3:
            one.observe(None, 0.0, round=t - 4)
    assert game.state() == other.state()
    assert game.choose() == other.choose()


def test_two_processes_append_at_the_same_time(service):
    game = begin(service)
    for t in range(1, 21):
        game.observe((0, game.choose().arm), round=t)
    other = service.client(url=service.second()).game("drinks", "g")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        jobs = [pool.submit((game if t % 2 else other).observe, None, 1.0, round=t) for t in range(1, 21)]
        assert all(job.result().complete for job in jobs)
    assert game.view()["open"] == []
    assert game.state() == other.state()


def test_a_game_continues_after_a_restart_from_log_and_snapshot(service, monkeypatch):
    monkeypatch.setattr(games_module, "SNAPSHOT_EVERY", 10)
    game, rng = begin(service), random.Random(2)
    for t in range(1, 35):
        game.observe((rng.randrange(2), game.choose().arm), float(rng.random() < 0.5) if t % 9 else LATER, round=t)
    state = game.state()
    service.start()
    again = service.client().game("drinks", "g")
    assert again.state() == state
    with service.opened() as database, database.read() as connection:
        (stored,) = connection.execute(text("SELECT snapshot_number FROM partner_games")).scalars()
    assert 34 - 10 < stored <= 34


def test_games_that_play_together_store_their_snapshots_at_different_times(service, monkeypatch):
    monkeypatch.setattr(games_module, "SNAPSHOT_EVERY", 10)
    games = [begin(service), *(service.client().new_game("drinks", f"g{number}", seed=number) for number in range(4))]
    for t in range(1, 21):
        for game in games:
            game.observe((0, game.choose().arm), 1.0, round=t)
    service.start()
    with service.opened() as database, database.read() as connection:
        stored = connection.execute(text("SELECT snapshot_number FROM partner_games")).scalars().all()
    assert all(10 < number <= 20 for number in stored)
    assert len(set(stored)) == len(games)


def test_events_open_rounds_before_earlier_ones_end(service):
    game = begin(service)
    choices = {name: game.choose(event=name) for name in ("a", "b", "c")}
    assert [choice.round for choice in choices.values()] == [1, 2, 3]
    assert game.choose(event="b") == choices["b"]
    game.observe((1, choices["c"].arm), 1.0, event="c")
    game.observe((0, choices["a"].arm), event="a")
    game.observe(None, 0.0, event="a")
    service.start()
    game = service.client().game("drinks", "g")
    assert game.choose(event="a").arm == choices["a"].arm
    assert game.choose(event="b") == choices["b"]
    assert game.observe(None, 0.0, event="a").duplicate
    with pytest.raises(PartnerError, match="choose with it first"):
        game.observe((0, 0), 1.0, event="nobody")
    assert [row.event for row in game.history()] == ["a", "b", "c"]


def test_a_default_reward_counts_after_its_deadline(service):
    game = begin(service, default={"reward": 0.0, "rounds": 2})
    for t in range(1, 6):
        game.observe((0, game.choose().arm), round=t)
    with pytest.raises(PartnerError) as refused:
        game.observe(None, 1.0, round=1)
    assert refused.value.code == "too-late"
    assert [(row.reward, row.default) for row in game.history()] == [(0.0, True)] * 3 + [(LATER, False)] * 2
    assert game.observe(None, 1.0, round=4).complete


def test_shadow_mode_lets_the_app_decide(service):
    game = begin(service, shadow=True)
    choice = game.choose()
    assert choice.shadow
    game.observe((0, 1 - choice.arm), 1.0, round=1)
    [row] = game.history()
    assert row.arm == choice.arm
    assert row.action == (0, 1 - choice.arm)


def test_another_own_arm_needs_an_override(service):
    game = begin(service)
    arm = game.choose().arm
    with pytest.raises(PartnerError, match="override: true"):
        game.observe((0, 1 - arm), 1.0, round=1)
    assert game.observe((0, 1 - arm), 1.0, round=1, override=True).complete


@pytest.mark.parametrize("roles", ["elected", "random", [1, 0]])
def test_unknown_observability_has_elected_drawn_or_given_roles(on_sqlite, roles):
    game = begin(on_sqlite, observability=None, roles=roles, options={})
    for t in range(1, 30):
        game.observe((t % 2, game.choose().arm), float(t % 3 == 0), round=t)
    assert sorted(game.view()["ranks"]) == [0, 1]
    before = game.state()
    on_sqlite.start()
    assert on_sqlite.client().game("drinks", "g").state() == before


def test_drawn_roles_differ_between_games(on_sqlite):
    games = [begin(on_sqlite, seed, f"g{seed}", observability=None, roles="random") for seed in range(12)]
    assert {tuple(game.view()["ranks"]) for game in games} == {(0, 1), (1, 0)}


def test_games_of_a_team_are_independent(service):
    one, two = begin(service, 1, "one"), begin(service, 1, "two")
    start = two.state()
    for t in range(1, 6):
        one.observe((0, one.choose().arm), 1.0, round=t)
    assert two.state() == start
    assert one.choose().round == 6


def test_an_exported_state_continues_elsewhere(service):
    game = begin(service)
    for t in range(1, 8):
        game.observe((t % 2, game.choose().arm), 1.0 if t % 2 else LATER, round=t)
    client = service.client()
    copy = client.new_game("drinks", "copy", state=game.state())
    assert copy.state()["state"] == game.state()["state"]
    for each in (game, copy):
        each.observe(None, 0.0, round=4)
        each.observe((0, each.choose().arm), 1.0, round=8)
    assert copy.choose() == game.choose()
    service.start()
    assert service.client().game("drinks", "copy").choose() == game_of(service).choose()
    with pytest.raises(PartnerError) as refused:
        service.client().game("drinks", "copy").observe((0, 0), 1.0, round=1)
    assert refused.value.code == "before-import"


def game_of(service: Service) -> Any:
    return service.client().game("drinks", "g")


def test_a_partner_of_the_library_moves_to_the_service(on_sqlite):
    begin(on_sqlite)
    partner = cb.Partner(
        "partner-aware-ucb", arms=(2, 2), seat=1, horizon=1000, observability=(1.0, 0.4), seed=3, window=5
    )
    for t in range(12):
        partner.observe((t % 2, partner.choose()), float(t % 2))
    game = on_sqlite.client().new_game("drinks", "moved", state=partner.state())
    choice = game.choose()
    assert (choice.round, choice.arm) == (13, partner.choose())


def test_a_state_of_another_team_is_refused(on_sqlite):
    game, client = begin(on_sqlite), on_sqlite.client()
    for change in ({"seat": 0}, {"agent": "naive-ucb"}, {"observation": "missed-known"}):
        setting = {key: TEAM[key] for key in TEAM if key != "team"} | {"options": {}} | change
        client.create_team(name := next(iter(change)), **setting)
        with pytest.raises(PartnerError) as refused:
            client.new_game(name, "g", state=game.state())
        assert refused.value.status in (409, 422)


def test_deleting_leaves_nothing_behind(service):
    game = begin(service)
    game.observe((0, game.choose().arm), 1.0, round=1)
    other = service.client(url=service.second()).game("drinks", "g")
    assert other.choose().round == 2
    game.delete()
    for gone in (game, other):
        with pytest.raises(PartnerError) as refused:
            gone.observe((0, 0), 1.0, round=2, override=True)
        assert refused.value.status == 404
    service.client().delete_team("drinks")
    with pytest.raises(PartnerError, match="no team"):
        begin_again(service)
    with service.opened() as database, database.read() as connection:
        assert connection.execute(text("SELECT count(*) FROM partner_log")).scalar() == 0


def begin_again(service: Service) -> Any:
    return service.client().new_game("drinks", "g")


def test_the_history_is_read_in_parts(on_sqlite):
    game = begin(on_sqlite)
    for t in range(1, 12):
        game.observe((t % 2, game.choose().arm), float(t % 2), round=t)
    http = on_sqlite.http()
    parts, after = [], 0
    while True:
        answer = http.get(f"{PATH}/rounds", params={"after": after, "limit": 4}).json()
        parts.append([row["round"] for row in answer["rounds"]])
        if not answer["more"]:
            break
        after = parts[-1][-1]
    assert parts == [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11]]


WRONG = [
    {},
    {"round": 1},
    {"round": 0, "reward": 1},
    {"round": 1, "reward": "1"},
    {"round": 1, "action": [0], "reward": 1},
    {"round": 1, "action": [0, 7], "reward": 1},
    {"round": 1, "action": [0, -1], "reward": 1},
    {"round": 1, "action": "01", "reward": 1},
    {"round": 1, "action": [0, 0], "reward": 2},
    {"round": 1, "action": [0, 0], "reward": None},
    {"round": 1, "action": [0, 0], "reward": 1, "extra": 1},
    {"round": 10**12, "reward": 1},
    {"event": "", "reward": 1},
    {"event": "a\0b", "reward": 1},
]


NO_JSON = [b"", b"{", b"[1]", b'{"round":1,"reward":NaN}', b'{"round":' + b"9" * 5000 + b"}"]


def test_a_wrong_report_is_refused_and_changes_nothing(on_sqlite):
    game, http = begin(on_sqlite), on_sqlite.http()
    before = game.state()
    for body in (*(json.dumps(wrong).encode() for wrong in WRONG), *NO_JSON):
        answer = http.post(f"{PATH}/observe", content=body, headers={"content-type": "application/json"})
        assert answer.status_code == 422, body
        assert answer.json()["message"]
        assert game.state() == before, body


TEAMS: list[dict[str, Any]] = [
    {"agent": "nobody"},
    {"agent": "language-model"},
    {"agent": "optimal"},
    {"agent": "centralised-ucb"},
    {"arms": []},
    {"arms": [0, 2]},
    {"arms": [1024, 2]},
    {"arms": [2] * 9},
    {"seat": 2},
    {"observability": [1.0]},
    {"observability": None},
    {"observability": [1.0, 2.0]},
    {"options": {"window": 0}},
    {"options": {"nothing": 1}},
    {"roles": [0, 0]},
    {"roles": "somebody"},
    {"default": {"reward": 0.0}},
    {"default": {"reward": None, "rounds": 1}},
    {"default": {"reward": 3.0, "rounds": 1}},
    {"horizon": 0},
    {"team": "a b"},
    {"team": ""},
]


def test_a_wrong_team_is_refused(on_sqlite):
    http = on_sqlite.http()
    for change in TEAMS:
        assert http.post("/v1/teams", json=TEAM | change).status_code == 422, change
        assert http.get("/v1/teams").json() == {"teams": []}, change


def test_teams_and_games_are_created_once(service):
    http = service.http()
    assert [http.post("/v1/teams", json=TEAM).status_code for _ in range(2)] == [201, 200]
    assert http.post("/v1/teams", json=TEAM | {"seat": 0}).json()["error"] == "other-setting"
    bodies = [{"game": "g", "seed": 1}, {"game": "g", "seed": 1}, {"game": "g"}, {"game": "g", "seed": 2}]
    codes = [http.post("/v1/teams/drinks/games", json=body).status_code for body in bodies]
    assert codes == [201, 200, 200, 409]
    assert [game["game"] for game in http.get("/v1/teams/drinks/games").json()["games"]] == ["g"]


def test_a_game_that_is_played_is_not_looked_up_again(on_sqlite, monkeypatch):
    """A commit shows that a game is there: only a game that rests is looked up, as it may have been deleted."""
    begin(on_sqlite)
    clock, looked = itertools.count(0.0, 0.9), list[int]()  # two readings for a report
    news_of = storage.news_of

    def counted(connection, game_id, number):
        looked.append(number)
        return news_of(connection, game_id, number)

    async def play() -> None:
        with on_sqlite.opened() as database:
            games = Games(database)
            for t in range(1, 21):
                await games.observe(("default", "drinks", "g"), Feedback(t, None, [0, 0], True, 1.0, override=True))
            assert looked == []
            for _ in range(3):
                next(clock)
            await games.choose(("default", "drinks", "g"), None)
            assert looked == [20]

    monkeypatch.setattr(storage, "news_of", counted)
    monkeypatch.setattr(games_module, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    asyncio.run(play())


def test_a_game_with_many_open_rounds_moves(on_sqlite):
    """An export may be larger than any other body."""
    setting = {key: TEAM[key] for key in TEAM if key not in ("team", "agent")}
    partner = cb.Partner(
        "partner-aware-ucb", arms=(2, 2), seat=1, horizon=1000, observability=(1.0, 0.4), seed=7, window=5
    )
    game = PartnerGame(partner)
    for number in range(2000):
        game.apply(game.opening(f"an order with a long name, {number}", number))
    state = game.state()
    assert len(json.dumps(state)) > 128 * 1024
    client = on_sqlite.client()
    client.create_team("drinks", TEAM["agent"], **setting)
    copy = client.new_game("drinks", "copy", state=state)
    again = client.new_game("drinks", "again", state=copy.state())
    for played in (copy, again):
        assert played.choose(event="an order with a long name, 77").round == 78
        assert len(played.view()["open"]) == 1999


def test_names_that_addresses_cannot_hold_are_refused(on_sqlite):
    """Clients and proxies remove such a part of an address, so nobody could play or delete the game."""
    begin(on_sqlite)
    http = on_sqlite.http()
    for name in (".", ".."):
        for answer in (http.post("/v1/teams", json=TEAM | {"team": name}), http.post(PATH[:-2], json={"game": name})):
            assert answer.status_code == 422
            assert "letters" in answer.json()["message"]


def test_errors_name_the_keys_of_the_request(on_sqlite):
    game = begin(on_sqlite)
    http = on_sqlite.http()
    for reward in (5, None):
        answer = http.post(f"{PATH}/observe", json={"round": 1, "reward": reward})
        assert answer.json()["message"].startswith("reward ")
    answer = http.post("/v1/teams", json=TEAM | {"team": "other", "default": {"reward": 5, "rounds": 1}})
    assert answer.json()["message"].startswith("default.reward is 5")
    answer = http.post(f"{PATH}/choose", json={"event": "a\0"})
    assert answer.json()["message"].startswith("event: control characters")
    for lists in ("/v1/teams", PATH[:-2]):  # a database would refuse the question, and a retry would not help
        assert http.get(lists, params={"after": "a\0"}).status_code == 422
    for number in (float("nan"), float("inf")):
        with pytest.raises(cb.InvalidInput, match="reward must be a finite number"):
            game.observe((0, game.choose().arm), number, round=1)
