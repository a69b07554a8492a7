"""What both proxies of the faults have in common: a port, and connections whose end is waited for."""

from __future__ import annotations

import asyncio
from typing import Any, Self


class Listener:
    """A proxy on a free port, which passes on all that is under way before it ends."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()
        self._listening: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        self._listening = await asyncio.start_server(self._accept, "127.0.0.1", 0, backlog=1000)
        return self

    async def __aexit__(self, *problem: object) -> None:
        assert self._listening is not None
        self._listening.close()
        await self._send_late_copies()
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._listening.wait_closed()

    @property
    def url(self) -> str:
        assert self._listening is not None
        return f"http://127.0.0.1:{self._listening.sockets[0].getsockname()[1]}"

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)  # its end is waited for, like that of all others
        task.add_done_callback(self._tasks.discard)
        await self._serve(reader, writer)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass on the requests of one connection, and close it."""
        raise NotImplementedError

    async def _send_late_copies(self) -> None:
        """Send the requests whose second copy is still to come."""
        raise NotImplementedError
