"""A power analysis as a figure for print and as one offline page."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cobandit.analysis.power_curves import TARGETS, PowerAnalysis, PowerCurve
from cobandit.base.errors import InvalidInput
from cobandit.base.numbers import DASH, PAGE, percent
from cobandit.report.kit.figure import (
    LETTERS,
    ROW,
    SIZE,
    bare_axes,
    faint_grid,
    figure_svg,
    legend_below,
    legend_label,
    legend_shape,
    new_figure,
    new_picture,
    save_figure,
)
from cobandit.report.kit.html import FIGURES, Frame, dated, figure_kinds
from cobandit.report.kit.palette import colour_of, dashes_of
from cobandit.report.kit.static_svg import inline_figure
from cobandit.report.kit.text import words
from cobandit.report.power.rehearsal import Table, write_rehearsal_page
from cobandit.stats import Interval

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAME = "power.html"
FIGURE = "power"
WARNING = (
    "All participants here are simulated. The curves tell how many of such participants a study would need; if people "
    "decide in another way, the true power is another one."
)


class Key(NamedTuple):
    """An entry of the legend: the place of a line in the palette, and its label."""

    number: int
    label: str


def write_power_report(
    analyses: Sequence[PowerAnalysis], out: str | os.PathLike[str], about: Mapping[str, object] | None = None
) -> Path:
    """Write ``out/figures/power.pdf``, ``.svg``, ``.png`` and ``out/power.html``, and return the path of the page.

    All analyses have one design and one plan, but different populations. ``about`` contains ``when`` (default: now),
    ``command`` and any other facts to show.
    """
    _check(analyses)
    folder = Path(out)
    save_figure(lambda: power_figure(analyses), folder / FIGURES, FIGURE)
    first = analyses[0]
    facts = {
        "Design": f"{first.design.name}, version {first.design.version}",
        "Simulated studies": f"{first.simulations:,}",
        "Seed": first.seed,
        "Level": f"alpha {first.plan.alpha:g}",
        "Engine": f"{first.engine}, {sum(analysis.seconds for analysis in analyses):.1f} s in all",
    }
    frame = Frame(
        title=f"How many participants: {first.design.title}",
        lead=f"Power of {len(first.curves)} planned tests from {first.sizes[0]} to {first.sizes[-1]} participants",
    )
    content = {
        "warning": WARNING,
        "first": first,
        "smallest": _smallest(analyses),
        "pictures": [_picture(analyses, k) for k in range(len(first.curves))],
        "legend": [Key(k, analysis.population.label) for k, analysis in enumerate(analyses)],
        "figure": FIGURE,
        "figure_kinds": figure_kinds(FIGURE, folder),
        "populations": [
            (
                analysis.population.label,
                analysis.team_sentences,
                [(curve.hypothesis.text, _points(curve)) for curve in analysis.curves],
            )
            for analysis in analyses
        ],
    }
    return write_rehearsal_page(folder / NAME, "power/power.html", frame, facts | dated(about), content)


def _check(analyses: Sequence[PowerAnalysis]) -> None:
    if not analyses:
        raise InvalidInput("analyses is empty; at least one power analysis is needed.")
    if len({(analysis.design.digest, analysis.plan.digest, analysis.sizes) for analysis in analyses}) > 1:
        raise InvalidInput("The power analyses are of different designs, plans or sizes; one of each is needed.")


def _test_name(curve: PowerCurve) -> str:
    hypothesis = curve.hypothesis
    return f"{hypothesis.id} ({hypothesis.test}{', Holm' if hypothesis.family else ''})"


def _people(analysis: PowerAnalysis) -> str:
    """Return what the axes count."""
    return "participants" if analysis.team_size == 1 else f"participants, in teams of {analysis.team_size}"


# The figure


def power_figure(analyses: Sequence[PowerAnalysis]) -> Figure:
    """Return a panel for each planned test, a line for each population."""
    first = analyses[0]
    labels = [legend_label(analysis.population.label) for analysis in analyses]
    columns, rows = legend_shape(labels)
    tests = len(first.curves)
    across = min(tests, 3)
    down = -(-tests // across)
    width, height = SIZE[0], 1.2 + 2.2 * down + ROW * rows
    about = f"simulated participants; {first.simulations:,} simulated studies, alpha {first.plan.alpha:g}"
    figure = new_figure((width, height), f"Power: {first.design.title}", about)
    panels = figure.subplots(
        down,
        across,
        sharex=True,
        sharey=True,
        squeeze=False,
        gridspec_kw={
            "left": 0.09,
            "right": 0.98,
            "wspace": 0.1,
            "hspace": 0.3,
            "bottom": (0.55 + ROW * rows) / height,
            "top": 1 - 0.75 / height,
        },
    ).ravel()
    for k, panel in enumerate(panels):
        if k >= tests:
            panel.set_visible(False)
            continue
        _draw_test(panel, analyses, k)
        if k >= tests - across:
            panel.set_xlabel(_people(first))
            panel.tick_params(labelbottom=True)
    panels[0].set_ylabel("power")
    handles = [line for line in panels[0].get_lines() if str(line.get_gid()).startswith("population")]
    legend_below(figure, handles, labels, columns)
    return figure


def _draw_test(panel: Axes, analyses: Sequence[PowerAnalysis], k: int) -> None:
    """Draw the power of one planned test over the number of participants, a line for each population."""
    for number, analysis in enumerate(analyses):
        _draw_curve(panel, analysis.curves[k], analysis.sizes, number)
    for target in TARGETS:
        panel.axhline(target, color="#888888", linewidth=0.7, linestyle=(0, (2, 2)))
    panel.set_title(_test_name(analyses[0].curves[k]), loc="left", fontsize=LETTERS)
    panel.set_ylim(0, 1)
    bare_axes(panel)
    faint_grid(panel)
    panel.yaxis.set_major_formatter(lambda value, _: f"{percent(value)} %")


def _draw_curve(panel: Axes, curve: PowerCurve, sizes: Sequence[int], number: int) -> None:
    powers = [point.planned for point in curve.points]
    colour = colour_of(number)
    panel.fill_between(sizes, [p.low for p in powers], [p.high for p in powers], color=colour, alpha=0.16, linewidth=0)
    panel.plot(
        sizes,
        [power.value for power in powers],
        color=colour,
        linestyle=dashes_of(number),
        marker="o" if len(sizes) == 1 else None,
        gid=f"population-{number}",
    )


# The page


def _smallest(analyses: Sequence[PowerAnalysis]) -> Table:
    rows = [
        [
            analysis.population.label,
            _test_name(curve),
            *(analysis.needed(curve.smallest(target)) for target in TARGETS),
            _effect(curve),
        ]
        for analysis in analyses
        for curve in analysis.curves
    ]
    heads = ["Participants", "Test", *(f"{percent(target)} %" for target in TARGETS), "d_z"]
    return Table("Smallest number of participants", heads, rows, words=2)


def _effect(curve: PowerCurve) -> str:
    point = curve.points[-1]
    spread = "" if point.effect_sd is None else f" ± {PAGE.format(point.effect_sd, 2)}"
    return DASH if point.effect is None else PAGE.format(point.effect, 2) + spread


def _points(curve: PowerCurve) -> Table:
    rows = [
        [
            f"{point.n:,}",
            _share(point.power),
            DASH if point.corrected is None else _share(point.corrected),
            f"{percent(point.opposite, 1)} %",
            PAGE.format(point.effect, 2),
            PAGE.format(point.effect_sd, 2),
        ]
        for point in curve.points
    ]
    return Table(_test_name(curve), ["n", "Power", "With Holm", "Wrong way", "d_z", "Its s.d."], rows)


def _share(power: Interval) -> str:
    return f"{percent(power.value, 1)} % ({percent(power.low, 1)} to {percent(power.high, 1)})"


def _picture(analyses: Sequence[PowerAnalysis], k: int) -> Markup:
    """Return one test as a small picture for the page."""

    def draw() -> Figure:
        figure, axes = new_picture()
        _draw_test(axes, analyses, k)
        axes.set_xlabel(_people(analyses[0]))
        return figure

    return inline_figure(figure_svg(draw), f"{FIGURE}-{k}", f"Power of {words(_test_name(analyses[0].curves[k]))}")
