"""The static files of the pages, and the third-party scripts that were copied into the package."""

from __future__ import annotations

from pathlib import Path

import pytest

import cobandit
from cobandit.report.kit import assets


@pytest.mark.usefixtures("third_party_scripts")
def test_each_library_is_there_once_with_its_licence() -> None:
    for name, scripts in (("uplot", ["uPlot.iife.min.js"]), ("three", ["three.core.min.js", "three.module.min.js"])):
        folder = assets.library_folder(name)
        assert folder is not None
        place = Path(str(assets.VENDOR)) / folder
        assert sorted(path.name for path in place.glob("*.js")) == scripts
        assert len(list(Path(cobandit.__file__).parent.rglob(scripts[0]))) == 1
        assert "Permission is hereby granted" in (place / "LICENSE").read_text(encoding="utf-8")
    assert assets.missing_libraries() == []


@pytest.mark.usefixtures("third_party_scripts")
def test_the_chart_library_carries_its_licence_on_top() -> None:
    library = assets.chart_library()
    assert library is not None
    assert library.script.startswith("/*!\nThe MIT License")
    assert "var uPlot=" in library.script
    assert ".uplot" in library.style


def test_a_library_with_a_missing_file_is_missing(without_scripts: Path) -> None:
    assert assets.missing_libraries() == ["three.js", "uPlot"]
    assert assets.chart_library() is None
    folder = without_scripts / "uplot-1.6.32"
    folder.mkdir()
    for name in ("LICENSE", "uPlot.iife.min.js"):
        (folder / name).write_text("text", encoding="utf-8")
    assert assets.library_folder("uplot") is None
    (folder / "uPlot.min.css").write_text("text", encoding="utf-8")
    assert assets.library_folder("uplot") == "uplot-1.6.32"
    assert assets.missing_libraries() == ["three.js"]
