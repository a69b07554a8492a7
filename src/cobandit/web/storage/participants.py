"""Participants: who they are and how far they have come."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol

from sqlalchemy import Connection, Row, bindparam, delete, func, insert, select, update

from cobandit.studies import StudyDesign
from cobandit.web.storage.schema import answers, members, participants, teams, withdrawals

DEMO_MS = 86_400_000
"""How long a demo is kept: a day."""

REMOVED = "removed"
"""The ending, and the status, of people whom a researcher has taken out of the study; their data stay."""

_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"  # nothing that looks like something else


@dataclass(frozen=True)
class Participant:
    """A participant as stored; times are milliseconds since 1970. Seed and order are empty until consent."""

    id: int
    study_id: int
    public_id: str
    token: str
    kind: str
    label: str | None
    recruiter: str | None
    external_id: str | None
    seed: int | None
    order_index: int | None
    language: str | None
    quiz_attempts: int
    revision: int
    created_at: int
    consented_at: int | None
    last_seen: int | None
    finished_at: int | None
    ending: str | None = None
    recruiting: str | None = None


class _Times(Protocol):
    @property
    def consented_at(self) -> int | None: ...
    @property
    def last_seen(self) -> int | None: ...
    @property
    def finished_at(self) -> int | None: ...
    @property
    def ending(self) -> str | None: ...


def active_since(design: StudyDesign, now: int) -> int:
    """Return the time of the last activity before which participants count as dropped out."""
    return now - design.limits.idle_seconds * 1000


def status(person: _Times, design: StudyDesign, now: int) -> str:
    """Return a participant's status: active, idle (unseen since the warning), dropped, only invited, finished, or
    removed by a researcher.

    People who were screened out or have withdrawn count as dropped.
    """
    if person.ending is not None:
        return REMOVED if person.ending == REMOVED else "dropped"
    if person.finished_at is not None:
        return "finished"
    if person.consented_at is None:
        return "invited"
    seen = person.last_seen or person.consented_at
    if seen < active_since(design, now):
        return "dropped"
    return "idle" if seen < now - design.limits.warn_seconds * 1000 else "active"


ALL_PARTICIPANTS = select(*(participants.c[spec.name] for spec in fields(Participant)))


def participant_of(row: Row[Any]) -> Participant:
    """Return a participant out of a row of `ALL_PARTICIPANTS`."""
    values = row._asdict()
    return Participant(**values | {"seed": None if row.seed is None else int(row.seed)})


def _first(connection: Connection, *where: Any, lock: bool = False) -> Participant | None:
    query = ALL_PARTICIPANTS.where(*where)
    row = connection.execute(query.with_for_update() if lock else query).first()
    return None if row is None else participant_of(row)


# Finding


def participant_by_token(connection: Connection, token: str) -> Participant | None:
    """Return the participant of a personal link."""
    return _first(connection, participants.c.token == token)


def participant_by_public_id(
    connection: Connection, study: int, public_id: str, *, lock: bool = False
) -> Participant | None:
    """Return the participant of a pseudonym; ``lock`` makes other transactions that write to the row wait."""
    here = participants.c.study_id == study, participants.c.public_id == public_id
    return _first(connection, *here, lock=lock)


def participant_by_key(connection: Connection, study: int, key: str) -> Participant | None:
    """Return the participant whom a page has made with its key."""
    return _first(connection, participants.c.study_id == study, participants.c.key == key)


def participant_by_recruiter(
    connection: Connection, study: int, kind: str, recruiter: str, external_id: str
) -> Participant | None:
    """Return the participant of this kind whom a recruiting service knows by an id."""
    return _first(
        connection,
        participants.c.study_id == study,
        participants.c.kind == kind,
        participants.c.recruiter == recruiter,
        participants.c.external_id == external_id,
    )


def participants_of(connection: Connection, study: int, *kinds: str) -> list[Participant]:
    """Return all participants of a study, or of these kinds, in the order of creation."""
    query = ALL_PARTICIPANTS.where(participants.c.study_id == study).order_by(participants.c.id)
    rows = connection.execute(query.where(participants.c.kind.in_(kinds)) if kinds else query)
    return [participant_of(row) for row in rows]


def invited_participants(
    connection: Connection, study: int, kind: str, offset: int, limit: int, *, newest: bool = False
) -> tuple[int, list[Participant]]:
    """Return how many people were invited by a personal link, and a page of them, the first or ``newest`` first."""
    # Participants from the open link have a key of the page; invited people have none.
    where = participants.c.study_id == study, participants.c.kind == kind, participants.c.key.is_(None)
    order = participants.c.id.desc() if newest else participants.c.id
    return _page_of(connection, where, (order,), offset, limit)


def known_labels(connection: Connection, study: int, kind: str, labels: Sequence[str]) -> set[str]:
    """Return those of some labels that have a personal link already."""
    query = select(participants.c.label).where(
        participants.c.study_id == study,
        participants.c.kind == kind,
        participants.c.key.is_(None),
        participants.c.label.in_(labels),
    )
    return set(connection.scalars(query))


def finished_participants(
    connection: Connection, study: int, kind: str, offset: int, limit: int
) -> tuple[int, list[Participant]]:
    """Return how many people have finished or were screened out, and a page of them, the first first."""
    here = participants.c.study_id == study, participants.c.kind == kind, participants.c.finished_at.is_not(None)
    where = (*here, func.coalesce(participants.c.ending, "") != "withdrew")
    return _page_of(connection, where, (participants.c.finished_at, participants.c.id), offset, limit)


def _page_of(
    connection: Connection, where: Sequence[Any], order: Sequence[Any], offset: int, limit: int
) -> tuple[int, list[Participant]]:
    total = connection.scalar(select(func.count()).select_from(participants).where(*where)) or 0
    query = ALL_PARTICIPANTS.where(*where).order_by(*order).offset(offset).limit(limit)
    return total, [participant_of(row) for row in connection.execute(query)]


def revision_of(connection: Connection, token: str) -> int | None:
    """Return how often the participant was written, None where there is none of this link."""
    return connection.scalar(select(participants.c.revision).where(participants.c.token == token))


def latest_activity(connection: Connection, study: int) -> tuple[int | None, int, int | None]:
    """Return values that change with every action: time of the last activity, number of participants, number of
    writes.
    """
    columns = func.max(participants.c.last_seen), func.count(), func.sum(participants.c.revision)
    seen, count, written = connection.execute(select(*columns).where(participants.c.study_id == study)).one()
    return seen, count, written


# Writing


def new_public_id() -> str:
    """Return a pseudonym."""
    return "p-" + "".join(secrets.choice(_ALPHABET) for _ in range(8))


def add_participant(connection: Connection, **values: Any) -> int:
    """Add a participant and return the number in the database; fields that are not given are empty."""
    result = connection.execute(
        insert(participants).values(**({"public_id": new_public_id(), "quiz_attempts": 0, "revision": 0} | values))
    )
    assert result.inserted_primary_key is not None
    return int(result.inserted_primary_key[0])


_TOUCH = (
    update(participants)
    .where(participants.c.id == bindparam("b_id"), participants.c.revision == bindparam("b_revision"))
    .values(revision=participants.c.revision + 1, last_seen=bindparam("b_now"))
)


class Stale(Exception):
    """Another process has written to this participant since it was read."""


def touch(connection: Connection, participant: int, revision: int, now: int, **changes: Any) -> None:
    """Write to a participant, which must be unchanged since it was read."""
    statement = _TOUCH.values(**changes) if changes else _TOUCH
    result = connection.execute(statement, {"b_id": participant, "b_revision": revision, "b_now": now})
    if result.rowcount != 1:
        raise Stale


def participants_by_ids(connection: Connection, numbers: Sequence[int]) -> dict[int, Participant]:
    """Return some participants by their number in the database."""
    rows = connection.execute(ALL_PARTICIPANTS.where(participants.c.id.in_(numbers)))
    return {row.id: participant_of(row) for row in rows}


def update_participants(connection: Connection, numbers: Sequence[int], **changes: Any) -> None:
    """Change participants whatever their revision, which grows; every process reads them again."""
    there = update(participants).where(participants.c.id.in_(numbers))
    connection.execute(there.values(revision=participants.c.revision + 1, **changes))


def mark_seen(connection: Connection, token: str, now: int) -> bool:
    """Record that the person of a link is there; return whether there is such a person."""
    there = update(participants).where(participants.c.token == token).values(last_seen=now)
    return connection.execute(there).rowcount == 1


def delete_demos(connection: Connection, before: int) -> int:
    """Delete what was tried out before a time, or by a clock far ahead of its time; how many there were."""
    created = participants.c.created_at
    out_of_time = (created < before) | (created > before + 2 * DEMO_MS)
    gone = connection.execute(delete(participants).where(participants.c.kind == "demo", out_of_time)).rowcount
    connection.execute(delete(withdrawals).where(withdrawals.c.kind == "demo", withdrawals.c.at < before))
    _delete_empty_teams(connection)
    return gone


def delete_participant(connection: Connection, study: int, public_id: str) -> bool:
    """Delete a participant with all data; return whether there was such a participant."""
    result = connection.execute(
        delete(participants).where(participants.c.study_id == study, participants.c.public_id == public_id)
    )
    _delete_empty_teams(connection)
    return result.rowcount == 1


def _delete_empty_teams(connection: Connection) -> None:
    """Delete teams without remaining members, together with their episodes."""
    somebody = select(members.c.team_id).where(members.c.participant_id.is_not(None))
    connection.execute(delete(teams).where(teams.c.id.not_in(somebody)))


def delete_rehearsals(connection: Connection, study: int) -> int:
    """Delete every simulated participant of a study; how many there were."""
    gone = connection.execute(
        delete(participants).where(participants.c.study_id == study, participants.c.kind == "rehearsal")
    ).rowcount
    connection.execute(delete(withdrawals).where(withdrawals.c.study_id == study, withdrawals.c.kind == "rehearsal"))
    _delete_empty_teams(connection)
    return gone


def delete_consented(connection: Connection, study: int) -> None:
    """Delete all participants who have begun; invited people keep their links, and caches read them again."""
    connection.execute(
        delete(participants).where(participants.c.study_id == study, participants.c.consented_at.is_not(None))
    )
    connection.execute(delete(withdrawals).where(withdrawals.c.study_id == study))
    _delete_empty_teams(connection)
    connection.execute(
        update(participants).where(participants.c.study_id == study).values(revision=participants.c.revision + 1)
    )


# Counting


def consented_by_kind(connection: Connection, study: int) -> dict[str, int]:
    """Return how many of each kind have begun."""
    rows = connection.execute(
        select(participants.c.kind, func.count())
        .where(participants.c.study_id == study, participants.c.consented_at.is_not(None))
        .group_by(participants.c.kind)
    )
    return {kind: int(count) for kind, count in rows}


def active_by_kind(connection: Connection, since: int) -> dict[str, int]:
    """Return how many of each kind, in all studies, were seen since a time and have not finished."""
    rows = connection.execute(
        select(participants.c.kind, func.count())
        .where(participants.c.last_seen >= since, participants.c.finished_at.is_(None), participants.c.ending.is_(None))
        .group_by(participants.c.kind)
    )
    return {kind: int(count) for kind, count in rows}


def seeds_taken(connection: Connection, study: int, kind: str, order: int, since: int) -> list[int]:
    """Return the seeds of those with an order who have finished, or have been seen since a time."""
    query = select(participants.c.seed).where(
        participants.c.study_id == study,
        participants.c.kind == kind,
        participants.c.order_index == order,
        participants.c.ending.is_(None),
        participants.c.finished_at.is_not(None) | (participants.c.last_seen >= since),
    )
    return [int(seed) for seed in connection.scalars(query) if seed is not None]


def people_before_assignment(connection: Connection, study: int, kind: str, since: int) -> int:
    """Return how many have agreed, are there since a time and have no order yet."""
    query = select(func.count()).where(
        participants.c.study_id == study,
        participants.c.kind == kind,
        participants.c.consented_at.is_not(None),
        participants.c.order_index.is_(None),
        participants.c.ending.is_(None),
        participants.c.last_seen >= since,
    )
    return connection.scalar(query) or 0


def orders_and_answers(connection: Connection, study: int, kind: str, since: int) -> list[tuple[int, bool, Any]]:
    """Return order, whether they have finished, and the answers about the person, of all who count in a study."""
    finished = participants.c.finished_at.is_not(None)
    query = select(participants.c.order_index, finished, answers.c.answers).join(
        answers, (answers.c.participant_id == participants.c.id) & (answers.c.step == "demographics")
    )
    query = query.where(
        participants.c.study_id == study,
        participants.c.kind == kind,
        participants.c.order_index.is_not(None),
        participants.c.ending.is_(None),
        finished | (participants.c.last_seen >= since),
    )
    return [(order, bool(done), json.loads(given)) for order, done, given in connection.execute(query)]


def orders_taken(connection: Connection, study: int, kind: str, since: int) -> dict[tuple[int, bool], int]:
    """Return how many have each order, by order and whether they have finished; who has left before a time does not
    count.
    """
    finished = participants.c.finished_at.is_not(None)
    rows = connection.execute(
        select(participants.c.order_index, finished, func.count())
        .where(
            participants.c.study_id == study,
            participants.c.kind == kind,
            participants.c.order_index.is_not(None),
            participants.c.ending.is_(None),
            finished | (participants.c.last_seen >= since),
        )
        .group_by(participants.c.order_index, finished)
    )
    return {(order, bool(done)): int(count) for order, done, count in rows}
