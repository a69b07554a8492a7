"""Personal links for the people a researcher invites."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence

from cobandit.base.errors import InvalidInput
from cobandit.base.json_types import JsonObject
from cobandit.web.refusals import conflict
from cobandit.web.roles import Viewer
from cobandit.web.security import new_token
from cobandit.web.services.paging import LARGEST_PAGE, Page, Part, all_rows
from cobandit.web.services.studies import stored_study
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.participants import (
    add_participant,
    invited_participants,
    known_labels,
    new_public_id,
    status,
)
from cobandit.web.storage.studies import Study, locked_study
from cobandit.web.storage.values import now_ms

MOST_LINKS = 500
MOST_LABELS_LISTED = 20


def _link(public_id: str, label: str | None, token: str, kind: str, status: str) -> dict[str, object]:
    return {"participant": public_id, "label": label, "path": f"/p/{token}", "kind": kind, "status": status}


async def make_links(
    database: Database, number: int, labels: Sequence[str | None], kind: str, viewer: Viewer, *, repeat: bool = False
) -> list[JsonObject]:
    """Invite as many people as there are labels, and return their personal links.

    A label names one person. Labels that exist already are refused, unless ``repeat`` allows another link for them.
    """
    viewer.require("invitations")
    if not 1 <= len(labels) <= MOST_LINKS:
        raise InvalidInput(f"The number of links must be from 1 to {MOST_LINKS}, got {len(labels)}.")
    invitations = [(new_public_id(), label, new_token()) for label in labels]

    def job(connection: Connection) -> None:
        stored_study(connection, number)
        if not repeat:
            _refuse_known_labels(locked_study(connection, number), labels, kind, connection)
        now = now_ms()
        for public_id, label, token in invitations:
            add_participant(
                connection, study_id=number, public_id=public_id, token=token, kind=kind, label=label, created_at=now
            )

    await database.commit(job)
    return [_link(public_id, label, token, kind, "invited") for public_id, label, token in invitations]


def _refuse_known_labels(study: Study, labels: Sequence[str | None], kind: str, connection: Connection) -> None:
    """Refuse labels that have a link already, or that are given twice; the study is locked meanwhile."""
    given = Counter(label for label in labels if label is not None)
    known = known_labels(connection, study.id, kind, list(given))
    existing = [label for label in given if label in known]
    twice = [label for label, count in given.items() if count > 1 and label not in known]
    if existing or twice:
        parts = [("Labels that have a link already", existing), ("Labels that are given more than once", twice)]
        sentences = [f"{what}: {_listed(repeated)}." for what, repeated in parts if repeated]
        raise conflict("label-exists", " ".join([*sentences, "No link was created."]))


def _listed(labels: list[str]) -> str:
    more = len(labels) - MOST_LABELS_LISTED
    return ", ".join(labels[:MOST_LABELS_LISTED]) + (f" and {more} more" if more > 0 else "")


async def list_links(
    database: Database, number: int, kind: str, viewer: Viewer, part: Part, *, newest: bool = False
) -> Page:
    """Return a page of the personal links of all invited people."""
    viewer.require("links")

    def ask(connection: Connection) -> Page:
        study = stored_study(connection, number)
        page = _page(study, kind, connection, part.offset, part.limit or LARGEST_PAGE, newest=newest)
        return page.check(part, "personal links")

    return await database.ask(ask, heavy=True)


async def all_links(database: Database, number: int, kind: str, viewer: Viewer) -> list[JsonObject]:
    """Return every personal link, for a file; the list is read page by page."""
    viewer.require("links")

    def ask(connection: Connection) -> list[JsonObject]:
        return list(all_rows(connection, functools.partial(_page, stored_study(connection, number), kind)))

    return await database.ask(ask, heavy=True)


def _page(study: Study, kind: str, connection: Connection, offset: int, limit: int, *, newest: bool = False) -> Page:
    total, people = invited_participants(connection, study.id, kind, offset, limit, newest=newest)
    now = now_ms()
    links = [
        _link(person.public_id, person.label, person.token, person.kind, status(person, study.design, now))
        for person in people
    ]
    return Page(total, offset, links)
