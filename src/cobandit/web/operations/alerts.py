"""Messages to a URL when something goes wrong with the server, and when it is well again.

A message is a POST of JSON, signed as requests to policies are (`cobandit.remote.policy`). Only a change of state is
sent. What the receiver has confirmed is compared with what is the case, so a message that did not arrive is sent again
until it arrives or until its reason is gone, and a state that changes back and forth gives few messages.
"""

from __future__ import annotations

import json
import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from cobandit.base.errors import InvalidInput
from cobandit.base.json_types import JsonObject
from cobandit.remote.policy import SIGNATURE, TIMESTAMP, signature, unusable_secret
from cobandit.remote.settings import checked_url
from cobandit.remote.transport import Failed, post
from cobandit.web.operations.conditions import Condition

log = logging.getLogger("cobandit.web")

SCHEMA = "cobandit-alert/1"
WATCH_SECONDS = 10.0
SPACING_SECONDS = 60.0
"""The shortest time between two messages about the same thing."""
FIRST_WAIT, LONGEST_WAIT = 5.0, 300.0
TIMEOUT_SECONDS = 10.0


@dataclass
class _State:
    """What the receiver knows about one thing, and the attempts to tell it something else."""

    confirmed: bool = False
    message: JsonObject | None = None
    failures: int = 0
    next_attempt: float = 0.0


@dataclass
class AlertHook:
    """Tells one URL about changes. The secret appears in no repr, log or message."""

    url: str
    secret: str = field(repr=False)
    server: str | None = None
    clock: Callable[[], float] = time.monotonic
    _states: dict[tuple[str, str], _State] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        checked_url("--alert-url", self.url)
        if (problem := unusable_secret(self.secret)) is not None:
            raise InvalidInput(f"The secret of the alert hook {problem}.")

    def report(self, conditions: Iterable[Condition]) -> None:
        """Send what has changed since the receiver last confirmed something."""
        for condition in conditions:
            state = self._states.setdefault((condition.alert, condition.subject), _State())
            firing = condition.problem is not None
            if firing == state.confirmed:
                state.message, state.failures = None, 0
                continue
            if state.message is None:
                state.message = self._message(condition)
                log.warning("Alert %s (%s): %s", *condition[:2], condition.problem or "well again.")
            if self.clock() >= state.next_attempt:
                self._attempt(state, firing)

    def _attempt(self, state: _State, firing: bool) -> None:
        assert state.message is not None
        trouble = self._send(state.message)
        if trouble is None:
            state.confirmed, state.message, state.failures = firing, None, 0
            state.next_attempt = self.clock() + SPACING_SECONDS
        else:
            wait = min(LONGEST_WAIT, FIRST_WAIT * 2**state.failures)
            state.failures += 1
            state.next_attempt = self.clock() + wait
            log.warning("The alert hook did not take a message (%s); next attempt in %d s.", trouble, wait)

    def _message(self, condition: Condition) -> dict[str, object]:
        firing = condition.problem is not None
        return {
            "schema": SCHEMA,
            "id": uuid.uuid4().hex,
            "alert": condition.alert,
            "state": "firing" if firing else "resolved",
            "subject": condition.subject,
            "message": condition.problem or "Well again.",
            "server": self.server,
            "time": int(time.time()),
        }

    def _send(self, message: Mapping[str, Any]) -> str | None:
        """Return what went wrong, or None."""
        body = json.dumps(message, separators=(",", ":")).encode("ascii")
        timestamp = str(int(time.time()))
        headers = {TIMESTAMP: timestamp, SIGNATURE: signature(self.secret, timestamp, body)}
        try:
            reply = post(self.url, body, headers, TIMEOUT_SECONDS)
        except Failed as failure:
            return str(failure)
        return None if 200 <= reply.status < 300 else f"status {reply.status}"


class Watch:
    """Looks at the conditions regularly, in a thread of its own, as long as it is open."""

    def __init__(
        self, look: Callable[[], Iterable[Condition]], hook: AlertHook, seconds: float = WATCH_SECONDS
    ) -> None:
        self._look, self._hook, self._seconds = look, hook, seconds
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._work, name="alerts", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join(TIMEOUT_SECONDS)

    def _work(self) -> None:
        while not self._stopped.is_set():
            try:
                self._hook.report(self._look())
            except Exception:  # a watch that ends silently is worse than one that complains
                log.exception("Looking for reasons to alert did not work")
            self._stopped.wait(self._seconds)
