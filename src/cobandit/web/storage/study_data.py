"""A whole study out of the database, in the form that export, verification and analysis take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection

from cobandit.studies import Episode, StudyDesign
from cobandit.studies.data import (
    PEOPLE_KINDS,
    Answer,
    EpisodeData,
    EventData,
    ParticipantData,
    StudyData,
    StudyParts,
    TeamMember,
    moment,
)
from cobandit.studies.plan import EpisodePlan
from cobandit.studies.rounds import hash_version
from cobandit.web.storage.answers import answers_by_participant
from cobandit.web.storage.audit import plan_stored_at
from cobandit.web.storage.episodes import StoredEpisode, episodes_by_participant, rounds_played
from cobandit.web.storage.events import events_by_participant
from cobandit.web.storage.participants import Participant, participant_by_public_id, participants_of, status
from cobandit.web.storage.rounds import NO_ROUNDS, round_columns
from cobandit.web.storage.studies import Study
from cobandit.web.storage.team_moves import load_moves, recorded_columns
from cobandit.web.storage.teams import Team, teams_of
from cobandit.web.storage.values import iso_time, now_ms

ROUNDS_AT_ONCE = 20_000
MOST_PEOPLE_AT_ONCE = 500


def _status(person: Participant, design: StudyDesign, now: int) -> str:
    """Return the status for exports, in which an idle participant still takes part."""
    current = status(person, design, now)
    return "active" if current == "idle" else current


def census(connection: Connection, study: Study) -> dict[str, int]:
    """Return how many people are how far, and how many rehearsals there are."""
    counts = dict.fromkeys(("finished", "active", "dropped", "removed", "invited", "rehearsals"), 0)
    now = now_ms()
    for person in participants_of(connection, study.id, "real", "rehearsal"):
        counts["rehearsals" if person.kind == "rehearsal" else _status(person, study.design, now)] += 1
    return counts


def study_data(connection: Connection, study: Study, *kinds: str, participant: str | None = None) -> StudyData:
    """Return all participants of these kinds (default: real ones), or one participant by pseudonym."""
    if participant is None:
        people = participants_of(connection, study.id, *(kinds or ("real",)))
    else:
        person = participant_by_public_id(connection, study.id, participant)
        people = [] if person is None else [person]
    return _data(
        connection,
        study,
        [
            data
            for part in _parts(people, rounds_played(connection, study.id))
            for data in _people(connection, part, study)
        ],
    )


def study_parts(connection: Connection, study: Study, *kinds: str) -> StudyParts:
    """Return all participants of these kinds in parts, so that an export of any size fits into memory.

    The hash before the first round of an episode is left out, because an export does not contain it, and computing it
    would need a replay of every warm start.
    """
    people = participants_of(connection, study.id, *(kinds or ("real",)))
    there = {person.kind for person in people}
    cut = _parts(people, rounds_played(connection, study.id))
    about = _data(connection, study, ())
    parts = (replace(about, participants=tuple(_people(connection, part, study, chained=False))) for part in cut)
    return StudyParts(about, tuple(kind for kind in PEOPLE_KINDS if kind in there), len(people), parts)


def _parts(people: Sequence[Participant], rounds: Mapping[int, int]) -> Iterator[Sequence[Participant]]:
    """Yield as many participants at a time as have a limited number of rounds together: played rounds, not planned
    ones.
    """
    part: list[Participant] = []
    total = 0
    for person in people:
        own = rounds.get(person.id, 0)
        if part and (total + own > ROUNDS_AT_ONCE or len(part) == MOST_PEOPLE_AT_ONCE):
            yield part
            part, total = [], 0
        part.append(person)
        total += own
    if part:
        yield part


def _data(connection: Connection, study: Study, people: Iterable[ParticipantData]) -> StudyData:
    times = {"plan_fixed_at": study.plan_fixed_at}
    if study.plan_digest is not None:
        times["plan_stored_at"] = plan_stored_at(connection, study.label, study.plan_digest)
    return StudyData(
        design=study.design,
        participants=tuple(people),
        seed=study.seed,
        versions=dict(study.versions),
        plan=study.plan,
        plan_digest=study.plan_digest,
        about={name: None if at is None else iso_time(at, "milliseconds") for name, at in times.items()},
    )


def _people(
    connection: Connection, people: Sequence[Participant], study: Study, *, chained: bool = True
) -> list[ParticipantData]:
    """Return some people with all that is theirs, in four questions to the database."""
    now, numbers = now_ms(), [person.id for person in people]
    answers = answers_by_participant(connection, numbers)
    events = events_by_participant(connection, numbers)
    played = episodes_by_participant(connection, numbers)
    columns = round_columns(connection, numbers, chained=chained)
    teams = teams_of(connection, numbers) if study.design.has_recorded_seats else {}
    _add_moves(connection, study.design, columns, [] if not teams else [e.id for own in played.values() for e in own])
    people_data = []
    for person in people:
        data = ParticipantData(
            id=person.public_id,
            kind=person.kind,
            status=_status(person, study.design, now),
            seed=person.seed,
            order=person.order_index,
            language=person.language,
            recruiter=person.recruiter,
            external_id=person.external_id,
            consented_at=moment(person.consented_at),
            started_at=moment(min((episode.opened_at for episode in played[person.id]), default=None)),
            finished_at=moment(person.finished_at),
            answers={given.step: Answer(given.values, moment(given.at), given.ms) for given in answers[person.id]},
            quiz_attempts=person.quiz_attempts,
            events=tuple(EventData(moment(event.at), event.kind, event.data) for event in events[person.id]),
            secret=study.secret_for(person.kind),
            team=_member(teams.get(person.id), person.id),
            ending=person.ending,
        )
        plan = data.plan(study.design)
        episodes = {} if plan is None else {episode.number: episode for episode in played[person.id]}
        stored = {
            number: _episode(
                columns.get(episode.id, NO_ROUNDS), episode, plan.episode(number) if chained and plan else None
            )
            for number, episode in episodes.items()
        }
        people_data.append(replace(data, episodes=stored))
    return people_data


def _member(team: Team | None, person: int) -> TeamMember | None:
    if team is None:
        return None
    own = team.members[team.seat_of(person)]
    return TeamMember(team.public_id, own.seat, team.seed, team.roster, own.left_reason, own.left_episode)


def _add_moves(
    connection: Connection, design: StudyDesign, columns: dict[int, dict[str, Sequence[Any]]], episodes: Sequence[int]
) -> None:
    """Add who made each move to the columns of episodes that a team has played."""
    for number, by_round in load_moves(connection, episodes).items() if episodes else ():
        if number in columns:
            columns[number] |= recorded_columns(len(design.seating), by_round, columns[number]["t"])


def _episode(columns: Mapping[str, Sequence[Any]], episode: StoredEpisode, plan: EpisodePlan | None) -> EpisodeData:
    """Return a stored episode; without a plan, the hash before its first round is unknown."""
    version = hash_version(episode.head)
    start = ""
    if plan is not None:
        # With a warm start, the hash before the counted rounds is its last one, which a replay computes.
        start = Episode.open(plan, version).head if plan.warm_rounds else plan.start(version)
    return EpisodeData.of_columns(
        columns,
        start=start,
        head=episode.head,
        opened_at=moment(episode.opened_at),
        finished_at=moment(episode.finished_at),
    )
