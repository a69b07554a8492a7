"""Clients of the partner service (``cobandit partner serve``), blocking and asyncio, with the same calls.

Every request can be sent again: names of teams and games, rounds, events and keys make a repeated request count once.
The clients retry by themselves, with the same key, where the server cannot be reached, is busy or limits the rate.
They need httpx, the extra ``client``, and nothing of the server.
"""

from __future__ import annotations

import asyncio
import math
import operator
import random
import time
import uuid
from collections.abc import AsyncIterator, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self, TypeVar
from urllib.parse import quote, urlsplit

from cobandit.base.checks import short_repr
from cobandit.base.errors import CobanditError, InvalidInput
from cobandit.base.extras import require_extras
from cobandit.base.json_types import JsonObject

require_extras("A client of the partner service", client=True)

import httpx  # noqa: E402 - after the sentence about the extra

T = TypeVar("T")

RETRIES = 8
LONGEST_PAUSE = 10.0
PASSING = (429, 502, 503, 504)
"""Answers after which the same request may succeed."""


class _Later:
    def __repr__(self) -> str:
        return "LATER"


LATER: Final = _Later()
"""The reward is not known yet and will be reported later."""


class PartnerError(CobanditError):
    """The service refuses a request; ``status`` and ``code`` are for programs."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


class ServiceUnreachable(PartnerError):
    """No usable answer came, also after retries."""


@dataclass(frozen=True)
class Choice:
    """The partner's arm in a round, and the arms of other seats that it foresaw.

    In shadow mode the app decides, and ``arm`` is what the partner would have chosen.
    """

    round: int
    arm: int
    predictions: Mapping[int, int] = field(default_factory=dict)
    event: str | None = None
    shadow: bool = False

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Self:
        """Return the choice in an answer."""
        foreseen = {int(seat): arm for seat, arm in (data.get("predictions") or {}).items()}
        return cls(data["round"], data["arm"], foreseen, data.get("event"), bool(data.get("shadow")))


@dataclass(frozen=True)
class Observed:
    """What became of feedback; ``complete``: action and reward are known; ``next`` is the newest choice."""

    round: int
    duplicate: bool
    complete: bool
    next: Choice


@dataclass(frozen=True)
class PlayedRound:
    """A round of the history; ``reward`` is `LATER` while the service waits for it."""

    round: int
    arm: int | None
    action: tuple[int, ...] | None
    reward: float | _Later | None
    default: bool
    event: str | None
    predictions: Mapping[int, int]
    at: int | None
    reward_at: int | None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """Return the round in a row of an answer."""
        action = None if row["action"] is None else tuple(row["action"])
        foreseen = {int(seat): arm for seat, arm in row.get("predictions", {}).items()}
        reward, default = row.get("reward", LATER), bool(row.get("default"))
        times = row.get("at"), row.get("reward_at")
        return cls(row["round"], row["arm"], action, reward, default, row.get("event"), foreseen, *times)


@dataclass(frozen=True)
class _Request:
    method: str
    path: str
    body: Mapping[str, Any] | None = None
    query: Mapping[str, Any] | None = None


Calls = Generator[_Request, JsonObject, T]
"""Requests to send one after the other; each answer is sent back, and the last value is the result."""


def _one(request: _Request) -> Calls[JsonObject]:
    return (yield request)


def _observe_body(
    action: Sequence[int] | None,
    reward: float | _Later | None,
    override: bool,
    names: Mapping[str, Any],
) -> JsonObject:
    body: JsonObject = {name: value for name, value in names.items() if value is not None}
    if not {"round", "event"} & set(body):
        raise InvalidInput("observe needs round=... or event=..., so that a repeated report counts once.")
    if action is not None:
        body["action"] = [operator.index(arm) for arm in action]  # int() would round 0.9 to 0
    if not isinstance(reward, _Later):
        body["reward"] = None if reward is None else _number(reward)
    if override:
        body["override"] = True
    return body


def _number(reward: float) -> float:
    number = float(reward)
    if not math.isfinite(number):
        raise InvalidInput(f"reward must be a finite number, None or LATER, got {short_repr(reward)}.")
    return number


class _GameCalls:
    """A game and the requests about it, without sending them."""

    def __init__(self, team: str, name: str) -> None:
        self.team, self.name = team, name
        self._path = f"/v1/teams/{quote(team, safe='')}/games/{quote(name, safe='')}"
        self._ended = 0

    def _choosing(self, t: int | None, event: str | None) -> Calls[Choice]:
        body: JsonObject = {"after": self._ended}
        if t is not None or event is not None:
            body = {name: value for name, value in (("round", t), ("event", event)) if value is not None}
        return Choice.of((yield _Request("POST", f"{self._path}/choose", body)))

    def _observing(self, body: Mapping[str, Any]) -> Calls[Observed]:
        answer = yield _Request("POST", f"{self._path}/observe", body)
        observed = Observed(answer["round"], answer["duplicate"], answer["complete"], Choice.of(answer["next"]))
        self._ended = max(self._ended, observed.next.round - 1)
        return observed

    def _reading(self, after: int) -> Calls[tuple[list[PlayedRound], bool]]:
        answer = yield _Request("GET", f"{self._path}/rounds", query={"after": after, "limit": 1000})
        return [PlayedRound.of(row) for row in answer["rounds"]], bool(answer["more"])

    def _request(self, method: str, end: str = "") -> Calls[dict[str, object]]:
        return _one(_Request(method, self._path + end))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r} of team {self.team!r}>"


def _team_request(
    name: str, agent: str, arms: Sequence[int], seat: int, options: Mapping[str, Any] | None, setting: dict[str, Any]
) -> Calls[JsonObject]:
    body = {"team": name, "agent": agent, "arms": list(arms), "seat": seat, "options": dict(options or {})}
    return _one(_Request("POST", "/v1/teams", body | setting))


def _game_request(team: str, name: str, seed: int | None, state: Mapping[str, Any] | None) -> Calls[dict[str, object]]:
    body = {"game": name} | ({} if seed is None else {"seed": seed}) | ({} if state is None else {"state": state})
    return _one(_Request("POST", f"/v1/teams/{quote(team, safe='')}/games", body))


class _Connection:
    """What both clients share: address, headers, and what an answer means."""

    def __init__(self, url: str, key: str, timeout: float, retries: int) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidInput(f"url must be an address such as http://127.0.0.1:8000, got {short_repr(url)}.")
        if not isinstance(key, str) or not key.startswith("cb_") or not key.isascii():
            raise InvalidInput("key must be an API key of the partner service, which begins with cb_.")
        self._url, self._retries = url.rstrip("/"), retries
        self._options: dict[str, Any] = {
            "base_url": self._url,
            "headers": {"authorization": f"Bearer {key}"},
            "timeout": timeout,
            "trust_env": parts.hostname not in ("127.0.0.1", "localhost", "::1"),
            "verify": parts.scheme == "https",  # else no certificate is checked, and reading the root ones is slow
        }

    def _sent(self, request: _Request) -> JsonObject:
        return {
            "method": request.method,
            "url": request.path,
            "json": request.body,
            "params": request.query,
        }

    def _result(self, request: _Request, response: httpx.Response, attempt: int) -> JsonObject:
        try:
            body = response.json()
        except ValueError:
            body = {}
        if response.is_success and isinstance(body, dict):
            return body
        if response.status_code == 404 and request.method == "DELETE" and attempt:
            return {"done": True}  # an earlier attempt, whose answer was lost, has done it
        said = body if isinstance(body, dict) else {}
        message = said.get("message") or f"The server at {self._url} answers {response.status_code}."
        raise PartnerError(response.status_code, str(said.get("error", "unknown")), str(message))

    def _pause(self, attempt: int, response: httpx.Response | None) -> float:
        """Return how long to wait before the next attempt."""
        asked = "" if response is None else response.headers.get("retry-after", "")
        pause = float(asked) if asked.isascii() and asked.isdigit() else 0.05 * 2**attempt
        return min(LONGEST_PAUSE, pause) * (1 + random.random() / 4)

    def _unreachable(self, error: Exception | None, response: httpx.Response | None) -> PartnerError:
        if response is not None:
            return ServiceUnreachable(
                response.status_code, "busy", f"The server at {self._url} still answers {response.status_code}."
            )
        why = str(error) or type(error).__name__
        return ServiceUnreachable(0, "unreachable", f"The server at {self._url} cannot be reached: {why}.")


class PartnerClient(_Connection):
    """A blocking client. One client can be used by several threads; close it, or use it in a ``with`` block::

    with PartnerClient("http://127.0.0.1:8000", key) as client:
        game = client.new_game("drinks", "table-4")
        choice = game.choose()
        game.observe((dish, choice.arm), happy, round=choice.round)
    """

    def __init__(self, url: str, key: str, *, timeout: float = 10.0, retries: int = RETRIES) -> None:
        super().__init__(url, key, timeout, retries)
        self._http = httpx.Client(**self._options)

    def _run(self, calls: Calls[T]) -> T:
        try:
            request = next(calls)
            while True:
                request = calls.send(self._send(request))
        except StopIteration as end:
            result: T = end.value
            return result

    def _send(self, request: _Request) -> JsonObject:
        for attempt in range(self._retries + 1):
            response, problem = None, None
            try:
                response = self._http.request(**self._sent(request))
                if response.status_code not in PASSING:
                    return self._result(request, response, attempt)
            except httpx.TransportError as error:
                problem = error
            if attempt < self._retries:
                time.sleep(self._pause(attempt, response))
        raise self._unreachable(problem, response)

    def create_team(
        self,
        name: str,
        agent: str,
        arms: Sequence[int],
        seat: int,
        *,
        options: Mapping[str, Any] | None = None,
        **setting: Any,
    ) -> JsonObject:
        """Create a team, or return the one that is there; ``setting`` as in the HTTP API, such as observability."""
        return self._run(_team_request(name, agent, arms, seat, options, setting))

    def team(self, name: str) -> JsonObject:
        """Return a team."""
        return self._run(_one(_Request("GET", f"/v1/teams/{quote(name, safe='')}")))

    def delete_team(self, name: str) -> None:
        """Delete a team with all its games."""
        self._run(_one(_Request("DELETE", f"/v1/teams/{quote(name, safe='')}")))

    def new_game(
        self, team: str, name: str | None = None, *, seed: int | None = None, state: Mapping[str, Any] | None = None
    ) -> Game:
        """Begin a game, or continue the one of this name; ``state`` imports an exported one."""
        game = uuid.uuid4().hex if name is None else name
        self._run(_game_request(team, game, seed, state))
        return Game(self, team, game)

    def game(self, team: str, name: str) -> Game:
        """Return a game that is there already, without asking the server."""
        return Game(self, team, name)

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Game(_GameCalls):
    """A game of a `PartnerClient`."""

    def __init__(self, client: PartnerClient, team: str, name: str) -> None:
        super().__init__(team, name)
        self._client = client

    def choose(self, *, round: int | None = None, event: str | None = None) -> Choice:
        """Return the partner's arm: of the current round, of a round, or of an event, which may open a new round."""
        return self._client._run(self._choosing(round, event))

    def observe(
        self,
        action: Sequence[int] | None = None,
        reward: float | _Later | None = LATER,
        *,
        round: int | None = None,
        event: str | None = None,
        override: bool = False,
        key: str | None = None,
    ) -> Observed:
        """Report the team action, the seen reward, or both, of a round or an event; `LATER`: the reward comes later.

        The same report again counts once. ``key`` tells reporters apart: one with another key is refused.
        """
        names = {"round": round, "event": event, "key": key}
        return self._client._run(self._observing(_observe_body(action, reward, override, names)))

    def history(self, after: int = 0) -> Iterator[PlayedRound]:
        """Return the rounds in order, read in parts."""
        more = True
        while more:
            rounds, more = self._client._run(self._reading(after))
            yield from rounds
            after = rounds[-1].round if rounds else after

    def view(self) -> JsonObject:
        """Return where the game is: newest choice, open rounds, ranks."""
        return self._client._run(self._request("GET"))

    def state(self) -> dict[str, Any]:
        """Return the whole state, for `PartnerClient.new_game` here or on another server."""
        return self._client._run(self._request("GET", "/state"))

    def delete(self) -> None:
        """Delete the game with its history."""
        self._client._run(self._request("DELETE"))


