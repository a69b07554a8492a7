"""A server that says it is well, and when it must not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import Connection, event, text

from cobandit.studies import StudyDesign
from cobandit.web import WebConfig, create_app
from cobandit.web.services.health import LITTLE_ROOM, Disk, Health
from cobandit.web.storage.database import Database

HTML = {"accept": "text/html"}


@pytest.mark.parametrize("backend", ["sqlite", "postgresql"])
def test_ready_and_alive(
    open_site: Callable[..., Any], short: StudyDesign, request: pytest.FixtureRequest, backend: str
) -> None:
    site = open_site(request.getfixturevalue(backend), short)
    for path in ("/api/health", "/api/health/live"):
        assert site.client().get(path).json() == {"status": "ok"}
    assert site.query("SELECT name FROM settings") == [("admin-password",)]


async def asked(database: Database, path: str) -> httpx.Response:
    """The answer of a server of its own, whose database the test can reach."""
    app = create_app(WebConfig(database.url.render_as_string(hide_password=False)))
    app.state.database.close()
    app.state.health, app.state.participants._database = Health(database), database
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://x") as client:
        return await client.get(path)


def test_a_full_disk_is_not_well(database: Database, problem: Any) -> None:
    import asyncio

    full = [True]

    @event.listens_for(database.writing, "begin")
    def limit(connection: Connection) -> None:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages if full[0] else 10**9}")

    problem(asyncio.run(asked(database, "/api/health")), 503, "busy")
    assert asyncio.run(asked(database, "/api/health/live")).json() == {"status": "ok"}
    full[0] = False
    assert asyncio.run(asked(database, "/api/health")).json() == {"status": "ok"}


def test_a_damaged_database_is_called_so(
    open_site: Callable[..., Any], short_sqlite: str, tmp_path: Path, problem: Any
) -> None:
    database = Database(short_sqlite)
    with database.reading.connect() as connection:
        pages = [
            connection.scalar(text("SELECT rootpage FROM sqlite_master WHERE name = :name"), {"name": name})
            for name in ("studies", "sqlite_autoindex_studies_1")
        ]
        size = connection.scalar(text("PRAGMA page_size"))
    database.close()
    with (tmp_path / "studies.sqlite").open("r+b") as file:
        for page in pages:
            file.seek((page - 1) * size)
            file.write(b"\xff" * size)
    site = open_site(short_sqlite)
    client = site.client()
    for path in ("/api/health", "/api/studies/short"):
        answer = problem(client.get(path), 500, "damaged")
        assert "try again" not in answer["message"]
        assert "retry-after" not in client.get(path).headers
    assert client.get("/api/health/live").json() == {"status": "ok"}


def test_the_researcher_sees_the_free_disk(site: Any, browser_of: httpx.Client) -> None:
    assert "Free disk space: " in browser_of.get("/admin", headers=HTML).text


def test_how_a_disk_is_told() -> None:
    assert str(Disk(12_345_000_000, 2_000_000_000_000)) == "12 GB of 2.0 TB"
    assert not Disk(LITTLE_ROOM, 2).full
    assert Disk(LITTLE_ROOM - 1, 2).full
    assert str(Disk(0, 999)) == "0 B of 999 B"
