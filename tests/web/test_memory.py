"""Hostile bodies take a bounded amount of memory, and nothing of them is kept."""

from __future__ import annotations

import asyncio
import gc
import json
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

from cobandit.web import WebConfig, create_app

PERSON = "/api/participants/nobody-has-this-token-here"
UNKNOWN_KEYS = {f"k{number}": 1 for number in range(9000)}
BAD_KEYS = {f"\0{number}": 1 for number in range(7000)}
BODIES = {
    "arrival": ("/api/studies/short/participants", UNKNOWN_KEYS),
    "login": ("/api/admin/login", UNKNOWN_KEYS),
    "answers": (f"{PERSON}/answers/consent", {"answers": BAD_KEYS}),
    "events": (f"{PERSON}/events", {"events": [{"kind": "error", "at": 1, "data": BAD_KEYS}]}),
    "list": (f"{PERSON}/events", {"events": [{}] * 30_000}),
}


async def post(app: Any, path: str, body: bytes) -> tuple[int, Any]:
    """Send a request to the application without a server, whose memory would be counted, too."""
    left, sent = [{"type": "http.request", "body": body, "more_body": False}], []

    async def receive() -> dict[str, Any]:
        return left.pop() if left else {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    headers = [(b"host", b"x"), (b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    about = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b""}
    more = {"client": ("192.0.2.1", 1), "server": ("x", 80), "scheme": "http", "http_version": "1.1", "root_path": ""}
    await app(about | more | {"headers": headers, "asgi": {"version": "3.0"}, "state": {}}, receive, send)
    return sent[0]["status"], json.loads(sent[1]["body"])


@pytest.fixture
def app(short_sqlite: str) -> Iterator[Any]:
    """The application of the short study."""
    app = create_app(WebConfig(short_sqlite))
    yield app
    app.state.database.close()


@pytest.mark.parametrize("name", BODIES)
def test_a_hostile_body_takes_little_memory(app: Any, name: str) -> None:
    path, content = BODIES[name]
    body = json.dumps(content).encode()
    asyncio.run(post(app, path, b"{}"))  # whatever is loaded at the first request
    gc.collect()
    tracemalloc.start()
    try:
        status, answer = asyncio.run(post(app, path, body))
        _, peak = tracemalloc.get_traced_memory()
        gc.collect()
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (status, answer["error"]) == (422, "invalid")
    assert len(answer["message"]) < 200
    assert peak < 50 * len(body)
    assert kept < len(body)
