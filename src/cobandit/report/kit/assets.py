"""Static files of the reports, and the third-party scripts that reports and the server's pages share.

Third-party scripts are not part of the repository: builds and ``tools/third_party.py`` copy them into the package.
Pages work without them, so every caller handles a script that is missing.
"""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import NamedTuple

STATIC = files("cobandit.report") / "static"
VENDOR = STATIC / "vendor"
"""Third-party scripts, each with its licence, in one folder per version; ``files.toml`` lists them."""

LIBRARIES = {"three": "three.js", "uplot": "uPlot"}
"""The libraries of the package, by their name in ``files.toml``, as people call them."""


def static_text(name: str) -> str:
    """Return the contents of a static file."""
    return STATIC.joinpath(*name.split("/")).read_text(encoding="utf-8")


def library_folder(library: str) -> str | None:
    """Return the folder of a third-party library below `VENDOR`, None where a file of the library is missing."""
    table = tomllib.loads(VENDOR.joinpath("files.toml").read_text(encoding="utf-8"))[library]
    folder = f"{library}-{table['version']}"
    names = [source.rpartition("/")[2] for source in table["files"]]
    return folder if all(VENDOR.joinpath(folder, name).is_file() for name in names) else None


def missing_libraries() -> list[str]:
    """Return the libraries that pages have to do without, as people call them."""
    return [name for library, name in LIBRARIES.items() if library_folder(library) is None]


class ChartLibrary(NamedTuple):
    """uPlot, to be included in a page."""

    script: str
    style: str


def chart_library() -> ChartLibrary | None:
    """Return uPlot with its licence on top of the script, as the licence demands; None where it is not installed."""
    folder = library_folder("uplot")
    if folder is None:
        return None
    licence, script, style = (
        VENDOR.joinpath(folder, name).read_text(encoding="utf-8")
        for name in ("LICENSE", "uPlot.iife.min.js", "uPlot.min.css")
    )
    return ChartLibrary(f"/*!\n{licence.strip()}\n*/\n{script}", style)
