"""The static files of the pages, and the one copy of uPlot."""

from __future__ import annotations

from pathlib import Path

import cobandit
from cobandit.report.kit.assets import VENDOR, chart_library, static_text


def test_there_is_one_uplot_in_the_package_with_its_licence() -> None:
    (script,) = Path(cobandit.__file__).parent.rglob("uPlot*.js")
    assert script == Path(str(VENDOR)) / "uplot" / "uPlot.iife.min.js"
    assert "Permission is hereby granted" in script.with_name("LICENSE").read_text(encoding="utf-8")


def test_the_library_carries_its_licence_on_top() -> None:
    assert chart_library().startswith("/*!\nThe MIT License")
    assert static_text("vendor/uplot/uPlot.iife.min.js") in chart_library()
