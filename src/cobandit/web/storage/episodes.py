"""Episodes: how far each participant has played each of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Row, and_, case, func, insert, select, union_all

from cobandit.studies import Episode
from cobandit.studies.plan import PRACTICE
from cobandit.web.storage.schema import episodes, members, participants, teams

_CONTENTS = tuple(
    episodes.c[name] for name in ("id", "number", "condition", "played", "head", "opened_at", "finished_at")
)

plays = union_all(
    select(episodes.c.participant_id, *_CONTENTS).where(episodes.c.participant_id.is_not(None)),
    select(members.c.participant_id, *_CONTENTS)
    .join(members, members.c.team_id == episodes.c.team_id)
    .where(members.c.participant_id.is_not(None)),
).subquery("plays")
"""Who has played which episode: an episode of a team belongs to each of its members."""

_WITH_PEOPLE = plays.join(participants, participants.c.id == plays.c.participant_id)


@dataclass(frozen=True)
class StoredEpisode:
    """Where an episode stands; ``number`` is its place in the participant's plan, ``head`` its latest hash."""

    id: int
    number: int
    condition: str
    played: int
    head: str
    opened_at: int
    finished_at: int | None


@dataclass(frozen=True)
class FinishedEpisode:
    """A finished episode, and what its participant's plan is made from."""

    id: int
    participant: int
    number: int
    condition: str
    finished_at: int
    seed: int
    order_index: int


class FinishedMark(NamedTuple):
    """How many episodes are finished, and the sum of their numbers: two sets of them hardly ever share both."""

    finished: int
    numbers: int


def _record(row: Row[Any]) -> StoredEpisode:
    return StoredEpisode(row.id, row.number, row.condition, row.played, row.head, row.opened_at, row.finished_at)


def episodes_of(connection: Connection, participant: int) -> list[StoredEpisode]:
    """Return the episodes that a participant has begun, in their order."""
    query = select(plays).where(plays.c.participant_id == participant).order_by(plays.c.number)
    return [_record(row) for row in connection.execute(query)]


def episodes_by_participant(connection: Connection, people: Sequence[int]) -> dict[int, list[StoredEpisode]]:
    """Return the episodes that some people have begun, in their order."""
    query = select(plays).where(plays.c.participant_id.in_(people))
    begun: dict[int, list[StoredEpisode]] = defaultdict(list)
    for row in connection.execute(query.order_by(plays.c.participant_id, plays.c.number)):
        begun[row.participant_id].append(_record(row))
    return begun


def rounds_played(connection: Connection, study: int) -> dict[int, int]:
    """Return how many rounds each participant of a study has played."""
    query = select(plays.c.participant_id, func.sum(plays.c.played)).select_from(_WITH_PEOPLE)
    query = query.where(participants.c.study_id == study).group_by(plays.c.participant_id)
    return {person: int(played) for person, played in connection.execute(query)}


def find_episode(connection: Connection, participant: int, number: int) -> StoredEpisode | None:
    """Return an episode by its place in the participant's plan."""
    row = connection.execute(
        select(plays).where(plays.c.participant_id == participant, plays.c.number == number)
    ).first()
    return None if row is None else _record(row)


def count_episodes(connection: Connection, participant: int) -> int:
    """Return how many episodes a participant has begun."""
    theirs = plays.c.participant_id == participant
    return connection.scalar(select(func.count()).select_from(plays).where(theirs)) or 0


def _finished(study: int, kind: str) -> ColumnElement[bool]:
    """Return which episodes count as finished: those of practice do not."""
    return and_(
        participants.c.study_id == study,
        participants.c.kind == kind,
        plays.c.finished_at.is_not(None),
        plays.c.condition != PRACTICE,
    )


