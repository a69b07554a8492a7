"""The endpoint for moves: one path for every request, the same refusals as other endpoints, and each round once."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from sqlalchemy import Connection

from benchmarks.recorded import PageMoves
from cobandit.studies import StudyDesign
from cobandit.web import create_app
from cobandit.web.edge import Limits
from cobandit.web.routes import participant
from cobandit.web.routes.moves import MoveEndpoint
from cobandit.web.security import LARGEST_BODY
from cobandit.web.services.participants import Participants
from cobandit.web.serving import running
from cobandit.web.storage.moves import StoreRounds
from cobandit.web.storage.participants import Stale
from tests.clients import PATIENCE

REFUSALS = json.loads((Path(__file__).parents[2] / "fixtures" / "move-refusals.json").read_text())
"""What the router, FastAPI and pydantic said of bodies, types, queries and tokens before moves had their endpoint."""


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> list[MoveEndpoint]:
    """The endpoints of the servers that are started in the test."""
    built: list[MoveEndpoint] = []

    def create(*arguments: Any, **options: Any) -> Any:
        app = create_app(*arguments, **options)
        built.append(app.state.moves)
        return app

    monkeypatch.setattr("cobandit.web.app.create_app", create)
    return built


@pytest.fixture
def player(endpoint: list[MoveEndpoint], site: Any, short: StudyDesign) -> Any:
    """Somebody before round 2 of their first episode that counts."""
    person = site.person()
    person.go_on(short, "episode-1")
    assert person.send(1, (1, 0, "first-move")).status_code == 200
    return person


def page_move(person: Any, t: int, arm: int = 0, *, body: bytes | None = None, heads: bytes = b"") -> bytes:
    """Return a request as Chromium sends it; ``heads`` are more header lines."""
    host = urlsplit(str(person.client.base_url)).netloc
    request = PageMoves(host, person.token).request(body or PageMoves.body(1, t, arm, f"key-of-{t:06d}"))
    head, _, content = request.partition(b"\r\n\r\n")
    return head + b"\r\n" + heads + b"\r\n" + content


def connect(person: Any) -> socket.socket:
    parts = urlsplit(str(person.client.base_url))
    return socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE)


def read_answer(connection: socket.socket, rest: bytes = b"") -> tuple[list[str], dict[str, Any], bytes]:
    """Return the lines of the head without the date, the body, and what has come of the next answer."""
    while b"\r\n\r\n" not in rest:
        piece = connection.recv(65536)
        assert piece, rest
        rest += piece
    head, _, rest = rest.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    length = next(int(line.split(": ")[1]) for line in lines if line.startswith("content-length"))
    while len(rest) < length:
        piece = connection.recv(65536)
        assert piece, rest
        rest += piece
    return [line for line in lines if not line.startswith("date")], json.loads(rest[:length]), rest[length:]


def ask(person: Any, *requests: bytes) -> list[tuple[list[str], dict[str, Any]]]:
    """Send requests on one connection, all at once, and return their answers."""
    with connect(person) as connection:
        connection.sendall(b"".join(requests))
        answers, rest = [], b""
        for _ in requests:
            lines, body, rest = read_answer(connection, rest)
            answers.append((lines, body))
        return answers


def raw(person: Any, token: str, query: str, kind: str, body: bytes) -> tuple[int, dict[str, Any]]:
    where = f"/api/participants/{token}/rounds{'?' + query if query else ''}"
    response = person.client.post(where, content=body, headers={"content-type": kind} if kind else {})
    return response.status_code, response.json()


def test_the_recorded_request_of_the_page_plays_a_round(player: Any, endpoint: list[MoveEndpoint]) -> None:
    before = endpoint[0].requests
    [(lines, body)] = ask(player, page_move(player, 2))
    assert lines[0] == "HTTP/1.1 200 OK"
    assert endpoint[0].requests == before + 1
    [r] = body["rounds"]
    assert list(r) == ["t", "arms", "good"]
    assert list(body.items()) == [
        ("episode", 1),
        ("rounds", [r]),
        ("played", 2),
        ("left", 3),
        ("finished", False),
    ]
    state = player.state()["episode"]
    assert (state["played"], state["latest"]["arms"]) == (2, r["arms"])
    [(again, repeated)] = ask(player, page_move(player, 2))
    assert (again, repeated) == (lines, body)


def test_every_move_takes_the_endpoint_and_none_the_route(
    endpoint: list[MoveEndpoint], site: Any, short: StudyDesign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First rounds, last rounds, several at once, retries and refusals."""
    played: list[int] = []
    play = Participants.play

    async def noted(self: Participants, token: str, number: int, moves: Any, language: str | None = None) -> Any:
        played.append(len(moves))
        return await play(self, token, number, moves, language)

    monkeypatch.setattr(Participants, "play", noted)
    person = site.person()
    person.go_on(short, "episode-0")
    statuses = [
        person.send(0, (1, 0, "key-of-1")).status_code,
        person.send(0, (1, 0, "key-of-1")).status_code,
        person.send(0, (1, 1, "key-of-1")).status_code,
        person.send(0, (2, 9, "key-of-2")).status_code,
        person.send(0, (2, 0, "key-of-2")).status_code,
        person.send(7, (1, 0, "key-of-7")).status_code,
    ]
    assert statuses == [200, 200, 409, 422, 200, 409]
    assert person.state()["step"]["id"] != "episode-0"
    person.go_on(short, "episode-1")
    whole = [(t, 0, f"key-of-{t:06d}") for t in range(1, 6)]
    assert person.send(1, *whole).json()["finished"]
    assert person.client.post(f"{person.path}/rounds", json={}).status_code == 422
    assert endpoint[0].requests == 8
    assert played == [1, 1, 1, 1, 1, 1, 5]
    assert site.query("SELECT count(*) FROM rounds") == [(7,)]


