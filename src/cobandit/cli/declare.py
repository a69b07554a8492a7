"""Declarations of options, for ``Annotated``: the value's name, the help text, and the heading in ``--help``."""

from __future__ import annotations

from typing import Any

import typer

from cobandit.cli import parsing


def option(metavar: str, help: str, panel: str | None = None, *flags: str, **more: Any) -> Any:
    """Return the declaration of an option with a value; ``more`` are arguments of `typer.Option`."""
    return typer.Option(*flags, metavar=metavar, help=help, rich_help_panel=panel, **more)


def flag(names: str, help: str, panel: str | None = None) -> Any:
    """Return the declaration of an option that is there or not, such as ``--json`` or ``--plot/--no-plot``."""
    return typer.Option(names, help=help, rich_help_panel=panel)


def integer_option(
    name: str, low: int, help: str, panel: str | None = None, *, high: int | None = None, metavar: str = "INTEGER"
) -> Any:
    """Return the declaration of an option that takes an integer from ``low`` to ``high``."""
    return option(metavar, help, panel, parser=parsing.integer(name, low, high))
