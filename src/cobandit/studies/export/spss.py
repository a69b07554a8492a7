"""A study as SPSS files with labels of variables and values; the one file in which pyreadstat and pandas are used."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from cobandit.base.extras import require_extras
from cobandit.studies.design import StudyDesign
from cobandit.studies.export.columns import Column, Table
from cobandit.studies.export.statistics import Columns, free_folder, statistics_tables

LONGEST_LABEL = 120
"""Characters of the label of a value in SPSS."""


def write_sav(
    design: StudyDesign, tables: Mapping[str, Mapping[str, Any]], folder: str | os.PathLike[str]
) -> list[Path]:
    """Write the tables as SPSS files with labels of variables and values to a new folder; return their paths.

    Stata and R read these files, too.
    """
    return write_sav_parts(design, [tables], folder)


def write_sav_parts(
    design: StudyDesign, parts: Iterable[Mapping[str, Mapping[str, Any]]], folder: str | os.PathLike[str]
) -> list[Path]:
    """Write the files from tables in parts, at least one."""
    require_extras("Writing SPSS files", spss=True)
    import pandas as pd
    import pyreadstat

    root = free_folder(folder)
    columns, renamed = _joined(design, parts)
    written = []
    for name, table_columns in columns.items():
        frame = pd.DataFrame(
            {column.name: _spss_values(column, renamed[name][column.name]) for column in table_columns}
        )
        path = root / f"{name}.sav"
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))  # the owner's alone before anything is in it
        pyreadstat.write_sav(
            frame,
            str(path),
            file_label=f"{design.name}: {name}"[:64],
            column_labels={column.name: " ".join(column.meaning.split())[:255] for column in table_columns},
            variable_value_labels={column.name: labels for column in table_columns if (labels := value_labels(column))},
        )
        written.append(path)
    return written


def _joined(design: StudyDesign, parts: Iterable[Mapping[str, Mapping[str, Any]]]) -> tuple[Columns, dict[str, Table]]:
    """Return the columns and the whole tables of all parts."""
    contents = [statistics_tables(design, part) for part in parts]
    columns = contents[0][0]
    joined = {
        name: {column.name: np.concatenate([tables[name][column.name] for _, tables in contents]) for column in known}
        for name, known in columns.items()
    }
    return columns, joined


def _spss_values(column: Column, values: Any) -> Any:
    """Return the values in the types of SPSS: numbers, texts, times; a flag is 0 or 1."""
    if column.type == "text":
        return ["" if value is None else str(value) for value in values.tolist()]
    if column.type == "time":
        return values.astype("datetime64[ns]")
    return values.astype(np.float64)


def value_labels(column: Column) -> dict[float, str]:
    """Return the labels of a numeric column's values, from its codebook entry, such as ``1: good | 0: bad``."""
    if column.type == "flag":
        return {0.0: "false", 1.0: "true"}
    if column.type not in ("integer", "number"):
        return {}
    labels = {}
    for part in column.values.split(" | "):
        code, colon, label = part.partition(": ")
        if colon and re.fullmatch(r"-?\d+", code.strip()):
            labels[float(code)] = label[:LONGEST_LABEL]
    return labels
