"""Load for a study server: ``python -m benchmarks.crowd '{"url": ..., ...}'`` prints what the clients measured as JSON.

It runs in its own process and speaks only as much HTTP/1.1 as it needs, so that on two cores the server is measured and
not the clients. A move is the request that Chromium sends (`benchmarks.recorded`); oTree gets it through its WebSocket,
as its live pages send it. Each client has one connection and plays the rounds of one episode, one move at a time. With
a rate, latency counts from when a move was due, so that a server that falls behind cannot look fast by being asked
less.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import random
import sys
import time
import uuid
from collections.abc import Coroutine, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, cast
from urllib.parse import urlsplit

from benchmarks.recorded import PageMoves

ARRIVING = 20


@dataclass
class Order:
    """What the crowd is to do, after a time to warm up; ``rate`` None: as fast as it goes.

    ``server`` are the processes that serve, whose CPU seconds are counted while the moves are. ``otree``: the server is
    oTree, and ``study`` its session config.
    """

    url: str
    study: str
    people: int
    seconds: float
    rate: float | None = None
    warm_seconds: float = 2.0
    server: tuple[int, ...] = ()
    otree: bool = False


@dataclass
class Met:
    """What the crowd met; latencies in milliseconds, CPU seconds of the server and of the crowd itself."""

    moves: int
    errors: int
    seconds: float
    p50: float
    p95: float
    p99: float
    worst: float
    tokens: list[str]
    server_cpu: float = math.nan
    own_cpu: float = math.nan

    @classmethod
    def of(cls, seconds: Sequence[float], errors: int, during: float, tokens: list[str], cpu: Sequence[float]) -> Met:
        """Return the figures of latencies in seconds."""
        ordered = sorted(seconds)

        def at(share: float) -> float:
            return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else math.nan

        return cls(len(ordered), errors, during, at(0.5), at(0.95), at(0.99), at(1.0), tokens, *cpu)

    @property
    def a_second(self) -> float:
        """Moves a second."""
        return self.moves / self.seconds

    @property
    def cpu_per_thousand(self) -> float:
        """CPU seconds that the server spent on a thousand rounds: it hangs less on who else is at the machine."""
        return 1000 * self.server_cpu / self.moves if self.moves else math.nan


def cpu_seconds(pids: Iterable[int]) -> float:
    """User and system time of processes so far, where there is a /proc; else NaN."""
    ticks = 0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return math.nan
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


class Line(asyncio.Protocol):
    """One connection that is kept."""

    def __init__(self, host: str) -> None:
        self.host = host
        self._buffer = b""
        self._answer: asyncio.Future[tuple[int, bytes]] | None = None
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Connected."""
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """A part of an answer, or the whole of it."""
        self._buffer += data
        head, found, rest = self._buffer.partition(b"\r\n\r\n")
        if not found:
            return
        place = head.find(b"content-length: ")
        length = int(head[place + 16 : (head + b"\r\n").find(b"\r\n", place)]) if place >= 0 else 0
        if len(rest) >= length and self._answer is not None:
            answer, self._answer, self._buffer = self._answer, None, rest[length:]
            answer.set_result((int(head[9:12]), rest[:length]))

    def connection_lost(self, error: Exception | None) -> None:
        """Hung up on."""
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(ConnectionError("hung up"))

    async def ask(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        """Status and body of the answer."""
        head = (
            f"{method} {path} HTTP/1.1\r\nhost: {self.host}\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        return await self.send(head.encode() + body)

    async def send(self, request: bytes) -> tuple[int, bytes]:
        """Send a whole request; return status and body of the answer."""
        assert self._transport is not None
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return await self._answer

    def close(self) -> None:
        """Hang up."""
        if self._transport is not None:
            self._transport.close()


async def open_line(url: str) -> Line:
    """Open a connection to a server."""
    parts = urlsplit(url)
    assert parts.hostname is not None
    assert parts.port is not None
    _, line = await asyncio.get_running_loop().create_connection(
        lambda: Line(f"{parts.hostname}:{parts.port}"), parts.hostname, parts.port
    )
    return line


async def _arrive(line: Line, study: str, place: int) -> str:
    """Somebody new, brought to the first round; the quiz tells which answers are wrong."""
    version = json.loads((await line.ask("GET", f"/api/studies/{study}"))[1])["consent"]["version"]
    body = {"key": f"crowd-{time.time_ns()}-{place}", "consent_version": version}
    status, answer = await line.ask("POST", f"/api/studies/{study}/participants", json.dumps(body).encode())
    if status != 201:
        raise RuntimeError(f"Nobody is let in: {answer.decode()}")
    token = str(json.loads(answer)["token"])
    state = json.loads((await line.ask("GET", f"/api/participants/{token}"))[1])
    given: dict[str, Any] = {}
    while state["step"]["kind"] != "episode":
        kind = state["step"]["kind"]
        if kind == "quiz":
            given = given or {asked["id"]: 0 for asked in state["quiz"]["questions"]}
        else:
            given = {
                asked["id"]: asked["low"] if asked["answer"] == "whole" else 0
                for asked in state.get("demographics", ())
            }
        path = f"/api/participants/{token}/answers/{state['step']['id']}"
        answer = json.loads((await line.ask("POST", path, json.dumps({"answers": given}).encode()))[1])
        given |= {id: given[id] + 1 for id in answer["wrong"]}
        given = given if answer["wrong"] else {}
        state = answer["state"]
    return token


async def _arrive_all(order: Order) -> list[str]:
    """Everybody, some at a time."""
    at_once = asyncio.Semaphore(ARRIVING)

    async def arrive(place: int) -> str:
        async with at_once:
            line = await open_line(order.url)  # an idle connection would be closed before all are there
            token = await _arrive(line, order.study, place)
            line.close()
            return token

    return list(await asyncio.gather(*(arrive(place) for place in range(order.people))))


class Connected(Protocol):
    """Somebody with a connection."""

    def close(self) -> None:
        """Close the connection."""
        ...


class Player(Connected, Protocol):
    """Somebody who plays one episode."""

    token: str

    async def move(self, t: int) -> bool:
        """Play a round; return whether the server has accepted it."""
        ...


class PagePlayer:
    """A participant of a study, whose requests are those of the page."""

    def __init__(self, line: Line, token: str) -> None:
        self.token = token
        self._line, self._page = line, PageMoves(line.host, token)
        self._rng = random.Random(token)

    async def move(self, t: int) -> bool:
        """Play a round."""
        key = str(uuid.UUID(int=self._rng.getrandbits(128), version=4))
        body = self._page.body(0, t, self._rng.getrandbits(1), key)
        return (await self._line.send(self._page.request(body)))[0] == 200

    def close(self) -> None:
        """Close the connection."""
        self._line.close()


async def spent(order: Order, begin: float, end: float) -> list[float]:
    """Return the CPU seconds of the server and of the crowd between two moments."""
    clocks = (lambda: cpu_seconds(order.server)), time.process_time
    await asyncio.sleep(begin - time.perf_counter())
    before = [clock() for clock in clocks]
    await asyncio.sleep(end - time.perf_counter())
    return [clock() - earlier for clock, earlier in zip(clocks, before, strict=True)]


async def load(
    order: Order, work: Iterable[Coroutine[Any, Any, None]], players: Iterable[Connected], counted: float, end: float
) -> list[float]:
    """Do all the work, then close the players; return the CPU seconds that `spent` measures."""
    spending = asyncio.create_task(spent(order, counted, end))
    try:
        await asyncio.gather(*work)
        return await spending
    finally:
        for player in players:
            player.close()


async def _players(order: Order) -> Sequence[Player]:
    if order.otree:
        from benchmarks.otree.live import live_players

        return await live_players(order.url, order.study, order.people)
    tokens = await _arrive_all(order)
    return [PagePlayer(await open_line(order.url), token) for token in tokens]


async def _play(order: Order) -> Met:
    players = await _players(order)
    rng = random.Random(0)
    latencies: list[float] = []
    errors = 0
    begin = time.perf_counter() + 0.2
    counted = begin + order.warm_seconds
    end = counted + order.seconds

    async def one(player: Player) -> None:
        nonlocal errors
        pause = None if order.rate is None else 1.0 / order.rate
        due = begin + (rng.random() * pause if pause is not None else 0.0)
        t = 0
        while due < end:
            now = time.perf_counter()
            if due > now:
                await asyncio.sleep(due - now)
            t += 1
            try:
                accepted = await player.move(t)
            except ConnectionError:
                accepted = False
            done = time.perf_counter()
            if not accepted:
                errors += 1
                break
            if counted <= due < end:
                latencies.append(done - due)
            due = done if pause is None else due + pause

    cpu = await load(order, map(one, players), players, counted, end)
    return Met.of(latencies, errors, order.seconds, [player.token for player in players], cpu)


def main() -> None:
    import uvloop

    met = uvloop.run(_play(Order(**json.loads(sys.argv[1]))))
    print(json.dumps(asdict(met)))


if __name__ == "__main__":
    main()
