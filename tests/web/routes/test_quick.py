"""Rounds are taken in before the router, and answered as the route would."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
from pydantic import ValidationError

from cobandit.studies import StudyDesign
from cobandit.web.routes.bodies import LARGEST, MovesBody
from cobandit.web.routes.quick import QuickRounds, _read_moves

MOVE = {"t": 1, "arm": 0, "key": "0b0c1f6e-5d0b", "ms": 400}
GOOD = {"episode": 0, "moves": [MOVE]}


def _with(**changes: Any) -> dict[str, Any]:
    return {"episode": 0, "moves": [MOVE | changes]}


def _without(name: str) -> dict[str, Any]:
    return {"episode": 0, "moves": [{key: value for key, value in MOVE.items() if key != name}]}


BODIES: list[Any] = [
    GOOD,
    _without("ms"),
    _without("t"),
    _without("key"),
    _with(ms=None),
    _with(ms=-1),
    _with(ms=LARGEST + 1),
    _with(ms=1.5),
    _with(ms=True),
    _with(t=0),
    _with(t=1.0),
    _with(t="1"),
    _with(t=True),
    _with(t=LARGEST),
    _with(t=10**30),
    _with(arm=-1),
    _with(arm=None),
    _with(key="short"),
    _with(key="x" * 65),
    _with(key="a b c d e"),
    _with(key="keykeykey\n"),
    _with(key="schlüssel-1"),
    _with(key=12345678),
    _with(more=1),
    {"episode": 0, "moves": [MOVE] * 200},
    {"episode": 0, "moves": [MOVE] * 201},
    {"episode": 0, "moves": []},
    {"episode": 0, "moves": {}},
    {"episode": 0, "moves": [[]]},
    {"episode": True, "moves": [MOVE]},
    {"episode": -1, "moves": [MOVE]},
    {"episode": 0},
    GOOD | {"more": 1},
    [],
    None,
    1,
]


@pytest.mark.parametrize("body", BODIES, ids=lambda body: json.dumps(body)[:60])
def test_it_takes_what_the_body_takes(body: Any) -> None:
    try:
        accepted = MovesBody.model_validate(body)
    except ValidationError:
        accepted = None
    read = _read_moves(json.dumps(body).encode())
    if accepted is None:
        assert read is None
    else:
        assert read is not None
        assert read[0] == accepted.episode
        assert [vars(move) for move in read[1]] == [vars(move) for move in accepted.moves]


@pytest.mark.parametrize("text", [b"", b"{", b"\xff", b"[" * 100_000, b'{"episode": NaN}', b"9" * 5000])
def test_what_cannot_be_read_goes_on(text: bytes) -> None:
    assert _read_moves(text) is None


def test_the_same_answers_either_way(site: Any, short: StudyDesign, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every answer of the common way and of the quick one, heads included, for one person after the other."""
    calls: list[str] = []
    taken = QuickRounds.__call__

    async def counted(self: QuickRounds, scope: Any, receive: Any, send: Any) -> None:
        calls.append(scope["path"])
        await taken(self, scope, receive, send)

    def answers(quick: bool) -> list[Any]:
        person = site.person()
        person.go_on(short, "episode-0")
        if quick:
            monkeypatch.setattr(QuickRounds, "__call__", counted)
        else:
            monkeypatch.setattr("cobandit.web.routes.quick._quick_address", lambda scope: None)
        first = uuid.uuid4().hex
        sent: list[Any] = [
            _with(t=1, key=first),
            _with(t=1, key=first),  # a retry
            _with(t=1, key=uuid.uuid4().hex),  # another choice for a played round
            _with(t=1, key=first, arm=1),
            _with(t=3),  # too early
            _with(t=2, arm=7),
            {"episode": 4, "moves": [MOVE]},
            *(body for body in BODIES if body != GOOD),
        ]
        given = []
        for body in sent:
            answer = person.client.post(f"{person.path}/rounds", json=body)
            heads = {name: value for name, value in answer.headers.items() if name not in ("date", "content-length")}
            given.append((answer.status_code, heads, _settled(answer.json(), person)))
        stranger = person.client.post(f"/api/participants/{'x' * 32}/rounds", json=GOOD)
        given.append((stranger.status_code, {}, stranger.json()))
        odd = person.client.post(f"{person.path}/rounds", content=b"{", headers={"content-type": "application/json"})
        given.append((odd.status_code, {}, odd.json()))
        monkeypatch.undo()
        return given

    common, quick = answers(False), answers(True)
    assert [status for status, _, _ in quick[:7]] == [200, 200, 409, 409, 409, 422, 409]
    assert calls
    for before, after in zip(common, quick, strict=True):
        assert after == before


def _settled(body: Any, person: Any) -> Any:
    """Without what differs from person to person: names, orders, and what the AI did."""
    if "rounds" in body and isinstance(body["rounds"], list):
        return body | {"rounds": [sorted(r) for r in body["rounds"]]}
    if "state" in body:
        return {"error": body["error"], "message": body["message"], "state": sorted(body["state"])}
    return body
