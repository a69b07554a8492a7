"""Moves that go straight from the parser to the writer: answered as by the common way, and once, whatever happens."""

from __future__ import annotations

import json
import socket
import threading
from typing import Any
from urllib.parse import urlsplit

import pytest
from sqlalchemy import Connection

from cobandit.studies import StudyDesign
from cobandit.web.edge import GuardedProtocol
from cobandit.web.services.direct import DirectRounds
from cobandit.web.storage.moves import StoreRounds
from cobandit.web.storage.participants import Stale

PATIENCE = 60


class Taken(list[bool]):
    """Whether each request that came so far was taken the direct way."""


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> Taken:
    noted, take = Taken(), DirectRounds.take

    def noting(self: DirectRounds, token: str, body: bytes, answer: Any) -> bool:
        noted.append(take(self, token, body, answer))
        return noted[-1]

    monkeypatch.setattr(DirectRounds, "take", noting)
    return noted


@pytest.fixture
def player(site: Any, short: StudyDesign) -> Any:
    """Somebody before round 2 of their first episode that counts."""
    person = site.person()
    person.go_on(short, "episode-1")
    assert person.send(1, (1, 0, "first-move")).status_code == 200
    return person


def request(
    person: Any, t: int, arm: int = 0, *, body: bytes | None = None, heads: bytes = b"", way: str = ""
) -> bytes:
    move = b'{"episode":1,"moves":[{"t":%d,"arm":%d,"key":"key-of-%06d","ms":400}]}' % (t, arm, t)
    body = body or move
    return (
        b"POST %s/rounds%s HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n%scontent-length: %d\r\n\r\n%s"
        % (person.path.encode(), way.encode(), heads, len(body), body)
    )


def connect(person: Any) -> socket.socket:
    parts = urlsplit(str(person.client.base_url))
    return socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE)


def answer(connection: socket.socket, rest: bytes = b"") -> tuple[list[str], dict[str, Any], bytes]:
    """Lines of the head without the date, the body, and what has come of the next one."""
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


def ask(person: Any, *asked: bytes) -> list[tuple[list[str], dict[str, Any]]]:
    with connect(person) as connection:
        connection.sendall(b"".join(asked))
        answers, rest = [], b""
        for _ in asked:
            lines, body, rest = answer(connection, rest)
            answers.append((lines, body))
        return answers


def test_the_same_answer_as_by_the_common_way(player: Any, taken: Taken) -> None:
    [(lines, body)] = ask(player, request(player, 2))
    assert taken == [True]
    spaced = b'{"episode": 1, "moves":[{"t":3,"arm":0,"key":"key-of-000003","ms":400}]}'
    [(other_lines, other)] = ask(player, request(player, 3, body=spaced))
    assert taken == [True, False]
    assert lines == other_lines
    assert list(body) == list(other)
    assert list(body["rounds"][0]) == list(other["rounds"][0])
    assert body == {"episode": 1, "rounds": body["rounds"], "played": 2, "left": 3, "finished": False}
    [(_, repeated)] = ask(player, request(player, 2))
    assert repeated["rounds"] == body["rounds"]
    assert taken[-1] is False


def test_a_date_and_what_seals_every_answer_are_there(player: Any) -> None:
    response = player.send(1, (2, 1, "key-of-000002"))
    assert {"date", "content-security-policy", "x-content-type-options", "cache-control"} <= set(response.headers)


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        pytest.param({"t": 4}, 409, id="too early"),
        pytest.param({"t": 2, "arm": 9}, 422, id="no such arm"),
        pytest.param({"t": 2, "body": b"{}"}, 422, id="no moves"),
        pytest.param({"t": 2, "body": b"x" * 600}, 422, id="long"),
        pytest.param({"t": 2, "heads": b"connection: close\r\n"}, 200, id="last request"),
        pytest.param({"t": 2, "heads": b"expect: 100-continue\r\n"}, 100, id="a word first"),
        pytest.param({"t": 2, "way": "?language=en"}, 200, id="query"),
    ],
)
def test_anything_else_goes_the_common_way(player: Any, taken: Taken, asked: Any, status: int) -> None:
    with connect(player) as connection:
        connection.sendall(request(player, **asked))
        assert int(connection.recv(65536).split()[1]) == status
    assert not any(taken)
    player.client.get("/api/health")


def test_a_stranger_is_told_so(player: Any, taken: Taken) -> None:
    player.token = "x" * 32
    [(lines, body)] = ask(player, request(player, 2))
    assert (lines[0].split()[1], body["error"]) == ("404", "not-found")
    assert taken == [False]


def test_one_behind_the_other_on_one_connection(player: Any, taken: Taken) -> None:
    answers = ask(player, *(request(player, t) for t in (2, 3, 4, 5)))
    assert [body["played"] for _, body in answers] == [2, 3, 4, 5]
    assert taken[0] is True


def test_a_request_in_pieces(player: Any, taken: Taken) -> None:
    asked = request(player, 2)
    with connect(player) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for place in range(len(asked)):
            connection.sendall(asked[place : place + 1])
        assert answer(connection)[1]["played"] == 2
    assert taken == [True]


def test_two_tabs_at_once_play_it_once(player: Any, taken: Taken) -> None:
    together, given = threading.Barrier(4), []

    def tab() -> None:
        with connect(player) as connection:
            together.wait()
            connection.sendall(request(player, 2))
            given.append(answer(connection)[1])

    threads = [threading.Thread(target=tab) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [body["rounds"] for body in given] == [given[0]["rounds"]] * 4
    assert sum(taken) == 1
    assert player.state()["episode"]["played"] == 2


@pytest.mark.parametrize("trouble", [Stale, OSError])
def test_a_write_that_fails_is_tried_the_common_way(
    player: Any, taken: Taken, monkeypatch: pytest.MonkeyPatch, trouble: type[Exception]
) -> None:
    store, failed = StoreRounds.__call__, list[int]()

    def failing(self: StoreRounds, connection: Connection) -> int:
        if not failed:
            failed.append(self.played[0][0].t)
            raise trouble
        return store(self, connection)

    monkeypatch.setattr(StoreRounds, "__call__", failing)
    answers = ask(player, request(player, 2), request(player, 3))
    assert failed == [2]
    assert [body["played"] for _, body in answers] == [2, 3]
    assert player.state()["episode"]["played"] == 3


def test_who_hangs_up_has_played(player: Any, taken: Taken) -> None:
    connection = connect(player)
    connection.sendall(request(player, 2))
    connection.close()
    while not taken:
        player.client.get("/api/health")
    assert ask(player, request(player, 3))[0][1]["played"] == 3


def test_the_guard_knows_of_bodies_that_do_not_come(player: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GuardedProtocol, "limits", GuardedProtocol.limits.__class__(body_seconds=0.1))
    with connect(player) as connection:
        connection.sendall(request(player, 2)[:-5])
        assert b" 408 " in connection.recv(65536)
