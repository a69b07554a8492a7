"""Players of service seats over real HTTP: a language model, and the policy of the documentation."""

from __future__ import annotations

import json
import re
import threading
import time
import types
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from cobandit import InvalidInput, UnknownName
from cobandit.remote import chat, policy, settings, usage
from cobandit.remote.demo_server import DemoServer
from cobandit.remote.transport import post
from cobandit.studies import (
    Choice,
    Episode,
    NoMove,
    ParticipantPlan,
    SeatRound,
    SeatView,
    StudyDesign,
    load_design,
    make_player,
    verify_episode,
)
from cobandit.studies.seats import seat_view
from cobandit.studies.service_use import estimated_use, recorded_use, services_of, try_service
from tests.policies import documented_lines, documented_policy
from tests.team_designs import service_design

KEY, SECRET = "sk-secret-0123456789", "0123456789abcdef0123456789abcdef"
VIEW = SeatView(
    seat=1,
    t=3,
    rounds=50,
    names=("Left cook", "Right cook"),
    arms=(("Patty", "Cheese"), ("Tomato", "Lettuce")),
    observability=(1.0, 0.5),
    observation="missed",
    instructions=("Satisfy as many customers as you can.",),
    words={"good": "satisfied"},
    history=(SeatRound(1, (0, 0), 0.0), SeatRound(2, (0, 1), 1.0)),
)


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat, "_HEALTH", {})
    monkeypatch.setattr(usage.METER, "_usage", usage.Usage())
    monkeypatch.setattr(chat.Conversation, "sleep", staticmethod(lambda seconds: None))
    monkeypatch.setenv(settings.KEY, KEY)
    monkeypatch.setenv(settings.MODEL, "demo-model")
    monkeypatch.setenv("COBANDIT_SERVICE_SECRET", SECRET)


