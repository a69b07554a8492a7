"""Load by teams of two: ``python -m benchmarks.pairs '{"url": ..., ...}'`` prints what the clients measured as JSON.

Every member has what a page has: a connection for moves, whose requests are those recorded from Chromium
(`benchmarks.recorded`), and an open stream of events. Both members move, and the next round begins when both have the
sealed round on their screens: as the answer to the own move, or by the stream. The latency of a round counts from the
later of the two moves until both members have the round. With a rate, rounds are due at fixed times and each member
moves within half of the pause, so that a server that falls behind cannot look fast by being asked less.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
import uuid
from dataclasses import asdict, dataclass
from typing import Any, cast
from urllib.parse import urlsplit

from benchmarks.crowd import ARRIVING, Line, Met, Order, load, open_line
from benchmarks.recorded import PageMoves, page_stream


class Stream(asyncio.Protocol):
    """The stream of events of one member."""

    def __init__(self) -> None:
        self._tail = b""
        self._wanted: tuple[bytes, asyncio.Future[None]] = b"event: ", asyncio.get_running_loop().create_future()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the connection."""
        self._transport = cast(asyncio.Transport, transport)

    def ask(self, request: bytes) -> asyncio.Future[None]:
        """Send the request; return a future of the first event."""
        assert self._transport is not None
        self._transport.write(request)
        return self._wanted[1]

    def data_received(self, data: bytes) -> None:
        """Take a part of the stream."""
        self._tail = self._tail[-2000:] + data
        self._look()

    def _look(self) -> None:
        text, future = self._wanted
        if not future.done() and text in self._tail:
            future.set_result(None)

    def round(self, t: int) -> asyncio.Future[None]:
        """Return a future of the event with round ``t``."""
        self._wanted = b'{"t":%d,"arms":' % t, asyncio.get_running_loop().create_future()
        self._look()
        return self._wanted[1]

    def connection_lost(self, error: Exception | None) -> None:
        """Fail what waits."""
        if not self._wanted[1].done():
            self._wanted[1].set_exception(ConnectionError("The stream has ended."))

    def close(self) -> None:
        """Close the connection."""
        if self._transport is not None:
            self._transport.close()


async def open_stream(url: str, token: str) -> Stream:
    """Return the stream of somebody, whose first event has come."""
    parts = urlsplit(url)
    assert parts.hostname is not None
    assert parts.port is not None
    _, stream = await asyncio.get_running_loop().create_connection(Stream, parts.hostname, parts.port)
    await stream.ask(page_stream(parts.netloc, token))
    return stream


@dataclass
class Member:
    """A member of a team with a connection for moves and a stream."""

    token: str
    line: Line
    page: PageMoves
    stream: Stream
    rng: random.Random

    async def move(self, t: int) -> None:
        """Move, and wait for the sealed round."""
        key = str(uuid.UUID(int=self.rng.getrandbits(128), version=4))
        body = self.page.body(0, t, self.rng.getrandbits(1), key)
        status, answer = await self.line.send(self.page.request(body))
        if status != 200:
            raise ConnectionError(f"{status} {answer.decode()[:300]}")
        if b'"rounds":[]' in answer:
            await self.stream.round(t)

    def close(self) -> None:
        """Close both connections."""
        self.line.close()
        self.stream.close()


async def _ask(line: Line, method: str, path: str, body: Any = None) -> Any:
    status, answer = await line.ask(method, path, b"" if body is None else json.dumps(body).encode())
    if status not in (200, 201):
        raise RuntimeError(f"{method} {path.rpartition('/')[2]}: {status} {answer.decode()[:300]}")
    return json.loads(answer)


async def _arrive(line: Line, study: str) -> str:
    """Lead somebody new to the lobby, and return their token."""
    version = (await _ask(line, "GET", f"/api/studies/{study}"))["consent"]["version"]
    body = {"key": f"pairs-{uuid.uuid4().hex}", "consent_version": version}
    token = str((await _ask(line, "POST", f"/api/studies/{study}/participants", body))["token"])
    state = await _ask(line, "GET", f"/api/participants/{token}")
    while state["step"]["kind"] != "lobby":
        path = f"/api/participants/{token}/answers/{state['step']['id']}"
        state = (await _ask(line, "POST", path, {"answers": {}}))["state"]
    return token


async def _to_episode(line: Line, token: str) -> None:
    path = f"/api/participants/{token}"
    state = await _ask(line, "GET", path)
    while state["step"]["kind"] != "episode":
        state = (await _ask(line, "POST", f"{path}/answers/{state['step']['id']}", {"answers": {}}))["state"]


async def _teams(order: Order) -> list[list[Member]]:
    """Return teams before their first round, every member with an open stream."""
    at_once, formed = asyncio.Semaphore(ARRIVING), asyncio.Lock()

    async def team() -> list[tuple[str, Stream]]:
        async with at_once:
            line = await open_line(order.url)
            tokens = [await _arrive(line, order.study) for _ in range(2)]
            async with formed:  # nobody else is in the lobby meanwhile
                for token in tokens:
                    await _ask(line, "POST", f"/api/participants/{token}/lobby", {"here": True, "ready": True})
            for token in tokens:
                await _to_episode(line, token)
            line.close()
        return [(token, await open_stream(order.url, token)) for token in tokens]

    formed_teams = await asyncio.gather(*(team() for _ in range(order.people // 2)))
    # Connections for moves are opened last: the server closes idle ones, and on a busy machine teams take long to form.
    return [[await _member(order.url, *member) for member in members] for members in formed_teams]


async def _member(url: str, token: str, stream: Stream) -> Member:
    line = await open_line(url)
    return Member(token, line, PageMoves(line.host, token), stream, random.Random(token))


async def _play(order: Order) -> Met:
    teams = await _teams(order)
    rng, latencies, errors = random.Random(0), list[float](), 0
    begin = time.perf_counter() + 0.2
    counted = begin + order.warm_seconds
    end = counted + order.seconds
    pause = None if order.rate is None else 1.0 / order.rate

    async def move(member: Member, t: int, due: float) -> None:
        if (wait := due - time.perf_counter()) > 0:
            await asyncio.sleep(wait)
        await member.move(t)

    async def play(members: list[Member]) -> None:
        nonlocal errors
        start, t = begin + (0.0 if pause is None else rng.random() * pause), 0
        while start < end:
            t += 1
            due = [start if pause is None else start + rng.random() * pause / 2 for _ in members]
            try:
                await asyncio.gather(*map(move, members, [t] * len(members), due))
            except ConnectionError as error:
                errors += 1
                print(f"Round {t}: {error}", file=sys.stderr)
                return
            done = time.perf_counter()
            if counted <= max(due) < end:
                latencies.append(done - max(due))
            start = done if pause is None else start + pause

    everybody = [member for members in teams for member in members]
    cpu = await load(order, map(play, teams), everybody, counted, end)
    return Met.of(latencies, errors, order.seconds, [member.token for member in everybody], cpu)


def main() -> None:
    import uvloop

    print(json.dumps(asdict(uvloop.run(_play(Order(**json.loads(sys.argv[1])))))))


if __name__ == "__main__":
    main()
