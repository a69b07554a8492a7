"""Who is to be paid."""

from __future__ import annotations

from typing import Any

from cobandit.studies import StudyDesign
from cobandit.studies.journey import attention_results
from cobandit.web.services.studies import stored_study
from cobandit.web.storage.answers import answers_of_finished
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.participants import Participant, finished_participants


async def list_payments(database: Database, number: int, kind: str = "real") -> list[dict[str, Any]]:
    """Everybody who has finished, and what is needed to pay them."""

    def ask(connection: Connection) -> list[dict[str, Any]]:
        study = stored_study(connection, number)
        surveys = _surveys(connection, study.id, study.design, kind)
        return [
            {
                "participant": person.public_id,
                "label": person.label,
                "recruiter": person.recruiter,
                "external_id": person.external_id,
                "finished_at": person.finished_at,
                "code": study.code,
                "minutes": _minutes(person),
                "attention_passed": _attention_passed(study.design, surveys.get(person.id, {})),
            }
            for person in finished_participants(connection, number, kind)
        ]

    return await database.ask(ask)


def _surveys(connection: Connection, study: int, design: StudyDesign, kind: str) -> dict[int, dict[str, Any]]:
    """The answers to all surveys by participant, where there are attention checks among them."""
    if not design.attention:
        return {}
    steps = [f"survey-{place + 1}" for place in range(len(design.conditions))]
    return answers_of_finished(connection, study, kind, steps)


def _minutes(person: Participant) -> float | None:
    if person.finished_at is None or not person.consented_at:
        return None
    return round(max(0, person.finished_at - person.consented_at) / 60_000, 1)


def _attention_passed(design: StudyDesign, answers: dict[str, Any]) -> bool | None:
    """Whether every attention check was passed; None: there was none."""
    results = attention_results(design, answers)
    return all(results.values()) if results else None
