"""A whole study out of the database, in the form that export, verification and analysis take."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Connection, Row, select

from cobandit.studies import Episode, StudyDesign
from cobandit.studies.data import Answer, EpisodeData, EventData, ParticipantData, StudyData, moment
from cobandit.studies.plan import EpisodePlan
from cobandit.web.storage.rounds import round_columns
from cobandit.web.storage.schema import answers, episodes, events, participants
from cobandit.web.storage.store import Study, active_since, now_ms


def status(row: Row[Any], design: StudyDesign, now: int) -> str:
    """How far a participant has come: invited, active, dropped or finished."""
    if row.finished_at is not None:
        return "finished"
    if row.consented_at is None:
        return "invited"
    return "active" if (row.last_seen or 0) >= active_since(design, now) else "dropped"


def census(connection: Connection, study: Study) -> dict[str, int]:
    """How many people are how far, and how many rehearsals there are."""
    people = connection.execute(select(participants).where(participants.c.study_id == study.id)).all()
    made = dict.fromkeys(("finished", "active", "dropped", "invited", "rehearsals"), 0)
    now = now_ms()
    for person in people:
        if person.kind == "real":
            made[status(person, study.design, now)] += 1
        made["rehearsals"] += person.kind == "rehearsal"
    return made


def study_data(connection: Connection, study: Study, *kinds: str, participant: str | None = None) -> StudyData:
    """Everybody of these kinds (real ones, where none is named), or one participant by pseudonym."""
    query = select(participants).where(participants.c.study_id == study.id).order_by(participants.c.id)
    if participant is not None:
        query = query.where(participants.c.public_id == participant)
    else:
        query = query.where(participants.c.kind.in_(kinds or ("real",)))
    now = now_ms()
    people = [_participant(connection, row, study.design, now) for row in connection.execute(query).all()]
    return StudyData(
        design=study.design,
        participants=tuple(people),
        seed=study.seed,
        versions=dict(study.versions),
        plan=study.plan,
        plan_digest=study.plan_digest,
        about={"plan_fixed_at": None if study.plan_fixed_at is None else _iso(study.plan_fixed_at)},
    )


def _iso(milliseconds: int) -> str:
    made = moment(milliseconds)
    assert made is not None
    return made.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _participant(connection: Connection, row: Row[Any], design: StudyDesign, now: int) -> ParticipantData:
    given = connection.execute(select(answers).where(answers.c.participant_id == row.id).order_by(answers.c.at))
    happened = connection.execute(select(events).where(events.c.participant_id == row.id).order_by(events.c.id))
    played = connection.execute(
        select(episodes).where(episodes.c.participant_id == row.id).order_by(episodes.c.number)
    ).all()
    bare = ParticipantData(
        id=row.public_id,
        kind=row.kind,
        status=status(row, design, now),
        seed=None if row.seed is None else int(row.seed),
        order=row.order_index,
        language=row.language,
        recruiter=row.recruiter,
        external_id=row.external_id,
        consented_at=moment(row.consented_at),
        started_at=moment(min((episode.opened_at for episode in played), default=None)),
        finished_at=moment(row.finished_at),
        answers={answer.step: Answer(json.loads(answer.answers), moment(answer.at), answer.ms) for answer in given},
        quiz_attempts=row.quiz_attempts,
        events=tuple(EventData(moment(event.at), event.kind, json.loads(event.data)) for event in happened),
    )
    plan = bare.plan(design)
    if plan is None:
        return bare
    logs = {episode.number: _episode(connection, episode, plan.episode(episode.number)) for episode in played}
    object.__setattr__(bare, "episodes", logs)
    return bare


def _episode(connection: Connection, row: Row[Any], plan: EpisodePlan) -> EpisodeData:
    return EpisodeData.of_columns(
        round_columns(connection, row.id),
        # With a warm start the counted rounds hang on its last hash, which playing it again gives.
        start=Episode.open(plan).head if plan.warm_rounds else plan.start,
        head=row.head,
        opened_at=moment(row.opened_at),
        finished_at=moment(row.finished_at),
    )
