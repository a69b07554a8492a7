"""What happened at the participants' pages."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, insert, select

from cobandit.web.storage.schema import events
from cobandit.web.storage.values import as_json


@dataclass(frozen=True)
class Event:
    """Something that happened: when (ms), of which kind, and what there is to say about it.

    ``key`` is the name under which it is stored once; None: it is stored as often as it comes.
    """

    at: int
    kind: str
    data: Any
    key: str | None = None


def add_events(connection: Connection, participant: int, new: Sequence[Event]) -> None:
    """Store events of a participant."""
    connection.execute(
        insert(events),
        [
            {
                "participant_id": participant,
                "at": event.at,
                "kind": event.kind,
                "data": as_json(event.data),
                "key": event.key,
            }
            for event in new
        ],
    )


def event_by_key(connection: Connection, participant: int, key: str) -> Event | None:
    """Return the event with a key."""
    row = connection.execute(select(events).where(events.c.participant_id == participant, events.c.key == key)).first()
    return None if row is None else Event(row.at, row.kind, json.loads(row.data), row.key)


def known_keys(connection: Connection, participant: int, keys: Sequence[str]) -> set[str]:
    """Return those of some keys that are stored."""
    query = select(events.c.key).where(events.c.participant_id == participant, events.c.key.in_(keys))
    return {str(key) for key in connection.scalars(query)}


def events_by_participant(connection: Connection, participants: Sequence[int]) -> dict[int, list[Event]]:
    """Return all events of some participants, the oldest first."""
    query = (
        select(events).where(events.c.participant_id.in_(participants)).order_by(events.c.participant_id, events.c.id)
    )
    happened: dict[int, list[Event]] = defaultdict(list)
    for row in connection.execute(query):
        happened[row.participant_id].append(Event(row.at, row.kind, json.loads(row.data)))
    return happened


def events_of_kind(connection: Connection, participant: int, kind: str) -> list[Event]:
    """Return the events of one kind, the oldest first."""
    theirs = (events.c.participant_id == participant, events.c.kind == kind)
    rows = connection.execute(select(events).where(*theirs).order_by(events.c.id))
    return [Event(row.at, row.kind, json.loads(row.data)) for row in rows]


def latest_events(connection: Connection, participant: int, limit: int, without: str | None) -> tuple[list[Event], int]:
    """Return the last things that happened, the first of them first, and how many there are.

    Events whose kind begins with ``without`` are left out.
    """
    wanted = [events.c.participant_id == participant]
    if without is not None:
        wanted.append(~events.c.kind.startswith(without, autoescape=True))
    rows = connection.execute(select(events).where(*wanted).order_by(events.c.id.desc()).limit(limit)).all()
    total = connection.scalar(select(func.count()).select_from(events).where(*wanted)) or 0
    return [Event(row.at, row.kind, json.loads(row.data)) for row in reversed(rows)], total


def count_events(connection: Connection, participant: int, kinds: Sequence[str] = ()) -> int:
    """Return how many events of a participant are stored: all, or those of some kinds."""
    query = select(func.count()).select_from(events).where(events.c.participant_id == participant)
    return connection.scalar(query.where(events.c.kind.in_(kinds)) if kinds else query) or 0
