"""The static files of the pages; also the one copy of uPlot in the package, which the server reads as well."""

from __future__ import annotations

from importlib.resources import files

STATIC = files("cobandit.report") / "static"
VENDOR = STATIC / "vendor"
"""Libraries of others, each with its licence."""


def static_text(name: str) -> str:
    """The contents of a static file."""
    return STATIC.joinpath(*name.split("/")).read_text(encoding="utf-8")


def chart_library() -> str:
    """uPlot as a script, with its licence on top, as that asks for."""
    return f"/*!\n{static_text('vendor/uplot/LICENSE').strip()}\n*/\n{static_text('vendor/uplot/uPlot.iife.min.js')}"
