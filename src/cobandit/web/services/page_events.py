"""Store page events and quiz attempts: what is acknowledged is stored, once, up to a limit for each participant."""

from __future__ import annotations

from collections.abc import Sequence

from cobandit.web.refusals import Refused
from cobandit.web.storage.database import Connection
from cobandit.web.storage.events import Event, add_events, count_events, known_keys

EVENT_KINDS = (
    *("load", "hidden", "visible", "offline", "online", "takeover", "warned", "language", "error", "robot"),
    *("input", "paste"),
)
"""The kinds of events that a page may send; the server adds kinds of its own, which do not count towards the limit."""

MOST_EVENTS = 3000  # of one participant, so that a faulty page cannot fill the disk
MOST_ATTEMPTS = 1000  # wrong ones of one participant at the quiz, for the same reason


def store_events(connection: Connection, participant: int, events: Sequence[Event]) -> None:
    """Store the events that are not stored under their keys yet: all of them, or none with a refusal."""
    new = _new_events(connection, participant, events)
    if not new:
        return
    if count_events(connection, participant, EVENT_KINDS) + len(new) > MOST_EVENTS:
        raise Refused(
            403, "too-many-events", f"At most {MOST_EVENTS} events of a participant are stored; these were not."
        )
    add_events(connection, participant, new)


def store_wrong_attempt(connection: Connection, participant: int, attempt: Event, attempts: int) -> None:
    """Store a wrong attempt at the quiz with its number and key, so that a retry is recognised."""
    if attempts >= MOST_ATTEMPTS:
        raise Refused(
            403,
            "too-many-attempts",
            f"At most {MOST_ATTEMPTS} wrong attempts at the quiz are stored; this one was not.",
        )
    add_events(connection, participant, [attempt])


def _new_events(connection: Connection, participant: int, events: Sequence[Event]) -> list[Event]:
    """Return the events that are not stored under their key yet, each key once."""
    seen = known_keys(connection, participant, [event.key for event in events if event.key is not None])
    new = []
    for event in events:
        if event.key is None or event.key not in seen:
            new.append(event)
        if event.key is not None:
            seen.add(event.key)
    return new
