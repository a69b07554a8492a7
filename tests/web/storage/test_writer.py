"""The writer: many jobs, one commit, and none spoils the others."""

from __future__ import annotations

import asyncio
import sqlite3
from typing import Any

from sqlalchemy import Connection, event, insert, select
from sqlalchemy.exc import IntegrityError

from cobandit.web.storage.database import Database
from cobandit.web.storage.schema import settings
from cobandit.web.storage.writer import Writer


def put(name: str) -> Any:
    def job(connection: Connection) -> str:
        connection.execute(insert(settings).values(name=name, value="x"))
        return name

    return job


def stored_names(database: Database) -> set[str]:
    with database.reading.connect() as connection:
        return set(connection.scalars(select(settings.c.name).where(settings.c.value == "x")))


async def gathered(writer: Writer, gate: Any, *jobs: Any) -> list[Any]:
    """The results of jobs that are all in one batch."""
    first = asyncio.create_task(writer.run(gate))
    await asyncio.to_thread(gate.entered.wait)
    tasks = [asyncio.create_task(writer.run(job)) for job in jobs]
    await asyncio.sleep(0)  # each has queued its job
    gate.opened.set()
    await first
    return await asyncio.gather(*tasks, return_exceptions=True)


def test_a_job_that_fails_does_not_spoil_the_others(database: Database, gate: Any) -> None:
    commits = []
    event.listen(database.writing, "commit", lambda connection: commits.append(1))

    def broken(connection: Connection) -> None:
        connection.execute(insert(settings).values(name="half", value="x"))
        raise ZeroDivisionError

    jobs = [put("a"), broken, put("b"), put("a"), put("c")]  # "a" twice: the second breaks a constraint
    results = asyncio.run(gathered(database.writer, gate, *jobs))
    kinds = [result if isinstance(result, str) else type(result) for result in results]
    assert kinds == ["a", ZeroDivisionError, "b", IntegrityError, "c"]
    assert stored_names(database) == {"a", "b", "c"}
    assert len(commits) == 2  # the others stayed together: a visitor who is refused must not slow everybody down


def test_a_database_that_cannot_be_written_is_told_to_all_at_once(database: Database, gate: Any) -> None:
    begun: list[int] = []

    @event.listens_for(database.writing, "commit")
    def fail(connection: Connection) -> None:
        begun.append(1)
        if len(begun) > 1:
            raise sqlite3.OperationalError("disk I/O error")

    results = asyncio.run(gathered(database.writer, gate, *(put(f"job-{i}") for i in range(20))))
    assert {type(result) for result in results} == {sqlite3.OperationalError}
    assert len(begun) == 2  # not once more for each of them
    assert stored_names(database) == set()


def test_jobs_that_gather_are_one_commit(database: Database, gate: Any) -> None:
    commits: list[int] = []
    event.listen(database.writing, "commit", lambda connection: commits.append(1))
    results = asyncio.run(gathered(database.writer, gate, *(put(f"job-{i}") for i in range(50))))
    assert results == [f"job-{i}" for i in range(50)]
    assert len(commits) == 2  # the gate's, and that of all others


def test_nothing_is_acknowledged_before_it_is_committed(database: Database) -> None:
    seen: list[set[str]] = []
    event.listen(database.writing, "commit", lambda connection: seen.append(stored_names(database)))

    async def write_and_look() -> set[str]:
        await database.writer.run(put("a"))
        return stored_names(database)

    assert asyncio.run(write_and_look()) == {"a"}
    assert seen == [set()]  # just before the commit nobody else can see it


def test_what_is_queued_is_finished_when_the_writer_closes(short_sqlite: str, gate: Any) -> None:
    database = Database(short_sqlite)

    async def close_early() -> list[Any]:
        writer = database.writer
        waiting = [asyncio.create_task(writer.run(job)) for job in (gate, put("a"), put("b"))]
        await asyncio.to_thread(gate.entered.wait)
        closing = asyncio.create_task(asyncio.to_thread(database.close))
        gate.opened.set()
        await closing
        return await asyncio.gather(*waiting)

    assert asyncio.run(close_early()) == [None, "a", "b"]
    again = Database(short_sqlite)
    assert stored_names(again) == {"a", "b"}
    again.close()
