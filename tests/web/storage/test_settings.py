"""Settings that two processes write at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Connection, text

from cobandit.web.storage.audit import network_mark
from cobandit.web.storage.database import Database
from cobandit.web.storage.logins import network_is_known, remember_network
from cobandit.web.storage.settings import read_setting, write_setting
from tests.web.servers import until

SOMEBODY_WAITS = """
    SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
"""


@pytest.fixture
def stored(postgresql: str) -> Iterator[Database]:
    """A PostgreSQL, where several write at once; with SQLite whoever comes second waits before the first word."""
    database = Database(postgresql)
    database.migrate()
    yield database
    database.close()


def both(database: Database, first: Callable[[Connection], str], second: Callable[[Connection], str]) -> list[str]:
    """What two transactions give, of which the second works while the first is not yet committed."""

    def other() -> str:
        with database.write() as connection:
            return second(connection)

    def somebody_waits() -> bool:
        with database.read() as connection:
            return bool(connection.scalar(text(SOMEBODY_WAITS)))

    with ThreadPoolExecutor(1) as pool:
        with database.write() as connection:
            given = first(connection)
            waiting = pool.submit(other)
            until(lambda: waiting.done() or somebody_waits())
        return [given, waiting.result()]


def written(connection: Connection, value: str) -> str:
    write_setting(connection, "colour", value)
    return value


@pytest.mark.parametrize("before", [None, "white"])
def test_of_two_writers_the_later_has_the_last_word(stored: Database, before: str | None) -> None:
    if before is not None:
        with stored.write() as connection:
            written(connection, before)
    assert both(stored, lambda c: written(c, "red"), lambda c: written(c, "blue")) == ["red", "blue"]
    with stored.read() as connection:
        assert read_setting(connection, "colour") == "blue"


def test_networks_of_two_logins_at_once_are_both_remembered(stored: Database) -> None:
    def remember(connection: Connection, network: str) -> str:
        remember_network(connection, network, now=1)
        return network

    networks = both(stored, lambda c: remember(c, "192.0.2.0"), lambda c: remember(c, "198.51.100.0"))
    with stored.read() as connection:
        assert all(network_is_known(connection, network, now=2) for network in networks)


def test_the_first_marks_of_two_processes_have_one_key(stored: Database) -> None:
    def mark(connection: Connection) -> str:
        return network_mark(connection, "192.0.2.0")

    first, second = both(stored, mark, mark)
    with stored.read() as connection:
        assert first == second == mark(connection)