class AsyncPartnerClient(_Connection):
    """The same for asyncio, in an ``async with`` block."""

    def __init__(self, url: str, key: str, *, timeout: float = 10.0, retries: int = RETRIES) -> None:
        super().__init__(url, key, timeout, retries)
        self._http = httpx.AsyncClient(**self._options)

    async def _run(self, calls: Calls[T]) -> T:
        try:
            request = next(calls)
            while True:
                request = calls.send(await self._send(request))
        except StopIteration as end:
            result: T = end.value
            return result

    async def _send(self, request: _Request) -> JsonObject:
        for attempt in range(self._retries + 1):
            response, problem = None, None
            try:
                response = await self._http.request(**self._sent(request))
                if response.status_code not in PASSING:
                    return self._result(request, response, attempt)
            except httpx.TransportError as error:
                problem = error
            if attempt < self._retries:
                await asyncio.sleep(self._pause(attempt, response))
        raise self._unreachable(problem, response)

    async def create_team(
        self,
        name: str,
        agent: str,
        arms: Sequence[int],
        seat: int,
        *,
        options: Mapping[str, Any] | None = None,
        **setting: Any,
    ) -> JsonObject:
        """Create a team, or return the one that is there."""
        return await self._run(_team_request(name, agent, arms, seat, options, setting))

    async def team(self, name: str) -> JsonObject:
        """Return a team."""
        return await self._run(_one(_Request("GET", f"/v1/teams/{quote(name, safe='')}")))

    async def delete_team(self, name: str) -> None:
        """Delete a team with all its games."""
        await self._run(_one(_Request("DELETE", f"/v1/teams/{quote(name, safe='')}")))

    async def new_game(
        self, team: str, name: str | None = None, *, seed: int | None = None, state: Mapping[str, Any] | None = None
    ) -> AsyncGame:
        """Begin a game, or continue the one of this name; ``state`` imports an exported one."""
        game = uuid.uuid4().hex if name is None else name
        await self._run(_game_request(team, game, seed, state))
        return AsyncGame(self, team, game)

    def game(self, team: str, name: str) -> AsyncGame:
        """Return a game that is there already, without asking the server."""
        return AsyncGame(self, team, name)

    async def close(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class AsyncGame(_GameCalls):
    """A game of an `AsyncPartnerClient`."""

    def __init__(self, client: AsyncPartnerClient, team: str, name: str) -> None:
        super().__init__(team, name)
        self._client = client

    async def choose(self, *, round: int | None = None, event: str | None = None) -> Choice:
        """Return the partner's arm: of the current round, of a round, or of an event, which may open a new round."""
        return await self._client._run(self._choosing(round, event))

    async def observe(
        self,
        action: Sequence[int] | None = None,
        reward: float | _Later | None = LATER,
        *,
        round: int | None = None,
        event: str | None = None,
        override: bool = False,
        key: str | None = None,
    ) -> Observed:
        """Report the team action, the seen reward, or both, of a round or an event; `LATER`: the reward comes later.

        The same report again counts once. ``key`` tells reporters apart: one with another key is refused.
        """
        names = {"round": round, "event": event, "key": key}
        return await self._client._run(self._observing(_observe_body(action, reward, override, names)))

    async def history(self, after: int = 0) -> AsyncIterator[PlayedRound]:
        """Return the rounds in order, read in parts."""
        more = True
        while more:
            rounds, more = await self._client._run(self._reading(after))
            for played in rounds:
                yield played
            after = rounds[-1].round if rounds else after

    async def view(self) -> JsonObject:
        """Return where the game is: newest choice, open rounds, ranks."""
        return await self._client._run(self._request("GET"))

    async def state(self) -> dict[str, Any]:
        """Return the whole state, for `AsyncPartnerClient.new_game` here or on another server."""
        return await self._client._run(self._request("GET", "/state"))

    async def delete(self) -> None:
        """Delete the game with its history."""
        await self._client._run(self._request("DELETE"))
