"""Whole databases copied, while others read and write: into one file of SQLite, and back into either kind.

A copy of SQLite is made by its own backup interface, page by page in one read transaction. A copy of PostgreSQL is read
in one snapshot and written to the same tables in a file of SQLite: every backup is one file, which any command opens.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Connection, Table, delete, func, insert, select, text
from sqlalchemy.exc import SQLAlchemyError

from cobandit.base.errors import InvalidInput
from cobandit.web.storage.database import Database, database_message
from cobandit.web.storage.schema import audit, audit_head, metadata, studies

ROWS_AT_ONCE = 2000


def sqlite_url(path: Path) -> str:
    """Return the address of a file."""
    return f"sqlite:///{path.absolute()}"


def copy_to_file(database: Database, path: Path) -> None:
    """Copy a whole database to a file, as of one moment; no request waits for it."""
    try:
        _copy_to_file(database, path)
    except (sqlite3.Error, SQLAlchemyError) as error:
        raise InvalidInput(f"The database {database.name} could not be copied: {database_message(error)}.") from error


def _copy_to_file(database: Database, path: Path) -> None:
    if database.sqlite:
        with _raw(Path(str(database.url.database))) as original, _raw(path) as written:
            original.backup(written)  # all pages in one step: one read transaction, which holds up no writer
            _leave_wal_mode(written)
        return
    copy = Database(sqlite_url(path))
    try:
        copy.migrate()
        # One snapshot of all tables, without locks.
        with database.reading.connect() as source, copy.write() as target, _without_triggers(target):
            _copy_rows(source, target)
    finally:
        copy.close()
    with _raw(path) as written:
        _leave_wal_mode(written)


def copy_from_file(path: Path, database: Database) -> None:
    """Put the contents of a file in the place of everything in a PostgreSQL database, in one transaction."""
    source = Database(sqlite_url(path))
    try:
        with source.read() as rows, database.write() as target:
            names = ", ".join(f'"{table.name}"' for table in metadata.sorted_tables)
            with _without_triggers(target):
                target.execute(text(f"TRUNCATE {names} RESTART IDENTITY CASCADE"))
                _copy_rows(rows, target)
            for table in metadata.sorted_tables:
                _go_on_counting(target, table)
    finally:
        source.close()


def is_empty(connection: Connection) -> bool:
    """Return whether nothing would be lost by writing over it: no study, and nothing in the audit log."""
    return not any(connection.scalar(select(func.count()).select_from(table)) for table in (studies, audit))


def others_connected(connection: Connection) -> int:
    """Return how many others work with a PostgreSQL database at this moment."""
    query = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() "
        "AND backend_type = 'client backend'"
    )
    return int(connection.execute(text(query)).scalar_one())


def leave_wal(path: Path) -> None:
    """Bring everything into the one file; refused while anybody else has it open."""
    try:
        with _raw(path) as connection:
            connection.execute("PRAGMA busy_timeout = 1000")
            _leave_wal_mode(connection)
    except sqlite3.OperationalError as error:
        raise InvalidInput(f"The database {str(path)!r} is in use ({error}). Stop its server first.") from error


def integrity_problems(path: Path) -> list[str]:
    """Return the problems that SQLite itself finds in a file."""
    try:
        with _raw(path) as connection:
            answers = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(20)")]
            orphans = list(connection.execute("PRAGMA foreign_key_check"))
    except sqlite3.DatabaseError as error:
        return [f"the file is damaged: {error}"]
    problems = [f"the file is damaged: {answer}" for answer in answers if answer != "ok"]
    return problems + ([f"{len(orphans)} rows refer to rows that do not exist"] if orphans else [])


def flush(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def _raw(path: Path) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(path, timeout=15, isolation_level=None)) as connection:
        yield connection


def _leave_wal_mode(connection: sqlite3.Connection) -> None:
    """Leave WAL mode, so that the database is one file that can be moved alone."""
    mode = connection.execute("PRAGMA journal_mode = DELETE").fetchone()[0]
    if mode != "delete":
        raise sqlite3.OperationalError(f"it stays in the mode {mode!r}")


def _copy_rows(source: Connection, target: Connection) -> None:
    for table in metadata.sorted_tables:
        target.execute(delete(table))  # what a migration has put there
        query = select(table).order_by(*table.primary_key).execution_options(yield_per=ROWS_AT_ONCE)
        rows = source.execute(query)
        for part in rows.mappings().partitions():
            target.execute(insert(table), [dict(row) for row in part])


@contextlib.contextmanager
def _without_triggers(connection: Connection) -> Iterator[None]:
    """Disable the triggers while copying, so that the audit log is copied unchanged, even if it was tampered with."""
    if connection.dialect.name == "sqlite":
        query = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        triggers = [tuple(row) for row in connection.execute(text(query))]
        for name, _ in triggers:
            connection.exec_driver_sql(f"DROP TRIGGER {name}")
        yield
        for _, statement in triggers:
            connection.exec_driver_sql(statement)
        return
    for table in (audit, audit_head):
        connection.execute(text(f"ALTER TABLE {table.name} DISABLE TRIGGER USER"))
    yield
    for table in (audit, audit_head):
        connection.execute(text(f"ALTER TABLE {table.name} ENABLE TRIGGER USER"))


def _go_on_counting(connection: Connection, table: Table) -> None:
    """Continue the numbers of a table after those that were copied."""
    for column in table.primary_key:
        sequence = connection.execute(
            text("SELECT pg_get_serial_sequence(:name, :column)"), {"name": table.name, "column": column.name}
        ).scalar()
        if sequence is not None:
            last = connection.scalar(select(func.max(column)))
            connection.execute(
                text("SELECT setval(:sequence, :next, false)"), {"sequence": sequence, "next": (last or 0) + 1}
            )
