"""API keys of the partner service: whose they are, what they may do, and the digest by which they are recognised."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, insert, select, update

from cobandit.web.storage.schema import api_keys

SCOPES = ("read", "play", "admin")
"""What a key may do; each scope includes those before it."""


@dataclass(frozen=True)
class ApiKey:
    """An API key as stored; ``rate`` is in requests a second."""

    id: str
    tenant: str
    label: str
    scope: str
    rate: int
    digest: str
    created_at: int
    revoked_at: int | None = None

    def may(self, scope: str) -> bool:
        """Return whether the key includes a scope."""
        return SCOPES.index(self.scope) >= SCOPES.index(scope)


def add_key(connection: Connection, key: ApiKey) -> None:
    """Store a new key."""
    connection.execute(insert(api_keys).values(**vars(key)))


def all_keys(connection: Connection, *, revoked: bool = True) -> list[ApiKey]:
    """Return every key, the oldest first; ``revoked``: with those that were revoked."""
    query = select(api_keys).order_by(api_keys.c.created_at, api_keys.c.id)
    if not revoked:
        query = query.where(api_keys.c.revoked_at.is_(None))
    return [ApiKey(**row._mapping) for row in connection.execute(query)]


def revoke_key(connection: Connection, key_id: str, now: int) -> bool:
    """Revoke a key; return False where there is none that is valid."""
    unrevoked = api_keys.c.id == key_id, api_keys.c.revoked_at.is_(None)
    return connection.execute(update(api_keys).where(*unrevoked).values(revoked_at=now)).rowcount > 0
