"""Researchers who watch a study: ``python -m benchmarks.watcher URL LOGIN COUNT``, until it is ended.

Each does what the researcher's page does: it waits for a tick, asks what has changed, and for the curves when an
episode was finished. On its standard output it tells, as JSON and a line a second, how many answers it has had.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any
from urllib.parse import urlsplit

PAUSE = 1.5
QUESTION = "kind=real&sort=started_at&down=true&offset=0&limit=100"


async def _ask(url: str, path: str, login: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter, int]:
    """The answer's body is still to be read; -1: it comes in chunks."""
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port, limit=2**26)
    head = f"GET {path} HTTP/1.1\r\nhost: {parts.netloc}\r\nauthorization: Bearer {login}\r\nconnection: close\r\n\r\n"
    writer.write(head.encode())
    lines = (await reader.readuntil(b"\r\n\r\n")).decode().lower().split("\r\n")
    if " 200 " not in lines[0]:
        raise ConnectionError(lines[0])
    length = next((int(line.split(":")[1]) for line in lines if line.startswith("content-length:")), -1)
    return reader, writer, length


async def _get(url: str, path: str, login: str) -> Any:
    reader, writer, length = await _ask(url, path, login)
    body = await reader.readexactly(length)
    writer.close()
    return json.loads(body)


async def _ticks(url: str, login: str, changed: asyncio.Event) -> None:
    while True:
        reader, writer, _ = await _ask(url, "/api/admin/studies/1/stream", login)
        while line := await reader.readline():
            if b"event: tick" in line:
                changed.set()
        writer.close()


async def _watch(url: str, login: str, answers: list[float]) -> None:
    changed = asyncio.Event()
    listening = asyncio.create_task(_ticks(url, login, changed))
    since, counted = "", None
    try:
        while True:
            start = time.perf_counter()
            live = await _get(url, f"/api/admin/studies/1/live?{QUESTION}{since}", login)
            answers.append(time.perf_counter() - start)
            since = f"&since={live['cursor']}" if "cursor" in live else ""
            mark = [condition["episodes"] for condition in live["conditions"]]
            if mark != counted:
                curves = await _get(url, "/api/admin/studies/1/curves?kind=real", login)
                counted = None if curves["pending"] else mark
            changed.clear()
            await asyncio.sleep(PAUSE)
            await changed.wait()
    finally:
        listening.cancel()


async def _main(url: str, login: str, count: int) -> None:
    answers: list[float] = []
    watching = [asyncio.create_task(_watch(url, login, answers)) for _ in range(count)]
    while not any(task.done() for task in watching):
        await asyncio.sleep(1)
        print(json.dumps({"looks": len(answers), "slowest": max(answers, default=0.0)}), flush=True)
    await asyncio.gather(*watching)


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
