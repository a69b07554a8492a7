"""Who is to be paid, how much, and the lines that Prolific takes for bonuses."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from cobandit.base.json_types import JsonObject
from cobandit.base.numbers import rounded
from cobandit.studies import StudyDesign
from cobandit.studies.design_tables import PRACTICE
from cobandit.studies.journey import attention_results
from cobandit.studies.leaving import FINISHED, outcome_of, screens
from cobandit.web.roles import Viewer
from cobandit.web.services.paging import LARGEST_PAGE, Page, Part, all_rows
from cobandit.web.services.recruiting import outcome_code, outcome_pay
from cobandit.web.services.studies import stored_study
from cobandit.web.storage.answers import merged_answers
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.participants import Participant, finished_participants
from cobandit.web.storage.rounds import successes_of
from cobandit.web.storage.studies import Study
from cobandit.web.storage.withdrawals import StoredWithdrawal, withdrawals_to_pay

_PROLIFIC_ID = re.compile(r"[0-9A-Fa-f]{24}")


async def list_payments(database: Database, number: int, viewer: Viewer, part: Part) -> Page:
    """Return a page of finished participants with their payment data."""
    viewer.require("payments")

    def ask(connection: Connection) -> Page:
        page = _page(stored_study(connection, number), connection, part.offset, part.limit or LARGEST_PAGE)
        return page.check(part, "payments")

    return await database.ask(ask, heavy=True)


async def all_payments(database: Database, number: int, viewer: Viewer) -> list[JsonObject]:
    """Return the whole list, for a file; it is read page by page."""
    viewer.require("payments")

    def ask(connection: Connection) -> list[JsonObject]:
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
    """Return people who have finished or were screened out, and after them withdrawals that have a code."""
    total, people = finished_participants(connection, study.id, "real", offset, limit)
    rows = _rows(connection, study, people)
    space = limit - len(people)
    gone, withdrawn = withdrawals_to_pay(connection, study.id, "real", max(0, offset - total), space)
    return Page(total + gone, offset, rows + [_withdrawn_row(withdrawal) for withdrawal in withdrawn])


def _rows(connection: Connection, study: Study, people: Sequence[Participant]) -> list[JsonObject]:
    numbers = [person.id for person in people]
    answers = _answers(connection, study.design, numbers)
    successes = successes_of(connection, numbers, PRACTICE)
    rows = []
    for person in people:
        given = answers.get(person.id, {})
        good, passed = successes.get(person.id, 0), _attention_passed(study.design, given)
        outcome = outcome_of(study.design, given, finished=person.finished_at is not None)
        row: JsonObject = {
            "participant": person.public_id,
            "label": person.label,
            "recruiter": person.recruiter,
            "external_id": person.external_id,
            "finished_at": person.finished_at,
            "outcome": outcome,
            "code": outcome_code(study, outcome),
            "minutes": _minutes(person),
            "attention_passed": passed,
            "successes": good,
        }
        rows.append(row | _amounts(study, outcome, good, passed))
    return rows


def _withdrawn_row(withdrawal: StoredWithdrawal) -> dict[str, object]:
    """Return the line of a participant who has withdrawn: the code is all that links it to a person."""
    unknown = dict.fromkeys(("participant", "label", "recruiter", "external_id", "minutes", "attention_passed"))
    return unknown | {
        "finished_at": withdrawal.at,
        "outcome": withdrawal.outcome if withdrawal.outcome == "withdrew" else f"{withdrawal.outcome}, withdrew",
        "code": withdrawal.code,
        "successes": 0,
        "currency": withdrawal.currency,
        "fixed": withdrawal.fixed,
        "bonus": withdrawal.bonus,
        "total": None if withdrawal.fixed is None else str(Decimal(withdrawal.fixed) + Decimal(withdrawal.bonus or 0)),
    }


def amounts_of(
    connection: Connection, study: Study, person: Participant, *, otherwise: str
) -> tuple[str, dict[str, str | None]]:
    """Return the outcome of one participant, ``otherwise`` while the participation is under way, and the payment."""
    [row] = _rows(connection, study, [person])
    if row["outcome"]:
        return row["outcome"], {name: row[name] for name in _AMOUNTS}
    return otherwise, _amounts(study, otherwise, 0, None)


_AMOUNTS = ("currency", "fixed", "bonus", "total")


def _amounts(study: Study, outcome: str, successes: int, attention_passed: bool | None) -> dict[str, str | None]:
    """Return a participant's payment as decimal strings; None where the design has no rules."""
    rules = study.design.payment
    if rules is None:
        return dict.fromkeys(_AMOUNTS)
    pay = rules.pay(successes, attention_passed) if outcome in ("", FINISHED) else outcome_pay(study, outcome)
    assert pay is not None
    return {"currency": pay.currency, "fixed": str(pay.fixed), "bonus": str(pay.bonus), "total": str(pay.total)}


def prolific_bonuses(payments: Sequence[JsonObject]) -> tuple[str, int]:
    """Return lines ``id,amount`` for Prolific's bulk payment, and how many bonuses they leave out.

    Only participants from Prolific with a bonus have a line. An id that is not one of Prolific's, which any visitor can
    write into a link, is left out: it might contain further lines.
    """
    due = [row for row in payments if row["recruiter"] == "prolific" and row["bonus"] and Decimal(row["bonus"]) > 0]
    known = [row for row in due if _PROLIFIC_ID.fullmatch(row["external_id"])]
    return "".join(f"{row['external_id']},{row['bonus']}\n" for row in known), len(due) - len(known)


def _answers(connection: Connection, design: StudyDesign, people: Sequence[int]) -> dict[int, dict[str, JsonObject]]:
    """Return the answers by participant and step, as far as the outcome and the payment depend on them."""
    given: dict[int, dict[str, JsonObject]] = {}
    steps = [f"survey-{place + 1}" for place in range(design.sets)] if design.attention else []
    steps += ["demographics"] if screens(design) else []
    steps += ["lobby"] if design.group is not None else []
    for step in steps:
        for person, values in merged_answers(connection, people, [step]).items():
            given.setdefault(person, {})[step] = values
    return given


def _minutes(person: Participant) -> float | None:
    if person.finished_at is None or not person.consented_at:
        return None
    return float(rounded(max(0, person.finished_at - person.consented_at) / 60_000, 1))


def _attention_passed(design: StudyDesign, answers: dict[str, JsonObject]) -> bool | None:
    """Return whether every attention check was passed; None: there was none."""
    surveys = [values for step, values in answers.items() if step.startswith("survey-")]
    results = attention_results(design, {id: value for values in surveys for id, value in values.items()})
    return all(results.values()) if results else None
