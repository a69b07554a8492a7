"""A stored study as tables that any statistics program reads: CSV or Parquet, a codebook, and where it all comes from.

One list of columns (`schema`) feeds the tables, the codebook, the types of a Parquet file and the reader. ``long`` has
the columns of a simulated trajectory and more; its regrets are those of each single round, so their running sums are
the regrets of a trajectory. ``study.json`` is written first as unfinished and last as finished, with the SHA-256 of
every file, so an export that was cut off or changed later is not taken for a whole one.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from cobandit.base.checks import one_of, short_repr
from cobandit.base.errors import InvalidInput
from cobandit.base.extras import require_extras
from cobandit.base.files import whole_file
from cobandit.base.parquet import pyarrow_modules
from cobandit.studies.data import (
    PEOPLE_KINDS,
    STATUSES,
    EpisodeData,
    ParticipantData,
    StudyData,
    moments,
    this_software,
)
from cobandit.studies.design import Question, StudyDesign
from cobandit.studies.journey import attention_results
from cobandit.studies.plan import PRACTICE, EpisodePlan

FORMATS = ("csv", "parquet")
TABLES = ("long", "wide", "survey", "events")
LAYOUT = 1
"""Counts changes of what an export looks like."""

Table = dict[str, NDArray[Any]]

_ABOUT = "study.json"
_CODEBOOK = "codebook.csv"
_ROWS_AT_A_TIME = 50_000
_FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
"""How a text starts that a spreadsheet would take for a formula, or that has been guarded against it."""


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
            made = np.empty(len(values), dtype=object)
            made[:] = [None if value is None else clean(value) for value in values]
            return made
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


def clean(text: Any) -> str | None:
    """The text as every file can hold it: halves of surrogate pairs become question marks; empty is missing."""
    if not isinstance(text, str):
        raise InvalidInput(f"Where a text belongs, {short_repr(text)} is stored.")
    return text.encode("utf-8", "replace").decode("utf-8") or None


def schema(design: StudyDesign, *, recruiting: bool = False) -> dict[str, tuple[Column, ...]]:
    """The columns of every table, in their order; ``recruiting`` adds where people came from and under which id."""
    people = Column("participant", "text", "pseudonym of the participant")
    names = " | ".join(condition.name for condition in design.conditions)
    orders = " | ".join(map(" > ".join, design.orders))
    mine, its = (" | ".join(f"{i}: {label}" for i, label in enumerate(labels)) for labels in design.task.arms)
    kind = Column("kind", "text", "who it was: a person, a rehearsal of the study or a demo", " | ".join(PEOPLE_KINDS))
    nothing = "1: good | 0: bad | empty: nothing was seen"
    long = (
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
        Column("episode", "integer", "place of the episode in all that the participant played, from 0"),
        Column("number", "integer", "place of the episode in its set, or among the practice episodes, from 0"),
        Column("practice", "flag", "whether the episode does not count", "true | false"),
        Column("swapped", "flag", "whether both agents' arms were reversed in the episode", "true | false"),
        Column("t", "integer", "round of the episode, from 1"),
        Column("arm_0", "integer", "the participant's arm as labelled in the episode", mine),
        Column("arm_1", "integer", "the AI's arm as labelled in the episode", its),
        Column("label_0", "text", "label of the participant's arm, in the first language of the design"),
        Column("label_1", "text", "label of the AI's arm, in the first language of the design"),
        Column("reward", "number", "the reward r*", "1: good | 0: bad"),
        Column("seen_0", "number", "what the participant saw of the reward", nothing, optional=True),
        Column("seen_1", "number", "what the AI saw of the reward", nothing, optional=True),
        Column("predicted_1_0", "integer", "arm of the participant that the AI foresaw", f"{mine} | -1: none"),
        Column("task_regret", "number", "best mean minus the mean of the team action, this round alone (not summed)"),
        Column("team_regret", "number", "what the agents observe of the task regret, this round alone (not summed)"),
        Column("answered_at", "time", "when the choice was stored, UTC", optional=True),
        Column("reaction_ms", "integer", "milliseconds from when the page took choices to the choice", optional=True),
    )
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
    return {"long": long, "wide": wide, "survey": survey, "events": events}


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
        for made in (
            Column("rounds", "integer", "counted rounds played"),
            Column("good", "integer", "sum of the rewards r* in them", optional=True),
            Column("task_regret", "number", "sum of task regret over them", optional=True),
            Column("team_regret", "number", "sum of team regret over them", optional=True),
        ):
            meaning = f"{made.meaning}, condition {name}"
            outcomes.append(replace(made, name=f"{made.name}_{name}", meaning=meaning, key=(made.name, name)))
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
    made = []
    for column in columns:
        name, number = column.name, 1
        while name in taken:
            number += 1
            name = f"{column.name}_{number}"
        taken.add(name)
        made.append(replace(column, name=name))
    return made


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


@dataclass(frozen=True)
class _Played:
    """An episode with at least one round, and what its rounds cost."""

    person: ParticipantData
    plan: EpisodePlan
    data: EpisodeData
    regret: NDArray[np.float64]


def _played(data: StudyData) -> Iterator[_Played]:
    for person in data.participants:
        plan = person.plan(data.design)
        for index in sorted(person.episodes):
            kept = person.episodes[index]
            if plan is None or not len(kept):
                continue
            episode = plan.episode(index)
            for name, arms in (("arm_0", data.design.arms[0]), ("arm_1", data.design.arms[1])):
                column = getattr(kept, name)
                if column.min() < 0 or column.max() >= arms:
                    raise InvalidInput(
                        f"Episode {index} of {person.id} holds an {name} outside 0 to {arms - 1}; "
                        f"verify the study, its log is damaged."
                    )
            means = episode.means
            yield _Played(person, episode, kept, means.max() - means[kept.arm_0, kept.arm_1])


def tables(data: StudyData, *, practice: bool = True, recruiting: bool = False) -> dict[str, Table]:
    """The study as columns by table: long (a row per round), wide (per participant), survey, events, codebook.

    ``practice`` False leaves out the rounds of ``long`` that do not count; ``wide`` never counts them.
    """
    columns = schema(data.design, recruiting=recruiting)
    played = list(_played(data))
    return {
        "long": _long(data.design, [one for one in played if practice or not one.plan.practice], columns["long"]),
        "wide": _wide(data, played, columns["wide"]),
        "survey": _survey(data, columns["survey"]),
        "events": _events(data, columns["events"]),
        "codebook": _codebook(columns),
    }


def _long(design: StudyDesign, played: list[_Played], columns: tuple[Column, ...]) -> Table:
    lengths = [len(one.data) for one in played]
    of_episode: dict[str, list[Any]] = {
        "run": list(range(len(played))),
        "participant": [one.person.id for one in played],
        "kind": [one.person.kind for one in played],
        "order": [" > ".join(design.orders[one.plan.order]) for one in played],
        "set": [one.plan.set for one in played],
        "condition": [one.plan.condition for one in played],
        "episode": [one.plan.index for one in played],
        "number": [one.plan.number for one in played],
        "practice": [one.plan.practice for one in played],
        "swapped": [one.plan.swapped for one in played],
    }

    def joined(name: str, of: Callable[[_Played], NDArray[Any]]) -> NDArray[Any]:
        kept = next(column for column in columns if column.name == name)
        return np.concatenate([np.zeros(0, dtype=kept.dtype), *map(of, played)])

    made: Table = {}
    for column in columns:
        name = column.name
        if name in of_episode:
            made[name] = np.repeat(column.array(of_episode[name]), lengths)
        elif name in ("label_0", "label_1"):
            labels = column.array(design.task.arms[int(name[-1])])
            made[name] = labels[made[f"arm_{name[-1]}"]]
        elif name == "task_regret":
            made[name] = joined(name, lambda one: one.regret)
        elif name == "reaction_ms":
            made[name] = joined(name, lambda one: np.rint(one.data.reaction_ms))
        elif name == "team_regret":
            made[name] = made["task_regret"] * design.problem.team_factor
        else:
            made[name] = joined(name, lambda one, name=name: getattr(one.data, name))  # type: ignore[misc]
    return made


def _of_rows(columns: tuple[Column, ...], rows: Sequence[Sequence[Any]]) -> Table:
    parts = list(zip(*rows, strict=True)) if rows else [()] * len(columns)
    return {column.name: column.array(part) for column, part in zip(columns, parts, strict=True)}


def _wide(data: StudyData, played: list[_Played], columns: tuple[Column, ...]) -> Table:
    sums: dict[tuple[str, str], list[float]] = {}
    for one in played:
        if not one.plan.practice:
            kept = sums.setdefault((one.person.id, one.plan.condition), [0, 0.0, 0.0])
            kept[0] += len(one.data)
            kept[1] += float(one.data.reward.sum())
            kept[2] += float(one.regret.sum())
    return _of_rows(columns, [_wide_row(data.design, person, sums, columns) for person in data.participants])


def _wide_row(
    design: StudyDesign,
    person: ParticipantData,
    sums: Mapping[tuple[str, str], list[float]],
    columns: tuple[Column, ...],
) -> list[Any]:
    plan = person.plan(design)
    consent = person.answers.get("consent")
    values: dict[Any, Any] = {
        "participant": person.id,
        "kind": person.kind,
        "status": person.status,
        "order": None if plan is None else " > ".join(plan.conditions),
        "language": person.language,
        "consent_version": None if consent is None else consent.values.get("version"),
        "consented_at": person.consented_at,
        "started_at": person.started_at,
        "finished_at": person.finished_at,
        "minutes": None,
        "quiz_attempts": person.quiz_attempts,
        "recruiter": person.recruiter,
        "external_id": person.external_id,
    }
    if person.consented_at is not None and person.finished_at is not None:
        values["minutes"] = (person.finished_at - person.consented_at).total_seconds() / 60.0
    if "demographics" in person.answers:
        given = person.answers["demographics"].values
        for question in design.demographics:
            values["demographics", question.id] = _told(person, question, given.get(question.id))
    for place in range(len(design.conditions)):
        answer = person.answers.get(f"survey-{place + 1}")
        if answer is None or plan is None:
            continue
        for check, right in attention_results(design, answer.values).items():
            values["attention", check] = int(right)
        for item in design.survey.items:
            values["survey", item.id, plan.conditions[place]] = answer.values.get(item.id)
    for condition in design.conditions:
        rounds, good, regret = sums.get((person.id, condition.name), (0, None, None))
        values["rounds", condition.name] = rounds
        values["good", condition.name] = good
        values["task_regret", condition.name] = regret
        values["team_regret", condition.name] = None if regret is None else regret * design.problem.team_factor
    return [values.get(column.key or column.name) for column in columns]


def _told(person: ParticipantData, question: Question, value: Any) -> Any:
    """A stored answer as the table shows it: a choice by its text."""
    if value is None or question.answer != "choice":
        return value
    if type(value) is not int or not 0 <= value < len(question.choices):
        raise InvalidInput(
            f"{person.id} is stored with {question.id} = {short_repr(value)}; "
            f"the place of a choice from 0 to {len(question.choices) - 1} is needed."
        )
    return question.choices[value]


def _survey(data: StudyData, columns: tuple[Column, ...]) -> Table:
    turned = {item.id: item.reversed for item in data.design.survey.items}
    points = data.design.survey.points
    rows = []
    for person in data.participants:
        plan = person.plan(data.design)
        for place in range(len(data.design.conditions)):
            answer = person.answers.get(f"survey-{place + 1}")
            if answer is None or plan is None:
                continue
            for position, id in enumerate(plan.survey_order(place)):
                if answer.values.get(id) is not None:
                    about = (person.id, place, plan.conditions[place], id, position, answer.values[id], points)
                    rows.append((*about, turned.get(id, False), id not in turned, answer.at, answer.ms))
    return _of_rows(columns, rows)


def _events(data: StudyData, columns: tuple[Column, ...]) -> Table:
    rows = [
        (person.id, event.at, event.kind, json.dumps(dict(event.data), ensure_ascii=False, sort_keys=True))
        for person in data.participants
        for event in person.events
    ]
    return _of_rows(columns, rows)


_CODEBOOK_COLUMNS = tuple(Column(name, "text", "") for name in ("table", "column", "type", "meaning", "values"))
_TYPES = {"time": "time, ISO 8601 UTC", "flag": "true or false"}
_GUARD = "in CSV, a text that starts like a formula (= + - @) has an apostrophe before it"


def _codebook(columns: Mapping[str, tuple[Column, ...]]) -> Table:
    rows = []
    for table, parts in columns.items():
        for column in parts:
            notes = [column.values] if column.values else []
            if column.optional and "empty" not in column.values:
                notes.append("empty: missing")
            if column.guarded:
                notes.append(_GUARD)
            meaning, values = (" ".join(text.split()) for text in (column.meaning, " | ".join(notes)))
            rows.append((table, column.name, _TYPES.get(column.type, column.type), meaning, values))
    return _of_rows(_CODEBOOK_COLUMNS, rows)


def write_export(
    data: StudyData,
    folder: str | os.PathLike[str],
    format: str = "csv",
    *,
    practice: bool = True,
    recruiting: bool = False,
) -> list[Path]:
    """Write every table, the codebook and ``study.json`` into a folder; the paths written.

    Each file appears whole or not at all. A folder that holds something else is left alone; an earlier export of the
    same study is replaced.
    """
    one_of(FORMATS, "format of an export")("format", format)
    require_extras("Exporting Parquet files", parquet=format == "parquet")
    root = _our_folder(folder, data.design)
    made = tables(data, practice=practice, recruiting=recruiting)
    columns = schema(data.design, recruiting=recruiting)
    about = _about(data, format, practice, recruiting)
    try:
        root.mkdir(parents=True, exist_ok=True)
        _write_about(root, about | {"complete": False})
        for name in TABLES:
            path = root / f"{name}.{format}"
            if format == "csv":
                _write_csv(path, columns[name], made[name])
            else:
                _write_parquet(path, columns[name], made[name], about | {"table": name})
            about["files"][path.name] = _about_file(path, made[name])
        _write_csv(root / _CODEBOOK, _CODEBOOK_COLUMNS, made["codebook"])
        about["files"][_CODEBOOK] = _about_file(root / _CODEBOOK, made["codebook"])
        _write_about(root, about)
        for name in TABLES:
            for other in FORMATS:
                if other != format:
                    (root / f"{name}.{other}").unlink(missing_ok=True)
    except OSError as error:
        raise InvalidInput(f"The export cannot be written to {str(root)!r}: {error.strerror or error}.") from error
    return [root / name for name in (*about["files"], _ABOUT)]


def _our_folder(folder: str | os.PathLike[str], design: StudyDesign) -> Path:
    """The folder, if it may be written to: new, empty, or an export of the same study."""
    if not isinstance(folder, (str, os.PathLike)) or "\0" in os.fspath(folder):
        raise InvalidInput(f"The folder is {short_repr(folder)}; a path is needed.")
    root = Path(folder)
    if not root.exists():
        return root
    if not root.is_dir():
        raise InvalidInput(f"{str(root)!r} is a file; a folder is needed.")
    if not any(root.iterdir()):
        return root
    try:
        found = json.loads((root / _ABOUT).read_text(encoding="utf-8"))
        digest = found["digest"] if "layout" in found else None
    except (OSError, ValueError, TypeError, KeyError):
        digest = None
    if digest is None:
        raise InvalidInput(f"The folder {str(root)!r} holds something else already; a new or an empty one is needed.")
    if digest != design.digest:
        raise InvalidInput(
            f"The folder {str(root)!r} holds the export of another study or of another version of it; "
            f"choose another folder."
        )
    return root


def _about(data: StudyData, format: str, practice: bool, recruiting: bool) -> dict[str, Any]:
    try:
        json.dumps(dict(data.about), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"about is {short_repr(data.about)}; only what JSON knows can be exported: {error}."
        ) from error
    return {
        "layout": LAYOUT,
        "complete": True,
        "study": data.design.name,
        "version": data.design.version,
        "digest": data.design.digest,
        "format": format,
        "exported_at": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "exported_by": this_software(),
        "versions": dict(data.versions),
        "kinds": list(data.kinds),
        "participants": len(data.participants),
        "practice": practice,
        "recruiting": recruiting,
        "analysis_plan": data.plan,
        "analysis_plan_sha256": data.plan_digest,
        "about": dict(data.about),
        "files": {},
        "design": data.design.to_dict(),
    }


def _write_about(root: Path, about: Mapping[str, Any]) -> None:
    with whole_file(root / _ABOUT) as file:
        file.write((json.dumps(about, indent=2) + "\n").encode("ascii"))


def _about_file(path: Path, table: Table) -> dict[str, Any]:
    return {"rows": len(next(iter(table.values()))), "sha256": _sha256(path)}


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write_csv(path: Path, columns: tuple[Column, ...], table: Table) -> None:
    """RFC 4180: commas, quotes where needed, CR LF; UTF-8; nothing at all for what is missing."""
    count = len(table[columns[0].name])
    with whole_file(path) as file:
        _write_lines(file, [",".join(_quoted(column.name) for column in columns)])
        for start in range(0, count, _ROWS_AT_A_TIME):
            part = slice(start, start + _ROWS_AT_A_TIME)
            _write_lines(file, map(",".join, zip(*(_cells(c, table[c.name][part]) for c in columns), strict=True)))


def _write_lines(file: IO[bytes], lines: Iterable[str]) -> None:
    file.write(("\r\n".join(lines) + "\r\n").encode("utf-8"))


def _cells(column: Column, values: NDArray[Any]) -> list[str]:
    """The values as they stand in the file; equal ones are put into words once."""
    if column.type == "text":
        words = {text: _text_cell(column, text) for text in set(values.tolist())}
        return [words[text] for text in values.tolist()]
    if column.type == "time":
        known = ~np.isnat(values)
        cells = np.full(len(values), "", dtype=object)
        cells[known] = [f"{text}Z" for text in np.datetime_as_string(values[known], unit="ms").tolist()]
        return list(cells.tolist())
    if column.type == "flag":
        return ["true" if value else "false" for value in values.tolist()]
    different, places = np.unique(values, return_inverse=True)
    shortest = np.array([_number_cell(value) for value in different.tolist()], dtype=object)
    return list(shortest[places].tolist())


def _number_cell(value: float) -> str:
    if value != value:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else repr(value)


def _text_cell(column: Column, text: str | None) -> str:
    if text is None:
        return ""
    return _quoted(f"'{text}" if column.guarded and _FORMULA.match(text) else text)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(sign in text for sign in ',"\r\n') else text


def _write_parquet(path: Path, columns: tuple[Column, ...], table: Table, about: Mapping[str, Any]) -> None:
    arrow, parquet = pyarrow_modules()
    types = {
        "integer": arrow.int64(),
        "number": arrow.float64(),
        "text": arrow.string(),
        "time": arrow.timestamp("ms", tz="UTC"),
        "flag": arrow.bool_(),
    }
    arrays = {}
    for column in columns:
        values = table[column.name]
        missing = np.isnan(values) if values.dtype.kind == "f" else None
        if column.type == "integer" and missing is not None:
            values = np.where(missing, 0, values).astype(np.int64)
        arrays[column.name] = arrow.array(values, type=types[column.type], mask=missing)
    made = arrow.table(arrays).replace_schema_metadata({"cobandit": json.dumps(about)})
    with whole_file(path) as file:
        parquet.write_table(made, file, compression="zstd")


def read_export(
    folder: str | os.PathLike[str], *, changed: bool = False
) -> tuple[StudyDesign, dict[str, Table], dict[str, Any]]:
    """An export as it was written, of either format: the design, the tables, and what ``study.json`` says.

    A file that is not the one that was written is refused, unless ``changed`` allows it (somebody has mended a typing
    error in a CSV file, say); ``changed_files`` of what is told about the export then names it.
    """
    if not isinstance(folder, (str, os.PathLike)) or "\0" in os.fspath(folder):
        raise InvalidInput(f"The folder is {short_repr(folder)}; a path is needed.")
    root = Path(folder)
    about = _read_about(root)
    try:
        design = StudyDesign.from_dict(about["design"], f"the design in {str(root / _ABOUT)!r}")
        format = one_of(FORMATS, "format of an export")("format", about["format"])
        require_extras("Reading Parquet files", parquet=format == "parquet")
        files: dict[str, Any] = about["files"]
        recruiting = bool(about["recruiting"])
        if design.digest != about["digest"]:
            raise InvalidInput(f"{str(root / _ABOUT)!r} holds a design that does not match its digest.")
        columns = schema(design, recruiting=recruiting) | {"codebook": _CODEBOOK_COLUMNS}
        names = {name: f"{name}.{format}" for name in TABLES} | {"codebook": _CODEBOOK}
        written = {name: str(files[file]["sha256"]) for name, file in names.items()}
    except (KeyError, TypeError) as error:
        raise InvalidInput(f"{str(root / _ABOUT)!r} is damaged: {error} is missing or wrong.") from error
    found = {}
    others = []
    for name, file in names.items():
        path = root / file
        try:
            if _sha256(path) != written[name]:
                if not changed:
                    raise InvalidInput(
                        f"{str(path)!r} is not the file that was exported: it was changed or damaged later. Export "
                        "again."
                    )
                others.append(file)
            found[name] = (_read_csv if path.suffix == ".csv" else _read_parquet)(path, columns[name])
        except FileNotFoundError as error:
            raise InvalidInput(f"{str(root)!r} has no {file}; the export is not whole. Export again.") from error
        except OSError as error:
            raise InvalidInput(f"{str(path)!r} cannot be read: {error.strerror or error}.") from error
    return design, found, about | {"changed_files": others}


def _read_about(root: Path) -> dict[str, Any]:
    path = root / _ABOUT
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InvalidInput(f"{str(root)!r} has no {_ABOUT}; the folder of an export is needed.") from error
    except OSError as error:
        raise InvalidInput(f"{str(path)!r} cannot be read: {error.strerror or error}.") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{str(path)!r} is damaged: it is not JSON.") from error
    if not isinstance(about, dict) or "layout" not in about:
        raise InvalidInput(f"{str(path)!r} does not belong to an export of a study.")
    if about["layout"] != LAYOUT:
        raise InvalidInput(
            f"{str(path)!r} has layout {short_repr(about['layout'])}; this version of cobandit reads layout {LAYOUT}."
        )
    if about.get("complete") is not True:
        raise InvalidInput(f"The export in {str(root)!r} was cut off before it was whole. Export again.")
    return about


def _read_csv(path: Path, columns: tuple[Column, ...]) -> Table:
    parts: dict[str, list[NDArray[Any]]] = {column.name: [np.zeros(0, dtype=column.dtype)] for column in columns}
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        try:
            _check_names(path, columns, next(reader, []))
            memories = [_Memory(path, column) for column in columns]
            while rows := list(islice(reader, _ROWS_AT_A_TIME)):
                if any(len(row) != len(columns) for row in rows):
                    raise InvalidInput(f"{str(path)!r} is damaged: a row has not {len(columns)} values.")
                for memory, cells in zip(memories, zip(*rows, strict=True), strict=True):
                    parts[memory.column.name].append(memory.read(cells))
        except (csv.Error, UnicodeDecodeError) as error:
            raise InvalidInput(f"{str(path)!r} is damaged: {error}.") from error
    return {name: np.concatenate(arrays) for name, arrays in parts.items()}


def _check_names(path: Path, columns: tuple[Column, ...], found: Sequence[str]) -> None:
    needed = [column.name for column in columns]
    if list(found) == needed:
        return
    lost = [name for name in needed if name not in found]
    more = [name for name in found if name not in needed]
    what = f"it lacks {lost[0]!r}" if lost else f"it has {more[0]!r} too" if more else "their order is another"
    raise InvalidInput(f"{str(path)!r} has not the columns of this export: {what}.")


class _Memory(dict[str, Any]):
    """What the cells of one column mean; equal cells are read once, and equal texts are one object."""

    def __init__(self, path: Path, column: Column) -> None:
        super().__init__()
        self.path, self.column = path, column

    def __missing__(self, cell: str) -> Any:
        self[cell] = value = self._value(cell)
        return value

    def read(self, cells: Iterable[str]) -> NDArray[Any]:
        made = [self[cell] for cell in cells]
        if self.column.type == "time":
            self.clear()  # hardly two are equal
        array = np.empty(len(made), dtype=self.column.dtype)
        array[:] = made
        return array

    def _value(self, cell: str) -> Any:
        column = self.column
        with suppress(ValueError, OverflowError):
            if column.type == "text":
                return self._text(cell)
            if cell == "" and column.optional:
                return np.datetime64("NaT", "ms") if column.type == "time" else np.nan
            if column.type == "integer":
                return int(cell)
            if column.type == "number":
                return float(cell)
            if column.type == "time" and cell.endswith("Z"):
                return np.datetime64(cell[:-1], "ms")
            if cell in ("true", "false"):
                return cell == "true"
        kind = _TYPES.get(column.type, {"integer": "a whole number"}.get(column.type, "a number"))
        raise InvalidInput(f"{str(self.path)!r} holds {short_repr(cell)} in column {column.name!r}; {kind} is needed.")

    def _text(self, cell: str) -> str | None:
        if self.column.guarded and cell.startswith("'") and _FORMULA.match(cell):
            return cell[1:]
        return cell or None


def _read_parquet(path: Path, columns: tuple[Column, ...]) -> Table:
    arrow, parquet = pyarrow_modules()
    try:
        table = parquet.read_table(path)
    except arrow.ArrowException as error:
        raise InvalidInput(f"{str(path)!r} is damaged: it is not a Parquet file.") from error
    _check_names(path, columns, table.column_names)
    try:
        made = {}
        for column in columns:
            values = table[column.name].to_numpy()
            made[column.name] = np.array(values, dtype=column.dtype)
    except (TypeError, ValueError, arrow.ArrowException) as error:
        raise InvalidInput(f"{str(path)!r} is damaged: the column {column.name!r} has another type.") from error
    return made
