"""The columns of an export: one list feeds the tables, the codebook, the types of a Parquet file and the reader."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from cobandit.studies.data import PEOPLE_KINDS, STATUSES
from cobandit.studies.design import Question, StudyDesign
from cobandit.studies.export import questions
from cobandit.studies.export.columns_base import Column as Column
from cobandit.studies.export.columns_base import clean as clean
from cobandit.studies.export.names import condition_tags, portable_name, unused_name
from cobandit.studies.leaving import FINISHED, OUTCOMES, screens
from cobandit.studies.lines import plates
from cobandit.studies.plan import PRACTICE

Table = dict[str, NDArray[Any]]

LAYOUT = 4
"""Counts changes of what an export looks like.

In layout 1 the regrets of ``long`` were those of each round alone. Up to layout 2 names held conditions as they are
called (``good_partner-aware-ucb``), which neither R nor SPSS nor Stata take. Up to layout 3 free texts of
``demographics`` were always exported; since then they follow ``texts``, as those of questionnaires do.
"""


def schema(
    design: StudyDesign, *, recruiting: bool = False, texts: bool = False, layout: int = LAYOUT
) -> dict[str, tuple[Column, ...]]:
    """Return the columns of every table, in order; ``recruiting`` adds the recruiting service and its IDs.

    ``texts`` adds the free texts of questions about the person and of questionnaires. Only a design with
    questionnaires has a table for them.
    """
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
    wide = _wide_columns(design, people, kind, orders, recruiting=recruiting, texts=texts)
    if not texts and layout >= 4:
        # Dropped from the named columns, so that the other names are those of an export with texts.
        written = {("demographics", question.id) for question in design.demographics if question.answer == "text"}
        wide = tuple(column for column in wide if column.key not in written)
    long = _long_columns(design, people, kind, orders, layout)
    columns = {"long": long, "wide": wide, "survey": survey, "events": events}
    if design.questionnaires:
        columns[questions.NAME] = questions.table_columns(design, people, names, texts)
    if layout <= 2:
        return columns
    tags = condition_tags(design)
    return {table: _portable(parts, tags) for table, parts in columns.items()}


def _portable(columns: tuple[Column, ...], tags: Mapping[str, str]) -> tuple[Column, ...]:
    """Return the columns under names that R, SPSS and Stata accept; tags replace the names of conditions."""
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
        *_team_columns(design),
        Column("order", "text", "conditions in the order in which the participant met them", orders),
        *_cell_columns(design),
        Column(
            "set",
            "integer",
            "place of the episode's condition in the order, from 0",
            f"0 to {design.sets - 1} | -1: practice",
        ),
        Column("condition", "text", "condition of the episode", f"{names} | {PRACTICE}"),
        *_partner_columns(design),
        Column("episode", "integer", "place of the episode in all that the participant played, from 0"),
        Column("number", "integer", "place of the episode in its set, or among the practice episodes, from 0"),
        Column("practice", "flag", "whether the episode does not count", "true | false"),
        Column("swapped", "flag", f"whether {_all_agents(design)} arms were reversed in the episode", "true | false"),
        *_rank_columns(design),
        Column("t", "integer", "round of the episode, from 1"),
    )
    times = (
        Column("answered_at", "time", "when the choice was stored, UTC", optional=True),
        Column("reaction_ms", "integer", "milliseconds from when the page took choices to the choice", optional=True),
    )
    return (*episode, *_state_columns(design), *_seat_columns(design), *_regret_columns(layout, design), *times)


def _rank_columns(design: StudyDesign) -> tuple[Column, ...]:
    """Return the columns with the rank of each seat, where ranks are drawn in some condition."""
    return tuple(
        Column(f"rank_{i}", "integer", f"rank of {_called(design, i)} in the episode", "0: the leader | 1: the next")
        for i in range(len(design.seating) if design.draws_roles else 0)
    )


def _state_columns(design: StudyDesign) -> tuple[Column, ...]:
    """Return the column with the state before the choice, in a task with states."""
    if design.task.steps == 1:
        return ()
    labels = (design.task.arms, *design.task.layers)
    names = []
    for state, plate in enumerate(plates(design.arms, design.task.steps)):
        layers = [
            "+".join(labels[layer][seat][arm] for seat, arm in enumerate(arms)) for layer, arms in enumerate(plate)
        ]
        names.append(f"{state}: {', '.join(layers) or 'nothing'}")
    return (
        Column("layer", "integer", "layer of the burger that is chosen, from 1", f"1 to {design.task.steps}"),
        Column("state", "integer", "what lies on the plate before the choice", " | ".join(names)),
    )


_LOST = "best mean minus the mean of the team action"


def _partner_columns(design: StudyDesign) -> tuple[Column, ...]:
    """Return the columns with the partner's name, if the design names the partners."""
    if not design.partners:
        return ()
    who = "name of the partner as the participant met it, drawn apart from the condition, in the first language"
    values = " | ".join(f"{partner.name} ({partner.look})" for partner in design.partners)
    return (Column("partner", "text", who, values, optional=True),)


