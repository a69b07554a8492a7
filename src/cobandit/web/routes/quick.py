"""Rounds, taken in before the router: they are nearly all that a server is asked while a study runs.

Finding a route, solving dependencies and checking a body in general costs several times what playing a round does.
Whatever is not exactly as pages send it goes the common way, with nothing lost, and is answered there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from cobandit.web.routes.bodies import LARGEST
from cobandit.web.security import HEADERS, App, Message, Receive, Scope, Send
from cobandit.web.services.participants import MOST_MOVES, Participants
from cobandit.web.storage.rounds import Move

LARGEST_QUICK = 32 * 1024

_ADDRESS = re.compile(r"/api/participants/([A-Za-z0-9_-]{16,64})/rounds")
_KEY = re.compile(r"[A-Za-z0-9-]{8,64}")
_SEALED = [*HEADERS, (b"cache-control", b"no-store")]

Handlers = Mapping[type[Exception], Callable[[Request, Exception], Response]]


class QuickRounds:
    """``POST /api/participants/{token}/rounds``, as the route of this address answers it; ``app`` does the rest."""

    path = "/api/participants/{token}/rounds"

    def __init__(self, app: App, service: Participants, handlers: Handlers) -> None:
        self._app, self._service, self._handlers = app, service, handlers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        address = _quick_address(scope)
        if address is None:
            await self._app(scope, receive, send)
            return
        messages = [await receive()]
        while messages[-1].get("more_body"):
            messages.append(await receive())
        asked = _read_moves(b"".join(message.get("body", b"") for message in messages))
        if asked is None or messages[-1]["type"] != "http.request":
            await self._app(scope, _again(messages, receive), send)
            return
        try:
            answer = await self._service.play(address, *asked)
        except Exception as error:
            scope["route"] = self  # which the log is told, in place of an address with a token
            response = self._handler(error)(Request(scope), error)
            await _send(send, response.status_code, bytes(response.body), list(response.raw_headers))
            return
        body = json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()
        headers = [(b"content-length", b"%d" % len(body)), (b"content-type", b"application/json")]
        await _send(send, 200, body, headers)

    def _handler(self, error: Exception) -> Callable[[Request, Exception], Response]:
        return next(self._handlers[kind] for kind in type(error).__mro__ if kind in self._handlers)


async def _send(send: Send, status: int, body: bytes, headers: list[tuple[bytes, bytes]]) -> None:
    await send({"type": "http.response.start", "status": status, "headers": headers + _SEALED})
    await send({"type": "http.response.body", "body": body})


def _quick_address(scope: Scope) -> str | None:
    """The token of the address, where the head of the request is as pages send it."""
    if scope["type"] != "http" or scope["method"] != "POST" or scope["query_string"] or scope.get("root_path"):
        return None
    match = _ADDRESS.fullmatch(scope["path"])
    if match is None:
        return None
    length = kind = b""
    for name, value in scope["headers"]:
        if name == b"content-length":
            length = value
        elif name == b"content-type":
            kind = value
    quick = length.isdigit() and int(length) <= LARGEST_QUICK and kind == b"application/json"
    return match[1] if quick else None


def _again(messages: list[Message], receive: Receive) -> Receive:
    """What has been received already, and then the rest."""
    waiting = iter(messages)

    async def replay() -> Message:
        message = next(waiting, None)
        return await receive() if message is None else message

    return replay


def _read_moves(body: bytes) -> tuple[int, list[Move]] | None:
    """Episode and moves of a body that `MovesBody` takes; None: let it say what it thinks of this one."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if type(data) is not dict or data.keys() != {"episode", "moves"}:
        return None
    moves = data["moves"]
    if not _within(data["episode"], 0) or type(moves) is not list or not 1 <= len(moves) <= MOST_MOVES:
        return None
    read = [_read_move(move) for move in moves]
    return None if None in read else (data["episode"], [move for move in read if move is not None])


_MOVE = {"t", "arm", "key"}
_TIMED_MOVE = {*_MOVE, "ms"}


def _read_move(data: Any) -> Move | None:
    if type(data) is not dict or (data.keys() != _TIMED_MOVE and data.keys() != _MOVE):
        return None
    t, arm, key, ms = data["t"], data["arm"], data["key"], data.get("ms")
    if not _within(t, 1) or not _within(arm, 0) or type(key) is not str or not _KEY.fullmatch(key):
        return None
    return Move(t, arm, key, ms) if ms is None or _within(ms, 0) else None


def _within(value: Any, least: int) -> bool:
    return type(value) is int and least <= value <= LARGEST
