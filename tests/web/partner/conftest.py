"""A running partner service on SQLite and on PostgreSQL, with keys of two tenants."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from cobandit.remote.partner import PartnerClient
from cobandit.web import WebConfig
from cobandit.web.services.partner.keys import add_key
from cobandit.web.serving import running
from cobandit.web.storage.database import Database
from tests.clients import PATIENCE, http_client
from tests.web.prepared import prepare_copy

PASSWORD = "correct horse"
TEAM: dict[str, Any] = {
    "team": "drinks",
    "agent": "partner-aware-ucb",
    "arms": [2, 2],
    "seat": 1,
    "observability": [1.0, 0.4],
    "options": {"window": 5},
}


class Service:
    """A prepared database, and servers in front of it."""

    def __init__(self, database: str) -> None:
        self.config = WebConfig(database=database, partners=True)
        self._stack = contextlib.ExitStack()
        self._server = contextlib.ExitStack()
        scopes = ("read", "play", "admin")
        with self.opened() as opened, opened.write() as connection:  # opened once: it takes longer than the keys
            self.keys = {scope: add_key(connection, "test", "test", scope=scope, rate=100_000)[1] for scope in scopes}
        self.url = ""
        self.start()

    def key(self, scope: str = "admin", tenant: str = "default", rate: int = 100_000) -> str:
        """Return the text of a new key."""
        with self.opened() as database, database.write() as connection:
            return add_key(connection, "test", "test", tenant=tenant, scope=scope, rate=rate)[1]

    @contextlib.contextmanager
    def opened(self) -> Iterator[Database]:
        """The database, for a moment."""
        database = Database(self.config.database)
        try:
            yield database
        finally:
            database.close()

    def start(self) -> None:
        """Start a server; the one before is stopped, and what was in its memory is gone."""
        self._server.close()
        self.url = self._server.enter_context(running(self.config))

    def second(self) -> str:
        """Start another server on the same database."""
        return self._stack.enter_context(running(self.config))

    def http(self, key: str | None = None, url: str | None = None) -> httpx.Client:
        """A client without any knowledge of the service."""
        headers = {"authorization": f"Bearer {key or self.keys['admin']}"}
        return self._stack.enter_context(http_client(url or self.url, headers=headers))

    def client(self, scope: str = "admin", url: str | None = None, **options: Any) -> PartnerClient:
        """Our own client."""
        options = {"timeout": PATIENCE} | options
        return self._stack.enter_context(PartnerClient(url or self.url, self.keys[scope], **options))

    def close(self) -> None:
        """Stop everything."""
        self._stack.close()
        self._server.close()


@pytest.fixture
def start_service() -> Iterator[Callable[[str], Service]]:
    """A function that starts a service on a database."""
    started: list[Service] = []

    def start(database: str) -> Service:
        started.append(Service(database))
        return started[-1]

    yield start
    for service in started:
        service.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def service(request: pytest.FixtureRequest) -> Service:
    """The service on either database."""
    started: Service = request.getfixturevalue(f"on_{request.param}")
    return started


@pytest.fixture
def on_sqlite(tmp_path: Path, start_service: Callable[[str], Service]) -> Service:
    """The service on SQLite."""
    database = f"sqlite:///{tmp_path / 'partner.sqlite'}"
    prepare_copy(database, [], PASSWORD)
    return start_service(database)


@pytest.fixture
def on_postgresql(start_service: Callable[[str], Service], postgresql: str) -> Service:
    """The service on PostgreSQL."""
    prepare_copy(postgresql, [], PASSWORD)
    return start_service(postgresql)
