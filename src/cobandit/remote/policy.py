"""A policy behind a user's own HTTP endpoint: signed requests, a versioned schema, strict answers.

Each request is a POST of JSON. Its header ``Cobandit-Signature`` is ``v1=`` and the HMAC-SHA256, in hexadecimal, of the
header ``Cobandit-Timestamp``, a dot and the body. A receiver refuses old timestamps and wrong signatures, and answers a
repeated ``id`` as before, so that neither a replayed nor a retried request changes anything.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cobandit.base.json_types import JsonObject
from cobandit.base.records import fingerprint
from cobandit.remote.chat import FIRST_WAIT, Attempt, Limits
from cobandit.remote.transport import Failed, HttpReply, post

SCHEMA = "cobandit-seat/1"
"""The version of requests and answers; it changes where an old policy could misread them."""
TIMESTAMP, SIGNATURE = "Cobandit-Timestamp", "Cobandit-Signature"
SHORTEST_SECRET = 16


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """Return the value of the header ``Cobandit-Signature``."""
    signed = hmac.new(secret.encode("utf-8"), timestamp.encode("ascii") + b"." + body, hashlib.sha256)
    return f"v1={signed.hexdigest()}"


@dataclass(frozen=True)
class PolicyAnswer:
    """The outcome of a request: an arm, or None and the reason."""

    arm: int | None
    reason: str
    attempts: tuple[Attempt, ...]

    @property
    def evidence(self) -> str:
        """The SHA-256 of request and answer."""
        last = self.attempts[-1] if self.attempts else None
        return fingerprint(None if last is None else {"request": last.request, "answer": last.reply})


@dataclass
class PolicyClient:
    """Asks one endpoint. The secret appears in no repr, record or error."""

    url: str
    secret: str = field(repr=False)

    sleep = staticmethod(time.sleep)

    def choose(self, request: Mapping[str, Any], arms: int, limits: Limits) -> PolicyAnswer:
        """Return the arm that the policy chooses; errors are retried until no attempt or no time is left."""
        body = {"schema": SCHEMA, "type": "choose", **request}
        end = time.monotonic() + (limits.timeout if limits.seconds is None else limits.seconds)
        attempts: list[Attempt] = []
        while True:
            attempt, arm = self._call(body, arms, min(limits.timeout, end - time.monotonic()))
            attempts.append(attempt)
            wait = FIRST_WAIT * 2 ** (len(attempts) - 1)
            final = arm is not None or attempt.kind == "malformed" or attempt.status in (400, 401, 403, 404)
            if final or len(attempts) > limits.retries or time.monotonic() + wait >= end:
                return PolicyAnswer(arm, "" if arm is not None else attempt.kind, tuple(attempts))
            self.sleep(wait)

    def observe(self, request: Mapping[str, Any], timeout: float) -> float:
        """Send a sealed round to the policy, and return how many seconds that took.

        The round is sent once. A failure has no consequences, because every request to choose contains the history.
        """
        start = time.monotonic()
        self._call({"schema": SCHEMA, "type": "observe", **request}, 0, timeout)
        return time.monotonic() - start

    def _call(self, body: JsonObject, arms: int, timeout: float) -> tuple[Attempt, int | None]:
        data = json.dumps(body, separators=(",", ":")).encode("ascii")
        timestamp = str(int(time.time()))
        headers = {TIMESTAMP: timestamp, SIGNATURE: signature(self.secret, timestamp, data)}
        start = time.monotonic()
        try:
            reply = post(self.url, data, headers, timeout)
        except Failed as failure:
            taken = round(1000 * (time.monotonic() - start))
            return Attempt(failure.kind, None, taken, body, self._redacted(str(failure))), None
        text, arm = self._redacted(reply.text), None
        if reply.status != 200:
            kind = f"status {reply.status}"
        else:
            arm = _read_arm(reply, arms)
            kind = "malformed" if arm is None else "answer"
        return Attempt(kind, reply.status, reply.milliseconds, body, text), arm

    def _redacted(self, text: str) -> str:
        return text.replace(self.secret, "[secret]")


def _read_arm(reply: HttpReply, arms: int) -> int | None:
    """Return the arm of an answer such as ``{"arm": 1}``, counted from 0; None for anything else."""
    try:
        data = json.loads(reply.text)
    except (ValueError, RecursionError):
        return None
    arm = data.get("arm") if isinstance(data, dict) else None
    known_schema = isinstance(data, dict) and data.get("schema", SCHEMA) == SCHEMA
    return arm if known_schema and type(arm) is int and 0 <= arm < arms else None


def unusable_secret(secret: str) -> str | None:
    """Return why a secret is unusable, or None if it is usable; the secret itself is never shown."""
    if len(secret) < SHORTEST_SECRET:
        return f"must have at least {SHORTEST_SECRET} characters, got {len(secret)}"
    return None if secret.isprintable() else "must be printable; it has control characters"
