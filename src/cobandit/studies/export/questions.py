"""Answers to questionnaires in an export: columns of the wide table, and a table with a row for each answer.

Free texts can identify people, so both leave them out, unless they are asked for; `schema` does the same with those of
questions about the person.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from cobandit.studies.data import StudyData
from cobandit.studies.design import StudyDesign
from cobandit.studies.export.columns_base import Column
from cobandit.studies.journey import journey
from cobandit.studies.questionnaires import WHEN, Questionnaire, QuestionnaireItem

NAME = "questionnaires"
"""The name of the table; only designs with questionnaires have it."""


@dataclass(frozen=True)
class Variable:
    """One number or text that an item gives: several for choices and rankings, one for each choice."""

    item: QuestionnaireItem
    id: str
    name: str
    type: str
    meaning: str
    values: str
    value: Callable[[Any], Any]
    choice: int | None = None
    points: int | None = None
    reversed: bool = False


def variables(questionnaire: Questionnaire) -> Iterator[Variable]:
    """Yield the variables of a questionnaire, in the order of the design."""
    for item in questionnaire.items:
        if item.kind in ("rating", "matrix"):
            scale = questionnaire.scale(item.scale)
            rated = [(row.id, f"{item.text} {row.text}", row.reversed) for row in item.rows]
            for id, text, turned in rated or [(item.id, item.text, item.reversed)]:
                values = f"1: {scale.low} | {scale.points}: {scale.high}"
                meaning = f"scale {scale.id}{' (reversed)' if turned else ''}: {text}"
                yield Variable(item, id, id, "integer", meaning, values, _as_is, None, scale.points, turned)
        elif item.kind in ("choices", "ranking"):
            ranks = item.kind == "ranking"
            values = "1: first | 2: second, and so on" if ranks else "1: chosen | 0: not chosen"
            for place, choice in enumerate(item.choices):
                read = _rank(place) if ranks else _ticked(place)
                meaning = f"{item.text} {'rank of' if ranks else 'choice'} {choice!r}"
                yield Variable(item, item.id, f"{item.id}_{place}", "integer", meaning, values, read, place)
        elif item.kind == "choice":
            values = " | ".join(f"{place}: {choice}" for place, choice in enumerate(item.choices))
            yield Variable(item, item.id, item.id, "integer", item.text, values, _as_is)
        elif item.kind == "text":
            yield Variable(item, item.id, item.id, "text", item.text, "", _as_is)
        else:
            values = f"{item.lowest} to {item.highest}"
            kind = "number" if item.decimals else "integer"
            yield Variable(item, item.id, item.id, kind, item.text, values, _as_is)


def _as_is(value: Any) -> Any:
    return value


def _rank(place: int) -> Callable[[Any], int]:
    return lambda order: order.index(place) + 1


def _ticked(place: int) -> Callable[[Any], int]:
    return lambda chosen: int(place in chosen)


def wide_columns(design: StudyDesign, condition: str | None, texts: bool) -> list[Column]:
    """Return the columns of the questionnaires that are asked once (None), or after a condition."""
    columns = []
    for questionnaire in design.questionnaires:
        if questionnaire.repeated != (condition is not None):
            continue
        for variable in variables(questionnaire):
            if variable.type == "text" and not texts:
                continue
            after = () if condition is None else (condition,)
            moment = (
                f"after condition {condition}"
                if after
                else {"before": "before the sets"}.get(questionnaire.when, "after all sets")
            )
            key = ("q", questionnaire.id, variable.name, *after)
            columns.append(
                Column(
                    "_".join(key),
                    variable.type,
                    f"answer {moment}, {variable.meaning}",
                    variable.values,
                    optional=True,
                    guarded=variable.type == "text",
                    key=key,
                )
            )
    return columns


def table_columns(design: StudyDesign, people: Column, names: str, texts: bool) -> tuple[Column, ...]:
    """Return the columns of the table with a row for each answer."""
    ids = " | ".join(questionnaire.id for questionnaire in design.questionnaires)
    columns = (
        people,
        Column("questionnaire", "text", "id of the questionnaire", ids),
        Column("time", "text", "when it was asked", " | ".join(WHEN)),
        Column("set", "integer", "set after which it was asked, from 0", optional=True),
        Column("condition", "text", "condition of the set", names, optional=True),
        Column("item", "text", "id of the item, or of the row of a matrix"),
        Column("choice", "integer", "place of the choice, where an item has a row for each, from 0", optional=True),
        Column("kind", "text", "kind of the item"),
        Column("scale", "text", "id of the scale", optional=True),
        Column("position", "integer", "place of the item as it was shown, hidden ones included, from 0"),
        Column("value", "number", "the answer as it was given (not turned round)", optional=True),
        Column("points", "integer", "highest possible rating; the lowest is 1", optional=True),
        Column("reversed", "flag", "whether the rating is turned round for the score", "true | false"),
        Column("answered_at", "time", "when the answers of the page were stored, UTC", optional=True),
        Column("ms", "integer", "milliseconds that the participant took for all of the page", optional=True),
    )
    free = Column("text", "text", "the free text, exported only on request", optional=True, guarded=True)
    return (*columns, free) if texts else columns


def answer_rows(data: StudyData, texts: bool) -> list[tuple[Any, ...]]:
    """Return the rows of the table; items that were not shown or not answered have none."""
    design, rows = data.design, list[tuple[Any, ...]]()
    asked = [step for step in journey(design).steps if step.kind == "questionnaire"]
    known = {questionnaire.id: list(variables(questionnaire)) for questionnaire in design.questionnaires}
    for person in data.participants:
        plan = person.plan(design)
        for step in asked:
            answer = person.answers.get(step.id)
            if answer is None or plan is None:
                continue
            questionnaire = design.questionnaire(step.questionnaire)
            order = plan.questionnaire_order(questionnaire.id, step.number)
            place = {id: i for i, id in enumerate(id for item, below in order for id in below or (item,))}
            set = None if step.number is None else step.number - 1
            condition = None if set is None else plan.conditions[set]
            for variable in known[questionnaire.id]:
                value = answer.values.get(variable.id)
                written = variable.type == "text"
                if value is None or (written and not texts):
                    continue
                item = variable.item
                about = (person.id, questionnaire.id, questionnaire.when, set, condition, variable.id, variable.choice)
                shown = (item.kind, item.scale or None, place[variable.id], None if written else variable.value(value))
                row = (*about, *shown, variable.points, variable.reversed, answer.at, answer.ms)
                rows.append((*row, value if written else None) if texts else row)
    return rows


def wide_values(design: StudyDesign, person: Any, conditions: tuple[str, ...]) -> dict[Any, Any]:
    """Return the answers of a participant by the keys of the wide columns."""
    values: dict[Any, Any] = {}
    for step in journey(design).steps:
        answer = person.answers.get(step.id) if step.kind == "questionnaire" else None
        if answer is None:
            continue
        after = () if step.number is None else (conditions[step.number - 1],)
        for variable in variables(design.questionnaire(step.questionnaire)):
            value = answer.values.get(variable.id)
            if value is not None:
                values["q", step.questionnaire, variable.name, *after] = variable.value(value)
    return values