def test_the_route_only_describes_the_endpoint(site: Any) -> None:
    """Should a request get past the endpoint, it fails visibly instead of being answered by other code."""
    description = site.client().get("/openapi.json").json()["paths"][MoveEndpoint.path]
    assert list(description) == ["post"]
    assert {parameter["name"] for parameter in description["post"]["parameters"]} == {"token", "language"}
    with pytest.raises(AssertionError, match="in front of the router"):
        participant.play("t", None, None).send(None)  # type: ignore[arg-type]


def test_answers_carry_the_security_headers(player: Any) -> None:
    wanted = {"date", "content-security-policy", "x-content-type-options", "x-frame-options", "cache-control"}
    good, refused = player.send(1, (2, 1, "key-of-000002")), player.send(1, (2, 0, "key-of-000009"))
    assert (good.status_code, refused.status_code) == (200, 409)
    for response in (good, refused):
        assert wanted <= set(response.headers)
        assert response.headers["cache-control"] == "no-store"
        assert len(response.headers.get_list("content-length")) == 1


@pytest.mark.parametrize(
    "case", REFUSALS, ids=lambda case: f"{case['token'][:5]} {case['type']} {case['query'][:12]} {case['body'][:60]}"
)
def test_refusals_are_worded_as_by_all_other_endpoints(shared_person: Any, case: dict[str, Any]) -> None:
    token = shared_person.token if case["token"] == "known" else case["token"]
    body = case["body"].encode("latin-1" if case["body"] == "\xff" else "utf-8")
    status, answer = raw(shared_person, token, case["query"], case["type"], body)
    assert (status, answer) == (case["status"], {"error": case["error"], "message": case["message"]})


@pytest.fixture(scope="module")
def shared_person(shared_site: Any, short: StudyDesign) -> Any:
    person = shared_site.person()
    person.go_on(short, "episode-0")
    return person


@pytest.mark.parametrize(
    ("kind", "encode"),
    [
        pytest.param("application/json; charset=utf-8", str.encode, id="charset"),
        pytest.param("application/merge-patch+json", str.encode, id="a kind of JSON"),
        pytest.param("Application/JSON", str.encode, id="capitals"),
        pytest.param("application/json", lambda text: text.encode("utf-8-sig"), id="byte order mark"),
        pytest.param("application/json", lambda text: text.encode("utf-16"), id="UTF-16"),
        pytest.param("application/json", lambda text: text.replace(":", " :\n").encode(), id="spaces"),
    ],
)
def test_other_forms_of_json_are_accepted(player: Any, kind: str, encode: Callable[[str], bytes]) -> None:
    body = encode('{"moves":[{"key":"key-of-000002","t":2,"ms":null,"arm":0}],"episode":1}')
    status, answer = raw(player, player.token, "", kind, body)
    assert (status, answer["played"]) == (200, 2)


