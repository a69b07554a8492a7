"""Who listens to which team: streams are woken when something that members may see has changed."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from pydantic_core import to_json

from cobandit.base.json_types import JsonObject

KEEP_ALIVE_SECONDS = 15.0
KEEP_ALIVE = b": here\n\n"
ANSWERED_SECONDS = 0.25
"""How much later a stream sends what its member already has as the answer to a move."""


def event_bytes(kind: str, data: JsonObject, id: str | None = None) -> bytes:
    """Return a server-sent event; a browser that comes back says the ``id`` of the last one it has had."""
    name = b"" if id is None else b"id: %s\n" % id.encode()
    return b"event: %s\ndata: %s\n%s\n" % (kind.encode(), to_json(data), name)


class Listener:
    """A stream of one member: its event is set when there may be something to send."""

    __slots__ = ("_later", "event", "seat")

    def __init__(self, seat: int) -> None:
        self.seat = seat
        self.event = asyncio.Event()
        self._later: asyncio.TimerHandle | None = None

    def wake(self) -> None:
        """Send what there is now."""
        self.cancel()
        self.event.set()

    def wake_later(self) -> None:
        """Send what there is after a moment, in one event with all news until then."""
        if self._later is None:
            self._later = asyncio.get_running_loop().call_later(ANSWERED_SECONDS, self.wake)

    def cancel(self) -> None:
        """Cancel the wake-up that was planned."""
        if self._later is not None:
            self._later.cancel()
            self._later = None


class Hub:
    """The streams of one process, by team."""

    def __init__(self) -> None:
        self._listeners: dict[int, set[Listener]] = defaultdict(set)
        self.closing = asyncio.Event()

    @property
    def teams(self) -> list[int]:
        """The teams with at least one listener."""
        return list(self._listeners)

    @contextmanager
    def listening(self, team: int, seat: int) -> Iterator[asyncio.Event]:
        """Return an event that is set whenever something changes, and from time to time to keep the stream alive."""
        listener = Listener(seat)
        self._listeners[team].add(listener)
        try:
            yield listener.event
        finally:
            listener.cancel()
            self._listeners[team].discard(listener)
            if not self._listeners[team]:
                del self._listeners[team]

    def close(self) -> None:
        """End all streams: the server stops."""
        self.closing.set()
        self.publish_all()

    def publish_all(self) -> None:
        """Wake all streams."""
        for team in self.teams:
            self.publish(team)

    def publish(self, team: int, answered: int | None = None) -> None:
        """Wake all listeners of a team; ``answered`` is the seat that has the news as the answer to a move.

        Its stream is for other tabs alone, and may send a little later.
        """
        for listener in self._listeners.get(team, ()):
            if listener.seat == answered:
                listener.wake_later()
            else:
                listener.wake()
