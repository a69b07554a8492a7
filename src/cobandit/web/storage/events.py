"""What happened at the participants' pages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, insert, select

from cobandit.web.storage.schema import events
from cobandit.web.storage.values import as_json


@dataclass(frozen=True)
class Event:
    """Something that happened: when (ms), of which kind, and what there is to say about it."""

    at: int
    kind: str
    data: Any


def add_events(connection: Connection, participant: int, new: Sequence[Event]) -> None:
    """Things that happened to a participant."""
    connection.execute(
        insert(events),
        [
            {"participant_id": participant, "at": event.at, "kind": event.kind, "data": as_json(event.data)}
            for event in new
        ],
    )


def events_of(connection: Connection, participant: int) -> list[Event]:
    """Everything that happened, the first first."""
    rows = connection.execute(select(events).where(events.c.participant_id == participant).order_by(events.c.id))
    return [Event(row.at, row.kind, json.loads(row.data)) for row in rows]


def events_of_kind(connection: Connection, participant: int, kind: str) -> list[Event]:
    """What happened of one kind, the first first."""
    theirs = (events.c.participant_id == participant, events.c.kind == kind)
    rows = connection.execute(select(events).where(*theirs).order_by(events.c.id))
    return [Event(row.at, row.kind, json.loads(row.data)) for row in rows]


def latest_events(connection: Connection, participant: int, limit: int) -> list[Event]:
    """The last things that happened, the first of them first."""
    rows = connection.execute(
        select(events).where(events.c.participant_id == participant).order_by(events.c.id.desc()).limit(limit)
    ).all()
    return [Event(row.at, row.kind, json.loads(row.data)) for row in reversed(rows)]


def count_events(connection: Connection, participant: int) -> int:
    """How much happened."""
    return (
        connection.scalar(select(func.count()).select_from(events).where(events.c.participant_id == participant)) or 0
    )
