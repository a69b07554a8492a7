"""A study as statistics programs take it: labels, Psych-DS with an R script, and who never began apart.

It is made from the tables of an export, in memory or read from its folder; the export itself stays what is archived and
verified.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from cobandit.base.errors import InvalidInput
from cobandit.base.files import make_folder, save_json, save_text, whole_file
from cobandit.studies.design import StudyDesign
from cobandit.studies.export.columns import Column, Table, schema
from cobandit.studies.export.files import CsvFile

NOT_BEGUN = "not_begun"
DESCRIPTION = "dataset_description.json"
_KEPT = ("participant", "kind", "status", "language", "started_at", "recruiter", "external_id")

Columns = dict[str, tuple[Column, ...]]


def statistics_tables(design: StudyDesign, tables: Mapping[str, Mapping[str, Any]]) -> tuple[Columns, dict[str, Table]]:
    """Return columns and tables as programs need them; ``not_begun`` has people who were invited and never began."""
    recruiting = "recruiter" in tables["wide"]
    known = schema(design, recruiting=recruiting, texts=True)
    parts_of = {name: {column.name for column in known[name]} for name in ("wide", "questionnaires") if name in known}
    if any(names - tables[name].keys() for name, names in parts_of.items()):
        known = schema(design, recruiting=recruiting)
    order = ("wide", "long", "survey", "events", "questionnaires")
    columns: Columns = {name: known[name] for name in order if name in known}
    contents: dict[str, Table] = {
        name: {column.name: np.asarray(tables[name][column.name]) for column in parts}
        for name, parts in columns.items()
    }
    wide = contents["wide"]
    # In a design with strata, people begin before they have an order.
    began = np.array([bool(design.strata) or order is not None for order in wide["order"].tolist()], dtype=bool)
    began &= wide["status"] != "invited"
    identifying = [column for column in columns["wide"] if column.name in _KEPT]
    columns[NOT_BEGUN] = tuple(identifying)
    contents[NOT_BEGUN] = {column.name: wide[column.name][~began] for column in identifying}
    contents["wide"] = {name: values[began] for name, values in wide.items()}
    return columns, contents


def free_folder(folder: str | os.PathLike[str]) -> Path:
    """Create and return a folder; raise if it exists and is not empty."""
    root = Path(folder)
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise InvalidInput(f"{str(root)!r} is there already; a new or an empty folder is needed.")
    return make_folder(root)


# Psych-DS


def write_psych_ds(
    design: StudyDesign, tables: Mapping[str, Mapping[str, Any]], folder: str | os.PathLike[str]
) -> list[Path]:
    """Write the study as a Psych-DS dataset to a new folder: CSV files, their metadata, and an R script."""
    return write_psych_ds_parts(design, [tables], folder)


def write_psych_ds_parts(
    design: StudyDesign, parts: Iterable[Mapping[str, Mapping[str, Any]]], folder: str | os.PathLike[str]
) -> list[Path]:
    """Write the dataset from tables in parts, at least one; memory does not grow with the study."""
    root = free_folder(folder)
    data = make_folder(root / "data")
    study = re.sub(r"[^a-z0-9]", "", design.name)
    columns: Columns = {}
    files: dict[str, str] = {}
    tables: dict[str, CsvFile] = {}
    with ExitStack() as stack:
        for part in parts:
            columns, renamed = statistics_tables(design, part)
            for name in columns:
                if name not in tables:
                    files[name] = f"study-{study}_description-{name.replace('_', '')}_data.csv"
                    tables[name] = CsvFile(
                        stack.enter_context(whole_file(data / files[name], private=True)), columns[name]
                    )
                tables[name].add(renamed[name])
    written = [data / file for file in files.values()]
    with_whom = "with an AI" if design.group is None else "in teams, with each other and with an AI"
    about = {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "schemaVersion": "Psych-DS 0.4.0",
        "name": design.title,
        "description": f"Data of the study {design.name!r}, version {design.version}: people choose {with_whom}.",
        "identifier": design.digest,
        "variableMeasured": _variables(columns),
    }
    script = save_text(root / "read_and_test.R", r_script(design, columns, files))
    return [save_json(root / DESCRIPTION, about), *written, script]


def _variables(columns: Columns) -> list[dict[str, Any]]:
    """Return every variable once; if a name means different things in two tables, both meanings are given."""
    meanings: dict[str, dict[str, str]] = {}
    for table, parts in columns.items():
        for column in parts:
            said = f"{column.meaning} ({column.values})" if column.values else column.meaning
            meanings.setdefault(column.name, {}).setdefault(" ".join(said.split()), table)
    variables = []
    for name, tables in meanings.items():
        texts = list(tables) if len(tables) == 1 else [f"{table}: {text}" for text, table in tables.items()]
        variables.append({"@type": "PropertyValue", "name": name, "description": "; ".join(texts)})
    return variables


_COMPARE = (
    "# One paired test; if it is not possible (too few people, the same difference for all), the script says so.",
    "compare <- function(x, y) {",
    '  cat("\\n", x, " minus ", y, "\\n", sep = "")',
    "  tryCatch(print(t.test(finished[[x]], finished[[y]], paired = TRUE)),",
    '           error = function(problem) cat("No test:", conditionMessage(problem), "\\n"))',
    "}",
)


_COMPARE_CELLS = (
    "# One test, of the same people or of different ones (Welch); if it is not possible, the script says so.",
    "compare <- function(x, y, paired = TRUE) {",
    '  cat("\\n", x, " minus ", y, "\\n", sep = "")',
    "  tryCatch(print(t.test(finished[[x]], finished[[y]], paired = paired)),",
    '           error = function(problem) cat("No test:", conditionMessage(problem), "\\n"))',
    "}",
)


def r_script(design: StudyDesign, columns: Columns, files: Mapping[str, str]) -> str:
    """Return an R script (base R only) that reads the tables with their types and compares the conditions."""
    lines = [
        f"# Reads the data of the study {design.name!r} and compares its conditions; base R alone.",
        "# Run it in its own folder: Rscript read_and_test.R",
        'read <- function(file) read.csv(file.path("data", file), na.strings = "", fileEncoding = "UTF-8")',
        "",
    ]
    lines += [f"{_frame(name)} <- read({json.dumps(file)})" for name, file in files.items()]
    for name, parts in columns.items():
        frame = _frame(name)
        for column in parts:
            if column.type == "time":
                time = f'as.POSIXct({frame}${column.name}, format = "%Y-%m-%dT%H:%M:%OS", tz = "UTC")'
                lines.append(f"{frame}${column.name} <- {time}")
    conditions = ", ".join(json.dumps(condition.name) for condition in design.conditions)
    for name in ("long", "survey", *(("questionnaires",) if "questionnaires" in columns else ())):
        more = ', "practice"' if name == "long" else ""
        lines.append(f"{_frame(name)}$condition <- factor({_frame(name)}$condition, levels = c({conditions}{more}))")
    lines += ["", "# Those who have finished; people and simulated ones apart.", ""]
    lines.append('finished <- subset(wide_data, status == "finished")')
    lines.append("print(table(finished$kind))")
    lines += ["", *(_COMPARE if len(design.cells) == 1 else _COMPARE_CELLS)]
    by_key = {column.key: column.name for column in columns["wide"]}
    names = [condition.name for condition in design.conditions]
    measured = [("task_regret",), ("good",), *(("survey", item.id) for item in design.survey.items)]
    if design.group is not None:
        lines += ["", *_team_lines(design, [by_key[(*what, name)] for name in names for what in measured])]
    for first, second in combinations(names, 2):
        paired = design.same_people(first, second)
        tests = "paired tests" if paired else "Welch's tests of different people"
        lines += ["", f"# {second} minus {first}; {tests}, not corrected"]
        for what in measured:
            x, y = by_key[(*what, second)], by_key[(*what, first)]
            lines.append(f'compare("{x}", "{y}"{"" if paired else ", paired = FALSE"})')
    return "\n".join(lines) + "\n"


def _team_lines(design: StudyDesign, measured: list[str]) -> list[str]:
    """Return the lines that make teams of people, before any test."""
    size = len(design.participant_seats)
    listed = ",\n  ".join(json.dumps(name) for name in measured)
    return [
        "# People of one team are not independent, so every test has one value per team: what the team played",
        "# together, or the mean of its members. Teams that lack a member are left out.",
        f"complete <- names(which(table(finished$team) == {size}))",
        "finished <- finished[finished$team %in% complete, ]",
        f"measured <- c(\n  {listed})",
        "if (nrow(finished) > 0) {",
        "  finished <- aggregate(finished[measured], by = list(team = finished$team), FUN = mean)",
        "}",
        'cat(nrow(finished), "complete teams\\n")',
    ]


def _frame(table: str) -> str:
    return f"{table}_data"
