"""Drafts of designs: the TOML text of every saved revision."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, update

from cobandit.web.storage.schema import draft_revisions, drafts

MOST_REVISIONS = 200
"""How many revisions of a draft are stored; the oldest are deleted."""


@dataclass(frozen=True)
class Draft:
    """A draft without its text; ``revision`` is the newest one."""

    id: int
    name: str
    base_version: int | None
    revision: int
    updated_by: str
    updated_at: int


@dataclass(frozen=True)
class Revision:
    """A saved revision without its text."""

    revision: int
    by: str
    at: int


def all_drafts(connection: Connection) -> list[Draft]:
    """Return every draft, the latest change first."""
    rows = connection.execute(select(drafts).order_by(drafts.c.updated_at.desc(), drafts.c.id.desc()))
    return [Draft(**row._mapping) for row in rows]


def find_draft(connection: Connection, number: int, *, lock: bool = False) -> Draft | None:
    """Return a draft; with ``lock``, simultaneous writers wait on PostgreSQL. SQLite has one writer anyway."""
    query = select(drafts).where(drafts.c.id == number)
    row = connection.execute(query.with_for_update() if lock else query).first()
    return None if row is None else Draft(**row._mapping)


def add_draft(connection: Connection, name: str, base_version: int | None, text: str, by: str, now: int) -> int:
    """Add a draft whose first revision is a text; return its number."""
    values = {"name": name, "base_version": base_version, "revision": 1, "updated_by": by, "updated_at": now}
    number = connection.execute(insert(drafts).values(**values).returning(drafts.c.id)).scalar_one()
    connection.execute(insert(draft_revisions).values(draft_id=number, revision=1, text=text, by=by, at=now))
    return int(number)


def add_revision(connection: Connection, draft: Draft, name: str, text: str, by: str, now: int) -> int:
    """Store the next revision of a draft, which the caller has locked; return its number."""
    revision = draft.revision + 1
    here = draft_revisions.c.draft_id == draft.id
    connection.execute(insert(draft_revisions).values(draft_id=draft.id, revision=revision, text=text, by=by, at=now))
    connection.execute(delete(draft_revisions).where(here, draft_revisions.c.revision <= revision - MOST_REVISIONS))
    values = {"name": name, "revision": revision, "updated_by": by, "updated_at": now}
    connection.execute(update(drafts).where(drafts.c.id == draft.id).values(**values))
    return revision


def set_base_version(connection: Connection, number: int, version: int) -> None:
    """Store the version that a draft was published as."""
    connection.execute(update(drafts).where(drafts.c.id == number).values(base_version=version))


def revisions_of(connection: Connection, number: int) -> list[Revision]:
    """Return the stored revisions of a draft, the newest first."""
    columns = draft_revisions.c.revision, draft_revisions.c.by, draft_revisions.c.at
    query = select(*columns).where(draft_revisions.c.draft_id == number)
    return [Revision(*row) for row in connection.execute(query.order_by(draft_revisions.c.revision.desc()))]


def text_of(connection: Connection, number: int, revision: int) -> str | None:
    """Return the text of a revision, or None if it is not stored."""
    query = select(draft_revisions.c.text).where(
        draft_revisions.c.draft_id == number, draft_revisions.c.revision == revision
    )
    return connection.execute(query).scalar()


def delete_draft(connection: Connection, number: int) -> None:
    """Delete a draft with its revisions."""
    connection.execute(delete(drafts).where(drafts.c.id == number))
