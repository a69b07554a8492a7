"""API keys: made once, shown once, stored as a digest; who a request is from, and how many it may send.

A key is ``cb_ID_SECRET``. The id is public and finds the row; the digest of the whole key is compared in constant time,
also where there is no such id, so that the time of an answer tells nothing.
"""

from __future__ import annotations

import asyncio
import hmac
import re
import secrets
import time
from collections.abc import Mapping

from cobandit.base.checks import whole
from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.web.refusals import Refused
from cobandit.web.security import digest
from cobandit.web.storage import api_keys
from cobandit.web.storage.api_keys import SCOPES, ApiKey
from cobandit.web.storage.audit import record
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.values import now_ms

DEFAULT_RATE = 200
MOST_RATE = 1_000_000
BURST_SECONDS = 2.0
REFRESH_SECONDS = 2.0
"""How long a process may continue with the keys that it has read: a key that was revoked elsewhere ends by then."""

PAUSE_SECONDS = 0.1
"""The least time between two looks at the keys."""

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
_KEY = re.compile(r"cb_([a-z0-9]{12})_[A-Za-z0-9_-]{43}")
_NOBODY = digest(secrets.token_urlsafe(32))


def add_key(
    connection: Connection,
    by: str,
    label: str,
    *,
    tenant: str = "default",
    scope: str = "play",
    rate: int = DEFAULT_RATE,
) -> tuple[ApiKey, str]:
    """Make a key in the caller's transaction; return it as stored, and its text, which cannot be read again."""
    for what, name in (("label", label), ("tenant", tenant)):
        if not _NAME.fullmatch(name):
            raise InvalidInput(
                f"{what} must be up to 40 lower-case letters, digits, dots, dashes and underscores, got {name!r:.60}."
            )
    if scope not in SCOPES:
        raise UnknownName("scope", scope, SCOPES)
    whole(1, MOST_RATE)("rate", rate)
    public = secrets.token_hex(6)
    text = f"cb_{public}_{secrets.token_urlsafe(32)}"
    key = ApiKey(public, tenant, label, scope, rate, digest(text), now_ms())
    api_keys.add_key(connection, key)
    record(connection, by, "key-added", key=public, tenant=tenant, label=label, scope=scope)
    return key, text


def revoke_key(connection: Connection, by: str, key_id: str) -> None:
    """Revoke a key for good."""
    if not api_keys.revoke_key(connection, key_id, now_ms()):
        known = [key.id for key in api_keys.all_keys(connection, revoked=False)]
        raise UnknownName("valid API key", key_id, known)
    record(connection, by, "key-revoked", key=key_id)


class _Bucket:
    """The requests that a key may still send; it fills with the rate, up to `BURST_SECONDS` of it."""

    __slots__ = ("_at", "_left")

    def __init__(self, rate: int, now: float) -> None:
        self._left, self._at = max(1.0, rate * BURST_SECONDS), now

    def take(self, rate: int, now: float) -> float:
        """Take one; return 0, or the seconds until there is one."""
        self._left = min(max(1.0, rate * BURST_SECONDS), self._left + rate * (now - self._at))
        self._at = now
        if self._left < 1.0:
            return (1.0 - self._left) / rate
        self._left -= 1.0
        return 0.0


class Keys:
    """The valid keys as this process knows them, read again every `REFRESH_SECONDS` while requests come."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._keys: Mapping[str, ApiKey] = {}
        self._read_at = -REFRESH_SECONDS
        self._reading = asyncio.Lock()
        self._buckets: dict[str, _Bucket] = {}

    async def require(self, header: bytes, scope: str) -> ApiKey:
        """Return the key of an Authorization header, or refuse it: unknown, too narrow, or too many requests."""
        key = await self.valid(header)
        if not key.may(scope):
            raise Refused(403, "not-allowed", f"This key has the scope {key.scope}; this needs the scope {scope}.")
        now = time.monotonic()
        bucket = self._buckets.get(key.id)
        if bucket is None:
            bucket = self._buckets[key.id] = _Bucket(key.rate, now)
        if wait := bucket.take(key.rate, now):
            message = f"This key may send {key.rate:,} requests a second. Nothing was done; try again."
            raise Refused(429, "too-many", message, retry_after=max(1, round(wait)))
        return key

    async def valid(self, header: bytes) -> ApiKey:
        """Return the key of an Authorization header, or refuse it; nothing is counted."""
        now = time.monotonic()
        if now - self._read_at >= REFRESH_SECONDS:
            await self._refresh(now)
        kind, _, text = header.decode("latin-1").partition(" ")
        match = _KEY.fullmatch(text.strip())
        if match is not None and match[1] not in self._keys:
            await self._refresh(now)  # it may have been added a moment ago
        key = None if match is None else self._keys.get(match[1])
        fits = hmac.compare_digest(digest(text.strip()), _NOBODY if key is None else key.digest)
        if key is None or not fits or kind.lower() != "bearer":
            raise Refused(401, "unauthorized", "A valid API key is needed: Authorization: Bearer cb_...")
        return key

    def forget(self) -> None:
        """Read the keys again with the next request."""
        self._read_at = -REFRESH_SECONDS

    async def _refresh(self, since: float) -> None:
        """Read the keys, unless they were read since a time; unknown keys make it happen a few times a second."""
        async with self._reading:
            now = time.monotonic()
            if self._read_at >= since:
                return  # another request has just done it
            await asyncio.sleep(max(0.0, min(PAUSE_SECONDS, self._read_at + PAUSE_SECONDS - now)))
            began = time.monotonic()
            valid = await self._database.ask(lambda connection: api_keys.all_keys(connection, revoked=False))
            self._keys = {key.id: key for key in valid}
            self._buckets = {known: bucket for known, bucket in self._buckets.items() if known in self._keys}
            self._read_at = began
