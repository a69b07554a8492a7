"""The stream of the live view."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import httpx
import pytest

from cobandit.studies import StudyDesign
from cobandit.web import WebConfig

STUDY = "/api/admin/studies/1"


def ticks(client: httpx.Client, headers: dict[str, str] | None = None) -> Generator[str, None, None]:
    with client.stream("GET", f"{STUDY}/stream", headers=headers) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        for line in answer.iter_lines():
            if line.startswith("id: "):
                yield line[4:]


def test_a_tick_comes_with_every_change(
    site: Any, short: StudyDesign, admin: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cobandit.web.routes.admin.stream.PULSE_SECONDS", 0.02)
    person = site.person()
    heard = ticks(admin)
    seen = [next(heard)]
    person.go_on(short, "quiz")
    seen.append(next(heard))
    while seen[-1] != seen[-2]:  # several steps may have fallen between two looks
        [(count,)] = site.query("SELECT sum(revision) FROM participants")
        if f"-{count}-" in seen[-1]:
            break
        seen.append(next(heard))
    admin.post(f"{STUDY}/close")
    seen.append(next(heard))
    heard.close()
    assert len(set(seen)) == len(seen)
    assert seen[-1].endswith("closed")


def test_the_stream_ends_and_goes_on_where_it_was(
    site: Any, admin: httpx.Client, monkeypatch: pytest.MonkeyPatch, problem: Any
) -> None:
    monkeypatch.setattr("cobandit.web.routes.admin.stream.PULSE_SECONDS", 0.02)
    heard = ticks(admin)
    latest = next(heard)
    heard.close()
    # Short, now that nothing has to come in time.
    monkeypatch.setattr("cobandit.web.routes.admin.stream.STREAM_SECONDS", 0.2)
    assert list(ticks(admin, {"last-event-id": latest})) == []
    problem(admin.get("/api/admin/studies/99/stream"), 404, "not-found")


@pytest.mark.slow
def test_an_open_stream_does_not_hold_up_the_end(
    start_server: Callable[..., Any], short_sqlite: str, site: Any, ask: httpx.Client
) -> None:
    server = start_server(WebConfig(short_sqlite))
    ask.base_url = server.url
    ask.headers["authorization"] = f"Bearer {site.login()}"
    heard = ticks(ask)
    next(heard)
    server.stop()
    assert server._process.returncode in (0, -15)
    assert list(heard) == []  # the answer was ended in order, not cut off
