"""Streams of people in the lobby: ``python -m benchmarks.waiting URL PID TOKEN ...`` prints what the server needs.

One stream is opened first, so that the server has done everything once. It prints megabytes and cores as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from benchmarks.crowd import cpu_seconds
from benchmarks.pairs import Stream, open_stream

SECONDS = 10.0


def megabytes(pid: int) -> float:
    """Return the resident memory of a process, where there is a /proc."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return float("nan")
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


async def _wait(url: str, pid: int, tokens: list[str]) -> tuple[float, float]:
    first = await open_stream(url, tokens[0])
    before = megabytes(pid)
    streams: list[Stream] = []
    for start in range(1, len(tokens), 50):
        streams += await asyncio.gather(*(open_stream(url, token) for token in tokens[start : start + 50]))
    spent = cpu_seconds([pid])
    await asyncio.sleep(SECONDS)
    result = megabytes(pid) - before, (cpu_seconds([pid]) - spent) / SECONDS
    for stream in [first, *streams]:
        stream.close()
    return result


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_wait(sys.argv[1], int(sys.argv[2]), sys.argv[3:]))))
