"""Simulated participants: whole people over HTTP, the same ones every time, and never among the real ones."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import httpx
import pytest

from benchmarks.recorded import PageMoves
from cobandit.agents import Briefing, LanguageModelAgent
from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.base.streams import BotStream
from cobandit.remote import chat, settings
from cobandit.remote.demo_server import DemoServer
from cobandit.remote.usage import CallLimit
from cobandit.studies import (
    Episode,
    ParticipantPlan,
    StudyDesign,
    attention_passed,
    make_behaviour,
    verify_study,
)
from cobandit.web.clients.bot import Bot
from cobandit.web.clients.bots import Acknowledged, BotOptions, BotResult, play_study
from cobandit.web.clients.http import LoginRefused, NoSuchStudy, RequestFailed, ServerUnreachable, StudyClosed
from cobandit.web.storage.studies import find_study
from cobandit.web.storage.study_data import study_data
from tests.team_designs import team_design

PEOPLE = ("softmax", "win-stay-lose-shift", "epsilon-greedy", "knowledge-gradient")


def played(site: Any) -> list[tuple[Any, ...]]:
    query = (
        "SELECT p.label, e.number, r.t, r.arms, r.reward, r.ms FROM rounds r "
        "JOIN episodes e ON e.id = r.episode_id JOIN participants p ON p.id = e.participant_id "
        "ORDER BY p.label, e.number, r.t"
    )
    return [(*row[:3], tuple(json.loads(row.arms)), *row[4:]) for row in site.query(query)]


def test_whole_people_from_consent_to_code(site: Any, short: StudyDesign) -> None:
    watched: list[tuple[str, Acknowledged | None]] = []
    results = play_study(
        site.url, "short", 6, PEOPLE, login=site.login(), watch=lambda result, r: watched.append((result.label, r))
    )
    assert [result.label for result in results] == [f"bot-{i:04d}" for i in range(1, 7)]
    assert [result.behaviour for result in results] == [*PEOPLE, *PEOPLE[:2]]
    rounds = 2 + 4 * 5
    for result in results:
        assert (result.step, result.rounds) == ("thanks", rounds)
        assert result.code is not None
        assert result.code.startswith("REHEARSAL-")
        assert len(result.latencies) == rounds
        assert result.progress[0] == result.progress[1]
        assert (result.retries, result.conflicts) == (0, 0)
    assert sum(r is not None for _, r in watched) == 6 * rounds
    rows = site.query("SELECT kind, finished_at FROM participants")
    assert {kind for kind, _ in rows} == {"rehearsal"}  # marked, and so never among real data
    assert all(finished is not None for _, finished in rows)


def test_the_same_seed_gives_the_same_people(open_site: Callable[..., Any], tmp_path: Any, short: StudyDesign) -> None:
    logs = []
    for place, (concurrency, design, seed) in enumerate([(1, short, 0), (5, short, 0), (5, short, 1)]):
        site = open_site(f"sqlite:///{tmp_path / f'{place}.sqlite'}", short)
        play_study(site.url, "short", 4, PEOPLE, kind="real", concurrency=concurrency, design=design, seed=seed)
        answers = site.query(
            "SELECT p.label, a.step, a.answers, a.ms FROM answers a "
            "JOIN participants p ON p.id = a.participant_id ORDER BY p.label, a.step"
        )
        logs.append((played(site), [tuple(row) for row in answers]))
    assert logs[0] == logs[1]
    assert logs[0] != logs[2]


def test_a_bot_plays_as_its_behaviour_would(site: Any, short: StudyDesign) -> None:
    """Told what a person is told: arms, ranks, the number of rounds, and what the page shows after each."""
    [result] = play_study(site.url, "short", 1, "softmax", kind="real", design=short)
    [(seed, order)] = site.query("SELECT seed, order_index FROM participants")
    plan = ParticipantPlan(short, int(seed), order)
    options = BotOptions(kind="real", design=short)
    bot = Bot(None, "short", {}, make_behaviour("softmax"), 0, options)  # type: ignore[arg-type]
    expected = []
    for index, episode_plan in enumerate(plan.episodes):
        person = make_behaviour("softmax")
        briefing = Briefing(0, (2, 2), short.problem.known_ranks(), episode_plan.rounds, observation="missed")
        person.reset(briefing, bot._stream(BotStream.BEHAVIOUR, index))
        episode = Episode.open(episode_plan)
        for t in range(1, episode_plan.rounds + 1):
            r = episode.play(t, int(person.choose()))
            person.observe(r.arms, r.seen[0])
            expected.append((index, t, r.arms, r.reward))
    assert [row[1:5] for row in played(site)] == expected
    assert result.good == sum(row[3] for row in expected)


def test_a_bot_sends_its_moves_as_the_page_does(site: Any, short: StudyDesign, monkeypatch: pytest.MonkeyPatch) -> None:
    """Address, type and body have the form that was recorded from Chromium; only the other headers differ."""
    sent: list[httpx.Request] = []
    send = httpx.AsyncClient.send

    async def noted(self: httpx.AsyncClient, request: httpx.Request, **options: Any) -> httpx.Response:
        sent.append(request)
        return await send(self, request, **options)

    monkeypatch.setattr(httpx.AsyncClient, "send", noted)
    play_study(site.url, "short", 1, "softmax", login=site.login())
    moves = [request for request in sent if request.url.path.endswith("/rounds")]
    assert len(moves) == site.query("SELECT count(*) FROM rounds")[0][0] > 0
    for request in moves:
        body = request.content
        data = json.loads(body)
        [move] = data["moves"]
        assert body == PageMoves.body(data["episode"], move["t"], move["arm"], move["key"], move["ms"])
        token = request.url.path.split("/")[3]
        lines = PageMoves(request.url.netloc.decode(), token).request(body).decode().split("\r\n")
        assert lines[0] == f"{request.method} {request.url.raw_path.decode()} HTTP/1.1"
        wanted = dict(line.split(": ", 1) for line in lines[1 : lines.index("")])
        assert request.headers["content-type"] == wanted["Content-Type"]
        assert request.headers["content-length"] == wanted["Content-Length"]


def test_without_the_design_the_quiz_is_guessed(site: Any, short: StudyDesign) -> None:
    play_study(site.url, "short", 5, "softmax", kind="real")
    attempts = [count for (count,) in site.query("SELECT quiz_attempts FROM participants")]
    assert min(attempts) >= 1
    assert 1 < max(attempts) <= 4
    for step, given in site.query("SELECT step, answers FROM answers"):
        if step == "survey-1":  # its text asks for an answer in so many words
            assert attention_passed(short, json.loads(given))


def test_with_the_design_everything_is_right_at_once(site: Any, short: StudyDesign) -> None:
    play_study(site.url, "short", 3, "softmax", kind="real", design=short)
    assert site.query("SELECT DISTINCT quiz_attempts FROM participants") == [(1,)]


def test_the_same_call_again_goes_on(site: Any, short: StudyDesign) -> None:
    class Enough(Exception):
        pass

    def stop(result: BotResult, r: Acknowledged | None) -> None:
        if r is not None and (r.episode, r.t) == (1, 3):
            raise Enough

    with pytest.raises(Enough):
        play_study(site.url, "short", 2, "softmax", kind="real", design=short, watch=stop)
    some = played(site)
    again = play_study(site.url, "short", 2, "softmax", kind="real", design=short)
    assert all(result.finished for result in again)
    assert all(result.conflicts == 0 for result in again)
    assert set(some) < set(played(site))
    third = play_study(site.url, "short", 2, "softmax", kind="real", design=short)
    assert [(result.code, result.rounds) for result in third] == [("THANKS42", 0)] * 2
    assert site.query("SELECT count(*) FROM participants") == [(2,)]


def test_a_second_tab_does_not_stop_a_bot(site: Any, short: StudyDesign) -> None:
    """Rounds that somebody else has played are taken from the state."""

    def interfere(result: BotResult, r: Acknowledged | None) -> None:
        if r is not None and r.episode == 1 and r.t == 2:
            moves = [{"t": t, "arm": 1, "key": f"second-tab-{t}"} for t in (3, 4)]
            answer = site.client().post(f"/api/participants/{result.token}/rounds", json={"episode": 1, "moves": moves})
            assert answer.status_code == 200

    [result] = play_study(site.url, "short", 1, "epsilon-greedy", kind="real", design=short, watch=interfere)
    assert result.finished
    assert result.conflicts == 1
    assert result.rounds == 22 - 2


def test_rates_are_kept(site: Any, short: StudyDesign) -> None:
    [result] = play_study(site.url, "short", 1, "softmax", kind="real", rate=50)
    assert result.seconds >= (22 - 1) / 50  # nobody can be faster than that


def test_what_can_go_wrong_is_said(site: Any, short: StudyDesign) -> None:
    with pytest.raises(ServerUnreachable, match=r"http://127\.0\.0\.1:9 cannot be reached"):
        play_study("http://127.0.0.1:9", "short", 1, "softmax", kind="real")
    with pytest.raises(NoSuchStudy, match="no study 'long'"):
        play_study(site.url, "long", 1, "softmax", kind="real")
    with pytest.raises(LoginRefused, match="need the researcher's login"):
        play_study(site.url, "short", 1, "softmax")
    with pytest.raises(LoginRefused, match="not accepted"):
        play_study(site.url, "short", 1, "softmax", login="made up")
    with pytest.raises(RequestFailed, match="does not run demos"):
        play_study(site.url, "short", 1, "softmax", kind="demo")
    site.change("UPDATE studies SET status = 'closed'")
    with pytest.raises(StudyClosed, match="takes no new participants"):
        play_study(site.url, "short", 1, "softmax", kind="real")
    assert play_study(site.url, "short", 1, "softmax", login=site.login())[0].finished  # rehearsing goes on


def test_another_kind_of_server_is_not_played_with() -> None:
    class Hello(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"hello")

        def log_message(self, *args: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Hello) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            with pytest.raises(ServerUnreachable, match="does not answer as a server of studies"):
                play_study(f"http://127.0.0.1:{server.server_port}", "short", 1, "softmax", kind="real")
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"participants": 0}, "participants must be"),
        ({"behaviours": []}, "no behaviours"),
        ({"behaviours": "optimal"}, "needs the arms. means"),
        ({"rate": 0}, "rate must be"),
        ({"concurrency": 0}, "concurrency must be"),
        ({"kind": "unreal"}, "unreal"),
        ({"url": "ftp://127.0.0.1"}, "an address such as"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_arguments_that_make_no_sense(changes: dict[str, Any], message: str) -> None:
    usual = {"url": "http://127.0.0.1:9", "study": "short", "participants": 1, "behaviours": "softmax", "kind": "real"}
    given: dict[str, Any] = usual | changes
    with pytest.raises(InvalidInput, match=message):
        play_study(**given)


def test_an_unknown_behaviour_gets_the_nearest_one() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'softmax'"):
        play_study("http://127.0.0.1:9", "short", 1, "softmaxx")


def test_a_server_that_goes_away_is_waited_for_but_not_for_ever(
    short_sqlite: str, start_server: Any, short: StudyDesign
) -> None:
    from cobandit.web import WebConfig

    server = start_server(WebConfig(database=short_sqlite))
    killed: list[str] = []

    def kill(result: BotResult, r: Acknowledged | None) -> None:
        if r is not None and r.episode == 1 and r.t == 3 and not killed:
            killed.append(result.label)
            server.kill()
            server.start()

    results = play_study(server.url, "short", 3, "softmax", kind="real", design=short, watch=kill)
    assert all(result.finished for result in results)
    assert killed

    def kill_for_good(result: BotResult, r: Acknowledged | None) -> None:
        if r is not None and r.episode == 1:
            server.kill()

    with pytest.raises(ServerUnreachable, match="Run the same command again"):
        play_study(server.url, "short", 1, "softmax", kind="real", seed=1, watch=kill_for_good, patience=0.2)


def test_other_tasks(open_site: Callable[..., Any], sqlite: str) -> None:
    from cobandit.studies import load_design

    designs = [replace(load_design(name), rounds=6) for name in ("three-by-three", "three-seats")]
    site = open_site(sqlite, *designs)
    for design in designs:
        [result] = play_study(site.url, design.name, 1, "knowledge-gradient", kind="real")
        assert result.finished
    assert max(max(row[3]) for row in played(site)) <= 2
    assert sum(len(row[3]) == 3 for row in played(site)) == 2 * 6


def test_a_language_model_as_a_participant(site, short, monkeypatch, tmp_path):
    """Over HTTP on both sides: bots ask a real endpoint for moves, and refusals cost no round."""
    monkeypatch.setattr(chat, "_HEALTH", {})
    monkeypatch.setenv(settings.REPLIES, str(tmp_path / "replies"))
    monkeypatch.setenv(settings.MODEL, "demo-model")
    with DemoServer(fault="refusal", every=5) as server:
        monkeypatch.setenv(settings.URL, server.url)
        model = LanguageModelAgent(retries=0)
        results = play_study(site.url, "short", 2, model, kind="real", concurrency=2, design=short, seed=3)
        assert all(result.finished and result.behaviour == "language-model" for result in results)
        assert len(server.requests) > 0
        monkeypatch.setattr("cobandit.remote.settings.DEFAULT_MAX_CALLS", 1)
        with pytest.raises(CallLimit, match="need up to"):
            play_study(site.url, "short", 2, model, kind="real", design=short, seed=4)


def test_bots_play_as_a_team(open_site: Any, sqlite: str) -> None:
    design = team_design(episodes=2)
    site = open_site(sqlite, design)
    login = site.login()
    results = play_study(
        site.url, "team", 4, ["softmax", "epsilon-greedy"], login=login, design=design, concurrency=1, seed=3
    )
    assert all(result.finished for result in results)
    assert [result.rounds for result in results] == [16] * 4
    with site.database.read() as connection:
        study = find_study(connection, "team")
        assert study is not None
        data = study_data(connection, study, "rehearsal")
    assert verify_study(data) == []
    assert len({person.team.id for person in data.participants if person.team is not None}) == 2
