"""Opening a database and bringing its tables up to date."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import URL, Engine, create_engine, event, make_url, text
from sqlalchemy import Connection as Connection  # for services, which hand it on and ask nothing of it themselves
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError

from cobandit.base.errors import InvalidInput
from cobandit.web.refusals import Refused, busy, damaged, overloaded
from cobandit.web.storage.witness import keep_head
from cobandit.web.storage.writer import Job, Writer

T = TypeVar("T")

DEFAULT_URL = "sqlite:///studies.sqlite"
POSTGRESQL_WRITERS = 2
BUSY_SECONDS = 15
PREPARED_STATEMENTS = 512
FORGET_TRIES = 600
HEAVY_READERS = 2
MOST_HEAVY_WAITING = 64
"""How many heavy reads may wait for a thread; more are refused, so that a flood of them takes no memory."""

LAST_READS = 5.0
"""For how many seconds `Database.close` waits for reads that have begun."""


class Database:
    """One database: an engine to read with, an engine to write with, and the writer."""

    def __init__(self, url: str) -> None:
        """Open it; nothing is created or changed before `migrate`."""
        self.url = _url(url)
        self.sqlite = self.url.get_backend_name() == "sqlite"
        if self.sqlite:
            self.reading = _sqlite(self.url, "BEGIN")
            # IMMEDIATE: a transaction that will write takes the lock when it begins, and waits there for other
            # processes.
            self.writing = _sqlite(self.url, "BEGIN IMMEDIATE")
        else:
            # All queries of a reading transaction see one state, as on SQLite: a round that is sealed between two of
            # them would otherwise lack its moves.
            self.reading = _postgresql(self.url, pool_pre_ping=True, isolation_level="REPEATABLE READ")
            # No ping before each transaction: the writer itself starts again after a lost connection.
            self.writing = _postgresql(self.url)
        self._writer: Writer | None = None
        self._forgetting: set[asyncio.Task[None]] = set()
        self._heavy = ThreadPoolExecutor(HEAVY_READERS, "heavy-reader")
        self._heavy_waiting = 0  # with those that are being read; counted in the event loop alone
        self._reads, self._read_ended = 0, threading.Condition()

    @property
    def name(self) -> str:
        """The address without its password."""
        return self.url.render_as_string(hide_password=True)

    @property
    def writer(self) -> Writer:
        """The writer of this process, started when it is first needed."""
        if self._writer is None:
            self._writer = Writer(self.writing, 1 if self.sqlite else POSTGRESQL_WRITERS, self.reading)
        return self._writer

    def absence(self) -> str | None:
        """Return why the database cannot be reached at the moment; None: it can, or waiting will not help."""
        try:
            with self.reading.connect():
                return None
        except SQLAlchemyError as error:
            said = database_message(error)
            lasting = self.sqlite or ("FATAL" in said and not any(word in said for word in _PASSING))
            return None if lasting else said

    def trouble(self) -> str | None:
        """Return why the database cannot be read now, in words without a password; None: it can."""
        if self._file is not None and not self._file.is_file():
            return "The file of the database is not there."
        try:
            with self.reading.connect() as connection:
                connection.execute(text("SELECT 1"))
                return None
        except SQLAlchemyError as error:
            return f"The database cannot be read: {database_message(error)}"

    def migrate(self) -> None:
        """Create the tables, or bring those of an earlier version up to date."""
        from alembic import command
        from alembic.config import Config
        from alembic.script import ScriptDirectory
        from alembic.util import CommandError

        config = Config()
        config.set_main_option("script_location", str(resources.files("cobandit.web").joinpath("migrations")))
        self._create_for_the_owner()
        try:
            with self._plainly(), self.writing.connect() as connection, _without_cascades(connection):
                config.attributes["connection"] = connection
                command.upgrade(config, "head")
        except CommandError as error:
            head = ScriptDirectory.from_config(config).get_current_head()
            raise InvalidInput(
                f"The database {self.name} was made by a later version of cobandit (this one knows up to {head}): "
                f"{error}"
            ) from error
        self._keep_to_the_owner()

    @property
    def folder(self) -> Path | None:
        """Where the files of a SQLite database lie."""
        return None if self._file is None else self._file.absolute().parent

    @property
    def _file(self) -> Path | None:
        name = self.url.database or ""
        return Path(name) if self.sqlite and not name.startswith("file:") else None

    def _create_for_the_owner(self) -> None:
        """Create a new SQLite file that only its owner can read, from its first byte on; its companion files get the
        same mode.
        """
        if self._file is not None and not self._file.exists():
            with contextlib.suppress(OSError):  # opening the file reports the error
                os.close(os.open(self._file, os.O_CREAT | os.O_RDWR, 0o600))

    def _keep_to_the_owner(self) -> None:
        for end in ("", "-wal", "-shm"):
            if self._file is not None:
                with contextlib.suppress(OSError):  # not there, or of another owner
                    os.chmod(f"{self._file}{end}", 0o600)

    def forget_deleted(self) -> bool:
        """Remove deleted data from SQLite's write-ahead log, too; return False if a reader prevents it, so try again.

        In the database itself deleted bytes are overwritten (``secure_delete``). PostgreSQL vacuums on its own
        schedule.
        """
        if not self.sqlite:
            return True
        with contextlib.closing(self.writing.raw_connection()) as connection:
            cursor = connection.cursor()
            # A short wait: other writers wait as long.
            cursor.execute("PRAGMA busy_timeout = 50")
            try:
                row = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                return row is not None and row[0] == 0
            except sqlite3.OperationalError:
                return False
            finally:
                cursor.execute(f"PRAGMA busy_timeout = {1000 * BUSY_SECONDS}")

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Open a connection for reading, outside of a server; errors of the database become one sentence."""
        with self._plainly(), self.reading.connect() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Open a transaction for writing, outside of a server."""
        with self._plainly():
            with self.writing.begin() as connection:
                info = connection.info
                yield connection
            keep_head(self.reading, info)

    @contextmanager
    def _plainly(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            raise InvalidInput(f"The database {self.name} cannot be used: {database_message(error)}") from error

    async def ask(self, question: Job[T], *, heavy: bool = False) -> T:
        """Run a query for a request in a thread, so that other requests continue.

        Queries that read a whole study or a list for researchers are ``heavy``: they have a few separate threads, so
        that participants never queue behind them.
        """
        if heavy and self._heavy_waiting >= HEAVY_READERS + MOST_HEAVY_WAITING:
            raise overloaded()

        def answer() -> T:
            with self._counted(), self.reading.connect() as connection:
                return question(connection)

        try:
            loop = asyncio.get_running_loop()
            work = loop.run_in_executor(self._heavy if heavy else None, answer)
            if heavy:
                self._heavy_waiting += 1
                work.add_done_callback(self._heavy_done)
            return await work
        except SQLAlchemyError as error:
            raise _refusal(error) from error

    @contextlib.contextmanager
    def _counted(self) -> Iterator[None]:
        """Count a read as long as it has a connection, so that `close` can wait for it."""
        with self._read_ended:
            self._reads += 1
        try:
            yield
        finally:
            with self._read_ended:
                self._reads -= 1
                self._read_ended.notify_all()

    def _heavy_done(self, work: asyncio.Future[Any]) -> None:
        self._heavy_waiting -= 1

    async def commit(self, job: Job[T]) -> T:
        """Write, for a request; the result comes when it is on disk."""
        try:
            return await self.writer.run(job)
        except SQLAlchemyError as error:
            raise _refusal(error) from error

    def forget_patiently(self) -> bool:
        """Return the same outside of a server, while another process may be reading."""
        for pause in (0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0):
            time.sleep(pause)
            if self.forget_deleted():
                return True
        return False

    async def forget_in_time(self) -> None:
        """Remove deleted data from the log: immediately, or as soon as no reader uses the old state."""
        if not await asyncio.to_thread(self.forget_deleted):
            task = asyncio.create_task(self._keep_forgetting())
            self._forgetting.add(task)
            task.add_done_callback(self._forgetting.discard)

    async def _keep_forgetting(self) -> None:
        for _ in range(FORGET_TRIES):
            await asyncio.sleep(1)
            if await asyncio.to_thread(self.forget_deleted):
                return

    def close(self) -> None:
        """Finish writing and close every connection."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        self._heavy.shutdown(wait=False, cancel_futures=True)
        # A connection that comes back after `dispose` goes to a pool that is never closed.
        with self._read_ended:
            self._read_ended.wait_for(lambda: not self._reads, timeout=LAST_READS)
        self.reading.dispose()
        self.writing.dispose()


