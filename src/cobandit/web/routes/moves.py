"""The one endpoint that plays rounds, for pages, bots, rehearsals and benchmarks; and that of streams.

Nearly all requests during a study are moves, and the router, its dependencies and the middleware together cost several
times as much as playing and storing a round. This plain ASGI callable therefore runs before them. The route in
`participant` only describes it for the OpenAPI document. The same holds for streams, whose every event would pass the
middleware.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from email.message import Message as EmailMessage
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl

from fastapi.exceptions import RequestValidationError
from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from cobandit.web.refusals import not_found
from cobandit.web.routes.bodies import MovesBody, MovesPart, Short
from cobandit.web.security import ANSWER, HEADERS, LARGEST_BODY, TOO_LARGE, BodyTooLarge, Receive, Scope, Send
from cobandit.web.services.participants import Participants
from cobandit.web.services.people import UNKNOWN_LINK
from cobandit.web.storage.rounds import Move

PATH = "/api/participants/{token}/rounds"

Handlers = Mapping[type[Exception], Callable[[Request, Exception], Response]]

STREAM_PATH = "/api/participants/{token}/stream"
_ADDRESS = re.compile(r"/api/participants/([^/]+)/(?:rounds|stream)")
_ENDINGS = {"POST": "/rounds", "GET": "/stream"}
TOKEN = re.compile(r"[A-Za-z0-9_-]{16,64}")
_HEADERS = [*HEADERS, (b"cache-control", b"no-store")]
_STREAM_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"x-accel-buffering", b"no"),  # nginx would hold the events back
    *_HEADERS,
]
ANSWER_HEADERS = [(b"content-type", b"application/json"), *_HEADERS]
_ANSWER_HEAD = b"".join(b"%s: %s\r\n" % header for header in ANSWER_HEADERS)
_LANGUAGE: TypeAdapter[str | None] = TypeAdapter(Short | None)
_JSON = b"application/json"


def own_token(scope: Scope) -> str | None:
    """Return the token in the address of a request that plays rounds or opens a stream; None for every other one."""
    if scope["type"] != "http" or (ending := _ENDINGS.get(scope["method"])) is None:
        return None
    path: str = scope["path"]
    if not path.endswith(ending):
        return None
    if root := scope.get("root_path"):
        path = path.removeprefix(root)
    match = _ADDRESS.fullmatch(path)
    return None if match is None else match[1]


class MoveEndpoint:
    """``POST /api/participants/{token}/rounds``. ``requests`` counts those that it has answered, for tests."""

    path = PATH  # for the log, which must not contain a token

    def __init__(self, service: Participants, handlers: Handlers) -> None:
        """``handlers`` make a response of each kind of error; they must include `Exception`."""
        self._service, self._handlers = service, handlers
        self.requests = 0

    async def __call__(self, token: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Play the rounds of one request and answer it."""
        self.requests += 1
        try:
            heads = dict(scope["headers"])
            body = await read_body(heads, receive)
            if body is None:
                return  # the client has disconnected
            moves, language = _parse(token, heads.get(b"content-type", b""), body, scope["query_string"])
            played = [Move(move.t, move.arm, move.key, move.ms) for move in moves.moves]
            reply = await self._service.play(token, moves.episode, played, language)
            status, content, headers = 200, to_json(reply), ANSWER_HEADERS
        except Exception as error:
            scope["route"] = _Route(self.path)
            status, content, headers = error_answer(self._handlers, scope, error)
        await send_answer(scope, send, status, content, headers)


