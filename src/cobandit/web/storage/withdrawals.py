"""Withdrawals: rows without a trace of the participant, and anonymising the data of a participant."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from decimal import Decimal

from sqlalchemy import Connection, delete, func, insert, select, update

from cobandit.studies import StudyDesign, journey
from cobandit.web.security import digest, new_token
from cobandit.web.storage.answers import answers_of
from cobandit.web.storage.participants import Participant, new_public_id
from cobandit.web.storage.schema import answers, events, messages, participants, withdrawals
from cobandit.web.storage.team_moves import remove_from_team
from cobandit.web.storage.teams import leave_lobby
from cobandit.web.storage.values import as_json


@dataclass(frozen=True)
class StoredWithdrawal:
    """What is stored of a withdrawal: nothing tells who it was; ``digest`` is that of the personal link."""

    digest: str
    study_id: int
    kind: str
    at: int
    data: str
    outcome: str
    code: str
    currency: str | None = None
    fixed: str | None = None
    bonus: str | None = None
    return_url: str | None = None
    language: str | None = None

    @property
    def total(self) -> Decimal | None:
        """The pay; None: nothing is paid."""
        return Decimal(self.fixed or 0) + Decimal(self.bonus or 0) or None


_ALL = select(*(withdrawals.c[spec.name] for spec in fields(StoredWithdrawal)))


def add_withdrawal(connection: Connection, withdrawal: StoredWithdrawal) -> None:
    """Store a withdrawal."""
    connection.execute(insert(withdrawals).values(**asdict(withdrawal)))


def withdrawal_of(connection: Connection, token: str) -> StoredWithdrawal | None:
    """Return the withdrawal of the person who had a personal link."""
    row = connection.execute(_ALL.where(withdrawals.c.digest == digest(token))).first()
    return None if row is None else StoredWithdrawal(**row._asdict())


def withdrawals_to_pay(
    connection: Connection, study: int, kind: str, offset: int, limit: int
) -> tuple[int, list[StoredWithdrawal]]:
    """Return how many people withdrew and have a completion code, and a page of them, the first first."""
    where = withdrawals.c.study_id == study, withdrawals.c.kind == kind, withdrawals.c.code != ""
    total = connection.scalar(select(func.count()).select_from(withdrawals).where(*where)) or 0
    query = _ALL.where(*where).order_by(withdrawals.c.at, withdrawals.c.digest).offset(offset).limit(limit)
    return total, [StoredWithdrawal(**row._asdict()) for row in connection.execute(query)]


def anonymise(connection: Connection, person: Participant, design: StudyDesign, now: int) -> None:
    """Remove what identifies a person: link, pseudonym, recruiting IDs, label, texts, messages and page events.

    Rounds, ratings, choices and whole numbers stay, with their times.
    """
    leave_lobby(connection, [person.id])
    remove_from_team(connection, person.id, now)
    connection.execute(delete(events).where(events.c.participant_id == person.id))
    connection.execute(delete(messages).where(messages.c.participant_id == person.id))
    free_texts = _free_texts(design)
    for given in answers_of(connection, person.id):
        texts = free_texts.get(given.step, frozenset())
        if texts & given.values.keys():
            rest = as_json({id: None if id in texts else value for id, value in given.values.items()})
            own = answers.c.participant_id == person.id, answers.c.step == given.step
            connection.execute(update(answers).where(*own).values(answers=rest))
    unknown = dict.fromkeys(("key", "label", "recruiter", "external_id", "recruiting"))
    changes = {"token": new_token(), "public_id": new_public_id(), "ending": "withdrew", "last_seen": now} | unknown
    changed = update(participants).where(participants.c.id == person.id)
    connection.execute(changed.values(revision=participants.c.revision + 1, **changes))


def _free_texts(design: StudyDesign) -> dict[str, frozenset[str]]:
    """Return the questions that people answer in their own words, by step: they may identify the person."""
    texts = {"demographics": frozenset(question.id for question in design.demographics if question.answer == "text")}
    for step in journey(design).steps:
        if step.kind == "questionnaire":
            items = design.questionnaire(step.questionnaire).items
            texts[step.id] = frozenset(item.id for item in items if item.kind == "text")
    return texts