@contextmanager
def _without_cascades(connection: Connection) -> Iterator[None]:
    """Let migrations rebuild tables of SQLite: dropping one would else delete what refers to its rows.

    SQLite ignores the setting inside of a transaction, so it is changed on the driver's connection, before one begins.
    """
    driver = connection.connection.dbapi_connection
    if connection.dialect.name != "sqlite" or driver is None:
        yield
        return
    cursor = driver.cursor()
    cursor.execute("PRAGMA foreign_keys = OFF")
    try:
        yield
        if broken := cursor.execute("PRAGMA foreign_key_check").fetchone():
            raise InvalidInput(f"The table {broken[0]!r} refers to rows that are not there; restore a backup.")
    finally:
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.close()


def _refusal(error: SQLAlchemyError) -> Refused:
    """Return the refusal for a request: it says whether a retry may help."""
    cause = error.orig if isinstance(error, DBAPIError) else None
    code = str(getattr(cause, "sqlite_errorname", None) or getattr(cause, "sqlstate", None) or "")
    return damaged() if code.startswith(_DAMAGED) else busy()


def unsafe_settings(database: Database) -> dict[str, str]:
    """Return settings of PostgreSQL that are off and should not be, each with how data may be lost."""
    if database.sqlite:
        return {}
    losses = {
        "fsync": "a power cut, with the whole database",
        "full_page_writes": "a power cut, with the whole database",
        "synchronous_commit": "a crash",
    }
    with database.read() as connection:
        return {
            name: loss
            for name, loss in losses.items()
            if connection.execute(text(f"SHOW {name}")).scalar_one() == "off"
        }


