"""Append rounds to the logs of participants: the only code that writes rounds, for one participant or for many.

Each SQL statement releases the interpreter lock while the database works and waits for the lock again afterwards. A few
statements for the moves of many participants therefore let the server answer others in the meantime; one statement per
move would not.
"""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection

from cobandit.studies import Episode, Round
from cobandit.web.storage.episodes import add_episode
from cobandit.web.storage.events import Event, add_events
from cobandit.web.storage.participants import Stale, touch
from cobandit.web.storage.rounds import Move, round_row
from cobandit.web.storage.schema import rounds
from cobandit.web.storage.writer import JoiningJob

Row = tuple[Any, ...]

LARGEST: int = 32 if sqlite3.sqlite_version_info >= (3, 33) else 1
"""How many rows one SQLite statement takes; each smaller number has a statement of its own, which stays prepared.

Versions before 3.33 do not have ``UPDATE ... FROM``, which statements for several rows need.
"""

_ROUND = tuple(column.name for column in rounds.c)


@dataclass(eq=False)
class StoreRounds(JoiningJob):
    """Append rounds to the log of one participant, whose ``revision`` must be the one that was read.

    ``episode_id`` is None for the first rounds of an episode, which create it. ``now`` is the time of the write;
    ``happened`` are events to store with the rounds.
    """

    participant: int
    revision: int
    episode_id: int | None
    episode: Episode
    played: Sequence[tuple[Round, Move]]
    opened_at: int
    now: int
    happened: Sequence[Event] = field(default=())

    @property
    def rounds(self) -> int:
        """How many rounds are stored."""
        return len(self.played)

    def __call__(self, connection: Connection) -> int:
        """Store the rounds and return the episode's id in the database."""
        return self.together(connection, [self])[0]

    @classmethod
    def together(cls, connection: Connection, jobs: Sequence[StoreRounds]) -> list[int]:
        """Store the rounds of several participants in the caller's transaction; return the ids of their episodes.

        Raises `Stale` where at least one participant has changed since it was read. The caller must then roll back.
        """
        ordered = sorted(jobs, key=lambda job: job.participant)  # the same order in all processes avoids deadlocks
        numbers: dict[StoreRounds, int] = {}  # not kept in the jobs, which run again after a rollback
        touches, advances, appends = list[Row](), list[Row](), list[Row]()
        for job in ordered:
            number, episode = job.episode_id, job.episode
            finished_at = job.now if episode.finished else None
            if number is None:
                touch(connection, job.participant, job.revision, job.now)
                number = add_episode(connection, job.participant, episode, job.opened_at, finished_at)
            else:
                touches.append((job.participant, job.revision, job.now))
                advances.append((number, episode.played, episode.head, finished_at))
            numbers[job] = number
            appends += [round_row(number, r, move, job.now) for r, move in job.played]
        if connection.dialect.name == "postgresql":
            _store_on_postgresql(connection, touches, advances, appends)
        else:
            store_on_sqlite(connection, _on_sqlite, (touches, advances, appends))
        for job in ordered:
            if job.happened:
                add_events(connection, job.participant, job.happened)
        return [numbers[job] for job in jobs]


@lru_cache(maxsize=LARGEST)
def _on_sqlite(count: int) -> tuple[str, str, str]:
    """Return the statements for ``count`` rows: touch participants, advance episodes, append rounds.

    Each begins with its verb: Python's driver counts the changed rows of such statements only.
    """

    def rows(width: int) -> str:
        return ", ".join([f"({', '.join('?' * width)})"] * count)

    append = f"INSERT INTO rounds ({', '.join(_ROUND)}) VALUES {rows(len(_ROUND))}"
    if count == 1:
        return (
            "UPDATE participants SET revision = revision + 1, last_seen = ?3 WHERE id = ?1 AND revision = ?2",
            "UPDATE episodes SET played = ?2, head = ?3, finished_at = ?4 WHERE id = ?1",
            append,
        )
    return (
        f"UPDATE participants SET revision = revision + 1, last_seen = m.column3 FROM (VALUES {rows(3)}) AS m "
        "WHERE id = m.column1 AND revision = m.column2",
        "UPDATE episodes SET played = m.column2, head = m.column3, finished_at = m.column4 "
        f"FROM (VALUES {rows(4)}) AS m WHERE id = m.column1",
        append,
    )


def parts(rows: Sequence[Row]) -> Iterator[tuple[int, Row]]:
    """Split rows into as few groups as statements can take: the size of each, with its values in one tuple."""
    for start in range(0, len(rows), LARGEST):
        group = rows[start : start + LARGEST]
        yield len(group), tuple(itertools.chain.from_iterable(group))


def store_on_sqlite(
    connection: Connection, statements: Callable[[int], Sequence[str]], tables: Sequence[Sequence[Row]]
) -> None:
    """Run the statement of each table with its rows; `Stale` where the first one does not change every row."""
    for place, rows in enumerate(tables):
        for size, values in parts(rows):
            changed = connection.exec_driver_sql(statements(size)[place], values).rowcount
            if place == 0 and changed != size:
                raise Stale


ARRAY_TYPES = {"BIGINT": "bigint[]", "INTEGER": "integer[]", "TEXT": "text[]", "FLOAT": "double precision[]"}
_TOUCH_ARRAYS = ("integer[]", "integer[]", "bigint[]")
_ADVANCE_ARRAYS = ("integer[]", "integer[]", "text[]", "bigint[]")
_APPEND_ARRAYS = tuple(ARRAY_TYPES[str(column.type)] for column in rounds.c)


def arrays(types: Sequence[str]) -> str:
    """Return the placeholders of PostgreSQL arrays of these types."""
    return ", ".join(f"%s::{type}" for type in types)


_ON_POSTGRESQL = (
    "WITH touched AS (UPDATE participants SET revision = participants.revision + 1, last_seen = m.now "
    f"FROM unnest({arrays(_TOUCH_ARRAYS)}) AS m (id, revision, now) "
    "WHERE participants.id = m.id AND participants.revision = m.revision RETURNING participants.id), "
    "advanced AS (UPDATE episodes SET played = m.played, head = m.head, finished_at = m.finished_at "
    f"FROM unnest({arrays(_ADVANCE_ARRAYS)}) AS m (id, played, head, finished_at) "
    "WHERE episodes.id = m.id RETURNING episodes.id), "
    # A process that waited for another one's move of the same participant updates no row, and must append nothing:
    # its round would violate the primary key before the counts below could tell that the participant has changed.
    f"appended AS (INSERT INTO rounds ({', '.join(_ROUND)}) SELECT * FROM unnest({arrays(_APPEND_ARRAYS)}) "
    "WHERE (SELECT count(*) FROM touched) = %s RETURNING 1) "
    "SELECT (SELECT count(*) FROM touched), (SELECT count(*) FROM advanced), (SELECT count(*) FROM appended)"
)


def _store_on_postgresql(
    connection: Connection, touches: Sequence[Row], advances: Sequence[Row], appends: Sequence[Row]
) -> None:
    tables = ((touches, _TOUCH_ARRAYS), (advances, _ADVANCE_ARRAYS), (appends, _APPEND_ARRAYS))
    values = [column for rows, types in tables for column in columns(rows, len(types))]
    counts = connection.exec_driver_sql(_ON_POSTGRESQL, (*values, len(touches))).one()
    if tuple(counts) != (len(touches), len(advances), len(appends)):
        raise Stale


def columns(rows: Sequence[Row], width: int) -> list[list[Any]]:
    """Return rows as columns, for PostgreSQL arrays."""
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in range(width)]
