"""The panels' figures for print."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cobandit.base.errors import InvalidInput, MissingExtra
from cobandit.experiments import PanelResult
from cobandit.report.kit.figure import FORMATS
from cobandit.report.kit.palette import COLOURS
from cobandit.report.simulation.drawing import drawing_of
from cobandit.report.simulation.figures import TITLES, panel_figure, panel_pictures, write_panel_figures

Make = Callable[..., PanelResult]


def written(result: PanelResult, folder: Path) -> dict[str, Path]:
    return write_panel_figures([result], folder)[result.panel.name]


def svg_of(result: PanelResult, folder: Path) -> str:
    return written(result, folder)["svg"].read_text()


def test_three_files_of_the_right_kind(made_up: Make, tmp_path: Path) -> None:
    files = written(made_up(), tmp_path / "deep" / "figures")
    assert {kind: path.name for kind, path in files.items()} == {
        "pdf": "sim1-left.pdf",
        "svg": "sim1-left.svg",
        "png": "sim1-left.png",
    }
    assert files["pdf"].read_bytes().startswith(b"%PDF")
    assert files["png"].read_bytes().startswith(b"\x89PNG")
    assert "<svg" in files["svg"].read_text()


def test_equal_numbers_give_equal_files(made_up: Make, tmp_path: Path) -> None:
    one, two = (written(made_up(), tmp_path / name) for name in ("one", "two"))
    for kind in FORMATS:
        assert one[kind].read_bytes() == two[kind].read_bytes(), kind


@pytest.mark.usefixtures("svg_alone")
def test_mean_and_median_stand_side_by_side_with_every_curve(made_up: Make, tmp_path: Path) -> None:
    result = made_up()
    text = svg_of(result, tmp_path)
    assert "mean ± standard error" in text
    assert "median, with the middle 80 % of the runs" in text
    for curve in result.panel.curves:
        assert text.count(f'id="{curve.name}"') == 2
        assert curve.label in text


@pytest.mark.usefixtures("svg_alone")
def test_curves_differ_in_colour_and_in_dashes(made_up: Make, tmp_path: Path) -> None:
    text = svg_of(made_up("sim0-right"), tmp_path)
    styles = []
    for name in ("w-1", "w-5", "w-10", "w-25", "w-50", "w-100"):
        style = re.search(rf'id="{name}">\s*<path d="[^"]*"[^>]*?style="([^"]*)"', text)
        assert style is not None
        styles.append(style[1])
    colours = {re.search(r"stroke: (#\w+)", style)[1] for style in styles}  # type: ignore[index]
    dashes = {re.search(r"stroke-dasharray: ([^;]*)", style) is None for style in styles}
    assert len(colours) == 6
    assert dashes == {True, False}


@pytest.mark.usefixtures("svg_alone")
def test_theory_is_drawn_with_its_bounds_on_a_logarithmic_axis(made_up: Make, tmp_path: Path) -> None:
    drawing = drawing_of(made_up("theorem-1", horizon=2_000))
    assert [level.name for level in drawing.levels] == ["printed", "proved", "safe", "linear"]
    figure = panel_figure(drawing)
    left, right = figure.axes
    assert (left.get_yscale(), right.get_yscale()) == ("log", "linear")
    heights = {line.get_gid(): line.get_ydata() for line in left.get_lines()}
    assert np.ptp(heights["bound-proved"]) == 0.0
    assert heights["bound-proved"][0] == pytest.approx(8214.37, abs=0.01)
    assert heights["bound-linear"][-1] == pytest.approx(900.0)
    assert heights["bound-linear"][-1] == pytest.approx(2 * heights["bound-linear"][49])
    assert "every round lost: 900" in svg_of(made_up("theorem-1", horizon=2_000), tmp_path)


def test_what_is_drawn_are_the_statistics_over_runs(made_up: Make) -> None:
    result = made_up()
    line = drawing_of(result).lines[1]
    sample = result.curves[1].team_regret
    assert np.allclose(line.factor * line.mean, sample.mean(axis=0))
    assert np.allclose(line.factor * line.se, sample.std(axis=0, ddof=1) / np.sqrt(20))
    assert np.allclose(line.factor * line.q90, np.quantile(sample, 0.9, axis=0))


@pytest.mark.usefixtures("svg_alone")
def test_a_single_run_has_no_band(made_up: Make, tmp_path: Path) -> None:
    result = made_up(runs=1, claims=())
    assert "1 run<" in svg_of(result, tmp_path)
    assert np.isnan(drawing_of(result).lines[0].se).all()


@pytest.mark.usefixtures("svg_alone")
def test_any_label_is_taken_as_it_is(made_up: Make, tmp_path: Path) -> None:
    labels = ["$", "costs $5 and $10", "$\\frac{", "_hidden", "<b>&amp;", "%s {0}", "x" * 300]
    text = svg_of(made_up(labels=labels, claims=()), tmp_path)
    for label in labels:
        shown = label[:79] if len(label) > 80 else label
        assert shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") in text


@pytest.mark.usefixtures("svg_alone")
def test_many_curves_and_short_horizons_fit(made_up: Make, tmp_path: Path) -> None:
    written(made_up(labels=[f"a rather long label, number {n}" for n in range(41)], claims=()), tmp_path)
    written(made_up(horizon=2, claims=()), tmp_path)


@pytest.mark.long
@pytest.mark.slow
def test_many_panels_are_drawn_by_worker_processes_alike(made_up: Make, tmp_path: Path) -> None:
    names = ("sim0-left", "sim1-left", "sim1-right", "sim4", "apx1", "sim3-right")
    results = [made_up(name) for name in names]
    here = write_panel_figures(results, tmp_path / "here", workers=1)
    there = write_panel_figures(results, tmp_path / "there", workers=2)
    assert list(here) == list(there) == list(names)
    for name in names:
        for kind in FORMATS:
            assert here[name][kind].read_bytes() == there[name][kind].read_bytes()


@pytest.mark.usefixtures("svg_alone")
def test_threads_may_draw_at_the_same_time(made_up: Make, tmp_path: Path) -> None:
    results = [made_up("sim0-left"), made_up("sim1-left")]
    alone = [svg_of(result, tmp_path / "alone") for result in results]
    errors: list[BaseException] = []

    def draw(result: PanelResult) -> None:
        try:
            written(result, tmp_path / "together")
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=draw, args=(result,)) for result in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert [(tmp_path / "together" / f"{r.panel.name}.svg").read_text() for r in results] == alone


@pytest.mark.usefixtures("svg_alone")
def test_nothing_of_matplotlib_is_changed_for_others(made_up: Make, tmp_path: Path) -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    written(made_up(), tmp_path)
    assert dict(matplotlib.rcParams) == before


def test_without_matplotlib_the_command_to_get_it_is_told(
    made_up: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(name: str) -> Any:
        return None

    monkeypatch.setattr("importlib.util.find_spec", nothing)
    with pytest.raises(MissingExtra, match=r"pip install 'cobandit\[plot\]'"):
        written(made_up(), tmp_path)


def test_a_folder_that_cannot_be_made_is_refused(made_up: Make, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InvalidInput, match="cannot be made"):
        written(made_up(), tmp_path / "file" / "figures")


@pytest.mark.usefixtures("svg_alone")
def test_pictures_on_the_page_are_the_panels_of_the_figure(made_up: Make, tmp_path: Path) -> None:
    result = made_up("sim1-left")
    print_svg = svg_of(result, tmp_path)
    drawn = drawing_of(result)
    pictures = panel_pictures(drawn)
    assert pictures == panel_pictures(drawn), "equal numbers give equal pictures"
    for picture, title in zip(pictures, TITLES.values(), strict=True):
        assert f">{title}<" in picture
        assert f">{title}<" in print_svg
        assert len(re.findall(r'<path d="[^"]*"[^>]*style="fill: none;[^"]*var\(--c\d\)', picture)) == len(drawn.lines)
        assert not any(colour.lower() in picture.lower() for colour in COLOURS), "a dark page has its own colours"
        assert len(picture) < 12_000
    assert re.findall(r' id="([^"]+)"', pictures[0]) != re.findall(r' id="([^"]+)"', pictures[1])
