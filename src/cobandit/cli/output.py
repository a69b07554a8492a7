"""Output of results: tables for people, strict JSON and CSV for programs."""

from __future__ import annotations

import json
import math
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from cobandit.base.files import strict, write_csv
from cobandit.base.numbers import TERMINAL, count

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from cobandit.engine import Result

SUMMARISED = "Large numbers of runs are summarised during the simulation: median, 10 % and 90 % are within 0.4 %."
"""The note below a table of runs that were not stored."""


def console() -> Console:
    """Return the screen: plain text if stdout is not a terminal or NO_COLOR is set."""
    from rich.console import Console

    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False)


def table(*heads: str, first: str = "right") -> Table:
    """Return a table with numbers aligned right. The first column may contain words. The table folds if it does not
    fit.
    """
    from rich import box

    from cobandit.cli.tables import FoldingTable

    grid = FoldingTable(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    grid.titled = first == "left"
    for column, head in enumerate(heads):
        words = column == 0 and first == "left"
        grid.add_column(head, justify="left" if words else "right", no_wrap=not words)
    return grid


def number(value: float | None, decimals: int | None = None) -> str:
    """Return a number with a readable number of digits, or with the decimals of its column."""
    return TERMINAL.format(value, decimals)


def decimals_for(values: Iterable[float]) -> int:
    """Return the number of decimals for a column with such values."""
    return TERMINAL.decimals_for(values)


def plus_minus(mean: float, error: float | None, decimals: int) -> str:
    """Return a mean with its standard error, if there is one."""
    unknown = error is None or math.isnan(error)
    return number(mean, decimals) + ("" if unknown else f" ± {number(error, decimals)}")


def paragraph(screen: Console, text: str, indent: int = 0) -> None:
    """Print text wrapped to the screen, without the trailing spaces that rich adds to each line."""
    margin = " " * indent
    width = max(20, min(screen.width, 100))
    wrapped = textwrap.fill(
        " ".join(text.split()), width, initial_indent=margin, subsequent_indent=margin, break_on_hyphens=False
    )
    screen.print(wrapped, soft_wrap=True)


def played(runs: int, horizon: int) -> str:
    """Return a text with the number of runs and rounds."""
    return f"{count(runs, 'run')} of {count(horizon, 'round')}"


def seconds(value: float) -> str:
    """Return a duration as text."""
    return f"{value:.2f} s" if value < 10.0 else f"{value:.0f} s" if value < 120.0 else f"{value / 60.0:.1f} min"


SLOW_SECONDS = 3.0
"""After this many seconds of plain Python, a hint names the faster engine."""


def fast_hint(results: Iterable[Result]) -> str | None:
    """Return a hint if plain Python was slow because the compiled engine is not installed."""
    from cobandit.engine.choice import NO_NUMBA

    return slow_hint(sum(result.seconds for result in results if result.engine_reason == NO_NUMBA))


def slow_hint(slow: float) -> str | None:
    """Return the hint after ``slow`` seconds of plain Python that the compiled engine would have saved."""
    if slow < SLOW_SECONDS:
        return None
    return (
        f"Plain Python took {seconds(slow)}. The extra fast plays the same rounds in a fraction of the time: "
        "pip install 'cobandit[fast]'"
    )


def print_json(data: Any) -> None:
    """Print one object as strict JSON: numbers that are not finite become null."""
    print(json.dumps(strict(data), allow_nan=False))


def print_csv(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a header and rows as CSV; unknown values stay empty."""
    write_csv(sys.stdout, heads, rows)
