"""The live view's stream: a tick whenever something has changed."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncIterator

from fastapi import Request

from cobandit.web.refusals import Refused
from cobandit.web.services.studies import pulse
from cobandit.web.storage.database import Database

STREAM_SECONDS = 20.0  # then the page asks again, and the login is looked at again
PULSE_SECONDS = 1.0


async def ticks(request: Request, database: Database, number: int, seen: str | None) -> AsyncIterator[str]:
    """Server-sent events, from what a browser has ``seen`` on; they end now and then, and browsers come back."""
    until = time.monotonic() + STREAM_SECONDS
    yield "retry: 1000\n\n"
    while time.monotonic() < until and not _stopping(request):
        try:
            current = await pulse(database, number)
        except Refused:  # the database is busy: the page will ask again
            return
        if current != seen:
            seen = current
            yield f"event: tick\nid: {current}\ndata: {{}}\n\n"
        await asyncio.sleep(PULSE_SECONDS)


def _stopping(request: Request) -> bool:
    """Return whether the server is shutting down: it handles the signal itself and waits for open responses."""
    server = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
    return bool(getattr(server, "should_exit", False) or getattr(request.app.state, "stopping", False))
