"""A whole study out of the database, in the form that export, verification and analysis take."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import Connection

from cobandit.studies import Episode, StudyDesign
from cobandit.studies.data import Answer, EpisodeData, EventData, ParticipantData, StudyData, moment
from cobandit.studies.plan import EpisodePlan
from cobandit.studies.rounds import hash_version
from cobandit.web.storage.answers import answers_of
from cobandit.web.storage.episodes import StoredEpisode, episodes_of
from cobandit.web.storage.events import events_of
from cobandit.web.storage.participants import Participant, participant_by_public_id, participants_of, status
from cobandit.web.storage.rounds import round_columns
from cobandit.web.storage.studies import Study
from cobandit.web.storage.values import now_ms


def _status(person: Participant, design: StudyDesign, now: int) -> str:
    """As data, somebody idle still takes part."""
    current = status(person, design, now)
    return "active" if current == "idle" else current


def census(connection: Connection, study: Study) -> dict[str, int]:
    """How many people are how far, and how many rehearsals there are."""
    counts = dict.fromkeys(("finished", "active", "dropped", "invited", "rehearsals"), 0)
    now = now_ms()
    for person in participants_of(connection, study.id, "real", "rehearsal"):
        counts["rehearsals" if person.kind == "rehearsal" else _status(person, study.design, now)] += 1
    return counts


def study_data(connection: Connection, study: Study, *kinds: str, participant: str | None = None) -> StudyData:
    """Everybody of these kinds (real ones, where none is named), or one participant by pseudonym."""
    if participant is None:
        people = participants_of(connection, study.id, *(kinds or ("real",)))
    else:
        person = participant_by_public_id(connection, study.id, participant)
        people = [] if person is None else [person]
    now = now_ms()
    return StudyData(
        design=study.design,
        participants=tuple(_participant(connection, person, study, now) for person in people),
        seed=study.seed,
        versions=dict(study.versions),
        plan=study.plan,
        plan_digest=study.plan_digest,
        about={"plan_fixed_at": None if study.plan_fixed_at is None else _iso(study.plan_fixed_at)},
    )


def _iso(milliseconds: int) -> str:
    time = moment(milliseconds)
    assert time is not None
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _participant(connection: Connection, person: Participant, study: Study, now: int) -> ParticipantData:
    design = study.design
    played = episodes_of(connection, person.id)
    data = ParticipantData(
        id=person.public_id,
        kind=person.kind,
        status=_status(person, design, now),
        seed=person.seed,
        order=person.order_index,
        language=person.language,
        recruiter=person.recruiter,
        external_id=person.external_id,
        consented_at=moment(person.consented_at),
        started_at=moment(min((episode.opened_at for episode in played), default=None)),
        finished_at=moment(person.finished_at),
        answers={
            given.step: Answer(given.values, moment(given.at), given.ms) for given in answers_of(connection, person.id)
        },
        quiz_attempts=person.quiz_attempts,
        events=tuple(EventData(moment(event.at), event.kind, event.data) for event in events_of(connection, person.id)),
        secret=study.secret_for(person.kind),
    )
    plan = data.plan(design)
    if plan is None:
        return data
    return replace(
        data,
        episodes={episode.number: _episode(connection, episode, plan.episode(episode.number)) for episode in played},
    )


def _episode(connection: Connection, episode: StoredEpisode, plan: EpisodePlan) -> EpisodeData:
    version = hash_version(episode.head)
    return EpisodeData.of_columns(
        round_columns(connection, episode.id),
        # With a warm start the counted rounds hang on its last hash, which playing it again gives.
        start=Episode.open(plan, version).head if plan.warm_rounds else plan.start(version),
        head=episode.head,
        opened_at=moment(episode.opened_at),
        finished_at=moment(episode.finished_at),
    )
