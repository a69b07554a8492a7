"""How results leave a command: tables for people, strict JSON and CSV for programs."""

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

SUMMARISED = "So many runs are summarised while they are played: median, 10 % and 90 % are within 0.4 %."
"""What stands below a table of runs that were not kept."""


def console() -> Console:
    """The screen; plain text where stdout is not a terminal or NO_COLOR is set."""
    from rich.console import Console

    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False)


def table(*heads: str, first: str = "right") -> Table:
    """An airy table with numbers to the right, whose first column may be words; it folds where it does not fit."""
    from rich import box

    from cobandit.cli.tables import FoldingTable

    grid = FoldingTable(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    grid.titled = first == "left"
    for column, head in enumerate(heads):
        words = column == 0 and first == "left"
        grid.add_column(head, justify="left" if words else "right", no_wrap=not words)
    return grid


def number(value: float | None, decimals: int | None = None) -> str:
    """A number with as many digits as a person reads, or with the decimals its column has."""
    return TERMINAL.format(value, decimals)


def decimals_for(values: Iterable[float]) -> int:
    """How many decimals a column needs whose values are as large as these."""
    return TERMINAL.decimals_for(values)


def plus_minus(mean: float, error: float | None, decimals: int) -> str:
    """A mean with its standard error, where there is one."""
    unknown = error is None or math.isnan(error)
    return number(mean, decimals) + ("" if unknown else f" ± {number(error, decimals)}")


def paragraph(screen: Console, text: str, indent: int = 0) -> None:
    """Words wrapped to the screen, without the blanks that rich would fill each line up with."""
    margin = " " * indent
    width = max(20, min(screen.width, 100))
    wrapped = textwrap.fill(
        " ".join(text.split()), width, initial_indent=margin, subsequent_indent=margin, break_on_hyphens=False
    )
    screen.print(wrapped, soft_wrap=True)


def played(runs: int, horizon: int) -> str:
    """How much was played."""
    return f"{count(runs, 'run')} of {count(horizon, 'round')}"


def seconds(value: float) -> str:
    """A duration for people."""
    return f"{value:.2f} s" if value < 10.0 else f"{value:.0f} s" if value < 120.0 else f"{value / 60.0:.1f} min"


SLOW_SECONDS = 3.0
"""How long plain Python may take before somebody is told that there is a faster way."""


def fast_hint(results: Iterable[Result]) -> str | None:
    """What to say where plain Python took its time because the compiled engine is not installed."""
    from cobandit.engine.choice import NO_NUMBA

    return slow_hint(sum(result.seconds for result in results if result.engine_reason == NO_NUMBA))


def slow_hint(slow: float) -> str | None:
    """The same after so many seconds of plain Python that the compiled engine would have saved."""
    if slow < SLOW_SECONDS:
        return None
    return (
        f"Plain Python took {seconds(slow)}. The extra fast plays the same rounds in a fraction of the time: "
        "pip install 'cobandit[fast]'"
    )


def print_json(data: Any) -> None:
    """One object in strict JSON: what is not a finite number becomes null."""
    print(json.dumps(strict(data), allow_nan=False))


def print_csv(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A header and rows; what is unknown stays empty."""
    write_csv(sys.stdout, heads, rows)
