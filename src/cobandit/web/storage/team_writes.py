"""Write the moves of teams: each is inserted once, and the one that completes a round seals it in the same transaction.

As in `moves`, a few statements store the moves of many teams. The first one guards all others: it advances an episode
only if the database has as many moves of the round, and as many members who have left, as the server's memory. Both
only ever grow, so that equal numbers mean that they are the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from sqlalchemy import Connection, insert

from cobandit.studies import Round
from cobandit.web.storage.moves import ARRAY_TYPES, LARGEST, Row, arrays, columns, store_on_sqlite
from cobandit.web.storage.participants import Stale
from cobandit.web.storage.rounds import Move, round_row
from cobandit.web.storage.schema import move_records, moves, rounds
from cobandit.web.storage.team_moves import SeatMove
from cobandit.web.storage.teams import mark_left, renew_members
from cobandit.web.storage.writer import JoiningJob

_MOVE = tuple(column.name for column in moves.c)
_ROUND = tuple(column.name for column in rounds.c)


@dataclass(eq=False)
class StoreTeamMoves(JoiningJob):
    """Insert moves of a round, and the round itself where they complete it.

    ``pending`` is how many moves of the round the caller knows to be stored, ``gone`` how many members have left: where
    the database has others, nothing is written and `Stale` is raised. ``left`` are seats that are taken over for good,
    ``seen`` is who has moved, and ``then`` writes rows of other tables.
    """

    team: int
    number: int
    episode_id: int
    t: int
    head: str
    pending: int
    gone: int
    new: Sequence[SeatMove]
    now: int
    deadline: int | None
    seen: int | None = None
    sealed: Round | None = None
    finished: bool = False
    left: Mapping[str, Sequence[int]] = field(default_factory=dict)
    then: Callable[[Connection], None] | None = None

    @property
    def rounds(self) -> int:
        """1 if these moves complete a round."""
        return int(self.sealed is not None)

    def __call__(self, connection: Connection) -> None:
        """Store everything or nothing."""
        self.together(connection, [self])

    @classmethod
    def together(cls, connection: Connection, jobs: Sequence[StoreTeamMoves]) -> list[None]:
        """Store the moves of several teams in the caller's transaction.

        Raises `Stale` where at least one team has changed since it was read. The caller must then roll back.
        """
        ordered = sorted(jobs, key=lambda job: job.episode_id)  # the same order in all processes avoids deadlocks
        tables = (
            [job._advance() for job in ordered],
            [job._move(move) for job in ordered for move in job.new],
            [
                round_row(job.episode_id, job.sealed, Move(job.t, 0, ""), job.now)
                for job in ordered
                if job.sealed is not None
            ],
            [(job.team,) for job in ordered if job.sealed is not None and not job.finished],
            [(job.seen, job.now) for job in ordered if job.seen is not None],
        )
        if connection.dialect.name == "postgresql":
            _store_on_postgresql(connection, tables)
        else:
            store_on_sqlite(connection, _on_sqlite, tables)
        for job in ordered:
            job._store_rest(connection)
        return [None] * len(jobs)

    def _advance(self) -> Row:
        """Return what guards the episode, and its new values."""
        guard = self.episode_id, self.t - 1, self.head, self.t, self.pending, self.team, self.gone
        if self.sealed is None:
            return (*guard, self.t - 1, self.head, None, self.deadline, None)
        finished_at, deadline = (self.now, None) if self.finished else (None, self.deadline)
        return (*guard, self.t, self.sealed.hash, self.now, deadline, finished_at)

    def _move(self, move: SeatMove) -> Row:
        rest = self.now, move.ms, self.head, move.evidence
        return (self.episode_id, self.t, move.seat, move.arm, move.by, move.key, *rest)

    def _store_rest(self, connection: Connection) -> None:
        """Store what few moves have: records of services, members who leave, the end of the episode."""
        records = [
            {
                "episode_id": self.episode_id,
                "t": self.t,
                "seat": move.seat,
                "record": json.dumps(dict(move.record), ensure_ascii=False),
            }
            for move in self.new
            if move.record is not None
        ]
        if records:
            connection.execute(insert(move_records), records)
        for reason, seats in self.left.items():
            mark_left(connection, self.team, seats, self.number, reason, self.now)
        if self.finished:
            renew_members(connection, self.team)
        if self.then is not None:
            self.then(connection)


_GUARD = (
    "played = {2} AND head = {3} "
    "AND (SELECT count(*) FROM moves WHERE moves.episode_id = {1} AND moves.t = {4}) = {5} "
    "AND (SELECT count(*) FROM members WHERE members.team_id = {6} AND members.left_at IS NOT NULL) = {7}"
)
_ADVANCE = "played = {8}, head = {9}, round_at = coalesce({10}, round_at), deadline = {11}, finished_at = {12}"


@lru_cache(maxsize=LARGEST)
def _on_sqlite(count: int) -> tuple[str, ...]:
    """Return the statements for ``count`` rows: advance episodes, insert moves, insert rounds, tell teams, see people.

    Each begins with its verb: Python's driver counts the changed rows of such statements only.
    """

    def rows(width: int) -> str:
        return ", ".join([f"({', '.join('?' * width)})"] * count)

    names = [f"{'?' if count == 1 else 'm.column'}{i}" for i in range(13)]
    source = "" if count == 1 else " FROM (VALUES {}) AS m"
    return (
        f"UPDATE episodes SET {_ADVANCE.format(*names)}{source.format(rows(12))} "
        f"WHERE id = {names[1]} AND {_GUARD.format(*names)}",
        f"INSERT INTO moves ({', '.join(_quoted(_MOVE))}) VALUES {rows(len(_MOVE))}",
        f"INSERT INTO rounds ({', '.join(_quoted(_ROUND))}) VALUES {rows(len(_ROUND))}",
        f"UPDATE teams SET revision = revision + 1 WHERE id IN ({', '.join('?' * count)})",
        f"UPDATE participants SET last_seen = {names[2]}{source.format(rows(2))} WHERE id = {names[1]}",
    )


def _quoted(names: Sequence[str]) -> list[str]:
    return [f'"{name}"' for name in names]


Tables = Sequence[Sequence[Row]]


_INTEGER, _BIGINT, _TEXT = ARRAY_TYPES["INTEGER"], ARRAY_TYPES["BIGINT"], ARRAY_TYPES["TEXT"]
_ARRAYS = (
    (_INTEGER, _INTEGER, _TEXT, *(_INTEGER,) * 5, _TEXT, _BIGINT, _BIGINT, _BIGINT),
    tuple(ARRAY_TYPES[str(column.type)] for column in moves.c),
    tuple(ARRAY_TYPES[str(column.type)] for column in rounds.c),
    (_INTEGER,),
    (_INTEGER, _BIGINT),
)

# After waiting for a lock, PostgreSQL checks the row again but counts other tables as they were when the statement
# began. The rows are therefore locked by a statement of their own.
_LOCK = "SELECT id FROM episodes WHERE id = ANY(%s::integer[]) ORDER BY id FOR UPDATE"
_NAMES = [f"m.c{i}" for i in range(13)]
_ON_POSTGRESQL = (
    f"WITH advanced AS (UPDATE episodes SET {_ADVANCE.format(*_NAMES)} "
    f"FROM unnest({arrays(_ARRAYS[0])}) AS m ({', '.join(f'c{i}' for i in range(1, 13))}) "
    f"WHERE episodes.id = m.c1 AND {_GUARD.format(*_NAMES)} RETURNING 1), "
    "current AS (SELECT count(*) = %s AS yes FROM advanced), "
    f"moved AS (INSERT INTO moves ({', '.join(_quoted(_MOVE))}) SELECT * FROM unnest({arrays(_ARRAYS[1])}) "
    "WHERE (SELECT yes FROM current)), "
    f"appended AS (INSERT INTO rounds ({', '.join(_quoted(_ROUND))}) SELECT * FROM unnest({arrays(_ARRAYS[2])}) "
    "WHERE (SELECT yes FROM current)), "
    f"bumped AS (UPDATE teams SET revision = revision + 1 FROM unnest({arrays(_ARRAYS[3])}) AS m (id) "
    "WHERE teams.id = m.id), "
    f"seen AS (UPDATE participants SET last_seen = m.now FROM unnest({arrays(_ARRAYS[4])}) AS m (id, now) "
    "WHERE participants.id = m.id) "
    "SELECT yes FROM current"
)


def _store_on_postgresql(connection: Connection, tables: Tables) -> None:
    connection.exec_driver_sql(_LOCK, ([row[0] for row in tables[0]],))
    first, *others = (columns(rows, len(types)) for rows, types in zip(tables, _ARRAYS, strict=True))
    rest = [column for table in others for column in table]
    if not connection.exec_driver_sql(_ON_POSTGRESQL, (*first, len(tables[0]), *rest)).scalar_one():
        raise Stale
