"""The pictures of the README show what the present code computes."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import matplotlib.image
import pytest

from tools import pictures

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def facts() -> dict[str, Any]:
    return pictures.facts(pictures.simulated_teams(), pictures.burger())


def stored_in_png(path: Path) -> dict[str, Any]:
    (found,) = re.findall(rb"tEXt" + pictures.KEY.encode() + rb"\0(\{.*?\}\})", path.read_bytes(), re.DOTALL)
    return dict(json.loads(found))


def stored_in_svg(path: Path) -> dict[str, Any]:
    (found,) = re.findall("<dc:description>(.*?)</dc:description>", path.read_text(encoding="utf-8"), re.DOTALL)
    return dict(json.loads(unescape(found)))


@pytest.mark.parametrize("theme", pictures.THEMES)
def test_the_first_picture_is_current(theme: str, facts: dict[str, Any]) -> None:
    path = pictures.FOLDER / f"teams-{theme}.png"
    assert stored_in_png(path) == facts, "The picture is out of date: run `make pictures`."
    assert matplotlib.image.imread(path).shape[:2] == (640, 1600)


def test_the_figure_of_the_example_is_current() -> None:
    comparison = pictures.compared()
    regret = {row[0]: round(row[1], 1) for row in comparison.rows()}
    for theme in pictures.THEMES:
        stored = stored_in_svg(pictures.FOLDER / f"example-{theme}.svg")
        assert stored == {"regret": regret}, "The picture is out of date: run `make pictures`."


def test_the_picture_of_a_standoff_is_current() -> None:
    _, shown = pictures.standoff_run()
    for theme in pictures.THEMES:
        stored = stored_in_svg(pictures.FOLDER / f"standoff-{theme}.svg")
        assert stored == shown, "The picture is out of date: run `make pictures`."


def test_the_readme_shows_every_picture_in_light_and_dark() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    light, dark = (set(re.findall(rf"pictures/([\w-]+)-{theme}\.\w+", text)) for theme in ("light", "dark"))
    assert light == dark == {"burger", "example", "teams"}
    assert all((ROOT / path).is_file() for path in re.findall(r'"(docs/assets/[^"]+)"', text))