def finished_episodes(connection: Connection, study: int, kind: str, since: int | None = None) -> list[FinishedEpisode]:
    """Return every finished episode that counts; with ``since``, those finished then or later."""
    own = (plays.c.id, plays.c.participant_id, plays.c.number, plays.c.condition, plays.c.finished_at)
    # In a team, luck and means come from the seed of the team.
    joined = _WITH_PEOPLE.outerjoin(members, members.c.participant_id == participants.c.id)
    joined = joined.outerjoin(teams, teams.c.id == members.c.team_id)
    seed = func.coalesce(teams.c.seed, participants.c.seed).label("seed")
    query = select(*own, seed, participants.c.order_index).select_from(joined)
    query = query.where(_finished(study, kind))
    if since is not None:
        query = query.where(plays.c.finished_at >= since)
    rows = connection.execute(query.order_by(plays.c.id))
    return [FinishedEpisode(*row[:5], int(row.seed), row.order_index) for row in rows]


def finished_mark(connection: Connection, study: int, kind: str) -> FinishedMark:
    """Return a fingerprint of the finished episodes that count; it changes whenever they change."""
    query = select(func.count(), func.coalesce(func.sum(plays.c.id), 0)).select_from(_WITH_PEOPLE)
    count, total = connection.execute(query.where(_finished(study, kind))).one()
    return FinishedMark(int(count), int(total))


@dataclass(frozen=True)
class Progress:
    """What a participant has done of one condition."""

    rounds: int
    finished_episodes: int


def progress_by_condition(connection: Connection, people: Sequence[int]) -> dict[int, dict[str, Progress]]:
    """Return how far some people are, by participant and condition."""
    query = (
        select(
            plays.c.participant_id,
            plays.c.condition,
            func.sum(plays.c.played),
            func.count(plays.c.finished_at),
        )
        .where(plays.c.participant_id.in_(people))
        .group_by(plays.c.participant_id, plays.c.condition)
    )
    progress: dict[int, dict[str, Progress]] = defaultdict(dict)
    for person, condition, played, finished in connection.execute(query):
        progress[person][condition] = Progress(int(played), int(finished))
    return progress


def running_episodes(connection: Connection, people: Sequence[int]) -> dict[int, tuple[int, int]]:
    """Return which episode is under way, and how many rounds of it are played, by participant among some people."""
    query = select(plays.c.participant_id, plays.c.number, plays.c.played).where(
        plays.c.participant_id.in_(people), plays.c.finished_at.is_(None)
    )
    return {person: (number, played) for person, number, played in connection.execute(query)}


@dataclass(frozen=True)
class ConditionCounts:
    """How many people have begun and finished a condition, and how many episodes and rounds they have played of it."""

    begun: int = 0
    finished: int = 0
    episodes: int = 0
    rounds: int = 0


def counts_by_condition(connection: Connection, study: int, kind: str, needed: int) -> dict[str, ConditionCounts]:
    """Return the progress by condition; a condition is finished after ``needed`` episodes."""
    each = (
        select(
            plays.c.condition,
            func.sum(plays.c.played).label("rounds"),
            func.count(plays.c.finished_at).label("finished"),
        )
        .join(participants, participants.c.id == plays.c.participant_id)
        .where(participants.c.study_id == study, participants.c.kind == kind)
        .group_by(plays.c.participant_id, plays.c.condition)
        .subquery()
    )
    done = func.sum(case((each.c.finished == needed, 1), else_=0))
    query = select(each.c.condition, func.count(), done, func.sum(each.c.finished), func.sum(each.c.rounds))
    rows = connection.execute(query.group_by(each.c.condition))
    return {condition: ConditionCounts(*map(int, counts)) for condition, *counts in rows}


def add_episode(
    connection: Connection, participant: int, episode: Episode, opened_at: int, finished_at: int | None
) -> int:
    """Store an episode as it is after its first rounds; return its id in the database."""
    result = connection.execute(
        insert(episodes).values(
            participant_id=participant,
            number=episode.plan.index,
            condition=episode.plan.condition,
            played=episode.played,
            head=episode.head,
            opened_at=opened_at,
            finished_at=finished_at,
        )
    )
    assert result.inserted_primary_key is not None
    return int(result.inserted_primary_key[0])