class TestLanguageModel:
    def test_a_move_with_its_record(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with DemoServer(key=KEY) as server:
            monkeypatch.setenv(settings.URL, server.url)
            move = make_player({"kind": "language-model", "temperature": 0.5}).choose(VIEW, 20.0)
        assert move.arm == 0, "Patty + Tomato paid nothing, Patty + Lettuce paid; Cheese + Tomato is the first unseen"
        (sent,) = server.requests
        assert sent["messages"][0]["content"].endswith("Satisfy as many customers as you can.")
        assert "- Patty + Lettuce: played 1, rewards seen 1, sum 1, mean 1.000" in sent["messages"][1]["content"]
        assert 0 <= sent["seed"] < 2**31
        record: Any = move.record
        assert record["attempts"][0]["request"] == sent
        assert (record["outcome"], record["model"], record["input_tokens"] > 100) == ("answer", "demo-model", True)
        assert re.fullmatch("[0-9a-f]{64}", move.evidence + "")
        assert KEY not in json.dumps(record)

    @pytest.mark.parametrize(
        ("fault", "reason"),
        [
            ("refusal", "refusal"),
            ("malformed", "malformed"),
            ("server-error", "status 500"),
            ("rate-limit", "rate limit"),
            ("cut", "cut"),
        ],
    )
    def test_no_move_is_recorded_all_the_same(self, monkeypatch: pytest.MonkeyPatch, fault: str, reason: str) -> None:
        with DemoServer(key=KEY, fault=fault) as server:
            monkeypatch.setenv(settings.URL, server.url)
            with pytest.raises(NoMove, match=f"gave no move: {reason}") as caught:
                make_player({"kind": "language-model", "retries": 1}).choose(VIEW, 20.0)
        assert caught.value.record["outcome"] == reason
        assert len(caught.value.record["attempts"]) == len(server.requests) == 2

    def test_the_time_of_the_round_is_kept(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with DemoServer(key=KEY, fault="slow", seconds=60.0) as server:
            monkeypatch.setenv(settings.URL, server.url)
            with pytest.raises(NoMove, match="time-out"):
                make_player({"kind": "language-model", "retries": 9}).choose(VIEW, 0.5)

    def test_the_limit_of_calls(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(settings.MAX_CALLS, "1")
        with DemoServer(key=KEY) as server:
            monkeypatch.setenv(settings.URL, server.url)
            player = make_player({"kind": "language-model"})
            player.choose(VIEW, 20.0)
            with pytest.raises(NoMove, match="called 1 times") as caught:
                player.choose(VIEW, 20.0)
        assert caught.value.record["outcome"] == "call limit"
        assert len(server.requests) == 1

    def test_without_an_endpoint(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv(settings.URL)
        with pytest.raises(InvalidInput, match="COBANDIT_LLM_URL must be"):
            make_player({"kind": "language-model"})


@pytest.fixture
def documented() -> Iterator[types.ModuleType]:
    """The policy of the documentation, running."""
    with documented_policy() as module:
        yield module


def at(server: ThreadingHTTPServer, **options: Any):
    return make_player({"kind": "http", "url": f"http://127.0.0.1:{server.server_port}/policy", **options})


class TestDocumentedPolicy:
    def test_it_is_short(self) -> None:
        assert documented_lines() <= 35

    def test_a_move_with_its_record(self, documented) -> None:
        move = at(documented.server).choose(VIEW, 20.0)
        assert move.arm == 1
        record: Any = move.record
        (attempt,) = record["attempts"]
        assert attempt["request"]["schema"] == policy.SCHEMA
        assert attempt["request"]["history"] == [
            {"t": 1, "arms": [0, 0], "seen": 0.0},
            {"t": 2, "arms": [0, 1], "seen": 1.0},
        ]
        assert json.loads(attempt["reply"])["arm"] == 1
        assert SECRET not in json.dumps(record) + repr(at(documented.server).client)

    @pytest.mark.parametrize(("secret", "age"), [("another-secret-of-some-length", 0), (SECRET, 301), (SECRET, -301)])
    def test_forged_and_old_requests_are_refused(self, documented, secret: str, age: int) -> None:
        stamp, body = str(int(time.time()) - age), b'{"type": "choose", "id": "x"}'
        headers = {policy.TIMESTAMP: stamp, policy.SIGNATURE: policy.signature(secret, stamp, body)}
        assert post(f"http://127.0.0.1:{documented.server.server_port}/", body, headers, 20.0).status == 401

    def test_a_changed_body_is_refused(self, documented) -> None:
        stamp = str(int(time.time()))
        headers = {policy.TIMESTAMP: stamp, policy.SIGNATURE: policy.signature(SECRET, stamp, b'{"arm": 0}')}
        assert post(f"http://127.0.0.1:{documented.server.server_port}/", b'{"arm": 1}', headers, 20.0).status == 401

    def test_a_repeated_request_is_answered_as_before(self, documented) -> None:
        player = at(documented.server)
        first = player.choose(VIEW, 20.0)
        documented.choose = lambda request: 0
        assert player.choose(VIEW, 20.0).arm == first.arm
        assert len(documented.ANSWERS) == 1


class Peer(ThreadingHTTPServer):
    """A policy that answers in turn as it is told: a status and a body, or None for a connection that is cut."""

    daemon_threads = True

    def __init__(self, *answers: tuple[int, str] | None) -> None:
        super().__init__(("127.0.0.1", 0), PeerHandler)
        self.answers, self.requests = list(answers), list[dict[str, Any]]()
        self.thread = threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> Peer:
        self.thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.shutdown()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


class PeerHandler(BaseHTTPRequestHandler):
    server: Peer

    def do_POST(self) -> None:
        self.server.requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        answer = self.server.answers.pop(0) if len(self.server.answers) > 1 else self.server.answers[0]
        if answer is None:
            self.connection.close()
            return
        self.send_response(answer[0])
        self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", str(len(answer[1])))
        self.end_headers()
        self.wfile.write(answer[1].encode())

    def log_message(self, *arguments: Any) -> None:
        pass


@pytest.fixture
def no_waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    waits: list[float] = []
    monkeypatch.setattr(policy.PolicyClient, "sleep", staticmethod(waits.append))
    return waits


class TestPolicyFaults:
    @pytest.mark.parametrize(
        ("answer", "reason", "calls"),
        [
            ((500, ""), "status 500", 3),
            (None, "cut", 3),
            ((401, ""), "status 401", 1),
            ((302, ""), "status 302", 3),
            ((200, "not JSON"), "malformed", 1),
            ((200, '{"arm": 2}'), "malformed", 1),
            ((200, '{"arm": true}'), "malformed", 1),
            ((200, '{"arm": "1"}'), "malformed", 1),
            ((200, '{"arm": 1.0}'), "malformed", 1),
            ((200, '{"schema": "cobandit-seat/2", "arm": 1}'), "malformed", 1),
            ((200, "[1]"), "malformed", 1),
            ((200, f'{{"error": "{SECRET}"}}'), "malformed", 1),
        ],
    )
    def test_no_move(self, no_waits, answer, reason: str, calls: int) -> None:
        with Peer(answer) as peer, pytest.raises(NoMove, match=f"The policy gave no move: {reason}") as caught:
            at(peer, observe=False).choose(VIEW, 20.0)
        assert len(peer.requests) == len(caught.value.record["attempts"]) == calls
        assert SECRET not in json.dumps(caught.value.record)

    def test_one_fault_is_got_over_with_the_same_id(self, no_waits) -> None:
        with Peer((503, ""), None, (200, '{"arm": 1}')) as peer:
            assert at(peer, observe=False).choose(VIEW, 20.0).arm == 1
        assert no_waits == [0.5, 1.0]
        assert len({request["id"] for request in peer.requests}) == 1

    def test_each_round_is_observed_before_the_next_choice(self, no_waits) -> None:
        with Peer((500, ""), (200, '{"arm": 0}')) as peer:
            assert at(peer).choose(VIEW, 20.0).arm == 0, "an observation that fails changes nothing"
        told, asked = peer.requests
        assert (told["type"], told["t"], told["arms"], told["seen"]) == ("observe", 2, [0, 1], 1.0)
        assert (asked["type"], asked["t"], asked["session"]) == ("choose", 3, told["session"])

    def test_a_secret_is_needed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for secret in ("", "short", "a\nb" * 10):
            monkeypatch.setenv("LAB_SECRET", secret)
            with pytest.raises(InvalidInput, match=r"^LAB_SECRET must") as caught:
                make_player({"kind": "http", "url": "https://lab.example.org", "secret": "LAB_SECRET"})
            assert not secret or secret not in str(caught.value)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"kind": "language-model", "temprature": 1.0}, "temperature"),
        ({"kind": "language-model", "history": "all"}, "history"),
        ({"kind": "language-model", "template": "{means}"}, "template must"),
        ({"kind": "http"}, "must have the field 'url'"),
        ({"kind": "http", "url": "lab.example.org"}, "must be an address"),
        ({"kind": "http", "url": "https://me:pass@lab.example.org"}, "no user and no password"),
    ],
)
def test_designs_with_wrong_tables_are_refused(table: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        with_service(table)


def with_service(table: dict[str, Any]) -> StudyDesign:
    data = service_design().to_dict()
    data["seats"][1]["service"] = table
    return StudyDesign.from_dict(data)


def test_an_unknown_kind() -> None:
    with pytest.raises(UnknownName, match="kind of service"):
        make_player({"kind": "telepathy"})


def test_an_episode_with_a_language_model_verifies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Faults in every third reply: the takeover agent plays those rounds, and the log verifies."""
    design = with_service({"kind": "language-model", "retries": 0})
    with DemoServer(key=KEY, fault="refusal", every=3) as server:
        monkeypatch.setenv(settings.URL, server.url)
        episode = Episode.open(ParticipantPlan(design, 5, 0).episode(0))
        player = make_player({"kind": "language-model", "retries": 0})
        by = []
        for t in range(1, episode.plan.rounds + 1):
            try:
                move = player.choose(seat_view(episode, 1), 20.0)
                choice = Choice(move.arm, "service", move.evidence)
            except NoMove:
                choice = Choice(episode.takeover(1), "takeover")
            by.append(choice.by)
            episode.play(t, {0: Choice(t % 2), 1: choice})
    assert by == ["service", "service", "takeover", "service"]
    assert verify_episode(episode.plan, episode.rounds, finished=True) == []


class TestUse:
    def test_what_a_design_needs(self, monkeypatch: pytest.MonkeyPatch) -> None:
        (use,) = services_of(with_service({"kind": "language-model"}))
        assert (use.condition, use.seat, use.kind, use.calls) == ("service", 1, "language-model", 4)
        tokens = estimated_use(with_service({"kind": "language-model"}), use)
        assert tokens is not None
        assert 4 * 150 < tokens[0] < 4 * 1_500
        policy = with_service({"kind": "http", "url": "https://lab.example.org"})
        assert estimated_use(policy, services_of(policy)[0]) is None
        assert services_of(load_design("burger")) == []

    def test_services_are_tried(self, monkeypatch: pytest.MonkeyPatch, documented) -> None:
        model = with_service({"kind": "language-model"})
        assert try_service(model, services_of(model)[0]).arm == "A"
        monkeypatch.delenv(settings.URL)
        failed = try_service(model, services_of(model)[0])
        assert (failed.arm, "COBANDIT_LLM_URL must be" in failed.outcome) == (None, True)
        url = f"http://127.0.0.1:{documented.server.server_port}/policy"
        good, bad = (with_service({"kind": "http", "url": address}) for address in (url, "http://127.0.0.1:9/"))
        assert try_service(good, services_of(good)[0]).arm == "A"
        assert "unreachable" in try_service(bad, services_of(bad)[0], seconds=0.5).outcome

    def test_what_was_recorded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        records = []
        with DemoServer(key=KEY, fault="malformed", every=2) as server:
            monkeypatch.setenv(settings.URL, server.url)
            player = make_player({"kind": "language-model", "retries": 0})
            for _ in range(4):
                try:
                    records.append(player.choose(VIEW, 20.0).record)
                except NoMove as error:
                    records.append(error.record)
        used = recorded_use(records)
        assert (used.moves, used.calls, used.outcomes) == (4, 4, {"answer": 2, "malformed": 2})
        assert used.cost is None
        monkeypatch.setenv(settings.PRICES, "1000000,0")
        assert used.cost == used.input_tokens > 0
