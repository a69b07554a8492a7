"""Answers to questionnaires: the order in which items are shown, the payload of the page, and checks of the answers."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from cobandit.base.checks import real, short_repr, whole
from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.base.json_types import JsonObject
from cobandit.studies.questionnaires import Questionnaire, QuestionnaireItem


def item_order(questionnaire: Questionnaire, rng: np.random.Generator) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the ids of the items in the order of the page, each with the ids of its rows.

    If the questionnaire is shuffled, an item with a condition follows the item that it depends on, so that people see
    it appear below their answer.
    """
    items = list(questionnaire.items)
    rows = {item.id: tuple(row.id for row in item.rows) for item in items}
    if questionnaire.shuffled:
        free = [item for item in items if item.show_if is None]
        shuffled = _shuffled(free, rng)
        owner = {id: item.id for item in items for id in item.answer_ids}
        root = {item.id: item.id for item in free}
        for item in items:
            if item.show_if is not None:
                root[item.id] = root[owner[item.show_if.item]]
        items = [item for first in shuffled for item in items if root[item.id] == first.id]
        rows = {item.id: tuple(_shuffled(rows[item.id], rng)) for item in questionnaire.items}
    return tuple((item.id, rows[item.id]) for item in items)


def _shuffled(values: Sequence[Any], rng: np.random.Generator) -> list[Any]:
    return [values[i] for i in rng.random(len(values)).argsort().tolist()]


def questionnaire_payload(
    questionnaire: Questionnaire, order: Sequence[tuple[str, tuple[str, ...]]], texts: Mapping[str, str]
) -> JsonObject:
    """Return the data that the page needs to draw a questionnaire, in the language of the texts."""
    start = f"questionnaires.{questionnaire.id}"
    items = {item.id: item for item in questionnaire.items}

    def payload(item: QuestionnaireItem, rows: tuple[str, ...]) -> JsonObject:
        key = f"{start}.items.{item.id}"
        drawn: JsonObject = {"id": item.id, "kind": item.kind, "text": texts[key], "required": item.required}
        if item.show_if is not None:
            drawn["show_if"] = item.show_if.essence()
        if item.scale:
            scale = questionnaire.scale(item.scale)
            ends = {end: texts[f"{start}.scales.{scale.id}.{end}"] for end in ("low", "high")}
            drawn |= {"scale": scale.id, "points": scale.points, **ends}
        if item.rows:
            drawn["rows"] = [{"id": row, "text": texts[f"{start}.rows.{row}"]} for row in rows]
        if item.choices:
            drawn["choices"] = [texts[f"{key}.{place}"] for place in range(len(item.choices))]
        if item.kind in ("slider", "number"):
            drawn |= {"lowest": item.lowest, "highest": item.highest, "decimals": item.decimals}
        if item.kind == "slider":
            drawn |= {"low": texts.get(f"{key}.low", ""), "high": texts.get(f"{key}.high", "")}
        if item.kind == "text":
            drawn["longest"] = item.longest
        return drawn

    return {
        "id": questionnaire.id,
        "title": texts[f"{start}.title"],
        "intro": texts.get(f"{start}.intro", ""),
        "items": [payload(items[id], rows) for id, rows in order],
    }


def checked_questionnaire(questionnaire: Questionnaire, answers: Mapping[str, Any]) -> JsonObject:
    """Return the answers in the form in which they are stored, by id; raise if an answer is not valid.

    Items that are not shown are stored as None, like optional items without an answer.
    """
    known = {id: item for item in questionnaire.items for id in item.answer_ids}
    for id in answers:
        if id not in known:
            raise UnknownName(f"item of {questionnaire.id!r} called", id, known)
    checked: JsonObject = dict.fromkeys(known)
    for id, item in known.items():
        if answers.get(id) is not None:
            checked[id] = _checked(questionnaire, item, f"The answer to {id!r}", answers[id])
    shown = {id for item in questionnaire.shown(checked) for id in item.answer_ids}
    for id, item in known.items():
        if id not in shown and checked[id] is not None:
            raise InvalidInput(f"The answer to {id!r} must be left out, because the item is not shown.")
        if id in shown and item.required and checked[id] is None:
            raise InvalidInput(f"The answers to {questionnaire.id!r} leave out {id!r}; it needs an answer.")
    return checked


def _checked(questionnaire: Questionnaire, item: QuestionnaireItem, name: str, value: object) -> object:
    if item.kind == "text":
        return checked_text(name, value, required=item.required, longest=item.longest)
    low, high = questionnaire.limits(item)
    if item.kind in ("choices", "ranking"):
        return _checked_places(item, name, value)
    if not item.decimals:
        return whole(low, high)(name, value)
    number = real(low, high)(name, value)
    if round(number, item.decimals) != number:
        raise InvalidInput(f"{name} must have at most {item.decimals} decimals, got {short_repr(value)}.")
    return number


def _checked_places(item: QuestionnaireItem, name: str, value: object) -> list[int] | None:
    """Return the places of choices: the ticked ones in the order of the design, or all of them, the best first."""
    if not isinstance(value, (list, tuple)):
        raise InvalidInput(f"{name} must be a list of choices, got {short_repr(value)}.")
    place = whole(0, len(item.choices) - 1)
    places = [int(place(name, part)) for part in value]
    if len(set(places)) < len(places):
        raise InvalidInput(f"{name} must have each choice at most once, got {short_repr(value)}.")
    if item.kind == "ranking":
        if places and len(places) < len(item.choices):
            raise InvalidInput(f"{name} must rank all {len(item.choices)} choices, got {len(places)}.")
        return places or None
    return sorted(places) or (None if item.required else [])


def checked_text(name: str, value: object, *, required: bool, longest: int) -> str | None:
    """Return a text of a participant without blanks around it; None if it is empty and may be."""
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be a text, got {short_repr(value)}.")
    if len(value) > longest:
        raise InvalidInput(f"{name} has {len(value):,} characters; at most {longest:,} are needed.")
    for letter in value:
        # NUL and halves of surrogate pairs can be sent as JSON but neither stored nor exported.
        if letter not in "\n\r\t" and unicodedata.category(letter) in ("Cc", "Cs"):
            raise InvalidInput(f"{name} holds the control character {letter!a}; text without such is needed.")
    text = value.strip()
    if required and not text:
        raise InvalidInput(f"{name} is empty; a text is needed.")
    return text or None


def made_up_answers(questionnaire: Questionnaire, number: Callable[[int, int], int]) -> JsonObject:
    """Return valid answers of a simulated participant; ``number`` returns an integer between two limits."""
    answers: JsonObject = {id: None for item in questionnaire.items for id in item.answer_ids}
    for item in questionnaire.items:
        if item not in questionnaire.shown(answers):
            continue
        low, high = questionnaire.limits(item)
        for id in item.answer_ids:
            answers[id] = made_up_answer(item.kind, low, high, item.longest, number)
    return answers


def made_up_answer(kind: str, low: int, high: int, longest: int, number: Callable[[int, int], int]) -> Any:
    """Return the answer of a simulated participant to one item; choices go from ``low`` to ``high``."""
    if kind == "text":
        return "simulated"[:longest]
    if kind == "choices":
        return [number(low, high)]
    if kind == "ranking":
        free = list(range(low, high + 1))
        return [free.pop(number(0, len(free) - 1)) for _ in range(low, high + 1)]
    return number(low, high)