def test_a_refusal_because_of_the_state_is_in_the_language_of_the_query(player: Any) -> None:
    for language, title in (("de", "Burger mit einem Roboter"), ("en", None), ("xx", None)):
        status, answer = raw(
            player, player.token, f"language={language}", "application/json", PageMoves.body(1, 5, 0, "key-of-000005")
        )
        assert (status, answer["error"]) == (409, "out-of-order")
        assert (answer["state"]["title"] == title) == (language == "de")


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_that_is_too_large_is_refused(player: Any, chunked: bool) -> None:
    size = LARGEST_BODY + 1

    def parts() -> Any:
        for _ in range(size // 1000 + 1):
            yield b" " * 1000

    response = player.client.post(
        f"{player.path}/rounds",
        content=parts() if chunked else b" " * size,
        headers={"content-type": "application/json"},
    )
    assert (response.status_code, response.json()["error"]) == (413, "too-large")
    assert response.json()["message"] == "A request may have 128 KB."
    assert (response.headers.get("connection") == "close") == chunked  # the rest of a known length can be passed over
    assert "content-security-policy" in response.headers


def test_other_methods_are_refused_by_the_router(player: Any) -> None:
    for method in ("GET", "PUT", "DELETE"):
        response = player.client.request(method, f"{player.path}/rounds")
        assert (response.status_code, response.headers["allow"]) == (405, "POST")


def test_expect_continue(player: Any) -> None:
    request = page_move(player, 2, heads=b"Expect: 100-continue\r\n")
    head, _, body = request.partition(b"\r\n\r\n")
    with connect(player) as connection:
        connection.sendall(head + b"\r\n\r\n")
        assert connection.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(body)
        assert read_answer(connection)[1]["played"] == 2


def test_one_behind_the_other_on_one_connection(player: Any) -> None:
    answers = ask(player, *(page_move(player, t) for t in (2, 3, 4, 5)))
    assert [body["played"] for _, body in answers] == [2, 3, 4, 5]


def test_a_request_in_pieces(player: Any) -> None:
    request = page_move(player, 2)
    with connect(player) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for place in range(0, len(request), 7):
            connection.sendall(request[place : place + 7])
        assert read_answer(connection)[1]["played"] == 2


def test_tabs_that_send_one_move_at_once_play_it_once(player: Any) -> None:
    together, given = threading.Barrier(4), []

    def tab() -> None:
        with connect(player) as connection:
            together.wait()
            connection.sendall(page_move(player, 2))
            given.append(read_answer(connection)[1])

    threads = [threading.Thread(target=tab) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [body["rounds"] for body in given] == [given[0]["rounds"]] * 4
    assert player.state()["episode"]["played"] == 2


@pytest.mark.parametrize(("trouble", "status"), [(Stale, 200), (OSError, 500)])
def test_a_write_that_fails_leaves_nothing_behind(
    player: Any, monkeypatch: pytest.MonkeyPatch, trouble: type[Exception], status: int
) -> None:
    """A stale participant is read and written again at once; after any other error the client asks again."""
    store, failed = StoreRounds.__call__, list[int]()

    def failing(self: StoreRounds, connection: Connection) -> int:
        if not failed:
            failed.append(self.played[0][0].t)
            raise trouble
        return store(self, connection)

    monkeypatch.setattr(StoreRounds, "__call__", failing)
    [(first, _)] = ask(player, page_move(player, 2))
    assert first[0].split()[1] == str(status)
    answers = ask(player, page_move(player, 2), page_move(player, 3))
    assert failed == [2]
    assert [body["played"] for _, body in answers] == [2, 3]
    assert player.state()["episode"]["played"] == 3


def test_a_move_of_a_client_that_disconnects_is_played(player: Any, endpoint: list[MoveEndpoint]) -> None:
    before = endpoint[0].requests
    connection = connect(player)
    connection.sendall(page_move(player, 2))
    connection.close()
    while endpoint[0].requests == before:
        player.client.get("/api/health")
    assert ask(player, page_move(player, 3))[0][1]["played"] == 3


def test_a_client_that_disconnects_within_the_body_plays_nothing(player: Any, endpoint: list[MoveEndpoint]) -> None:
    before = endpoint[0].requests
    connection = connect(player)
    connection.sendall(page_move(player, 2)[:-5])
    while endpoint[0].requests == before:
        player.client.get("/api/health")
    connection.close()
    assert player.state()["episode"]["played"] == 1
    assert ask(player, page_move(player, 2))[0][1]["played"] == 2


def test_a_body_that_does_not_come_is_given_up(site: Any, player: Any) -> None:
    with running(site.config, Limits(body_seconds=0.1)) as url:
        parts = urlsplit(url)
        with socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE) as connection:
            connection.sendall(page_move(player, 2)[:-5])
            assert b" 408 " in connection.recv(65536)
    assert player.state()["episode"]["played"] == 1
