"""Streams of the lobby: one reader for all people who wait for a team of the same study in this process."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import AsyncIterator, Callable, Sequence

from cobandit.base.json_types import JsonObject
from cobandit.web.refusals import Refused
from cobandit.web.services.lobby import count_present, own_lobby_view
from cobandit.web.services.streams import KEEP_ALIVE, KEEP_ALIVE_SECONDS, event_bytes
from cobandit.web.storage.answers import who_answered
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.studies import Study
from cobandit.web.storage.teams import Waiting, update_lobby, waiting_people
from cobandit.web.storage.values import now_ms

READ_SECONDS = 1.0
SHORTEST_PAUSE = 0.1
SEEN_MS = 5000
"""How often it is stored that a page is open: one in the background cannot be relied on to say so itself."""


class _Listener:
    """One stream: the view to send next, and whether the wait is over."""

    __slots__ = ("changed", "over", "person", "shown", "view")

    def __init__(self, person: int) -> None:
        self.person = person
        self.changed = asyncio.Event()
        self.view: JsonObject | None = None
        self.shown: JsonObject | None = None
        self.over = False

    def take(self, view: JsonObject | None) -> None:
        """Take a new view; None: the wait is over."""
        if view is None:
            self.over = True
            self.changed.set()
            return
        lasting = {name: value for name, value in view.items() if name != "waited_seconds"}
        if lasting != self.shown:
            self.shown, self.view = lasting, view
            self.changed.set()


class _Queue:
    """The people in this process who wait for a team of one study and kind."""

    def __init__(self, database: Database, study: Study, kind: str) -> None:
        self._database, self._study, self._kind = database, study, kind
        self.listeners: set[_Listener] = set()
        self.news = asyncio.Event()
        self._seen_at = 0
        self.task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        while True:
            self.news.clear()
            with contextlib.suppress(Refused):  # a busy database is asked again
                await self._look()
            await asyncio.sleep(SHORTEST_PAUSE)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(READ_SECONDS - SHORTEST_PAUSE):
                    await self.news.wait()

    async def _look(self) -> None:
        listeners, now = list(self.listeners), now_ms()
        people = [listener.person for listener in listeners]
        waiting, done = await self._database.ask(functools.partial(self._read, people=people))
        rows = {row.participant_id: row for row in waiting}
        group, size = self._study.design.group, len(self._study.design.participant_seats)
        assert group is not None
        present = count_present(waiting, group, now)
        for listener in listeners:
            own = rows.get(listener.person)
            over = own is None and listener.person in done
            listener.take(None if over else own_lobby_view(own, present, group, size, now))
        if now - self._seen_at >= SEEN_MS:
            self._seen_at = now
            here = [person for person in people if person in rows]
            await self._database.commit(functools.partial(update_lobby, people=here, seen_at=now))

    def _read(self, connection: Connection, people: Sequence[int]) -> tuple[list[Waiting], set[int]]:
        waiting = waiting_people(connection, self._study.id, self._kind)
        missing = set(people) - {row.participant_id for row in waiting}
        return waiting, who_answered(connection, "lobby", sorted(missing))


class LobbyStreams:
    """The streams of people who wait, by study and kind."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._queues: dict[tuple[int, str], _Queue] = {}
        self._closing = False

    async def events(
        self, study: Study, kind: str, person: int, messages: Callable[[], Sequence[bytes]]
    ) -> AsyncIterator[bytes]:
        """Yield the events of a participant who waits, until there is a team or the wait is over.

        ``messages`` returns the events of messages that were not sent yet.
        """
        key, listener = (study.id, kind), _Listener(person)
        queue = self._queues.get(key)
        if queue is None:
            queue = self._queues[key] = _Queue(self._database, study, kind)
        queue.listeners.add(listener)
        queue.news.set()
        try:
            while True:
                try:
                    async with asyncio.timeout(KEEP_ALIVE_SECONDS):
                        await listener.changed.wait()
                except TimeoutError:
                    yield KEEP_ALIVE
                    continue
                if self._closing:
                    return
                listener.changed.clear()
                if listener.over:
                    yield event_bytes("step", {})
                    return
                if listener.view is not None:
                    view, listener.view = listener.view, None
                    yield event_bytes("lobby", view)
                for message in messages():
                    yield message
        finally:
            queue.listeners.discard(listener)
            if not queue.listeners and self._queues.get(key) is queue:
                del self._queues[key]
                queue.task.cancel()

    def publish(self, study: int, kind: str) -> None:
        """Read the lobby of a study again: a participant has come, or a team was formed."""
        if (queue := self._queues.get((study, kind))) is not None:
            queue.news.set()

    def close(self) -> None:
        """End all streams: the server stops."""
        self._closing = True
        self.wake()

    def wake(self) -> None:
        """Wake all streams."""
        for queue in self._queues.values():
            for listener in queue.listeners:
                listener.changed.set()
