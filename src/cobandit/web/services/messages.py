"""Messages from researchers to participants: stored once, shown until they are dismissed.

A process keeps the waiting messages in memory, by the participant's token, so that a move or a poll costs no query.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections.abc import Callable, Sequence
from typing import Any

from cobandit.base.errors import InvalidInput
from cobandit.base.json_types import JsonObject
from cobandit.web.refusals import Refused, not_found
from cobandit.web.roles import Viewer
from cobandit.web.services.studies import stored_study
from cobandit.web.storage.audit import participant_mark, record
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.messages import (
    Message,
    add_messages,
    messages_version,
    new_message_key,
    note_message,
    people_at_work,
    waiting_messages,
)
from cobandit.web.storage.participants import participant_by_public_id, participants_by_ids
from cobandit.web.storage.studies import Study
from cobandit.web.storage.teams import team_by_public_id
from cobandit.web.storage.values import now_ms

LONGEST_MESSAGE = 500
LOOK_SECONDS = 1.0
"""How often a process looks for messages that another process has stored."""


class MessageBoard:
    """The waiting messages of one process."""

    def __init__(self, database: Database, wake: Callable[[], None]) -> None:
        """``wake`` is called when messages have come, so that streams send them."""
        self._database, self._wake = database, wake
        self._waiting: dict[str, list[Message]] = {}
        self._version: str | None = None

    def of(self, token: str) -> list[JsonObject]:
        """Return the messages that a participant has not dismissed."""
        waiting = self._waiting.get(token)
        return [] if waiting is None else [message.to_dict() for message in waiting]

    def added_to(self, answer: JsonObject, token: str) -> JsonObject:
        """Return an answer with the participant's messages, unchanged where there are none."""
        return answer | {"messages": self.of(token)} if token in self._waiting else answer

    async def look(self) -> None:
        """Read the messages again where any were sent or dismissed."""

        def ask(connection: Connection) -> tuple[str | None, dict[str, list[Message]]] | None:
            version = messages_version(connection)  # first, so that later messages are read again
            return None if version == self._version else (version, waiting_messages(connection))

        changed = await self._database.ask(ask)
        if changed is not None:
            self._version, self._waiting = changed
            self._wake()

    async def watch(self) -> None:
        """Look again and again."""
        while True:
            with contextlib.suppress(Refused):  # the database is busy: again in a moment
                await self.look()
            await asyncio.sleep(LOOK_SECONDS)

    async def note(self, token: str, key: str, *, dismissed: bool) -> None:
        """Store that a message was shown or dismissed; again changes nothing."""
        now = now_ms()
        await self._database.commit(lambda connection: note_message(connection, token, key, now, dismissed=dismissed))
        if dismissed:
            left = [message for message in self._waiting.get(token, ()) if message.key != key]
            self._waiting = {name: own for name, own in self._waiting.items() if name != token}
            if left:
                self._waiting[token] = left


def checked_text(text: str) -> str:
    """Return a message without surrounding blanks; one that is empty or too long is refused."""
    text = text.strip()
    if not 1 <= len(text) <= LONGEST_MESSAGE:
        raise InvalidInput(f"text must have 1 to {LONGEST_MESSAGE} characters, got {len(text):,}.")
    if "\0" in text or (not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text)):
        raise InvalidInput("text must have no control characters and no broken letters, which cannot be stored.")
    return text


async def send_message(
    database: Database,
    number: int,
    viewer: Viewer,
    text: str,
    *,
    participant: str | None = None,
    team: str | None = None,
    kind: str = "real",
    key: str | None = None,
) -> int:
    """Send a message to one participant, to one team, or to all of a kind who are at work; return to how many.

    The same ``key`` reaches each of them once.
    """
    viewer.require("messages")
    return await database.commit(
        lambda connection: store_message(
            connection, number, viewer.account, text, participant=participant, team=team, kind=kind, key=key
        )
    )


def store_message(
    connection: Connection,
    number: int,
    by: str,
    text: str,
    *,
    participant: str | None = None,
    team: str | None = None,
    kind: str = "real",
    key: str | None = None,
) -> int:
    """Store a message and write down who has sent it, in the caller's transaction; return how many people get it."""
    if participant is not None and team is not None:
        raise InvalidInput("participant and team were both given; a message goes to one of them, or to all.")
    text, study, now = checked_text(text), stored_study(connection, number), now_ms()
    if participant is not None:
        people, details = _one(connection, study, participant)
    elif team is not None:
        people, details = _members(connection, study, team)
    else:
        people = people_at_work(connection, number, kind, study.design, now)
        details = {"to": "all", "kind": kind}
    send(connection, study, by, people, text, key or new_message_key(), **details)
    return len(people)


def send(
    connection: Connection, study: Study, by: str, people: Sequence[int], text: str, key: str, **details: Any
) -> None:
    """Store a message to some people, and an entry of the audit log without its text, which may name a person."""
    new = add_messages(connection, people, text, key, now_ms(), to=details["to"])
    if new:
        digest = hashlib.sha256(text.encode()).hexdigest()
        record(connection, by, "message-sent", study.label, people=len(new), text_sha256=digest, **details)


def _one(connection: Connection, study: Study, public_id: str) -> tuple[list[int], JsonObject]:
    person = participant_by_public_id(connection, study.id, public_id)
    if person is None:
        raise not_found(f"There is no participant {public_id!r} in this study; perhaps they were deleted.")
    if person.consented_at is None:
        raise Refused(409, "not-begun", f"{public_id} has not begun yet, so there is no page for a message.")
    return [person.id], {"to": "participant", "participant": participant_mark(connection, public_id)}


def _members(connection: Connection, study: Study, public_id: str) -> tuple[list[int], dict[str, object]]:
    team = team_by_public_id(connection, study.id, public_id)
    if team is None:
        raise not_found(f"No team of this study is called {public_id!r}.")
    people = participants_by_ids(connection, team.people)
    return list(people), {"to": "team", "team": public_id}
