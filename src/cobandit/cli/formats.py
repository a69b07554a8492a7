"""``--format`` and ``--json``: the output format of a command, declared once for all commands.

A command takes one of the groups below as a parameter, with `cobandit.cli.options.with_option_groups`. A group is
checked when it is created, so an unknown format is an error before any work starts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.cli.declare import flag, option

THE_OUTPUT = "The output"
TEXT, JSON, CSV = "text", "json", "csv"
TABLE = "table"
"""An alias of `TEXT`."""


@dataclass(frozen=True)
class TextOrJson:
    """Text for people, or one JSON object for programs."""

    known: ClassVar[tuple[str, ...]] = (TEXT, JSON)

    format: Annotated[str | None, option("text|json", "Output format", THE_OUTPUT, show_default=TEXT)] = None
    json: Annotated[bool, flag("--json", "Short for --format json", THE_OUTPUT)] = False

    def __post_init__(self) -> None:
        if self.format not in (None, TABLE, *self.known):
            raise UnknownName("format", str(self.format), self.known)
        if self.json and self.format not in (None, JSON):
            raise InvalidInput(f"--json and --format {self.format} contradict each other; use one of them.")

    @property
    def style(self) -> str:
        """The format, one of `known`."""
        if self.json:
            return JSON
        return TEXT if self.format in (None, TABLE) else str(self.format)

    @property
    def as_json(self) -> bool:
        """Whether the output is JSON."""
        return self.style == JSON


@dataclass(frozen=True)
class TextJsonOrCsv(TextOrJson):
    """Text for people, JSON for programs, or CSV for spreadsheets."""

    known: ClassVar[tuple[str, ...]] = (TEXT, JSON, CSV)

    format: Annotated[
        str | None, option("text|json|csv", "Output format (table is an alias of text)", THE_OUTPUT, show_default=TEXT)
    ] = None


@dataclass(frozen=True)
class TextJsonCsvOrPlot(TextJsonOrCsv):
    """The same, and on a terminal a drawing below the text."""

    plot: Annotated[bool, flag("--plot/--no-plot", "Draw the regret below the table, on a terminal.", THE_OUTPUT)] = (
        True
    )
