"""The columns of an export: one list feeds the tables, the codebook, the types of a Parquet file and the reader."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.base.checks import short_repr
from cobandit.base.errors import InvalidInput
from cobandit.studies.data import PEOPLE_KINDS, STATUSES, moments
from cobandit.studies.design import Question, StudyDesign
from cobandit.studies.export.names import condition_tags, portable_name, unused_name
from cobandit.studies.plan import PRACTICE

Table = dict[str, NDArray[Any]]

LAYOUT = 3
"""Counts changes of what an export looks like.

In layout 1 the regrets of ``long`` were those of each round alone. Up to layout 2 names held conditions as they are
called (``good_partner-aware-ucb``), which neither R nor SPSS nor Stata take.
"""


@dataclass(frozen=True)
class Column:
    """One column: how it is kept, and what the codebook says of it.

    ``type`` is "integer", "number", "text", "time" or "flag". ``optional``: a value may be missing (whole numbers are
    then held as floats with NaN). ``guarded``: the text comes from participants, so in CSV it is kept from being a
    formula. ``key`` names what the column is made of where that depends on the design, such as
    ``("survey", item, condition)``.
    """

    name: str
    type: str
    meaning: str
    values: str = ""
    optional: bool = False
    guarded: bool = False
    key: tuple[str, ...] = ()

    @property
    def dtype(self) -> Any:
        """How NumPy holds it."""
        if self.type == "integer":
            return np.dtype(np.float64 if self.optional else np.int64)
        kinds = {"number": "float64", "text": "object", "time": "datetime64[ms]", "flag": "bool"}
        return np.dtype(kinds[self.type])

    def array(self, values: Sequence[Any]) -> NDArray[Any]:
        """Plain values as the column; None: missing."""
        if self.type == "time":
            return moments(values)
        if self.type == "text":
            array = np.empty(len(values), dtype=object)
            array[:] = [None if value is None else clean(value) for value in values]
            return array
        missing = np.nan if self.dtype.kind == "f" else None
        try:
            given = np.array([missing if value is None else value for value in values])
        except ValueError:  # lists of several lengths
            given = np.array(None)
        fits = given.ndim == 1 and given.dtype.kind in ("b" if self.type == "flag" else "iuf")
        if fits and self.type == "integer":
            fits = bool(np.all((given == np.rint(given)) | np.isnan(given)))
        if not fits and len(values):
            raise InvalidInput(f"The column {self.name!r} would hold {short_repr(values)}; {self.type}s are needed.")
        return given.astype(self.dtype)


def clean(text: object) -> str | None:
    """The text as every file can hold it: halves of surrogate pairs become question marks; empty is missing."""
    if not isinstance(text, str):
        raise InvalidInput(f"Where a text belongs, {short_repr(text)} is stored.")
    return text.encode("utf-8", "replace").decode("utf-8") or None


def schema(design: StudyDesign, *, recruiting: bool = False, layout: int = LAYOUT) -> dict[str, tuple[Column, ...]]:
    """The columns of every table, in their order; ``recruiting`` adds where people came from and under which id."""
    people = Column("participant", "text", "pseudonym of the participant")
    names = " | ".join(condition.name for condition in design.conditions)
    orders = " | ".join(map(" > ".join, design.orders))
    kind = Column("kind", "text", "who it was: a person, a rehearsal of the study or a demo", " | ".join(PEOPLE_KINDS))
    survey = (
        people,
        Column("set", "integer", "set after which it was asked, from 0"),
        Column("condition", "text", "condition of the set", names),
        Column("item", "text", "id of the item", _item_texts(design)),
        Column("position", "integer", "place of the item as it was shown, from 0"),
        Column("value", "integer", "the answer as it was given (not turned round)", _scale(design)),
        Column("points", "integer", "highest possible answer; the lowest is 1"),
        Column("reversed", "flag", "whether agreement speaks against the AI", "true | false"),
        Column("attention", "flag", "whether it is a check with one right answer", "true | false"),
        Column("answered_at", "time", "when the answers of the page were stored, UTC", optional=True),
        Column("ms", "integer", "milliseconds that the participant took for all of the page", optional=True),
    )
    events = (
        people,
        Column("at", "time", "when it happened, UTC", optional=True),
        Column("kind", "text", "what happened: the page was loaded, hidden, offline ..."),
        Column("data", "text", "more about it, JSON", guarded=True),
    )
    wide = _wide_columns(design, people, kind, orders, recruiting)
    long = _long_columns(design, people, kind, orders, layout)
    columns = {"long": long, "wide": wide, "survey": survey, "events": events}
    if layout <= 2:
        return columns
    tags = condition_tags(design)
    return {table: _portable(parts, tags) for table, parts in columns.items()}


def _portable(columns: tuple[Column, ...], tags: Mapping[str, str]) -> tuple[Column, ...]:
    """The columns under names that R, SPSS and Stata take; conditions stand in them by their tags."""
    renamed: list[Column] = []
    for column in columns:
        *parts, last = column.key or ("",)
        wanted = "_".join((*parts, tags[last])) if parts and last in tags else column.name
        name = unused_name(portable_name(wanted), [other.name for other in renamed])
        renamed.append(replace(column, name=name))
    return tuple(renamed)


def _long_columns(design: StudyDesign, people: Column, kind: Column, orders: str, layout: int) -> tuple[Column, ...]:
    names = " | ".join(condition.name for condition in design.conditions)
    episode = (
        Column("run", "integer", "number of the episode in this table, from 0"),
        people,
        kind,
        Column("order", "text", "conditions in the order in which the participant met them", orders),
        Column(
            "set",
            "integer",
            "place of the episode's condition in the order, from 0",
            f"0 to {len(design.conditions) - 1} | -1: practice",
        ),
        Column("condition", "text", "condition of the episode", f"{names} | {PRACTICE}"),
        *_partner_columns(design),
        Column("episode", "integer", "place of the episode in all that the participant played, from 0"),
        Column("number", "integer", "place of the episode in its set, or among the practice episodes, from 0"),
        Column("practice", "flag", "whether the episode does not count", "true | false"),
        Column("swapped", "flag", f"whether {_all_agents(design)} arms were reversed in the episode", "true | false"),
        Column("t", "integer", "round of the episode, from 1"),
    )
    times = (
        Column("answered_at", "time", "when the choice was stored, UTC", optional=True),
        Column("reaction_ms", "integer", "milliseconds from when the page took choices to the choice", optional=True),
    )
    return (*episode, *_seat_columns(design), *_regret_columns(layout), *times)


def _partner_columns(design: StudyDesign) -> tuple[Column, ...]:
    """Whom the participant was told to play with, where the design names the partners."""
    if not design.partners:
        return ()
    who = "name of the partner as the participant met it, drawn apart from the condition, in the first language"
    values = " | ".join(f"{partner.name} ({partner.look})" for partner in design.partners)
    return (Column("partner", "text", who, values, optional=True),)


def _seat_columns(design: StudyDesign) -> list[Column]:
    """What each seat chose, saw and foresaw."""
    nothing = "1: good | 0: bad | empty: nothing was seen"
    labels = [" | ".join(f"{i}: {label}" for i, label in enumerate(seat.arms)) for seat in design.seating]
    who = [_called(design, i) for i in range(len(design.seating))]
    columns = [
        Column(f"arm_{i}", "integer", f"{who[i]}'s arm as labelled in the episode", values)
        for i, values in enumerate(labels)
    ]
    columns += [
        Column(f"label_{i}", "text", f"label of {name}'s arm, in the first language of the design")
        for i, name in enumerate(who)
    ]
    columns.append(Column("reward", "number", "the reward r*", "1: good | 0: bad"))
    columns += [
        Column(f"seen_{i}", "number", f"what {name} saw of the reward", nothing, optional=True)
        for i, name in enumerate(who)
    ]
    return columns + [
        Column(f"predicted_{i}_{j}", "integer", f"arm of {who[j]} that {who[i]} foresaw", f"{labels[j]} | -1: none")
        for i, j in design.predictions
    ]


def _regret_columns(layout: int) -> tuple[Column, ...]:
    if layout == 1:
        alone = "this round alone (not summed)"
        return (
            Column("task_regret", "number", f"best mean minus the mean of the team action, {alone}"),
            Column("team_regret", "number", f"what the agents observe of the task regret, {alone}"),
        )
    return (
        Column("round_regret", "number", "best mean minus the mean of the team action, of this round"),
        Column("task_regret", "number", "sum of round_regret over the episode up to this round"),
        Column("team_regret", "number", "what the agents observe of the task regret, summed likewise"),
    )


def _called(design: StudyDesign, seat: int) -> str:
    """What the codebook calls a seat."""
    if seat == design.participant_seat:
        return "the participant"
    return "the AI" if len(design.seating) == 2 else f"{design.seating[seat].name} (an AI)"


def _all_agents(design: StudyDesign) -> str:
    return "both agents'" if len(design.seating) == 2 else "all"


def _item_texts(design: StudyDesign) -> str:
    parts = [f"{item.id}{' (reversed)' if item.reversed else ''}: {item.text}" for item in design.survey.items]
    return " | ".join(parts + [f"{check.id} (attention check): {check.text}" for check in design.attention])


def _scale(design: StudyDesign) -> str:
    survey = design.survey
    return f"1: {survey.low} | {survey.points}: {survey.high}"


def _wide_columns(
    design: StudyDesign, people: Column, kind: Column, orders: str, recruiting: bool
) -> tuple[Column, ...]:
    first = (
        people,
        kind,
        Column("status", "text", "how far the participant has come", " | ".join(STATUSES)),
        Column("order", "text", "conditions in the order of the participant", orders, optional=True),
        Column("language", "text", "language of the pages", " | ".join(design.languages), optional=True),
        Column("consent_version", "text", "version of the consent that was given", optional=True),
        Column("consented_at", "time", "when consent was given, UTC", optional=True),
        Column("started_at", "time", "when the participant started, UTC", optional=True),
        Column("finished_at", "time", "when the participant finished, UTC", optional=True),
        Column("minutes", "number", "minutes from consent to finish", optional=True),
        Column("quiz_attempts", "integer", "how often the questions on the instructions were answered"),
    )
    last: tuple[Column, ...] = ()
    if recruiting:
        last = (
            Column("recruiter", "text", "who sent the participant", optional=True, guarded=True),
            Column("external_id", "text", "id of the participant with the recruiter", optional=True, guarded=True),
        )
    checks = [
        Column(
            f"attention_{check.id}",
            "integer",
            f"attention check after set {check.after_set}: {check.text}",
            "1: right | 0: wrong | empty: not asked",
            optional=True,
            key=("attention", check.id),
        )
        for check in design.attention
    ]
    outcomes: list[Column] = []
    for condition in design.conditions:
        name = condition.name
        for outcome in (
            Column("rounds", "integer", "counted rounds played"),
            Column("good", "integer", "sum of the rewards r* in them", optional=True),
            Column("task_regret", "number", "sum of task regret over them", optional=True),
            Column("team_regret", "number", "sum of team regret over them", optional=True),
        ):
            meaning = f"{outcome.meaning}, condition {name}"
            outcomes.append(replace(outcome, name=f"{outcome.name}_{name}", meaning=meaning, key=(outcome.name, name)))
        for shown in _partner_columns(design):
            meaning = f"{shown.meaning}, condition {name}"
            outcomes.append(replace(shown, name=f"partner_{name}", meaning=meaning, key=("partner", name)))
        for item in design.survey.items:
            turned = " (reversed)" if item.reversed else ""
            outcomes.append(
                Column(
                    f"survey_{item.id}_{name}",
                    "integer",
                    f"answer after condition {name}{turned}: {item.text}",
                    _scale(design),
                    optional=True,
                    key=("survey", item.id, name),
                )
            )
    # A design may give a question the name of another column, so names are made different; first come, first served.
    taken = {column.name for column in (*first, *last)}
    checks, outcomes = unique_names(checks, taken), unique_names(outcomes, taken)
    asked = [_question_column(question) for question in design.demographics]
    asked = [
        replace(column, name=f"demographics_{column.name}") if column.name in taken else column for column in asked
    ]
    return (*first, *unique_names(asked, taken), *checks, *outcomes, *last)


def unique_names(columns: Iterable[Column], taken: set[str]) -> list[Column]:
    """The columns under names that no other column has."""
    renamed = []
    for column in columns:
        name, number = column.name, 1
        while name in taken:
            number += 1
            name = f"{column.name}_{number}"
        taken.add(name)
        renamed.append(replace(column, name=name))
    return renamed


def _question_column(question: Question) -> Column:
    kinds = {"whole": "integer", "choice": "text", "text": "text"}
    values = {"whole": f"{question.low} to {question.high}", "choice": " | ".join(question.choices), "text": ""}
    return Column(
        question.id,
        kinds[question.answer],
        question.text,
        values[question.answer],
        optional=True,
        guarded=question.answer == "text",
        key=("demographics", question.id),
    )


CODEBOOK_COLUMNS = tuple(Column(name, "text", "") for name in ("table", "column", "type", "meaning", "values"))
TYPES = {"time": "time, ISO 8601 UTC", "flag": "true or false"}
_GUARD = "in CSV, a text that starts like a formula (= + - @) has an apostrophe before it"


def of_rows(columns: tuple[Column, ...], rows: Sequence[Sequence[Any]]) -> Table:
    """A table out of rows."""
    parts = list(zip(*rows, strict=True)) if rows else [()] * len(columns)
    return {column.name: column.array(part) for column, part in zip(columns, parts, strict=True)}


def codebook(columns: Mapping[str, tuple[Column, ...]]) -> Table:
    """What every column of every table means."""
    rows = []
    for table, parts in columns.items():
        for column in parts:
            notes = [column.values] if column.values else []
            if column.optional and "empty" not in column.values:
                notes.append("empty: missing")
            if column.guarded:
                notes.append(_GUARD)
            meaning, values = (" ".join(text.split()) for text in (column.meaning, " | ".join(notes)))
            rows.append((table, column.name, TYPES.get(column.type, column.type), meaning, values))
    return of_rows(CODEBOOK_COLUMNS, rows)
