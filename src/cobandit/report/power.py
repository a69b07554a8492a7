"""A power analysis as figures for print and as one offline page.

Also here: the frame of a page about simulated participants, which the calibration shares.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cobandit.analysis.power_curves import TARGETS, PowerAnalysis, PowerCurve
from cobandit.base.errors import InvalidInput
from cobandit.base.files import whole_file
from cobandit.experiments.store import this_machine
from cobandit.report.comparison import COLOURS, DASHES
from cobandit.report.figures import (
    LETTERS,
    ROW,
    SIZE,
    _legend_label,
    _legend_shape,
    save_figure,
)
from cobandit.report.page import (
    DASH,
    FACTS,
    FIGURES,
    _number,
    _palette,
    _static,
    _template,
    _words,
    fact_list,
    figure_links,
)
from cobandit.report.stills import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, _colour, _moves, _stroke, swatch
from cobandit.stats import Interval

NAME = "power.html"
FIGURE = "power"
WARNING = (
    "All participants here are simulated. The curves tell how many of such participants a study would need; if people "
    "decide in another way, the true power is another one."
)
NO_SCRIPTS = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


# The frame that pages about simulated participants share


def write_rehearsal_page(
    path: Path,
    *,
    title: str,
    lead: str,
    warning: str,
    introduction: str,
    results: str,
    facts: Mapping[str, Any],
) -> Path:
    """One file without scripts; ``introduction`` and ``results`` are HTML, everything else is text."""
    from cobandit import __version__

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"The folder {str(path.parent)!r} cannot be made: {error.strerror}.") from error
    told: dict[str, Any] = {"version": __version__, "machine": this_machine()} | dict(facts)
    page = _template(
        "rehearsal.html",
        policy=NO_SCRIPTS,
        version=_words(__version__),
        style="\n".join([_palette(), _static("report.css")]),
        title=_words(title),
        lead=_words(lead),
        warning=_words(warning),
        introduction=introduction,
        facts=fact_list({FACTS.get(key, key): value for key, value in told.items()}),
        results=results,
    )
    with whole_file(path) as file:
        file.write(page.encode())
    return path


def table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]], *, words: int = 1) -> str:
    """A table of ready-made HTML cells; the first ``words`` columns are words, the others numbers."""
    top = "".join(
        f'<th scope="col"{"" if place < words else " class=number"}>{_words(head)}</th>'
        for place, head in enumerate(heads)
    )
    body = "".join(
        "<tr>"
        + f'<th scope="row">{row[0]}</th>'
        + "".join(f"<td{'' if place < words else ' class=number'}>{cell}</td>" for place, cell in enumerate(row[1:], 1))
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{_words(caption)}"><table class="final">'
        f"<caption>{_words(caption)}</caption><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"
    )


# The figure


def write_power_figures(analyses: Sequence[PowerAnalysis], folder: Path) -> dict[str, Path]:
    """Draw ``folder/power.pdf``, ``.svg`` and ``.png``: a panel for each planned test, a line for each population."""
    _checked(analyses)
    return save_figure(lambda: _figure(analyses), folder, FIGURE)


def _checked(analyses: Sequence[PowerAnalysis]) -> None:
    if not analyses:
        raise InvalidInput("analyses is empty; at least one power analysis is needed.")
    if len({(one.design.digest, one.plan.digest, one.sizes) for one in analyses}) > 1:
        raise InvalidInput("The power analyses are of different designs, plans or sizes; one of each is needed.")


def _figure(analyses: Sequence[PowerAnalysis]) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    first = analyses[0]
    labels = [_legend_label(one.population.label) for one in analyses]
    columns, rows = _legend_shape(labels)
    tests = len(first.curves)
    across = min(tests, 3)
    down = -(-tests // across)
    width, height = SIZE[0], 1.2 + 2.2 * down + ROW * rows
    figure: Any = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
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
    heading = {"x": 0.15 / width, "ha": "left", "va": "top"}
    figure.text(y=1 - 0.07 / height, s=f"Power: {first.design.title}", fontsize=LETTERS + 1.5, **heading)
    about = f"simulated participants; {first.simulations:,} simulated studies, alpha {first.plan.alpha:g}"
    figure.text(y=1 - 0.27 / height, s=about, fontsize=LETTERS - 0.5, color="#555555", **heading)
    for k, axes in enumerate(panels):
        if k >= tests:
            axes.set_visible(False)
            continue
        for number, one in enumerate(analyses):
            _draw_curve(axes, one.curves[k], one.sizes, number)
        for target in TARGETS:
            axes.axhline(target, color="#888888", linewidth=0.7, linestyle=(0, (2, 2)))
        axes.set_title(_test_name(first.curves[k]), loc="left", fontsize=LETTERS)
        axes.set_ylim(0, 1)
        axes.spines[["top", "right"]].set_visible(False)
        axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
        if k >= tests - across:
            axes.set_xlabel("participants")
            axes.tick_params(labelbottom=True)
    panels[0].set_ylabel("power")
    handles = [line for line in panels[0].get_lines() if str(line.get_gid()).startswith("population")]
    figure.legend(
        handles, labels, loc="lower center", ncols=columns, frameon=False, handlelength=3.2, borderaxespad=0.2
    )
    return figure


def _draw_curve(axes: Any, curve: PowerCurve, sizes: Sequence[int], number: int) -> None:
    found = [point.planned for point in curve.points]
    colour, dash = COLOURS[number % len(COLOURS)], DASHES[number % len(DASHES)]
    axes.fill_between(sizes, [f.low for f in found], [f.high for f in found], color=colour, alpha=0.16, linewidth=0)
    marker = "o" if len(sizes) == 1 else None
    values = [f.value for f in found]
    axes.plot(sizes, values, color=colour, linestyle=dash, marker=marker, gid=f"population-{number}")


def _test_name(curve: PowerCurve) -> str:
    one = curve.hypothesis
    return f"{one.id} ({one.test}{', Holm' if one.family else ''})"


# The page


def write_power_page(analyses: Sequence[PowerAnalysis], out: Path, about: Mapping[str, Any]) -> Path:
    """Write ``out/power.html``; ``about`` says ``when``, ``command`` and whatever else is to be told.

    All analyses are of one design and one plan, each of another population. Figures are linked if they lie in
    ``out/figures``.
    """
    _checked(analyses)
    first = analyses[0]
    facts = {
        "Design": f"{first.design.name}, version {first.design.version}",
        "Simulated studies": f"{first.simulations:,}",
        "Seed": first.seed,
        "Level": f"alpha {first.plan.alpha:g}",
        "Engine": f"{first.engine}, {sum(one.seconds for one in analyses):.1f} s in all",
    }
    return write_rehearsal_page(
        out / NAME,
        title=f"How many participants: {first.design.title}",
        lead=f"Power of {len(first.curves)} planned tests from {first.sizes[0]} to {first.sizes[-1]} participants",
        warning=WARNING,
        introduction=_introduction(first),
        results=_results(analyses, out),
        facts=facts | dict(about),
    )


def _introduction(first: PowerAnalysis) -> str:
    notes = "".join(f"<p>{_words(note)}</p>" for note in first.notes)
    left_out = "".join(
        f"<li><strong>{_words(one.hypothesis.id)}</strong>: {_words(one.reason)}.</li>" for one in first.left_out
    )
    absent = f"<h3>Planned, but left out here</h3><ul>{left_out}</ul>" if left_out else ""
    return (
        "<h2>What this is</h2>"
        "<p>Whole studies were simulated, and every planned test that can be was made on each of them. "
        "<strong>Power</strong> is the share of simulated studies in which a test is significant and its difference "
        "does not point the wrong way, with Wilson's 95&nbsp;% interval. Tests of one family are corrected by Holm's "
        "method, as the plan asks.</p>"
        "<p>A study of n participants is the first n of the largest one, so a curve is smooth, and neighbouring points "
        "are not independent. The <strong>smallest n</strong> is the first of the list from which on the power stays "
        "at or above the target; in brackets what the intervals allow.</p>"
        f"{notes}{absent}"
    )


def _results(analyses: Sequence[PowerAnalysis], out: Path) -> str:
    first = analyses[0]
    pictures = "".join(_still(analyses, k) for k in range(len(first.curves)))
    keys = "".join(f"<span>{swatch(k)}{_words(one.population.label)}</span>" for k, one in enumerate(analyses))
    smallest = [
        [_words(one.population.label), _words(_test_name(curve))]
        + [_words(curve.smallest(target)) for target in TARGETS]
        + [_effect(curve)]
        for one in analyses
        for curve in one.curves
    ]
    heads = ["Participants", "Test", *(f"{100 * target:.0f} %" for target in TARGETS), "d_z"]
    parts = [
        f'<section id="smallest"><h2>The smallest n</h2>'
        f"{table('Smallest number of participants', heads, smallest, words=2)}"
        f'<p class="soft">d<sub>z</sub>: mean over the simulated studies of {first.sizes[-1]} participants, and '
        "standard deviation between them.</p></section>",
        f'<section id="curves"><h2>The curves</h2><figure class="chart"><div class="pair">{pictures}</div>'
        f'<div class="keys">{keys}</div>{figure_links(FIGURE, out / FIGURES)}</figure></section>',
    ]
    for one in analyses:
        tables = "".join(_points(curve) for curve in one.curves)
        parts.append(f'<section class="panel"><h2>{_words(one.population.label)}</h2>{tables}</section>')
    return "\n".join(parts)


def _effect(curve: PowerCurve) -> str:
    point = curve.points[-1]
    if point.effect is None:
        return DASH
    return _number(point.effect, 2) + ("" if point.effect_sd is None else f" ± {_number(point.effect_sd, 2)}")


def _points(curve: PowerCurve) -> str:
    rows = [
        [
            f"{point.n:,}",
            _share(point.power),
            DASH if point.corrected is None else _share(point.corrected),
            f"{100 * point.opposite:.1f} %",
            DASH if point.effect is None else _number(point.effect, 2),
            DASH if point.effect_sd is None else _number(point.effect_sd, 2),
        ]
        for point in curve.points
    ]
    heads = ["n", "Power", "With Holm", "Wrong way", "d_z", "Its s.d."]
    return f"<p>{_words(curve.hypothesis.text)}</p>{table(_test_name(curve), heads, rows)}"


def _share(found: Interval) -> str:
    return f"{100 * found.value:.1f} % ({100 * found.low:.1f} to {100 * found.high:.1f})"


def _still(analyses: Sequence[PowerAnalysis], k: int) -> str:
    """One test as a small drawing that needs no script."""
    sizes = analyses[0].sizes
    low, span = sizes[0], max(sizes[-1] - sizes[0], 1)
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM

    def x(n: float) -> float:
        return LEFT + (n - low) / span * (right - LEFT)

    def y(share: float) -> float:
        return bottom - share * (bottom - TOP)

    ticks = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0)
    grid = "".join(f"M{LEFT:g} {y(tick):.1f}H{right:g}" for tick in ticks)
    parts = [f'<path class="gridline" d="{grid}"/><path class="axis" d="M{LEFT:g} {TOP:g}V{bottom:g}H{right:g}"/>']
    for tick in ticks:
        parts.append(f'<text x="{LEFT - 6:g}" y="{y(tick) + 4:.1f}" text-anchor="end">{100 * tick:.0f} %</text>')
    for n in sizes[:: max(1, len(sizes) // 6)]:
        parts.append(f'<text x="{x(n):.1f}" y="{bottom + 16:g}" text-anchor="middle">{n:,}</text>')
    parts.append(f'<text x="{(LEFT + right) / 2:g}" y="{HEIGHT - 2:g}" text-anchor="middle">participants</text>')
    for number, one in enumerate(analyses):
        found = [point.planned for point in one.curves[k].points]
        upper = [(x(n), y(f.high)) for n, f in zip(sizes, found, strict=True)]
        lower = [(x(n), y(f.low)) for n, f in zip(sizes, found, strict=True)]
        edges = _moves([*upper, *reversed(lower)])
        parts.append(f'<path class="band" style="fill:{_colour(number)}" d="{edges}z"/>')
        line = [(x(n), y(f.value)) for n, f in zip(sizes, found, strict=True)]
        parts.append(_stroke(number, _moves(line if len(line) > 1 else [*line, (line[0][0] + 4.0, line[0][1])])))
    name = _words(_test_name(analyses[0].curves[k]))
    return (
        f'<svg class="still" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" aria-label="Power of {name}">'
        f'<text x="{LEFT:g}" y="13">{name}</text>{"".join(parts)}</svg>'
    )
