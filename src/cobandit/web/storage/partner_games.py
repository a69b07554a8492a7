"""Teams and games of the partner service, and the log of each game, to which entries are only ever added.

The primary key of the log is the game and the number of the entry: of two processes that append the same number, one
gets `Stale`, reads what the other has written and tries again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Row, and_, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from cobandit.base.json_types import JsonObject
from cobandit.engine.partner_game import Entry
from cobandit.web.storage.moves import ARRAY_TYPES, LARGEST, arrays, columns, parts
from cobandit.web.storage.participants import Stale
from cobandit.web.storage.schema import partner_games, partner_log, partner_teams
from cobandit.web.storage.values import as_json
from cobandit.web.storage.writer import JoiningJob

LOG_COLUMNS = tuple(column.name for column in partner_log.c)


@dataclass(frozen=True)
class StoredTeam:
    """A team as stored; ``setting`` is plain data."""

    id: int
    tenant: str
    name: str
    setting: JsonObject
    created_at: int


@dataclass(frozen=True)
class StoredGame:
    """A game as stored: its seed or origin, and the newest snapshot with the number of entries in it."""

    id: int
    team_id: int
    name: str
    seed: int
    origin: JsonObject | None
    snapshot: JsonObject | None
    snapshot_number: int
    created_at: int


@dataclass(frozen=True)
class StoredEntry:
    """An entry of the log with what the server adds to it."""

    entry: Entry
    number: int
    predictions: dict[str, int]
    key: str | None


# Teams


def add_team(connection: Connection, tenant: str, name: str, setting: JsonObject, now: int) -> StoredTeam:
    """Store a team; `Stale` where the tenant has one of this name."""
    values = {"tenant": tenant, "name": name, "setting": as_json(setting), "created_at": now}
    try:
        inserted = connection.execute(insert(partner_teams).values(values))
    except IntegrityError as error:
        raise Stale from error
    return StoredTeam(_new_id(inserted), tenant, name, setting, now)


def _new_id(inserted: Any) -> int:
    return int(inserted.inserted_primary_key[0])


def _team(row: Row[Any]) -> StoredTeam:
    return StoredTeam(row.id, row.tenant, row.name, json.loads(row.setting), row.created_at)


def find_team(connection: Connection, tenant: str, name: str) -> StoredTeam | None:
    """Return a team of a tenant."""
    own = partner_teams.c.tenant == tenant, partner_teams.c.name == name
    row = connection.execute(select(partner_teams).where(*own)).first()
    return None if row is None else _team(row)


def teams_of(connection: Connection, tenant: str, after: str = "", limit: int | None = None) -> list[StoredTeam]:
    """Return the teams of a tenant by name, from the one after ``after`` on."""
    query = select(partner_teams).where(partner_teams.c.tenant == tenant, partner_teams.c.name > after)
    return [_team(row) for row in connection.execute(query.order_by(partner_teams.c.name).limit(limit))]


def count_teams(connection: Connection, tenant: str) -> int:
    """Return how many teams a tenant has."""
    query = select(func.count()).select_from(partner_teams).where(partner_teams.c.tenant == tenant)
    return int(connection.execute(query).scalar_one())


def delete_team(connection: Connection, tenant: str, name: str) -> bool:
    """Delete a team with its games; return False where there is none."""
    own = partner_teams.c.tenant == tenant, partner_teams.c.name == name
    return connection.execute(delete(partner_teams).where(*own)).rowcount > 0


# Games


def add_game(
    connection: Connection, team_id: int, name: str, seed: int, origin: JsonObject | None, now: int
) -> StoredGame:
    """Store a game; `Stale` where the team has one of this name, or was deleted."""
    values = {"team_id": team_id, "name": name, "seed": str(seed), "snapshot_number": 0, "created_at": now}
    try:
        inserted = connection.execute(
            insert(partner_games).values(values | {"origin": None if origin is None else as_json(origin)})
        )
    except IntegrityError as error:
        raise Stale from error
    return StoredGame(_new_id(inserted), team_id, name, seed, origin, None, 0, now)


def find_game(connection: Connection, tenant: str, team: str, name: str) -> tuple[StoredTeam, StoredGame | None] | None:
    """Return a team of a tenant and its game of a name; None: there is no such team."""
    stored = find_team(connection, tenant, team)
    if stored is None:
        return None
    own = partner_games.c.team_id == stored.id, partner_games.c.name == name
    row = connection.execute(select(partner_games).where(*own)).first()
    if row is None:
        return stored, None
    origin = None if row.origin is None else json.loads(row.origin)
    snapshot = None if row.snapshot is None else json.loads(row.snapshot)
    game = StoredGame(
        row.id, row.team_id, row.name, int(row.seed), origin, snapshot, row.snapshot_number, row.created_at
    )
    return stored, game


def games_of(connection: Connection, team_id: int, after: str, limit: int) -> list[tuple[str, int]]:
    """Return names and times of creation of a team's games by name, from the one after ``after`` on."""
    query = select(partner_games.c.name, partner_games.c.created_at)
    query = query.where(partner_games.c.team_id == team_id, partner_games.c.name > after)
    return [(row.name, row.created_at) for row in connection.execute(query.order_by(partner_games.c.name).limit(limit))]


