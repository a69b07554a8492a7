"""Moves of many people, stored by one statement for each table instead of one for each move.

Every statement lets go of the interpreter while the database works, and has to wait for it again afterwards. So few
large ones let participants be answered meanwhile, which many small ones would not.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection

from cobandit.studies import Episode, Round
from cobandit.web.storage.episodes import play_rounds
from cobandit.web.storage.events import Event, add_events
from cobandit.web.storage.participants import Stale
from cobandit.web.storage.rounds import Move, round_row
from cobandit.web.storage.schema import rounds
from cobandit.web.storage.writer import JoiningJob

SIZES = (64, 16, 4, 1)
"""How many moves go into one statement of SQLite, so that it has few different ones to prepare."""

_ROUND = tuple(column.name for column in rounds.c)


@dataclass(eq=False)
class StoreRounds(JoiningJob):
    """A job for the writer: rounds at the end of the log of a participant, who must be as they were read.

    ``now`` is the time of the write, ``happened`` what goes with the rounds into the list of events.
    """

    participant: int
    revision: int
    episode_id: int | None
    episode: Episode
    played: Sequence[tuple[Round, Move]]
    opened_at: int
    now: int
    happened: Sequence[Event] = field(default=())

    def __call__(self, connection: Connection) -> int:
        """By itself; the number of the episode in the database."""
        stored = play_rounds(
            connection,
            self.participant,
            self.revision,
            self.episode_id,
            self.episode,
            self.played,
            self.opened_at,
            self.now,
        )
        if self.happened:
            add_events(connection, self.participant, self.happened)
        return stored

    @property
    def joins(self) -> bool:
        """Whether it can be stored with others: one round more of an episode that is there, and nothing else."""
        return self.episode_id is not None and len(self.played) == 1 and not self.happened

    @classmethod
    def together(cls, connection: Connection, jobs: Sequence[StoreRounds]) -> list[int | None] | None:
        """Store several that join, in the transaction of the caller; None: this database cannot do it.

        `Stale`: not all of them are as they were read. It is not known who is not, so nothing may be committed.
        """
        if connection.dialect.name == "postgresql":
            _store_on_postgresql(connection, jobs)
        elif sqlite3.sqlite_version_info >= (3, 33):  # which knows UPDATE ... FROM
            for part in _parts(jobs):
                _store_on_sqlite(connection, part)
        else:
            return None
        return [job.episode_id for job in jobs]

    def _touch(self) -> tuple[Any, ...]:
        return self.participant, self.revision, self.now

    def _advance(self) -> tuple[Any, ...]:
        return self.episode_id, self.episode.played, self.episode.head, self.now if self.episode.finished else None

    def _append(self) -> tuple[Any, ...]:
        assert self.episode_id is not None
        [(r, move)] = self.played
        return round_row(self.episode_id, r, move, self.now)


def _parts(jobs: Sequence[StoreRounds]) -> Iterator[Sequence[StoreRounds]]:
    start = 0
    while start < len(jobs):
        size = next(size for size in SIZES if size <= len(jobs) - start)
        yield jobs[start : start + size]
        start += size


@lru_cache(maxsize=len(SIZES))
def _on_sqlite(count: int) -> tuple[str, str, str]:
    """Statements for so many moves: touch the participants, advance their episodes, append the rounds.

    Each begins with what it does, for else the driver does not tell how many rows were changed.
    """

    def rows(width: int) -> str:
        return ", ".join([f"({', '.join('?' * width)})"] * count)

    return (
        f"UPDATE participants SET revision = revision + 1, last_seen = m.column3 FROM (VALUES {rows(3)}) AS m "
        "WHERE id = m.column1 AND revision = m.column2",
        "UPDATE episodes SET played = m.column2, head = m.column3, finished_at = m.column4 "
        f"FROM (VALUES {rows(4)}) AS m WHERE id = m.column1",
        f"INSERT INTO rounds ({', '.join(_ROUND)}) VALUES {rows(len(_ROUND))}",
    )


def _store_on_sqlite(connection: Connection, jobs: Sequence[StoreRounds]) -> None:
    touch, advance, append = _on_sqlite(len(jobs))
    touched = connection.exec_driver_sql(touch, tuple(value for job in jobs for value in job._touch()))
    if touched.rowcount != len(jobs):
        raise Stale
    connection.exec_driver_sql(advance, tuple(value for job in jobs for value in job._advance()))
    connection.exec_driver_sql(append, tuple(value for job in jobs for value in job._append()))


_TYPES = {"BIGINT": "bigint[]", "INTEGER": "integer[]", "TEXT": "text[]", "FLOAT": "double precision[]"}
_ROUND_ARRAYS = ", ".join(f"%s::{_TYPES[str(column.type)]}" for column in rounds.c)
_ON_POSTGRESQL = (
    "WITH touched AS (UPDATE participants SET revision = participants.revision + 1, last_seen = m.now "
    "FROM unnest(%s::integer[], %s::integer[], %s::bigint[]) AS m (id, revision, now) "
    "WHERE participants.id = m.id AND participants.revision = m.revision RETURNING participants.id), "
    "advanced AS (UPDATE episodes SET played = m.played, head = m.head, finished_at = m.finished_at "
    "FROM unnest(%s::integer[], %s::integer[], %s::text[], %s::bigint[]) AS m (id, played, head, finished_at) "
    "WHERE episodes.id = m.id RETURNING episodes.id), "
    f"appended AS (INSERT INTO rounds ({', '.join(_ROUND)}) SELECT * FROM unnest({_ROUND_ARRAYS}) RETURNING 1) "
    "SELECT (SELECT count(*) FROM touched), (SELECT count(*) FROM advanced), (SELECT count(*) FROM appended)"
)


def _store_on_postgresql(connection: Connection, jobs: Sequence[StoreRounds]) -> None:
    # In one order for all, so that two processes seldom wait for each other.
    ordered = sorted(jobs, key=lambda job: job.participant)
    columns = [
        list(column)
        for rows in (
            [job._touch() for job in ordered],
            [job._advance() for job in ordered],
            [job._append() for job in ordered],
        )
        for column in zip(*rows, strict=True)
    ]
    counts = connection.exec_driver_sql(_ON_POSTGRESQL, tuple(columns)).one()
    if set(counts) != {len(jobs)}:
        raise Stale
