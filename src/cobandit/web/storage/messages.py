"""Messages of researchers that participants have not dismissed yet. What was sent, shown and dismissed is an event."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from cobandit.base.json_types import JsonObject
from cobandit.studies import StudyDesign
from cobandit.web.storage.events import Event, add_events
from cobandit.web.storage.participants import REMOVED, active_since
from cobandit.web.storage.schema import events, messages, participants
from cobandit.web.storage.settings import claim_setting, read_setting, write_setting
from cobandit.web.storage.values import as_json

SENT, SHOWN, DISMISSED = "message", "message-shown", "message-dismissed"
"""The kinds of events that are stored of a message."""

_VERSION = "messages"


@dataclass(frozen=True)
class Message:
    """A message to one participant; ``key`` is its name among theirs."""

    key: str
    at: int
    text: str

    def to_dict(self) -> JsonObject:
        """Return the message as the page gets it."""
        return {"key": self.key, "text": self.text}


def new_message_key() -> str:
    """Return a name for a message whose sender has given none."""
    return secrets.token_hex(8)


def add_messages(
    connection: Connection, people: Sequence[int], text: str, key: str, now: int, **details: Any
) -> list[int]:
    """Store a message to some people, once for a key; return those who did not have it yet."""
    known = select(events.c.participant_id).where(events.c.participant_id.in_(people), events.c.key == key)
    already = set(connection.scalars(known))
    new = [person for person in people if person not in already]
    if new:
        rows = [{"participant_id": person, "key": key, "at": now, "text": text} for person in new]
        connection.execute(insert(messages), rows)
        data = as_json({"text": text} | details)
        sent = {"at": now, "kind": SENT, "data": data, "key": key}
        connection.execute(insert(events), [{"participant_id": person} | sent for person in new])
        _next_version(connection)
    return new


def note_message(connection: Connection, token: str, key: str, now: int, *, dismissed: bool) -> bool:
    """Store that a message was shown, or dismissed, once each; return whether such a message was waiting."""
    own = select(participants.c.id).where(participants.c.token == token)
    query = select(messages).where(messages.c.participant_id.in_(own), messages.c.key == key)
    row = connection.execute(query.with_for_update()).first()
    if row is None:
        return False
    here = messages.c.participant_id == row.participant_id, messages.c.key == key
    if row.shown_at is None:
        connection.execute(update(messages).where(*here).values(shown_at=now))
        add_events(connection, row.participant_id, [Event(now, SHOWN, {"message": key}, f"{key}-shown")])
    if dismissed:
        connection.execute(delete(messages).where(*here))
        add_events(connection, row.participant_id, [Event(now, DISMISSED, {"message": key}, f"{key}-dismissed")])
        _next_version(connection)
    return True


def waiting_messages(connection: Connection) -> dict[str, list[Message]]:
    """Return all messages that were not dismissed, by the token of the participant, the oldest first."""
    query = select(participants.c.token, messages.c.key, messages.c.at, messages.c.text).join(
        participants, participants.c.id == messages.c.participant_id
    )
    waiting: dict[str, list[Message]] = {}
    for token, key, at, text in connection.execute(query.order_by(messages.c.at, messages.c.key)):
        waiting.setdefault(token, []).append(Message(key, at, text))
    return waiting


def messages_version(connection: Connection) -> str | None:
    """Return a value that changes whenever a message is sent or dismissed."""
    return read_setting(connection, _VERSION)


def _next_version(connection: Connection) -> None:
    version = int(claim_setting(connection, _VERSION, "0")) + 1
    write_setting(connection, _VERSION, str(version))


def people_at_work(connection: Connection, study: int, kind: str, design: StudyDesign, now: int) -> list[int]:
    """Return who has begun, has not finished and has not dropped out; people who were removed play on."""
    query = select(participants.c.id).where(
        participants.c.study_id == study,
        participants.c.kind == kind,
        participants.c.consented_at.is_not(None),
        participants.c.finished_at.is_(None),
        participants.c.ending.is_(None) | (participants.c.ending == REMOVED),
        participants.c.last_seen >= active_since(design, now),
    )
    return list(connection.scalars(query))
