"""``--format`` and ``--json``: how results leave a command, declared once for all of them.

A command takes one of the groups below as a parameter, by `cobandit.cli.options.with_option_groups`. A group is
checked as it is made, so a wrong word is told before any work starts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import typer

from cobandit.base.errors import InvalidInput, UnknownName

THE_OUTPUT = "The output"
TEXT, JSON, CSV = "text", "json", "csv"
TABLE = "table"
"""Another word for `TEXT`."""


@dataclass(frozen=True)
class TextOrJson:
    """For people, or as one JSON object for programs."""

    known: ClassVar[tuple[str, ...]] = (TEXT, JSON)

    format: Annotated[
        str | None,
        typer.Option(
            metavar="text|json",
            help="For people, or for programs.",
            show_default=TEXT,
            rich_help_panel=THE_OUTPUT,
        ),
    ] = None
    json: Annotated[bool, typer.Option("--json", help="Short for --format json.", rich_help_panel=THE_OUTPUT)] = False

    def __post_init__(self) -> None:
        if self.format not in (None, TABLE, *self.known):
            raise UnknownName("format", str(self.format), self.known)
        if self.json and self.format not in (None, JSON):
            raise InvalidInput(f"--json and --format {self.format} contradict each other; one of them is needed.")

    @property
    def style(self) -> str:
        """One of `known`."""
        if self.json:
            return JSON
        return TEXT if self.format in (None, TABLE) else str(self.format)

    @property
    def as_json(self) -> bool:
        """Whether a program reads it."""
        return self.style == JSON


@dataclass(frozen=True)
class TextJsonOrCsv(TextOrJson):
    """The same, and CSV for spreadsheets."""

    known: ClassVar[tuple[str, ...]] = (TEXT, JSON, CSV)

    format: Annotated[
        str | None,
        typer.Option(
            metavar="text|json|csv",
            help="For people (text, also called table), or for programs.",
            show_default=TEXT,
            rich_help_panel=THE_OUTPUT,
        ),
    ] = None
