"""Load for the partner service: ``python -m benchmarks.partner_crowd '{"url": ...}'`` prints what was measured as JSON.

A request is, byte for byte, one of our Python client: the client is run once at a socket that records what it sends,
and only address, round and arms are replaced. Each client has one connection and one game, and plays choose and
observe in turn, as fast as it goes.
"""

from __future__ import annotations

import asyncio
import json
import math
import random
import re
import socket
import sys
import threading
import time
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlsplit

import uvloop

from benchmarks.crowd import cpu_seconds, open_line
from cobandit.remote.partner import PartnerClient

TEAM = "bench"


@dataclass
class PartnerOrder:
    """What the clients are to do, after a time to warm up; ``server`` are the processes whose CPU time counts."""

    url: str
    key: str
    clients: int = 100
    seconds: float = 8.0
    warm_seconds: float = 2.0
    server: tuple[int, ...] = ()


@dataclass
class Pairs:
    """What the clients met: pairs of choose and observe; latencies of single requests in milliseconds."""

    pairs: int
    errors: int
    seconds: float
    p50: float
    p99: float
    worst: float
    server_cpu: float = math.nan
    own_cpu: float = math.nan

    @property
    def a_second(self) -> float:
        """Pairs a second."""
        return self.pairs / self.seconds

    @property
    def cpu_ms(self) -> float:
        """CPU milliseconds of the server for a pair."""
        return 1000 * self.server_cpu / self.pairs if self.pairs else math.nan


_ANSWERS = {
    b"choose": b'{"round": 1, "arm": 0}',
    b"observe": b'{"round": 1, "duplicate": false, "complete": true, "next": {"round": 2, "arm": 0}}',
}


def recorded(key: str) -> dict[bytes, bytes]:
    """Return the heads of choose and observe as our client sends them."""
    heads: dict[bytes, bytes] = {}
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            line, _ = listening.accept()
            with line:
                while len(heads) < len(_ANSWERS):
                    received = b""
                    while b"\r\n\r\n" not in received:
                        received += line.recv(65536)
                    head, _, body = received.partition(b"\r\n\r\n")
                    length = int(re.search(rb"(?i)content-length: (\d+)", head)[1])  # type: ignore[index]
                    while len(body) < length:
                        body += line.recv(65536)
                    what = head.split(b" ", 2)[1].rpartition(b"/")[2]
                    heads[what] = head
                    content = _ANSWERS[what]
                    line.sendall(
                        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s"
                        % (len(content), content)
                    )

        thread = threading.Thread(target=answer)
        thread.start()
        with PartnerClient(f"http://127.0.0.1:{listening.getsockname()[1]}", key) as client:
            game = client.game(TEAM, "GAME")
            game.choose()
            game.observe((0, 0), 1.0, round=1)
        thread.join()
    return heads


class Requests:
    """The requests of one game: the recorded ones with another address and body."""

    def __init__(self, heads: dict[bytes, bytes], host: str, game: str) -> None:
        self._parts = {}
        for what, head in heads.items():
            own = re.sub(rb"127\.0\.0\.1:\d+", host.encode(), head).replace(b"/GAME/", b"/%s/" % game.encode())
            before, name, after = re.split(rb"(?i)(\r\ncontent-length: )\d+", own)
            self._parts[what] = before + name, after + b"\r\n\r\n"

    def request(self, what: bytes, body: dict[str, Any]) -> bytes:
        """Return a whole request; httpx writes JSON without spaces."""
        before, after = self._parts[what]
        content = json.dumps(body, separators=(",", ":")).encode()
        return b"%s%d%s%s" % (before, len(content), after, content)


async def _play(order: PartnerOrder, heads: dict[bytes, bytes], number: int, times: list[float], clock: Clock) -> None:
    line = await open_line(order.url)
    requests = Requests(heads, urlsplit(order.url).netloc, f"g{number}")
    rng, after = random.Random(number), 0
    try:
        while time.perf_counter() < clock.end:
            start = time.perf_counter()
            status, body = await line.send(requests.request(b"choose", {"after": after}))
            middle = time.perf_counter()
            chosen = json.loads(body)
            action = [rng.randrange(2), chosen.get("arm", 0)]
            report = {"round": chosen.get("round", 1), "action": action, "reward": float(rng.random() < 0.5)}
            observed, _ = await line.send(requests.request(b"observe", report))
            end = time.perf_counter()
            after = report["round"]
            if start >= clock.begin:
                clock.pairs += 1
                clock.errors += (status != 200) + (observed != 200)
                times += [middle - start, end - middle]
    finally:
        line.close()


@dataclass
class Clock:
    """When counting begins and ends, and what was counted."""

    begin: float
    end: float
    pairs: int = 0
    errors: int = 0


async def _measure(order: PartnerOrder) -> Pairs:
    heads, times = recorded(order.key), list[float]()
    now = time.perf_counter()
    clock = Clock(now + order.warm_seconds, now + order.warm_seconds + order.seconds)
    tasks = [asyncio.create_task(_play(order, heads, number, times, clock)) for number in range(order.clients)]
    await asyncio.sleep(order.warm_seconds)
    spent, own = cpu_seconds(order.server), time.process_time()
    await asyncio.sleep(order.seconds)
    spent, own = cpu_seconds(order.server) - spent, time.process_time() - own
    await asyncio.gather(*tasks)
    times.sort()
    p50, p99, worst = (1000 * times[min(len(times) - 1, int(share * len(times)))] for share in (0.5, 0.99, 1.0))
    return Pairs(clock.pairs, clock.errors, order.seconds, p50, p99, worst, spent, own)


def main(order: PartnerOrder) -> Pairs:
    """Make the games, then play them."""
    with PartnerClient(order.url, order.key) as client:
        client.create_team(TEAM, "partner-aware-ucb", (2, 2), 1, observability=[1.0, 0.4], options={"window": 5})
        for number in range(order.clients):
            client.new_game(TEAM, f"g{number}", seed=number)
    return uvloop.run(_measure(order))


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    print(json.dumps(asdict(main(PartnerOrder(**given)))))