class StreamEndpoint:
    """``GET /api/participants/{token}/stream``: server-sent events; 204 where there is nothing to wait for."""

    path = STREAM_PATH

    def __init__(self, service: Participants, handlers: Handlers) -> None:
        """``handlers`` are those of `MoveEndpoint`."""
        self._service, self._handlers = service, handlers

    async def __call__(self, token: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until there is nothing more to wait for, or the client disconnects."""
        try:
            if not TOKEN.fullmatch(token):
                raise not_found(UNKNOWN_LINK)
            last = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"last-event-id"), "")
            events = await self._service.together.stream(token, _asked_language(scope["query_string"]), last)
        except Exception as error:
            scope["route"] = _Route(self.path)
            await send_answer(scope, send, *error_answer(self._handlers, scope, error))
            return
        if events is None:
            await send({"type": "http.response.start", "status": 204, "headers": _HEADERS})
            await send({"type": "http.response.body", "body": b""})
            return
        response = StreamingResponse(events)
        response.raw_headers = _STREAM_HEADERS
        await response(scope, receive, send)


def _asked_language(query: bytes) -> str | None:
    try:
        return _language(query)
    except ValidationError as error:
        raise RequestValidationError(list(located(error, ("query", "language")))) from error


class _Route:
    """What the log calls an endpoint in front of the router: its path without a token."""

    def __init__(self, path: str) -> None:
        self.path = path


Headers = list[tuple[bytes, bytes]]


def error_answer(handlers: Handlers, scope: Scope, error: Exception) -> tuple[int, bytes, Headers]:
    """Return status, content and headers of the answer to a request that has failed."""
    handler = next(handlers[kind] for kind in type(error).__mro__ if kind in handlers)
    response = handler(Request(scope), error)
    own = [header for header in response.raw_headers if header[0] != b"content-length"]
    present = {name for name, _ in own}
    headers = own + [header for header in _HEADERS if header[0] not in present]
    return response.status_code, bytes(response.body), headers


async def send_answer(scope: Scope, send: Send, status: int, content: bytes, headers: Headers) -> None:
    """Send a whole answer: in one message, where the server takes that."""
    if headers is ANSWER_HEADERS and ANSWER in scope.get("extensions", ()):
        await send({"type": ANSWER, "status": status, "head": _ANSWER_HEAD, "body": content})
        return
    length = (b"content-length", b"%d" % len(content))
    await send({"type": "http.response.start", "status": status, "headers": [length, *headers]})
    await send({"type": "http.response.body", "body": content})


async def read_body(heads: Mapping[bytes, bytes], receive: Receive) -> bytes | None:
    """Return the body; None where the client disconnects before its end."""
    length = heads.get(b"content-length", b"0")
    if not length.isdigit() or int(length) > LARGEST_BODY:
        raise HTTPException(413, TOO_LARGE)  # without closing the connection, for the reason in `security`
    message = await receive()
    body: bytes = message.get("body", b"")
    while message.get("more_body"):
        message = await receive()
        body += message.get("body", b"")
        if len(body) > LARGEST_BODY:
            raise BodyTooLarge
    return body if message["type"] == "http.request" else None


def _parse(token: str, content_type: bytes, body: bytes, query: bytes) -> tuple[MovesPart, str | None]:
    """Return the moves and the language of a request, or raise the error of an invalid one."""
    try:
        if content_type == _JSON and TOKEN.fullmatch(token):
            return MovesPart.model_validate_json(body), _language(query)
    except ValidationError:
        pass  # said again below, in the order and the words of all other endpoints
    return _parse_slowly(token, content_type, body, query)


def _parse_slowly(token: str, content_type: bytes, body: bytes, query: bytes) -> tuple[MovesPart, str | None]:
    data = load_json(body) if is_json(content_type) and body else body
    if not TOKEN.fullmatch(token):
        raise not_found(UNKNOWN_LINK)
    language, errors = None, list[Any]()
    try:
        language = _language(query)
    except ValidationError as error:
        errors += located(error, ("query", "language"))
    if not body:
        raise RequestValidationError([*errors, {"type": "missing", "loc": ("body",), "msg": "Field required"}])
    try:
        moves = MovesBody.model_validate(data, from_attributes=True)
    except ValidationError as error:
        errors += located(error, ("body",))
    if errors:
        raise RequestValidationError(errors)
    return moves, language


def load_json(body: bytes) -> Any:
    """Return the JSON of a body."""
    try:
        return json.loads(body)
    except json.JSONDecodeError as error:
        wrong = {"type": "json_invalid", "loc": ("body", error.pos), "msg": "JSON decode error"}
        raise RequestValidationError([wrong]) from error
    except (ValueError, RecursionError) as error:  # not UTF-8, a number of thousands of digits, nested too deeply
        raise HTTPException(400) from error


def is_json(content_type: bytes) -> bool:
    """Return whether a content type is that of JSON."""
    message = EmailMessage()
    message["content-type"] = content_type.decode("latin-1")
    subtype = message.get_content_subtype()
    return message.get_content_maintype() == "application" and (subtype == "json" or subtype.endswith("+json"))


def located(error: ValidationError, where: tuple[str, ...]) -> Sequence[Any]:
    """Return the errors of a validation with the part of the request that they are in."""
    return [problem | {"loc": (*where, *problem["loc"])} for problem in error.errors(include_url=False)]


@lru_cache(maxsize=256)
def _language(query: bytes) -> str | None:
    """Return the language that a query string asks for."""
    asked = [value for name, value in parse_qsl(query.decode("latin-1"), keep_blank_values=True) if name == "language"]
    return _LANGUAGE.validate_python(asked[-1]) if asked else None
