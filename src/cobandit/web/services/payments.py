"""Who is to be paid, how much, and the lines that Prolific takes for bonuses."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from cobandit.base.numbers import rounded
from cobandit.studies import StudyDesign
from cobandit.studies.design_tables import PRACTICE
from cobandit.studies.journey import attention_results
from cobandit.studies.payment import Payment
from cobandit.web.roles import Viewer
from cobandit.web.services.paging import LARGEST_PAGE, Page, Part, all_rows
from cobandit.web.services.studies import stored_study
from cobandit.web.storage.answers import merged_answers
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.participants import Participant, finished_participants
from cobandit.web.storage.rounds import successes_of
from cobandit.web.storage.studies import Study

_PROLIFIC_ID = re.compile(r"[0-9A-Fa-f]{24}")


async def list_payments(database: Database, number: int, viewer: Viewer, part: Part) -> Page:
    """Return a page of those who have finished, and what is needed to pay them."""
    viewer.require("payments")

    def ask(connection: Connection) -> Page:
        page = _page(stored_study(connection, number), connection, part.offset, part.limit or LARGEST_PAGE)
        return page.check(part, "payments")

    return await database.ask(ask, heavy=True)


async def all_payments(database: Database, number: int, viewer: Viewer) -> list[dict[str, Any]]:
    """Return the whole list, for a file; it is read page by page."""
    viewer.require("payments")

    def ask(connection: Connection) -> list[dict[str, Any]]:
        return list(all_rows(connection, functools.partial(_page, stored_study(connection, number))))

    return await database.ask(ask, heavy=True)


async def sum_payments(database: Database, number: int, viewer: Viewer) -> PaymentSums:
    """Return what all payments come to; the list itself is not kept in memory."""
    viewer.require("payments")

    def ask(connection: Connection) -> PaymentSums:
        sums = PaymentSums()
        for payment in all_rows(connection, functools.partial(_page, stored_study(connection, number))):
            lines, left_out = prolific_bonuses([payment])
            sums.total += Decimal(payment["total"] or 0)
            sums.bonuses += len(lines.splitlines())
            sums.left_out += left_out
        return sums

    return await database.ask(ask, heavy=True)


@dataclass
class PaymentSums:
    """All payments together: the amount, how many bonuses go to Prolific, and how many of them are left out."""

    total: Decimal = Decimal(0)
    bonuses: int = 0
    left_out: int = 0


def _page(study: Study, connection: Connection, offset: int, limit: int) -> Page:
    total, people = finished_participants(connection, study.id, "real", offset, limit)
    numbers = [person.id for person in people]
    surveys = _surveys(connection, study.design, numbers)
    successes = successes_of(connection, numbers, PRACTICE)
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
        for person in people
    ]
    return Page(total, offset, [payment | _amounts(study.design.payment, payment) for payment in payments])


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


def _surveys(connection: Connection, design: StudyDesign, people: Sequence[int]) -> dict[int, dict[str, Any]]:
    """The answers to all surveys by participant, where there are attention checks among them."""
    if not design.attention:
        return {}
    steps = [f"survey-{place + 1}" for place in range(len(design.conditions))]
    return merged_answers(connection, people, steps)


def _minutes(person: Participant) -> float | None:
    if person.finished_at is None or not person.consented_at:
        return None
    return float(rounded(max(0, person.finished_at - person.consented_at) / 60_000, 1))


def _attention_passed(design: StudyDesign, answers: dict[str, Any]) -> bool | None:
    """Whether every attention check was passed; None: there was none."""
    results = attention_results(design, answers)
    return all(results.values()) if results else None
