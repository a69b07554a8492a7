"""Who is to be paid, how much, and the lines that Prolific takes for bonuses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from cobandit.base.numbers import rounded
from cobandit.studies import StudyDesign
from cobandit.studies.design_tables import PRACTICE
from cobandit.studies.journey import attention_results
from cobandit.studies.payment import Payment
from cobandit.web.services.studies import stored_study
from cobandit.web.storage.answers import answers_of_finished
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.participants import Participant, finished_participants
from cobandit.web.storage.rounds import successes_of_finished

_PROLIFIC_ID = re.compile(r"[0-9A-Fa-f]{24}")


async def list_payments(database: Database, number: int, kind: str = "real") -> list[dict[str, Any]]:
    """Everybody who has finished, and what is needed to pay them."""

    def ask(connection: Connection) -> list[dict[str, Any]]:
        study = stored_study(connection, number)
        surveys = _surveys(connection, study.id, study.design, kind)
        successes = successes_of_finished(connection, study.id, kind, PRACTICE)
        payments = [
            {
                "participant": person.public_id,
                "label": person.label,
                "recruiter": person.recruiter,
                "external_id": person.external_id,
                "finished_at": person.finished_at,
                "code": study.code,
                "minutes": _minutes(person),
                "attention_passed": _attention_passed(study.design, surveys.get(person.id, {})),
                "successes": successes.get(person.id, 0),
            }
            for person in finished_participants(connection, number, kind)
        ]
        return [payment | _amounts(study.design.payment, payment) for payment in payments]

    return await database.ask(ask)


def _amounts(rules: Payment | None, payment: dict[str, Any]) -> dict[str, str | None]:
    """What somebody gets, as texts of decimals; nothing where the design has no rules."""
    if rules is None:
        return dict.fromkeys(("currency", "fixed", "bonus", "total"))
    pay = rules.pay(payment["successes"], payment["attention_passed"])
    return {"currency": pay.currency, "fixed": str(pay.fixed), "bonus": str(pay.bonus), "total": str(pay.total)}


def prolific_bonuses(payments: Sequence[dict[str, Any]]) -> tuple[str, int]:
    """Lines ``id,amount`` as Prolific's bulk payment takes them, and how many bonuses are left out of them.

    Only people whom Prolific has sent and who get a bonus have a line. An id that is none of Prolific's, which anybody
    can write into a link, is left out: it might hold lines of its own.
    """
    due = [row for row in payments if row["recruiter"] == "prolific" and row["bonus"] and Decimal(row["bonus"]) > 0]
    known = [row for row in due if _PROLIFIC_ID.fullmatch(row["external_id"])]
    return "".join(f"{row['external_id']},{row['bonus']}\n" for row in known), len(due) - len(known)


def _surveys(connection: Connection, study: int, design: StudyDesign, kind: str) -> dict[int, dict[str, Any]]:
    """The answers to all surveys by participant, where there are attention checks among them."""
    if not design.attention:
        return {}
    steps = [f"survey-{place + 1}" for place in range(len(design.conditions))]
    return answers_of_finished(connection, study, kind, steps)


def _minutes(person: Participant) -> float | None:
    if person.finished_at is None or not person.consented_at:
        return None
    return float(rounded(max(0, person.finished_at - person.consented_at) / 60_000, 1))


def _attention_passed(design: StudyDesign, answers: dict[str, Any]) -> bool | None:
    """Whether every attention check was passed; None: there was none."""
    results = attention_results(design, answers)
    return all(results.values()) if results else None