_PASSING = ("starting up", "shutting down", "recovery", "too many clients", "connection slots")
"""What PostgreSQL says while it is coming, going or full; any other FATAL is about names and passwords."""

_DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "XX001", "XX002")
"""How SQLite and PostgreSQL say that what they have read cannot be what was written."""


def database_message(error: BaseException | None) -> str:
    """Return what the database said, on one line, without the statement and without the values of a row.

    PostgreSQL names the values of a row that violates a constraint in a ``DETAIL``; messages end up in logs.
    """
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    return " ".join(str(cause).partition("\nDETAIL:")[0].split()) or type(cause).__name__


def _url(address: str) -> URL:
    try:
        url = make_url(address)
        if url.drivername in ("postgresql", "postgres"):
            url = url.set(drivername="postgresql+psycopg")
        url.get_dialect()
    except (ArgumentError, NoSuchModuleError, ValueError) as error:
        # The address may hold a password, so it is not shown again.
        raise InvalidInput(
            "The database is not given as an address such as sqlite:///studies.sqlite or postgresql://user@host/name."
        ) from error
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        raise InvalidInput(f"The database is of kind {url.get_backend_name()!r}; sqlite or postgresql is needed.")
    if url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:"):
        raise InvalidInput("A study needs a database in a file, such as sqlite:///studies.sqlite.")
    return url


# hide_parameters: what people answered must not get into error messages, which end up in logs.


def _postgresql(url: URL, **options: Any) -> Engine:
    return create_engine(url, pool_size=4, max_overflow=8, hide_parameters=True, **options)


def _sqlite(url: URL, begin: str) -> Engine:
    # Statements for many rows stay prepared, one for each number of rows.
    options = {"timeout": BUSY_SECONDS, "check_same_thread": False, "cached_statements": PREPARED_STATEMENTS}
    engine = create_engine(url, connect_args=options, hide_parameters=True)

    @event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, record: Any) -> None:
        connection.isolation_level = None  # transactions begin where SQLAlchemy says, not where the driver guesses
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "secure_delete = ON"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def start(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine
