"""Questionnaires of a design: rating scales and questions of other kinds, before, between and after the sets.

Ratings and the rows of a matrix belong to a scale, which has its own points, ends and score. Every answer has one id:
a rating, a row of a matrix, or a question of another kind.
"""
# ruff: noqa: RUF009 -- entry() makes the field itself, and the defaults it is given are frozen

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from cobandit.base.checks import one_of, real, short_repr, whole, with_schema
from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.base.records import Record, entry, flag, listing, optional, slug, words, words_or_empty
from cobandit.base.schema import check_schema

WHEN = ("before", "between", "after", "end")
"""When it is asked: once before the first set, after every set but the last, after every set, once after all sets."""

ITEM_KINDS = ("rating", "matrix", "slider", "number", "choice", "choices", "ranking", "text")

PRESETS = ("fluency", "trust", "workload")
"""Ready questionnaires, by the name of their file in ``presets``."""

LARGEST = 1_000_000_000
_NUMERIC = ("lowest", "highest")
_KEYS = {
    "rating": ("scale", "reversed"),
    "matrix": ("scale", "rows"),
    "slider": (*_NUMERIC, "low", "high"),
    "number": (*_NUMERIC, "decimals"),
    "choice": ("choices",),
    "choices": ("choices",),
    "ranking": ("choices",),
    "text": ("longest",),
}
"""The keys of each kind, besides those of all kinds."""


def plain_id(name: str, value: object) -> str:
    """Check a name without dots: dots separate the parts of a text's key."""
    if not isinstance(value, str) or "." in value:
        raise InvalidInput(
            f"{name} must be up to 64 lower-case letters, digits, dashes and underscores, got {short_repr(value)}."
        )
    return slug(name, value)


def _id_or_empty(name: str, value: object) -> str:
    return "" if value == "" else plain_id(name, value)


def _preset_or_empty(name: str, value: object) -> str:
    return "" if value == "" else str(one_of(PRESETS, "preset of a questionnaire called")(name, value))


_NAME = r"[a-z0-9]+(?:[-_][a-z0-9]+)*"
with_schema(plain_id, check_schema(slug) | {"pattern": f"^{_NAME}$"})
with_schema(_preset_or_empty, {"type": "string", "enum": ["", *PRESETS]})
with_schema(_id_or_empty, check_schema(slug) | {"pattern": f"^(?:{_NAME})?$"})


@dataclass(frozen=True)
class ShowIf(Record):
    """The condition under which an item is shown: the answer to an earlier item of the same questionnaire.

    The answer must be one of ``any`` (where several choices may be ticked, one of them), and within ``at_least`` and
    ``at_most``. An item that was not shown or not answered meets no condition.
    """

    item: str = entry(plain_id)
    any: tuple[int, ...] = entry(listing(whole(-LARGEST, LARGEST), 0, 100, unique="="), ())
    at_least: float | None = entry(optional(real(-LARGEST, LARGEST)), None)
    at_most: float | None = entry(optional(real(-LARGEST, LARGEST)), None)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.any and self.at_least is None and self.at_most is None:
            raise InvalidInput(f"show_if on {self.item!r} must have any, at_least or at_most, got none of them.")

    def met(self, value: Any) -> bool:
        """Return whether an answer, in the form in which it is stored, meets the condition."""
        if value is None:
            return False
        values = value if isinstance(value, list) else [value]
        if self.any and not any(part in self.any for part in values):
            return False
        low = self.at_least is None or value >= self.at_least
        return low and (self.at_most is None or value <= self.at_most)


@dataclass(frozen=True)
class Scale(Record):
    """A rating scale from 1 to ``points``; the mean of its items is one score."""

    id: str = entry(plain_id)
    points: int = entry(whole(2, 11), 7)
    low: str = entry(words, "Strongly disagree")
    high: str = entry(words, "Strongly agree")


@dataclass(frozen=True)
class MatrixRow(Record):
    """One row of a matrix: a statement that is rated on the scale of the matrix."""

    id: str = entry(plain_id)
    text: str = entry(words)
    reversed: bool = entry(flag, False)


@dataclass(frozen=True)
class QuestionnaireItem(Record):
    """One item: a rating, a matrix of ratings, or a question of another kind (`ITEM_KINDS`).

    ``lowest`` and ``highest`` are the limits of a slider or a number, ``low`` and ``high`` the ends of a slider in
    words, ``longest`` the characters of a text.
    """

    id: str = entry(plain_id)
    kind: str = entry(one_of(ITEM_KINDS, "kind of item"), "rating")
    text: str = entry(words)
    required: bool = entry(flag, True)
    show_if: ShowIf | None = entry(optional(ShowIf.read), None)
    scale: str = entry(_id_or_empty, "")
    reversed: bool = entry(flag, False)
    rows: tuple[MatrixRow, ...] = entry(listing(MatrixRow.read, 0, 50, unique="id"), ())
    choices: tuple[str, ...] = entry(listing(words, 0, 50, unique="="), ())
    lowest: int = entry(whole(-LARGEST, LARGEST), 0)
    highest: int = entry(whole(-LARGEST, LARGEST), 100)
    decimals: int = entry(whole(0, 6), 0)
    low: str = entry(words_or_empty, "")
    high: str = entry(words_or_empty, "")
    longest: int = entry(whole(1, 5000), 500)

    def __post_init__(self) -> None:
        super().__post_init__()
        called = f"The item {self.id!r}"
        everywhere = ("id", "kind", "text", "required", "show_if")
        for spec in fields(self):
            if spec.name not in (*everywhere, *_KEYS[self.kind]) and getattr(self, spec.name) != spec.default:
                raise InvalidInput(
                    f"{called} of kind {self.kind!r} must not have {spec.name}; its keys are "
                    f"{', '.join((*everywhere, *_KEYS[self.kind]))}."
                )
        if "choices" in _KEYS[self.kind] and len(self.choices) < 2:
            raise InvalidInput(f"{called} must have two or more choices, got {len(self.choices)}.")
        if self.kind == "matrix" and not self.rows:
            raise InvalidInput(f"{called} must have rows, got none.")
        if self.lowest >= self.highest:
            raise InvalidInput(f"{called} must have a highest above its lowest, got {self.lowest} to {self.highest}.")

    @property
    def answer_ids(self) -> tuple[str, ...]:
        """The ids under which it is answered: its own, or those of its rows."""
        return tuple(row.id for row in self.rows) or (self.id,)