def _team_columns(design: StudyDesign) -> tuple[Column, ...]:
    """Return the columns for team and seat, if several people are in one team."""
    if design.group is None:
        return ()
    seats = " | ".join(f"{i}: {design.seating[i].name}" for i in design.participant_seats)
    return (
        Column("team", "text", "pseudonym of the team; its members share the rounds played together", optional=True),
        Column("seat", "integer", "seat of the participant in the team", seats, optional=True),
    )


def _seat_columns(design: StudyDesign) -> list[Column]:
    """Return the columns with each seat's choice, observation and prediction."""
    values = "" if design.rewards.graded else "1: good | 0: bad"
    nothing = " | ".join(filter(None, (values, "empty: nothing was seen")))
    labels = [" | ".join(f"{i}: {label}" for i, label in enumerate(seat.arms)) for seat in design.seating]
    who = [_called(design, i) for i in range(len(design.seating))]
    columns = [
        Column(f"arm_{i}", "integer", f"{who[i]}'s arm as labelled in the episode", named)
        for i, named in enumerate(labels)
    ]
    columns += [
        Column(f"label_{i}", "text", f"label of {name}'s arm, in the first language of the design")
        for i, name in enumerate(who)
    ]
    columns.append(Column("reward", "number", "the reward r*", values))
    columns += [
        Column(f"seen_{i}", "number", f"what {name} saw of the reward", nothing, optional=True)
        for i, name in enumerate(who)
    ]
    if design.has_recorded_seats:
        makers = "person | service | takeover: an AI after a time-out | agent: the AI of the condition"
        for i, name in enumerate(who):
            columns += [
                Column(f"by_{i}", "text", f"who chose the arm of {name}", makers),
                Column(f"ms_{i}", "integer", f"milliseconds that the choice of {name} took", optional=True),
                Column(f"takeover_{i}", "integer", f"whether an AI chose in place of {name}", "1: yes | 0: no"),
            ]
    return columns + [
        Column(f"predicted_{i}_{j}", "integer", f"arm of {who[j]} that {who[i]} foresaw", f"{labels[j]} | -1: none")
        for i, j in design.predictions
    ]


def _regret_columns(layout: int, design: StudyDesign) -> tuple[Column, ...]:
    if design.task.layers:
        lost = "what the choice lost against the optimal joint policy (V* - Q*)"
        return tuple(replace(column, meaning=column.meaning.replace(_LOST, lost)) for column in _regrets(layout))
    return _regrets(layout)


def _regrets(layout: int) -> tuple[Column, ...]:
    if layout == 1:
        alone = "this round alone (not summed)"
        return (
            Column("task_regret", "number", f"{_LOST}, {alone}"),
            Column("team_regret", "number", f"the part of the task regret that the agents observe, {alone}"),
        )
    return (
        Column("round_regret", "number", f"{_LOST}, of this round"),
        Column("task_regret", "number", "sum of round_regret over the episode up to this round"),
        Column("team_regret", "number", "the part of the task regret that the agents observe, summed in the same way"),
    )