def delete_game(connection: Connection, game_id: int) -> bool:
    """Delete a game with its log; return False where there is none."""
    return connection.execute(delete(partner_games).where(partner_games.c.id == game_id)).rowcount > 0


def store_snapshot(connection: Connection, game_id: int, number: int, state: str) -> None:
    """Store the state after a number of entries, unless a newer one is there."""
    older = partner_games.c.id == game_id, partner_games.c.snapshot_number < number
    connection.execute(update(partner_games).where(*older).values(snapshot=state, snapshot_number=number))


# The log


def entries_after(connection: Connection, game_id: int, number: int) -> list[StoredEntry]:
    """Return the entries of a game after a number of them."""
    query = select(partner_log).where(partner_log.c.game_id == game_id, partner_log.c.number > number)
    return [_entry(row) for row in connection.execute(query.order_by(partner_log.c.number))]


def news_of(connection: Connection, game_id: int, number: int) -> list[StoredEntry] | None:
    """Return the entries of a game after a number of them; None: there is no such game."""
    entries = entries_after(connection, game_id, number)
    if (
        not entries
        and connection.execute(select(partner_games.c.id).where(partner_games.c.id == game_id)).first() is None
    ):
        return None
    return entries


def entries_of_rounds(connection: Connection, game_id: int, after: int, limit: int) -> list[StoredEntry]:
    """Return the entries of the next ``limit`` rounds after a round, by number."""
    own = and_(partner_log.c.game_id == game_id, partner_log.c.round > after)
    rounds = select(partner_log.c.round).where(own).distinct().order_by(partner_log.c.round).limit(limit).subquery()
    last = connection.execute(select(func.max(rounds.c.round))).scalar()
    query = select(partner_log).where(own, partner_log.c.round <= (after if last is None else last))
    return [_entry(row) for row in connection.execute(query.order_by(partner_log.c.number))]


def entries_of(connection: Connection, game_id: int, t: int | None, event: str | None) -> list[StoredEntry]:
    """Return the entries of one round, by its number or by its event."""
    named = select(partner_log.c.round).where(partner_log.c.game_id == game_id, partner_log.c.event == event)
    which = partner_log.c.round == t if event is None else partner_log.c.round == named.scalar_subquery()
    query = select(partner_log).where(partner_log.c.game_id == game_id, which)
    return [_entry(row) for row in connection.execute(query.order_by(partner_log.c.number))]


def _entry(row: Row[Any]) -> StoredEntry:
    action = None if row.action is None else tuple(json.loads(row.action))
    predictions = {} if row.predictions is None else json.loads(row.predictions)
    entry = Entry(row.round, row.kind, row.at, row.arm, action, row.reward, row.event)
    return StoredEntry(entry, row.number, predictions, row.key)


def _row(game_id: int, stored: StoredEntry) -> tuple[Any, ...]:
    entry = stored.entry
    foreseen = as_json(stored.predictions) if stored.predictions else None
    action = None if entry.action is None else as_json(entry.action)
    return (
        game_id,
        stored.number,
        entry.round,
        entry.kind,
        entry.at,
        entry.arm,
        foreseen,
        action,
        entry.reward,
        entry.event,
        stored.key,
    )


@dataclass(eq=False)
class AppendEntry(JoiningJob):
    """Append an entry to the log of a game; `Stale` where its number is taken or the game is gone."""

    game_id: int
    stored: StoredEntry

    @property
    def rounds(self) -> int:
        """How many rounds it plays, for the metrics: a round counts once, with its team action."""
        return int(self.stored.entry.action is not None)

    def __call__(self, connection: Connection) -> None:
        """Append this entry alone."""
        self.together(connection, [self])

    @classmethod
    def together(cls, connection: Connection, jobs: Sequence[AppendEntry]) -> list[None]:
        """Append the entries of several games in the caller's transaction."""
        ordered = sorted(jobs, key=lambda job: (job.game_id, job.stored.number))  # one order avoids deadlocks
        rows = [_row(job.game_id, job.stored) for job in ordered]
        try:
            if connection.dialect.name == "postgresql":
                connection.exec_driver_sql(_ON_POSTGRESQL, tuple(columns(rows, len(LOG_COLUMNS))))
            else:
                for size, values in parts(rows):
                    connection.exec_driver_sql(_on_sqlite(size), values)
        except IntegrityError as error:
            raise Stale from error
        return [None] * len(jobs)


@lru_cache(maxsize=LARGEST)
def _on_sqlite(count: int) -> str:
    row = f"({', '.join('?' * len(LOG_COLUMNS))})"
    return f"INSERT INTO partner_log ({', '.join(LOG_COLUMNS)}) VALUES {', '.join([row] * count)}"


_ON_POSTGRESQL = (
    f"INSERT INTO partner_log ({', '.join(LOG_COLUMNS)}) SELECT * FROM "
    f"unnest({arrays(tuple(ARRAY_TYPES[str(column.type)] for column in partner_log.c))})"
)
