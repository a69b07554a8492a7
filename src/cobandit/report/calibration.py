"""The paper's studies rehearsed: published numbers beside ours, as a figure for print and as one offline page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cobandit.analysis.calibration import FITTING, WARNING, Calibration, Comparison, Rehearsal
from cobandit.analysis.published import PUBLISHED
from cobandit.report.comparison import COLOURS
from cobandit.report.figures import LETTERS, SIZE, save_figure
from cobandit.report.page import DASH, FIGURES, _number, _words, figure_links
from cobandit.report.power import table, write_rehearsal_page
from cobandit.report.stills import _colour, steps

NAME = "calibration.html"
DRAWN = {
    "burger": ("task regret over 20 burgers", ("regret-aware", "regret-naive")),
    "casino": ("coins in 25 casinos", ("coins-aware", "coins-naive")),
}
"""What is drawn of each study, and which two numbers."""

ROBOTS = ("with Partner-Aware UCB", "with Naive UCB")
LINE = 20.0
"""Points between two lines of the drawing on the page."""


def figure_name(study: str) -> str:
    """What the figure of a study is called."""
    return f"calibration-{study}"


def write_calibration_figures(made: Calibration, folder: Path) -> dict[str, dict[str, Path]]:
    """Draw one figure a study: the published means as bands, ours as points with the middle 95 % of the studies."""

    def draw(study: str) -> dict[str, Path]:
        return save_figure(lambda: _figure(study, made.of(study)), folder, figure_name(study))

    return {study: draw(study) for study in made.studies}


def _label(one: Rehearsal) -> str:
    return f"{one.population.label} ({one.index})"


def _figure(study: str, rehearsals: Sequence[Rehearsal]) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    title, ids = DRAWN[study]
    height = 1.5 + 0.23 * len(rehearsals)
    figure: Any = Figure(figsize=(SIZE[0], height))
    FigureCanvasAgg(figure)
    axes = figure.subplots(
        gridspec_kw={"left": 0.42, "right": 0.97, "bottom": 0.75 / height, "top": 1 - 0.6 / height},
    )
    figure.text(0.02, 1 - 0.07 / height, f"Simulated participants: {title}", va="top", fontsize=LETTERS + 1.5)
    about = (
        "points: simulated, with the middle 95 % of the studies; bands: published ± s.e.; in brackets the robots' index"
    )
    figure.text(0.02, 1 - 0.29 / height, about, va="top", fontsize=LETTERS - 0.5, color="#555555")
    for number, (id, robot) in enumerate(zip(ids, ROBOTS, strict=True)):
        published = rehearsals[0].row(id).published
        assert published.value is not None
        if published.se is not None:
            low, high = published.value - published.se, published.value + published.se
            axes.axvspan(low, high, color=COLOURS[number], alpha=0.15, linewidth=0)
        axes.axvline(published.value, color=COLOURS[number], linewidth=0.8)
        for place, one in enumerate(rehearsals):
            row = one.row(id)
            height_here = place + (number - 0.5) * 0.25
            assert row.low is not None
            assert row.high is not None
            axes.plot([row.low, row.high], [height_here] * 2, color=COLOURS[number], linewidth=1.0)
            axes.plot([row.mean], [height_here], "os"[number], color=COLOURS[number], markersize=3.5)
        axes.plot([], [], "os"[number], color=COLOURS[number], markersize=3.5, label=robot)
    axes.set_yticks(range(len(rehearsals)), [_label(one) for one in rehearsals])
    axes.set_ylim(len(rehearsals) - 0.4, -0.6)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.6g}")
    axes.set_xlabel(title)
    figure.legend(loc="lower left", ncols=1, frameon=False)
    return figure


def write_calibration_page(made: Calibration, out: Path, about: Mapping[str, Any]) -> Path:
    """Write ``out/calibration.html``; ``about`` says ``when``, ``command`` and whatever else is to be told."""
    facts = {
        "Simulated studies": ", ".join(f"{study} {made.of(study)[0].simulations:,}" for study in made.studies),
        "Participants": ", ".join(f"{study} {made.participants[study]}" for study in made.studies),
        "Seed": made.seed,
        "Engine": f"{made.engine}, {made.seconds:.1f} s in all",
    }
    return write_rehearsal_page(
        out / NAME,
        title="The paper's studies, rehearsed",
        lead="Published numbers beside those of simulated participants, and how far each is off",
        warning=WARNING,
        introduction=_introduction(made),
        results="\n".join(_study(made, study, out) for study in made.studies),
        facts=facts | dict(about),
    )


def _introduction(made: Calibration) -> str:
    casino = (
        "<p>The means of the paper's casinos are not known: each simulated casino study has 25 of its own, so its "
        "coins vary by some 800 for that reason alone, which the published standard errors do not hold.</p>"
        if "casino" in made.studies
        else ""
    )
    return (
        "<h2>How to read it</h2>"
        "<p>Each study of the paper was simulated many times at its published size, with each population of simulated "
        "participants and with both variants of the robots' index (in brackets), as the paper does not say which one "
        "its robots had. <em>Ours</em> is the mean over the simulated studies and their standard deviation; <em>s.e. "
        "off</em> counts published standard errors from the published number to ours. <em>Distance</em> is the root "
        "mean square of all "
        "differences, each in its own unit, which is told below.</p>"
        f"<p>{_words(FITTING)}</p>{casino}"
    )


def _study(made: Calibration, study: str, out: Path) -> str:
    ranked = made.of(study)
    nearest = ranked[0]
    against = [one for one in ranked if one.contradicts]
    contrary = (
        f"<p><strong>Against the published direction</strong> ({len(against)} of {len(ranked)}): "
        f"{_words('; '.join(_label(one) for one in against))}. With these the partner-aware robot does worse.</p>"
        if against
        else "<p>No population is against the published direction.</p>"
    )
    units = "; ".join(
        f"{row.published.text}: {row.published.scale:.3g} ({row.published.scaled_by})"
        for row in nearest.rows
        if row.published.scale is not None
    )
    missing = [
        [_words(one.text), _words(one.short_repr()), _words(one.missing)]
        for one in PUBLISHED[study]
        if not one.simulated
    ]
    details = "".join(
        f"<details><summary>{_words(_label(one))}: distance {_number(one.distance, 2)}</summary>"
        f"{_numbers(one)}</details>"
        for one in ranked[1:]
    )
    return (
        f'<section class="panel" id="{study}"><h2>The {study} study</h2>'
        f"<p>Nearest of {len(ranked)}: <strong>{_words(_label(nearest))}</strong>, distance "
        f"{_number(nearest.distance, 2)}. {_words(FITTING)}</p>{contrary}"
        f'<figure class="chart">{_still(study, ranked)}{figure_links(figure_name(study), out / FIGURES)}</figure>'
        f"{_overview(study, ranked)}<h3>The nearest, number by number</h3>{_numbers(nearest)}"
        f"<h3>The others, number by number</h3>{details}"
        f'<p class="soft">Units of the distance: {_words(units)}.</p>'
        "<h3>Published, but not simulated</h3>"
        f"{table('Not simulated', ['Number', 'Published', 'Why'], missing, words=3)}"
        "</section>"
    )


def _overview(study: str, ranked: Sequence[Rehearsal]) -> str:
    shown = [row.published for row in ranked[0].rows if not row.published.id.endswith("-se")]
    heads = ["Participants", "Distance", *(one.id.replace("-", " ") for one in shown)]
    rows = [["published", DASH, *(_words(one.short_repr()) for one in shown)]]
    rows += [[_words(_label(one)), _number(one.distance, 2), *(_value(one.row(p.id)) for p in shown)] for one in ranked]
    return f"<h3>All populations</h3>{table(f'The {study} study, the nearest first', heads, rows)}"


def _value(row: Comparison) -> str:
    mark = " (other direction)" if row.contradicts else ""
    return (f"{100 * row.mean:.0f} %" if row.published.value is None else _number(row.mean)) + mark


def _numbers(one: Rehearsal) -> str:
    rows = []
    for row in one.rows:
        published = row.published
        if published.value is None:
            rows.append([_words(published.text), _words(published.claim), f"{100 * row.mean:.0f} %", *[DASH] * 4])
            continue
        computed = f" ({published.computed})" if published.computed else ""
        spread = "" if row.sd is None else f" ± {_number(row.sd)}"
        numbers = [
            DASH if value is None else _number(value, places)
            for value, places in ((row.difference, None), (row.ratio, 2), (row.off, 1))
        ]
        below = DASH if row.below is None else f"{100 * row.below:.0f} %"
        ours = _value(row) + spread
        rows.append([_words(published.text + computed), _words(published.short_repr()), ours, *numbers, below])
    heads = ["Number", "Published", "Ours ± s.d.", "Difference", "Ratio", "s.e. off", "Studies at or below"]
    return table(_label(one), heads, rows)


def _still(study: str, rehearsals: Sequence[Rehearsal]) -> str:
    """The figure as a drawing that needs no script."""
    title, ids = DRAWN[study]
    width, left, right, top = 860.0, 320.0, 20.0, 46.0
    height = top + LINE * len(rehearsals) + 26.0
    pairs = [[one.row(id) for id in ids] for one in rehearsals]
    published = [rehearsals[0].row(id).published for id in ids]
    values = [v for pair in pairs for row in pair for v in (row.low, row.high) if v is not None]
    values += [one.value for one in published if one.value is not None]
    lowest, span = min(values), max(max(values) - min(values), 1e-9)

    def x(value: float) -> float:
        return left + (value - lowest) / span * (width - left - right)

    bottom = top + LINE * len(rehearsals)
    parts = []
    for number, one in enumerate(published):
        assert one.value is not None
        se = one.se or 0.0
        a, b = max(one.value - se, lowest), min(one.value + se, lowest + span)
        parts.append(
            f'<rect class="band" style="fill:{_colour(number)}" x="{x(a):.1f}" y="{top:g}" '
            f'width="{max(x(b) - x(a), 1.0):.1f}" height="{bottom - top:g}"/>'
            f'<path class="line" style="stroke:{_colour(number)}" d="M{x(one.value):.1f} {top:g}V{bottom:g}"/>'
            f'<circle cx="{left + 190 * number + 6:g}" cy="26" r="4" style="fill:{_colour(number)}"/>'
            f'<text x="{left + 190 * number + 16:g}" y="30">{ROBOTS[number]}</text>'
        )
    for place, (rehearsal, pair) in enumerate(zip(rehearsals, pairs, strict=True)):
        middle = top + LINE * (place + 0.5)
        parts.append(
            f'<text x="{left - 10:g}" y="{middle + 4:.1f}" text-anchor="end">{_words(_label(rehearsal))}</text>'
        )
        for number, row in enumerate(pair):
            y = middle + (number - 0.5) * 6
            assert row.low is not None
            assert row.high is not None
            parts.append(
                f'<path class="line" style="stroke:{_colour(number)}" d="M{x(row.low):.1f} {y:.1f}H{x(row.high):.1f}"/>'
                f'<circle cx="{x(row.mean):.1f}" cy="{y:.1f}" r="3.5" style="fill:{_colour(number)}"/>'
            )
    step = steps(span)[1]
    for k in range(math.ceil(lowest / step), math.floor((lowest + span) / step) + 1):
        parts.append(f'<text x="{x(k * step):.1f}" y="{bottom + 18:g}" text-anchor="middle">{k * step:,.6g}</text>')
    return (
        f'<svg class="still" viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{_words(title)}">'
        f'<text x="0" y="13">{_words(title)}: points are simulated means with the middle 95 % of the studies, bands '
        f"the published mean ± s.e.</text>{''.join(parts)}</svg>"
    )