def _called(design: StudyDesign, seat: int) -> str:
    """Return the name of a seat in the codebook."""
    if design.group is not None:
        return design.seating[seat].name
    if seat == design.participant_seat:
        return "the participant"
    return "the AI" if len(design.seating) == 2 else f"{design.seating[seat].name} (an AI)"


def _all_agents(design: StudyDesign) -> str:
    return "both agents'" if len(design.seating) == 2 else "all"


def _item_texts(design: StudyDesign) -> str:
    parts = [f"{item.id}{' (reversed)' if item.reversed else ''}: {item.text}" for item in design.survey.items]
    return " | ".join(parts + [f"{check.id} (attention check): {check.text}" for check in design.attention])


def _cell_columns(design: StudyDesign) -> tuple[Column, ...]:
    """Return the column of the cell, in a design between subjects."""
    if len(design.cells) == 1:
        return ()
    names = " | ".join(f"{cell}: {', '.join(conditions)}" for cell, conditions in design.cells.items())
    return (
        Column("cell", "text", "cell of the participant: levels of the factors between subjects", names, optional=True),
    )


def _scale(design: StudyDesign) -> str:
    survey = design.survey
    return f"1: {survey.low} | {survey.points}: {survey.high}"


def _wide_columns(
    design: StudyDesign, people: Column, kind: Column, orders: str, *, recruiting: bool, texts: bool
) -> tuple[Column, ...]:
    first = (
        people,
        kind,
        *_team_columns(design),
        *_leaving_columns(design),
        Column("status", "text", "how far the participant has come", " | ".join(STATUSES)),
        *_outcome_columns(design),
        Column("order", "text", "conditions in the order of the participant", orders, optional=True),
        *_cell_columns(design),
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
            Column(
                "good", "number" if design.rewards.graded else "integer", "sum of the rewards r* in them", optional=True
            ),
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
        outcomes += questions.wide_columns(design, name, texts)
    outcomes += questions.wide_columns(design, None, texts)
    # A design may give a question the name of another column, so names are made different; first come, first served.
    taken = {column.name for column in (*first, *last)}
    checks, outcomes = unique_names(checks, taken), unique_names(outcomes, taken)
    asked = [_question_column(question) for question in design.demographics]
    asked = [
        replace(column, name=f"demographics_{column.name}") if column.name in taken else column for column in asked
    ]
    return (*first, *unique_names(asked, taken), *checks, *outcomes, *last)


def _outcome_columns(design: StudyDesign) -> tuple[Column, ...]:
    """Return the column of the outcome, where a design has others than a finished study."""
    if not design.outcomes and design.withdrawal.data == "delete" and not screens(design):
        return ()
    names = " | ".join((FINISHED, *OUTCOMES, "empty: under way"))
    return (Column("outcome", "text", "how the participation ended", names, optional=True),)


def _leaving_columns(design: StudyDesign) -> tuple[Column, ...]:
    if design.group is None:
        return ()
    why = "timeout | absent | partner | researcher | withdrew | empty: stayed"
    outcomes = "team | ai: an AI filled the free seats | short: no team was found"
    return (
        Column("left_reason", "text", "why an AI took over the participant's seat for good", why, optional=True),
        Column("lobby", "text", "how the wait for a team ended", outcomes, optional=True),
    )


def unique_names(columns: Iterable[Column], taken: set[str]) -> list[Column]:
    """Return the columns, renamed where another column has the same name."""
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
    """Return a table with these rows."""
    parts = list(zip(*rows, strict=True)) if rows else [()] * len(columns)
    return {column.name: column.array(part) for column, part in zip(columns, parts, strict=True)}


def codebook(columns: Mapping[str, tuple[Column, ...]]) -> Table:
    """Return the meaning of every column of every table."""
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