@dataclass(frozen=True)
class Questionnaire(Record):
    """One page of items, asked at one or several points of the study.

    A design fills in title, scales and items of a ``preset`` unless it has items of its own.
    """

    id: str = entry(plain_id)
    when: str = entry(one_of(WHEN, "time of a questionnaire"))
    preset: str = entry(_preset_or_empty, "")
    title: str = entry(words_or_empty, "")
    intro: str = entry(words_or_empty, "")
    shuffled: bool = entry(flag, False)
    scales: tuple[Scale, ...] = entry(listing(Scale.read, 0, 50, unique="id"), ())
    items: tuple[QuestionnaireItem, ...] = entry(listing(QuestionnaireItem.read, 0, 200, unique="id"), ())

    def __post_init__(self) -> None:
        super().__post_init__()
        called = f"The questionnaire {self.id!r}"
        if not (self.title and self.items) and (not self.preset or self.scales):
            raise InvalidInput(f"{called} must have a title and items, or a preset ({', '.join(PRESETS)}).")
        known: dict[str, QuestionnaireItem] = {}
        for item in self.items:
            if item.kind in ("rating", "matrix") and item.scale not in {scale.id for scale in self.scales}:
                raise UnknownName(f"scale of {self.id!r} (item {item.id!r})", item.scale, self.scale_ids)
            if item.show_if is not None:
                self._check_condition(item, item.show_if, known)
            for id in {item.id, *item.answer_ids}:
                if id in known:
                    raise InvalidInput(f"{called} must have one item or row called {id!r}, got two.")
                known[id] = item
        for scale in self.scale_ids:
            if not any(item.scale == scale for item in self.items):
                raise InvalidInput(f"{called} must have items on its scale {scale!r}, got none.")

    def _check_condition(
        self, item: QuestionnaireItem, condition: ShowIf, earlier: Mapping[str, QuestionnaireItem]
    ) -> None:
        """Check that the condition of an item names an earlier item, and answers that this item can have."""
        answered = [id for id, other in earlier.items() if id in other.answer_ids]
        if condition.item not in answered:
            raise UnknownName(f"earlier item of {self.id!r} (show_if of {item.id!r})", condition.item, answered)
        asked = earlier[condition.item]
        called = f"show_if of {item.id!r}"
        if asked.kind in ("ranking", "text"):
            raise InvalidInput(f"{called} must name an item with a number or choices, got a {asked.kind} item.")
        limited = condition.at_least is not None or condition.at_most is not None
        if asked.kind in ("choice", "choices") and limited:
            raise InvalidInput(f"{called} must use any, because {asked.id!r} has choices, got at_least or at_most.")
        low, high = self.limits(asked)
        for value in condition.any:
            whole(int(low), int(high))(f"{called}: any", value)

    def limits(self, item: QuestionnaireItem) -> tuple[int, int]:
        """Return the smallest and the largest number that an item can be answered with."""
        if item.choices:
            return 0, len(item.choices) - 1
        return (1, self.scale(item.scale).points) if item.scale else (item.lowest, item.highest)

    @property
    def scale_ids(self) -> tuple[str, ...]:
        """The ids of the scales."""
        return tuple(scale.id for scale in self.scales)

    def scale(self, id: str) -> Scale:
        """Return the scale with this id."""
        return next(scale for scale in self.scales if scale.id == id)

    @property
    def repeated(self) -> bool:
        """Whether it is asked after sets, so that its answers belong to conditions."""
        return self.when in ("between", "after")

    @cached_property
    def ratings(self) -> Mapping[str, tuple[tuple[str, bool], ...]]:
        """The ratings of each scale: the id of each, and whether it is reversed."""
        rated: dict[str, list[tuple[str, bool]]] = {id: [] for id in self.scale_ids}
        for item in self.items:
            if item.kind == "rating":
                rated[item.scale].append((item.id, item.reversed))
            elif item.kind == "matrix":
                rated[item.scale] += [(row.id, row.reversed) for row in item.rows]
        return {id: tuple(ratings) for id, ratings in rated.items()}

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield the texts that people read, by the keys under which they are translated."""
        start = f"questionnaires.{self.id}"
        yield f"{start}.title", self.title
        if self.intro:
            yield f"{start}.intro", self.intro
        for scale in self.scales:
            yield f"{start}.scales.{scale.id}.low", scale.low
            yield f"{start}.scales.{scale.id}.high", scale.high
        for item in self.items:
            yield f"{start}.items.{item.id}", item.text
            for end in ("low", "high"):
                if getattr(item, end):
                    yield f"{start}.items.{item.id}.{end}", getattr(item, end)
            for place, choice in enumerate(item.choices):
                yield f"{start}.items.{item.id}.{place}", choice
            for row in item.rows:
                yield f"{start}.rows.{row.id}", row.text

    def shown(self, answers: Mapping[str, Any]) -> tuple[QuestionnaireItem, ...]:
        """Return the items whose conditions these answers meet, in the order of the design."""
        shown: list[QuestionnaireItem] = []
        asked: set[str] = set()
        for item in self.items:
            condition = item.show_if
            if condition is None or (condition.item in asked and condition.met(answers.get(condition.item))):
                shown.append(item)
                asked.update(item.answer_ids)
        return tuple(shown)
