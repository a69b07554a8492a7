"""A study as statistics programs take it: names for R, SPSS and Stata, labels, Psych-DS, and who never began apart.

It is made from the tables of an export, in memory or read from its folder; the export itself stays what is archived and
verified.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from cobandit.base.errors import InvalidInput
from cobandit.base.files import make_folder, save_json, save_text
from cobandit.studies.design import StudyDesign
from cobandit.studies.export.columns import Column, Table, schema
from cobandit.studies.export.files import write_csv

LONGEST_NAME = 32
"""Characters of a name in Stata; SPSS and R take more."""

LONGEST_TAG = 12
"""Characters of a condition's name within the name of a column; a longer one is cut to its initials."""

_SPSS_WORDS = ("all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with")
_STATA_WORDS = ("byte", "double", "float", "if", "in", "int", "long", "using", "str", "strl")
_R_WORDS = ("else", "repeat", "while", "function", "for", "next", "break", "true", "false", "null", "inf", "nan", "na")
RESERVED = frozenset((*_SPSS_WORDS, *_STATA_WORDS, *_R_WORDS))
"""Words that one of the programs keeps for itself, in any case of their letters."""

NOT_BEGUN = "not_begun"
DESCRIPTION = "dataset_description.json"
_KEPT = ("participant", "kind", "status", "language", "started_at", "recruiter", "external_id")

Columns = dict[str, tuple[Column, ...]]


def portable_name(name: str) -> str:
    """A name that R, SPSS and Stata take as it is: a letter first, then letters, digits and underscores, at most 32."""
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name)
    if not plain[:1].isalpha():
        plain = f"v_{plain}"
    return f"{plain}_" if plain.lower() in RESERVED else plain[:LONGEST_NAME]


def condition_tags(design: StudyDesign) -> dict[str, str]:
    """What stands for a condition in names: its own name, or the initials of its parts and the last (pa_ucb)."""
    tags: dict[str, str] = {}
    for condition in design.conditions:
        tag = re.sub(r"[^a-z0-9]", "_", condition.name)
        if len(tag) > LONGEST_TAG:
            *first, last = tag.split("_")
            tag = "_".join(part for part in ("".join(part[:1] for part in first), last) if part)[:LONGEST_TAG]
        tags[condition.name] = _unused(tag, set(tags.values()), LONGEST_TAG)
    return tags


def _unused(name: str, taken: Iterable[str], longest: int = LONGEST_NAME) -> str:
    """The name, or the first of its kind that is not taken in any case of its letters."""
    known = {other.lower() for other in taken}
    free, number = name, 1
    while free.lower() in known:
        number += 1
        free = f"{name[: longest - len(str(number)) - 1]}_{number}"
    return free


def statistics_tables(design: StudyDesign, tables: Mapping[str, Mapping[str, Any]]) -> tuple[Columns, dict[str, Table]]:
    """Columns and tables under names that every program takes; ``not_begun`` holds who was invited and never began."""
    tags = condition_tags(design)
    columns: Columns = {}
    renamed: dict[str, Table] = {}
    known = schema(design, recruiting="recruiter" in tables["wide"])
    for name in ("wide", "long", "survey", "events"):
        taken: set[str] = set()
        for column in known[name]:
            parts = [tags[part] if place and part in tags else part for place, part in enumerate(column.key)]
            of_condition = len(parts) > 1 and column.key[-1] in tags
            wanted = portable_name("_".join(parts) if of_condition else column.name)
            called = _unused(wanted, taken)
            taken.add(called)
            columns[name] = (*columns.get(name, ()), replace(column, name=called))
            renamed.setdefault(name, {})[called] = np.asarray(tables[name][column.name])
    wide = renamed["wide"]
    began = np.array([order is not None for order in wide["order"].tolist()], dtype=bool)
    began &= wide["status"] != "invited"
    identifying = [column for column in columns["wide"] if column.name in _KEPT]
    columns[NOT_BEGUN] = tuple(identifying)
    renamed[NOT_BEGUN] = {column.name: wide[column.name][~began] for column in identifying}
    renamed["wide"] = {name: values[began] for name, values in wide.items()}
    return columns, renamed


def free_folder(folder: str | os.PathLike[str]) -> Path:
    """The folder, made; one that holds something is left alone."""
    root = Path(folder)
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise InvalidInput(f"{str(root)!r} is there already; a new or an empty folder is needed.")
    return make_folder(root)


# Psych-DS


def write_psych_ds(
    design: StudyDesign, tables: Mapping[str, Mapping[str, Any]], folder: str | os.PathLike[str]
) -> list[Path]:
    """The study as a Psych-DS dataset in a new folder: CSV files, their metadata, and an R script that reads them."""
    columns, renamed = statistics_tables(design, tables)
    root = free_folder(folder)
    data = make_folder(root / "data")
    study = re.sub(r"[^a-z0-9]", "", design.name)
    files = {name: f"study-{study}_description-{name.replace('_', '')}_data.csv" for name in columns}
    written = []
    for name, parts in columns.items():
        write_csv(data / files[name], parts, renamed[name])
        written.append(data / files[name])
    about = {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "schemaVersion": "Psych-DS 0.4.0",
        "name": design.title,
        "description": f"Data of the study {design.name!r}, version {design.version}: people choose with an AI.",
        "identifier": design.digest,
        "variableMeasured": _variables(columns),
    }
    script = save_text(root / "read_and_test.R", r_script(design, columns, files))
    return [save_json(root / DESCRIPTION, about), *written, script]


def _variables(columns: Columns) -> list[dict[str, Any]]:
    """Every variable once; where tables mean different things by one name, both meanings are said."""
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


def r_script(design: StudyDesign, columns: Columns, files: Mapping[str, str]) -> str:
    """An R script (base R alone) that reads the tables with their types and compares the conditions."""
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
    for name in ("long", "survey"):
        more = ', "practice"' if name == "long" else ""
        lines.append(f"{_frame(name)}$condition <- factor({_frame(name)}$condition, levels = c({conditions}{more}))")
    lines += ["", "# Those who have finished; people and simulated ones apart.", ""]
    lines.append('finished <- subset(wide_data, status == "finished")')
    lines.append("print(table(finished$kind))")
    by_key = {column.key: column.name for column in columns["wide"]}
    names = [condition.name for condition in design.conditions]
    measured = [("task_regret",), ("good",), *(("survey", item.id) for item in design.survey.items)]
    for first, second in combinations(names, 2):
        lines += ["", f"# {second} minus {first}; paired tests, not corrected"]
        for what in measured:
            x, y = by_key[(*what, second)], by_key[(*what, first)]
            lines.append(f"if (nrow(finished) > 1) print(t.test(finished${x}, finished${y}, paired = TRUE))")
    return "\n".join(lines) + "\n"


def _frame(table: str) -> str:
    return f"{table}_data"
