"""Lists of participants for the researcher: counted, filtered, sorted and paged by the database.

Counting in the database does not slow down participants; creating ten thousand Python objects would.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Float, and_, case, cast, func, literal, or_, select

from cobandit.studies import StudyDesign
from cobandit.studies.journey import journey
from cobandit.studies.plan import PRACTICE
from cobandit.web.storage.participants import ALL_PARTICIPANTS, REMOVED, Participant, active_since, participant_of
from cobandit.web.storage.schema import answers, episodes, participants
from cobandit.web.storage.studies import Study

STATUSES = ("active", "idle", "dropped", "invited", "finished", REMOVED)
SORTS = ("made", "participant", "status", "progress", "last_seen", "started_at", "order")


@dataclass(frozen=True)
class Listing:
    """Which people are wanted, in which order, and which part of the list; ``search`` is a part of an id or label."""

    kind: str = "real"
    status: str | None = None
    search: str = ""
    sort: str = "made"
    down: bool = False
    offset: int = 0
    limit: int = 100


@dataclass(frozen=True)
class Headcount:
    """The number of participants of a kind, with an order of conditions and a status."""

    kind: str
    order_index: int | None
    status: str
    count: int


def status_rank(design: StudyDesign, now: int) -> ColumnElement[int]:
    """Return a participant's status, as `status` computes it, as the index in `STATUSES`."""
    seen = func.coalesce(participants.c.last_seen, participants.c.consented_at)
    return case(
        (participants.c.ending == REMOVED, STATUSES.index(REMOVED)),
        (participants.c.ending.is_not(None), STATUSES.index("dropped")),
        (participants.c.finished_at.is_not(None), STATUSES.index("finished")),
        (participants.c.consented_at.is_(None), STATUSES.index("invited")),
        (seen < active_since(design, now), STATUSES.index("dropped")),
        (seen < now - design.limits.warn_seconds * 1000, STATUSES.index("idle")),
        else_=STATUSES.index("active"),
    )


def headcounts(connection: Connection, study: Study, now: int) -> Iterator[Headcount]:
    """Yield how many people of a study are how far, by kind and order."""
    columns = participants.c.kind, participants.c.order_index, status_rank(study.design, now).label("rank")
    query = select(*columns, func.count()).where(participants.c.study_id == study.id)
    for kind, order, rank, count in connection.execute(query.group_by(*columns[:2], "rank")):
        yield Headcount(kind, order, STATUSES[rank], int(count))


def list_people(
    connection: Connection,
    study: Study,
    wanted: Listing,
    now: int,
    order_ranks: Sequence[int] | None = None,
    *,
    shares: bool = True,
) -> tuple[int, list[Participant]]:
    """Return how many people fit, and those on the page; ``order_ranks`` sorts orders otherwise than the design.

    Progress includes the share that is played of an episode; without ``shares``, finished steps alone.
    """
    fits = _fits(study, wanted, now)
    total = connection.scalar(select(func.count()).select_from(participants).where(fits)) or 0
    query = ALL_PARTICIPANTS.where(fits)
    ties = participants.c.id if wanted.sort == "made" else participants.c.public_id
    key = _sort_key(study.design, wanted.sort, now, order_ranks)
    if wanted.sort == "progress":
        done, finished = _steps_done(study.id, wanted.kind), _episodes_done(study, wanted.kind)
        query = query.outerjoin(done, done.c.participant_id == participants.c.id)
        query = query.outerjoin(finished, finished.c.participant_id == participants.c.id)
        key = _progress(study.design, done, finished, shares=shares)
    ordered = [ties] if key is None else [key, ties]
    query = query.order_by(*(column.desc() if wanted.down else column.asc() for column in ordered))
    return total, [participant_of(row) for row in connection.execute(query.offset(wanted.offset).limit(wanted.limit))]


def _fits(study: Study, wanted: Listing, now: int) -> ColumnElement[bool]:
    where = [participants.c.study_id == study.id, participants.c.kind == wanted.kind]
    if wanted.status is not None:
        where.append(status_rank(study.design, now) == STATUSES.index(wanted.status))
    if wanted.search:
        texts = participants.c.public_id, participants.c.label, participants.c.external_id
        where.append(or_(*(_contains(text, wanted.search) for text in texts)))
    return and_(*where)


def _contains(text: ColumnElement[Any], part: str) -> ColumnElement[bool]:
    """Match regardless of case; SQLite folds only ASCII letters, so the exact text matches, too."""
    return func.lower(text).contains(part.lower(), autoescape=True) | text.contains(part, autoescape=True)


def _sort_key(design: StudyDesign, sort: str, now: int, order_ranks: Sequence[int] | None) -> ColumnElement[Any] | None:
    """Return the sort key of participants; None: by id, or by a key that needs other tables."""
    order: ColumnElement[Any] = participants.c.order_index
    if order_ranks is not None:
        order = case(dict(enumerate(order_ranks)), value=participants.c.order_index)
    keys: dict[str, ColumnElement[Any]] = {
        "status": status_rank(design, now),
        "last_seen": func.coalesce(participants.c.last_seen, 0),
        "started_at": func.coalesce(participants.c.consented_at, participants.c.created_at),
        "order": func.coalesce(order, -1),
    }
    return keys.get(sort)


def _steps_done(study: int, kind: str) -> Any:
    theirs = select(answers.c.participant_id, func.count().label("answered"))
    theirs = theirs.join(participants, participants.c.id == answers.c.participant_id)
    theirs = theirs.where(participants.c.study_id == study, participants.c.kind == kind)
    return theirs.group_by(answers.c.participant_id).subquery("done")


def _episodes_done(study: Study, kind: str) -> Any:
    """Finished episodes, and the share that is played of the one under way."""
    design = study.design
    practice = design.rounds if design.practice is None else design.practice.rounds
    own = {entry.name: entry.rounds for entry in design.conditions if entry.rounds is not None}
    length = case({PRACTICE: practice} | own, value=episodes.c.condition, else_=design.rounds)
    under_way = case((episodes.c.finished_at.is_(None), episodes.c.played / cast(length, Float)), else_=0.0)
    theirs = select(
        episodes.c.participant_id,
        func.count(episodes.c.finished_at).label("finished"),
        func.sum(under_way).label("share"),
    )
    theirs = theirs.join(participants, participants.c.id == episodes.c.participant_id)
    theirs = theirs.where(participants.c.study_id == study.id, participants.c.kind == kind)
    return theirs.group_by(episodes.c.participant_id).subquery("played")


def _progress(design: StudyDesign, done: Any, finished: Any, *, shares: bool) -> ColumnElement[float]:
    """Return the completed steps, with the share of the current episode if wanted; finished participants have all."""
    last = len(journey(design).steps) - 1
    behind = func.coalesce(done.c.answered, 0) + func.coalesce(finished.c.finished, 0)
    so_far = behind + func.coalesce(finished.c.share, 0.0) if shares else behind
    return case((participants.c.finished_at.is_not(None), literal(float(last))), else_=so_far)
