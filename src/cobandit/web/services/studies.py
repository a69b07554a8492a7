"""The studies as a researcher sees them, and whether they take new people."""

from __future__ import annotations

from collections.abc import Iterable

from cobandit.base.json_types import JsonObject
from cobandit.studies.data import PEOPLE_KINDS
from cobandit.web.refusals import not_found
from cobandit.web.services.admission import Availability, availability, checked_state
from cobandit.web.storage import studies
from cobandit.web.storage.audit import record
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.listing import STATUSES, Headcount, headcounts
from cobandit.web.storage.participants import latest_activity
from cobandit.web.storage.studies import Study
from cobandit.web.storage.team_watch import teams_activity
from cobandit.web.storage.values import now_ms


def about(study: Study) -> JsonObject:
    """Return the identifying facts of a study."""
    design = study.design
    return {
        "id": study.id,
        "name": study.name,
        "version": design.version,
        "title": design.title,
        "task": design.task.kind,
        "state": study.state,
        "quota": study.quota,
        "created_at": study.created_at,
        "conditions": [condition.name for condition in design.conditions],
        "rounds": design.most_rounds,
        "episodes": design.episodes,
        "code": study.code,
        "words": {key: getattr(design.task, key) for key in ("participant", "partner", "configuration", "good", "bad")},
    }


def availability_fields(connection: Connection, study: Study, consent_elsewhere: bool) -> JsonObject:
    """Return ``availability``, and ``open``: whether the open link takes people."""
    state = availability(connection, study, consent_elsewhere=consent_elsewhere)
    return {"open": state.code == "open", "availability": state.to_dict()}


def counts_of(people: Iterable[Headcount]) -> dict[str, dict[str, int]]:
    """Return how many there are, by kind and status."""
    counts = {kind: dict.fromkeys(STATUSES, 0) for kind in PEOPLE_KINDS}
    for group in people:
        counts[group.kind][group.status] += group.count
    return counts


def stored_study(connection: Connection, number: int) -> Study:
    """Return a study by its number, or a refusal."""
    study = studies.study_by_id(connection, number)
    if study is None:
        raise not_found(f"There is no study number {number}.")
    return study


async def list_studies(database: Database, *, consent_elsewhere: bool = False) -> list[JsonObject]:
    """Return every study, whether it takes people, and how many people are where."""

    def ask(connection: Connection) -> list[JsonObject]:
        now = now_ms()
        known = studies.all_studies(connection)
        counts = {study.id: counts_of(headcounts(connection, study, now)) for study in known}
        newest = {study.name: study.id for study in reversed(known)}  # of each name the newest version is the first
        return [
            about(study)
            | availability_fields(connection, study, consent_elsewhere)
            | {"newest": newest[study.name] == study.id, "counts": counts[study.id]}
            for study in known
        ]

    return await database.ask(ask, heavy=True)


async def find_study(database: Database, number: int) -> Study:
    """Return one study."""
    return await database.ask(lambda connection: stored_study(connection, number))


async def find_availability(database: Database, study: Study, *, consent_elsewhere: bool) -> Availability:
    """Return the state of a study as people meet it."""
    return await database.ask(lambda connection: availability(connection, study, consent_elsewhere=consent_elsewhere))


async def newest_version(database: Database, name: str) -> int | None:
    """Return the version of a study that its open link leads to."""
    newest = await database.ask(lambda connection: studies.find_study(connection, name))
    return None if newest is None else newest.design.version


async def set_state(database: Database, number: int, state: str, quota: int | None, by: str) -> None:
    """Open or close a study to new participants; those who have begun may finish."""
    checked_state(state, quota)

    def job(connection: Connection) -> None:
        study = stored_study(connection, number)
        studies.set_state(connection, number, state, quota)
        record_state(connection, by, study, state, quota)

    await database.commit(job)


def record_state(connection: Connection, by: str, study: Study, state: str, quota: int | None) -> None:
    """Write down who has said who may begin."""
    details = {} if quota is None else {"quota": quota}
    action = {"open": "study-opened", "closed": "study-closed"}.get(state, f"study-{state}")
    record(connection, by, action, study.label, **details)


async def pulse(database: Database, number: int) -> str:
    """Return a value that changes with every action of any participant of the study."""

    def ask(connection: Connection) -> str:
        study = studies.study_by_id(connection, number)
        state = None if study is None else f"{study.state}{study.quota or ''}"
        grouped = study is not None and study.design.group is not None
        teams = teams_activity(connection, number) if grouped else ()
        return "-".join(map(str, (*latest_activity(connection, number), state, *teams)))

    return await database.ask(ask)
