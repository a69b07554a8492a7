"""The database: its tables, and what happens when it is foreign or not there."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
import sys
import threading
from importlib import resources
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import Connection, event, inspect, text
from sqlalchemy.exc import IntegrityError

from cobandit.base.errors import InvalidInput
from cobandit.studies import StudyDesign
from cobandit.web.serving import prepare
from cobandit.web.storage.accounts import login_of
from cobandit.web.storage.answers import add_answer
from cobandit.web.storage.database import Database
from cobandit.web.storage.logins import browser_is_known, remember_browser
from cobandit.web.storage.schema import metadata
from tests.clients import PATIENCE


@pytest.fixture(params=["sqlite", "postgresql"])
def empty(request: pytest.FixtureRequest) -> str:
    """The address of an empty database of either kind."""
    return str(request.getfixturevalue(request.param))


def test_an_empty_database_gets_the_tables_once(empty: str) -> None:
    database = Database(empty)
    database.migrate()
    database.migrate()
    with database.reading.connect() as connection:
        assert set(inspect(connection).get_table_names()) == {*metadata.tables, "alembic_version"}
    database.close()


def test_the_migrations_make_the_tables_of_the_schema(empty: str) -> None:
    database = Database(empty)
    database.migrate()
    with database.reading.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
    database.close()


def test_a_database_from_before_known_browsers_is_brought_up_to_date(empty: str) -> None:
    database = Database(empty)
    config = Config()
    config.set_main_option("script_location", str(resources.files("cobandit.web").joinpath("migrations")))
    with database.writing.connect() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0007")
    with database.write() as connection:
        connection.execute(text("INSERT INTO admin_logins (digest, expires_at) VALUES ('d', 99)"))
    database.migrate()
    with database.write() as connection:
        assert login_of(connection, "d") == (99, "owner", "owner")
        assert not browser_is_known(connection, "b", "owner", 1)
        remember_browser(connection, "b", "owner", 1)
        assert browser_is_known(connection, "b", "owner", 1)
    database.close()


def test_a_database_of_a_later_version_is_left_alone(sqlite: str) -> None:
    database = Database(sqlite)
    database.migrate()
    with database.writing.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(InvalidInput, match="later version of cobandit"):
        database.migrate()
    database.close()


def test_a_file_that_is_no_database_is_refused(tmp_path: Path, short: StudyDesign) -> None:
    (tmp_path / "notes.txt").write_text("These are notes, and they must stay as they are. " * 100)
    before = (tmp_path / "notes.txt").read_bytes()
    with pytest.raises(InvalidInput, match="cannot be used"):
        prepare(f"sqlite:///{tmp_path / 'notes.txt'}", [short])
    assert (tmp_path / "notes.txt").read_bytes() == before


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("nonsense", "not given as an address"),
        ("mysql://localhost/studies", "not given as an address|of kind 'mysql'"),
        ("oracle://localhost/studies", "not given as an address|of kind 'oracle'"),
        ("sqlite://", "database in a file"),
        ("sqlite:///:memory:", "database in a file"),
        ("postgresql://user:secret@localhost:port/x", "not given as an address"),
    ],
)
def test_addresses_that_are_none(address: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as error:
        Database(address)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    "address", ["postgresql://user:secret@127.0.0.1:1/studies", "sqlite:////no/such/folder/x.sqlite"]
)
def test_a_server_that_is_not_there_is_named_without_its_password(short: StudyDesign, address: str) -> None:
    with pytest.raises(InvalidInput, match="cannot be used") as error:
        prepare(address, [short])
    assert "secret" not in str(error.value)


def test_closing_leaves_no_connection_of_a_read_that_has_begun(empty: str) -> None:
    database, begun, go, counts = Database(empty), threading.Event(), threading.Event(), {"connect": 0, "close": 0}

    def count(name: str) -> None:
        event.listen(database.reading, name, lambda *_: counts.update({name: counts[name] + 1}))

    def slowly(connection: Connection) -> int:
        begun.set()
        assert go.wait(PATIENCE)
        return connection.execute(text("SELECT 1")).scalar_one()

    async def scene() -> int:
        read = asyncio.create_task(database.ask(slowly))
        assert await asyncio.to_thread(begun.wait, PATIENCE)
        closing = asyncio.create_task(asyncio.to_thread(database.close))
        await asyncio.wait({closing}, timeout=0.1)  # it closes everything now, or waits for the read
        go.set()
        await closing
        return await read

    for name in counts:
        count(name)
    assert asyncio.run(scene()) == 1
    assert counts["close"] == counts["connect"] > 0


def test_a_reading_transaction_sees_one_state(empty: str) -> None:
    """Or a round that is sealed between two queries would lack its moves."""
    database = Database(empty)
    database.migrate()
    count = text("SELECT count(*) FROM known_browsers")
    with database.read() as connection:
        before = connection.scalar(count)
        with database.write() as other:
            remember_browser(other, "digest", "owner", 1)
        assert connection.scalar(count) == before
    with database.read() as connection:
        assert connection.scalar(count) == before + 1
    database.close()


def test_sqlite_is_written_durably(database: Database) -> None:
    with database.writing.connect() as connection:
        pragmas = {name: connection.scalar(text(f"PRAGMA {name}")) for name in ("journal_mode", "synchronous")}
        assert connection.scalar(text("PRAGMA foreign_keys")) == 1
    assert pragmas == {"journal_mode": "wal", "synchronous": 2}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other rights")
@pytest.mark.parametrize("before", [None, 0o644])
def test_the_files_are_their_owners_alone(tmp_path: Path, short: StudyDesign, before: int | None) -> None:
    path = tmp_path / "studies.sqlite"
    if before is not None:
        sqlite3.connect(path).close()
        path.chmod(before)
    database = Database(f"sqlite:///{path}")
    old = os.umask(0)
    try:
        database.migrate()
        with database.writing.begin() as connection:
            connection.execute(text("INSERT INTO settings (name, value) VALUES ('a', 'b')"))
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    finally:
        os.umask(old)
        database.close()
    assert modes == dict.fromkeys(("studies.sqlite", "studies.sqlite-wal", "studies.sqlite-shm"), 0o600)


def test_what_people_answered_is_not_in_errors(database: Database) -> None:
    with pytest.raises(IntegrityError) as error, database.writing.begin() as connection:
        add_answer(connection, 999, "demographics", {"age": "very-private"}, 0, None)
    assert "very-private" not in str(error.value)
