"""The lines of the report: a figure of this version, of the one before, and what it is held to."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import cobandit as cb
from benchmarks.before import BASE
from benchmarks.measure import Pair


class Report:
    """Collects lines, prints each as it comes, and all of them as a table in the end."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []

    def add(self, name: str, figure: Pair | float, unit: str = "", held_to: str = "", met: bool | None = None) -> None:
        """One more line."""
        pair = figure if isinstance(figure, Pair) else Pair(float(figure))
        ratio = None if pair.before is None or not pair.now else pair.before / pair.now
        row = {"name": name, "now": pair.now, "before": pair.before, "before_over_now": ratio, "unit": unit}
        self.rows.append(row | {"held_to": held_to, "met": met})
        print(f"{name}: {self._now(row)}", flush=True)

    def limit(self, name: str, figure: Pair | float, unit: str, words: str, within: Callable[[float], bool]) -> None:
        """One more line that is held to something."""
        now = figure.now if isinstance(figure, Pair) else figure
        self.add(name, figure, unit, words, within(now))

    def at_most(self, name: str, figure: Pair | float, unit: str, most: float) -> None:
        """One more line with a largest figure."""
        self.limit(name, figure, unit, f"at most {most:g}", lambda now: now <= most)

    def show(self) -> None:
        """Print all lines as a table."""
        about = f"Python {platform.python_version()}, {platform.machine()}"
        table = Table(title=f"cobandit {cb.__version__} beside {BASE[:7]}, {about}")
        for column in ("what", "now", "before", "held to", "met"):
            table.add_column(column, justify="right" if column in ("now", "before") else "left")
        for row in self.rows:
            mark = {True: "yes", False: "NO", None: ""}[row["met"]]
            table.add_row(row["name"], self._now(row), self._before(row), row["held_to"], mark)
        Console(width=160).print(table)

    def save(self, path: Path) -> None:
        """Keep all lines as JSON."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(self.rows, indent=1) + "\n")

    @staticmethod
    def _now(row: dict[str, Any]) -> str:
        return f"{row['now']:,.2f} {row['unit']}".strip()

    @staticmethod
    def _before(row: dict[str, Any]) -> str:
        """The figure, and how many times the one of now it is."""
        if row["before"] is None:
            return ""
        times = "" if row["before_over_now"] is None else f" ({row['before_over_now']:.2f} x)"
        return f"{row['before']:,.2f}{times}"
