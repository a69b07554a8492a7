"""``--format`` and ``--json``: the output format of a command, declared once for all commands.

A command takes one of the groups below as a parameter, with `cobandit.cli.options.with_option_groups`. A group is
checked when it is created, so an unknown format is an error before any work starts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import typer

from cobandit.base.errors import InvalidInput, UnknownName

THE_OUTPUT = "The output"
TEXT, JSON, CSV = "text", "json", "csv"
TABLE = "table"
"""An alias of `TEXT`."""


@dataclass(frozen=True)
class TextOrJson:
    """Text for people, or one JSON object for programs."""

    known: ClassVar[tuple[str, ...]] = (TEXT, JSON)

    format: Annotated[
        str | None,
        typer.Option(
            metavar="text|json",
            help="Output format",
            show_default=TEXT,
            rich_help_panel=THE_OUTPUT,
        ),
    ] = None
    json: Annotated[bool, typer.Option("--json", help="Short for --format json", rich_help_panel=THE_OUTPUT)] = False

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
        str | None,
        typer.Option(
            metavar="text|json|csv",
            help="Output format (table is an alias of text)",
            show_default=TEXT,
            rich_help_panel=THE_OUTPUT,
        ),
    ] = None


@dataclass(frozen=True)
class TextJsonCsvOrPlot(TextJsonOrCsv):
    """The same, and on a terminal a drawing below the text."""

    plot: Annotated[
        bool,
        typer.Option(
            "--plot/--no-plot", help="Draw the regret below the table, on a terminal.", rich_help_panel=THE_OUTPUT
        ),
    ] = True
