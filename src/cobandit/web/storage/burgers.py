"""Burgers that a real arm stacks, out of the log: which one is on the plate, and how far it is.

There is one arm, so the newest burger that was asked for is the one on the plate, until an event says that it is over.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from cobandit.web.storage.events import Event
from cobandit.web.storage.schema import events, participants

ASKED = "robot-asked"


@dataclass(frozen=True)
class StoredBurger:
    """The newest burger: whose it is, and what happened to it since it was asked for."""

    participant: int
    public_id: str
    events: tuple[Event, ...]


def newest_burger(connection: Connection) -> StoredBurger | None:
    """Return the newest burger that was asked for; None where none ever was."""
    columns = (events.c.id, events.c.participant_id, participants.c.public_id)
    asked = connection.execute(
        select(*columns)
        .join(participants, participants.c.id == events.c.participant_id)
        .where(events.c.kind == ASKED)
        .order_by(events.c.id.desc())
        .limit(1)
    ).first()
    if asked is None:
        return None
    since: Any = (events.c.participant_id == asked.participant_id, events.c.id >= asked.id)
    rows = connection.execute(select(events).where(*since, events.c.kind.like("robot-%")).order_by(events.c.id))
    happened = tuple(Event(row.at, row.kind, json.loads(row.data)) for row in rows)
    return StoredBurger(asked.participant_id, asked.public_id, happened)
