"""What participants answered, step by step."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, insert, select

from cobandit.base.json_types import JsonObject
from cobandit.web.storage.schema import answers
from cobandit.web.storage.values import as_json


@dataclass(frozen=True)
class StoredAnswers:
    """The answers to one step, when they came and how long they took (ms)."""

    step: str
    values: Any
    at: int
    ms: int | None


def add_answer(connection: Connection, participant: int, step: str, given: Any, now: int, ms: int | None) -> None:
    """Store the answers of one step."""
    connection.execute(
        insert(answers).values(participant_id=participant, step=step, answers=as_json(given), at=now, ms=ms)
    )


def answers_of(connection: Connection, participant: int) -> list[StoredAnswers]:
    """Return all answers of a participant, in the order of time."""
    rows = connection.execute(
        select(answers).where(answers.c.participant_id == participant).order_by(answers.c.at, answers.c.step)
    )
    return [StoredAnswers(row.step, json.loads(row.answers), row.at, row.ms) for row in rows]


def answers_by_participant(connection: Connection, participants: Sequence[int]) -> dict[int, list[StoredAnswers]]:
    """Return all answers of some participants, in the order of time."""
    query = select(answers).where(answers.c.participant_id.in_(participants))
    given: dict[int, list[StoredAnswers]] = defaultdict(list)
    for row in connection.execute(query.order_by(answers.c.participant_id, answers.c.at, answers.c.step)):
        given[row.participant_id].append(StoredAnswers(row.step, json.loads(row.answers), row.at, row.ms))
    return given


def count_answers(connection: Connection, participant: int) -> int:
    """Return how many steps a participant has answered."""
    theirs = answers.c.participant_id == participant
    return connection.scalar(select(func.count()).select_from(answers).where(theirs)) or 0


def answered_steps(connection: Connection, people: Sequence[int]) -> dict[int, int]:
    """Return how many steps some people have answered, by participant."""
    query = select(answers.c.participant_id, func.count()).where(answers.c.participant_id.in_(people))
    rows = connection.execute(query.group_by(answers.c.participant_id))
    return {participant: int(count) for participant, count in rows}


def merged_answers(connection: Connection, people: Sequence[int], steps: Sequence[str]) -> dict[int, JsonObject]:
    """Return the answers of some people to some steps, merged, by participant."""
    query = select(answers.c.participant_id, answers.c.answers).where(
        answers.c.participant_id.in_(people), answers.c.step.in_(steps)
    )
    given: dict[int, JsonObject] = defaultdict(dict)
    for participant, text in connection.execute(query):
        given[participant] |= json.loads(text)
    return given


def who_answered(connection: Connection, step: str, people: Sequence[int]) -> set[int]:
    """Return who of some people has answered a step."""
    theirs = answers.c.step == step, answers.c.participant_id.in_(people)
    return set(connection.scalars(select(answers.c.participant_id).where(*theirs))) if people else set()
