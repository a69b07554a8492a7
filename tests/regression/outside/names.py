"""What was recorded of exports, under names of columns that R, SPSS and Stata take."""

from __future__ import annotations

from typing import Any

CONDITIONS = {"naive-ucb": "naive_ucb", "partner-aware-ucb": "pa_ucb"}
OUTCOMES = ("rounds_", "good_", "task_regret_", "team_regret_", "survey_")


def renamed(name: str) -> str:
    """The name of a column of today."""
    for condition, tag in CONDITIONS.items():
        if name.startswith(OUTCOMES) and name.endswith(f"_{condition}"):
            return f"{name.removesuffix(condition)}{tag}"
    return name


def wide(table: dict[str, Any]) -> dict[str, Any]:
    """The table of people."""
    return {renamed(name): values for name, values in table.items()}


def wide_parquet(table: dict[str, Any]) -> dict[str, Any]:
    """The same with its types."""
    return {part: wide(columns) for part, columns in table.items()}


def codebook(table: dict[str, Any]) -> dict[str, Any]:
    """Every column's name."""
    return table | {"column": [renamed(name) for name in table["column"]]}


def layout_3(about: dict[str, Any]) -> dict[str, Any]:
    """The layout is another one."""
    return about | {"layout": 3}
