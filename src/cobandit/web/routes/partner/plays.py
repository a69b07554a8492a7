"""The endpoint for choose and observe, in front of the router of the partner service, as for moves.

Nearly all requests are these two. The routes in `api` only describe them for the OpenAPI document.
"""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import TypeVar

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from pydantic_core import to_json

from cobandit.base.json_types import JsonObject
from cobandit.web.routes.moves import (
    ANSWER_HEADERS,
    Handlers,
    error_answer,
    is_json,
    load_json,
    located,
    read_body,
    send_answer,
)
from cobandit.web.routes.partner.bodies import ChooseBody, ObserveBody
from cobandit.web.security import App, Receive, Scope, Send
from cobandit.web.services.partner.games import Feedback, Games
from cobandit.web.services.partner.keys import Keys

B = TypeVar("B", bound=BaseModel)

CHOOSE = "/teams/{team}/games/{game}/choose"
OBSERVE = "/teams/{team}/games/{game}/observe"

_ADDRESS = re.compile(r"/v1/teams/([A-Za-z0-9._-]{1,100})/games/([A-Za-z0-9._-]{1,100})/(choose|observe)")

_ROUTES = {name: SimpleNamespace(path=f"/v1{path}") for name, path in (("choose", CHOOSE), ("observe", OBSERVE))}
"""What the log calls these addresses."""


class PartnerEndpoint:
    """Answers choose and observe itself and passes every other request on; ``requests`` counts those it answers."""

    def __init__(self, keys: Keys, games: Games, handlers: Handlers, api: App) -> None:
        self._keys, self._games, self._handlers, self._api = keys, games, handlers, api
        self.requests = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._api(scope, receive, send)
            return
        path: str = scope["path"]
        if root := scope.get("root_path"):
            path = path.removeprefix(root)
        match = _ADDRESS.fullmatch(path)
        if match is None:
            await self._api(scope, receive, send)
            return
        self.requests += 1
        scope["route"] = _ROUTES[match[3]]
        try:
            heads = dict(scope["headers"])
            body = await read_body(heads, receive)
            if body is None:
                return  # the client has disconnected
            key = await self._keys.require(heads.get(b"authorization", b""), "play")
            place = key.tenant, match[1], match[2]
            reply = await self._answer(match[3], place, heads.get(b"content-type", b""), body)
            status, content, headers = 200, to_json(reply), ANSWER_HEADERS
        except Exception as error:
            status, content, headers = error_answer(self._handlers, scope, error)
        await send_answer(scope, send, status, content, headers)

    async def _answer(self, what: str, place: tuple[str, str, str], content_type: bytes, body: bytes) -> JsonObject:
        if what == "choose":
            wanted = _parsed(ChooseBody, content_type, body) if body else ChooseBody.model_construct()
            return await self._games.choose(place, wanted.round, wanted.event, wanted.after)
        given = _parsed(ObserveBody, content_type, body)
        feedback = Feedback(
            given.round,
            given.event,
            given.action,
            "reward" in given.model_fields_set,
            given.reward,
            given.override,
            given.key,
        )
        return await self._games.observe(place, feedback)


class KeyBeforeBody:
    """Refuses a body from a client without a valid key before it is read: that of an import may be large."""

    def __init__(self, app: App, keys: Keys, handlers: Handlers) -> None:
        self._app, self._keys, self._handlers = app, keys, handlers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] == "http" and scope["method"] == "POST":
            try:
                await self._keys.valid(dict(scope["headers"]).get(b"authorization", b""))
            except Exception as error:
                await send_answer(scope, send, *error_answer(self._handlers, scope, error))
                return
        await self._app(scope, receive, send)


def _parsed(model: type[B], content_type: bytes, body: bytes) -> B:
    """Return the body of a request, or raise the error of an invalid one in the words of all other endpoints."""
    if content_type != b"application/json" and not is_json(content_type):
        body = b""
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        if not body:
            wrong = [{"type": "missing", "loc": ("body",), "msg": "A body of JSON is required"}]
            raise RequestValidationError(wrong) from error
        load_json(body)
        raise RequestValidationError(located(error, ("body",))) from error
