"""A real endpoint for the tests of this folder, and no waits between attempts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from cobandit.remote import chat, settings, usage
from cobandit.remote.demo_server import DemoServer

KEY = "sk-secret-0123456789"

Endpoint = Callable[..., DemoServer]


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits between attempts, which are listed and not waited for."""
    listed: list[float] = []
    monkeypatch.setattr(chat.Conversation, "sleep", staticmethod(listed.append))
    return listed


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, waits: list[float]) -> Iterator[Endpoint]:
    """Start a demo endpoint with the given faults, to which the environment points."""
    monkeypatch.setattr(chat, "_HEALTH", {})
    monkeypatch.setattr(usage.METER, "_usage", usage.Usage())
    monkeypatch.setenv(settings.REPLIES, str(tmp_path / "replies"))
    monkeypatch.setenv(settings.KEY, KEY)
    monkeypatch.setenv(settings.MODEL, "demo-model")
    with ExitStack() as servers:

        def start(**faults) -> DemoServer:
            server = servers.enter_context(DemoServer(key=KEY, **faults))
            monkeypatch.setenv(settings.URL, server.url)
            return server

        yield start
