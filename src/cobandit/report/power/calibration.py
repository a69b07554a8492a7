"""Report of the calibration: published numbers compared with ours, as figures for print and as one offline page."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cobandit.analysis.calibration import FITTING, WARNING, Calibration, Comparison, Rehearsal
from cobandit.analysis.published import CASINO_BANK, PUBLISHED
from cobandit.base.numbers import DASH, PAGE, percent
from cobandit.report.kit.figure import LETTERS, NARROW, WIDE, figure_svg, new_figure, save_figure, short_numbers
from cobandit.report.kit.html import FIGURES, Frame, dated, figure_kinds
from cobandit.report.kit.palette import COLOURS
from cobandit.report.kit.static_svg import inline_figure
from cobandit.report.kit.text import words
from cobandit.report.power.rehearsal import Table, write_rehearsal_page

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure

NAME = "calibration.html"
DRAWN = {
    "burger": ("task regret over 20 burgers", ("regret-aware", "regret-naive")),
    "casino": ("coins in 25 casinos", ("coins-aware", "coins-naive")),
    CASINO_BANK: ("coins in 25 casinos", ("coins-aware", "coins-naive", "coins-bank")),
}
"""What is drawn of each study, and which numbers."""

ROBOTS = ("with Partner-Aware UCB", "with Naive UCB", "with the bank (not played by people)")
READING = (
    "points: simulated, with the middle 95 % of the studies; bands: published ± s.e.; in brackets the robots' index"
)
"""How a figure is read."""

HEAD = 0.5
"""Inches of the heading of a figure, which the page does not show."""


def write_calibration_report(
    calibration: Calibration, out: str | os.PathLike[str], about: Mapping[str, object] | None = None
) -> Path:
    """Write ``out/figures/calibration-*`` and ``out/calibration.html``, and return the path of the page.

    There is one figure per study: the published means as bands, ours as points with the middle 95 % of the studies.
    ``about`` contains ``when`` (default: now), ``command`` and any other facts to show.
    """
    folder = Path(out)
    studies = calibration.studies
    for study in studies:
        _save(study, calibration.of(study), folder / FIGURES)
    facts = {
        "Simulated studies": ", ".join(f"{study} {calibration.of(study)[0].simulations:,}" for study in studies),
        "Participants": ", ".join(f"{study} {calibration.participants[study]}" for study in studies),
        "Seed": calibration.seed,
        "Engine": f"{calibration.engine}, {calibration.seconds:.1f} s in all",
    }
    frame = Frame(
        title="The paper's studies, rehearsed",
        lead="Published numbers compared with those of simulated participants",
    )
    content = {
        "warning": WARNING,
        "fitting": FITTING,
        "with_casino": any(study != "burger" for study in studies),
        "studies": [_study(study, calibration.of(study), folder) for study in studies],
    }
    return write_rehearsal_page(folder / NAME, "power/calibration.html", frame, facts | dated(about), content)


def figure_name(study: str) -> str:
    """Return the name of the figure of a study."""
    return f"calibration-{study}"


def _label(rehearsal: Rehearsal) -> str:
    return f"{rehearsal.population.label} ({rehearsal.index})"


# The figure


def _save(study: str, rehearsals: Sequence[Rehearsal], folder: Path) -> None:
    save_figure(lambda: calibration_figure(study, rehearsals, WIDE), folder, figure_name(study))


def calibration_figure(study: str, rehearsals: Sequence[Rehearsal], width: float) -> Figure:
    """Draw every rehearsal on its own line, with the published numbers; ``width`` in inches."""
    title, ids = DRAWN[study]
    wide = width > NARROW
    labels = [_label(rehearsal) for rehearsal in rehearsals]
    height = 1.5 + (0.23 if wide else 0.3) * len(rehearsals)
    figure = new_figure(
        (width, height), f"Simulated participants: {title}", READING, indent=0.02 * width, gid="heading"
    )
    axes = figure.subplots(
        gridspec_kw={
            "left": 0.42 if wide else 0.47,
            "right": 0.97,
            "bottom": (0.75 if wide else 1.1) / height,
            "top": 1 - 0.6 / height,
        },
    )
    for number, (id, robot) in enumerate(zip(ids, ROBOTS, strict=False)):
        colour, mark = COLOURS[number], "osD"[number]
        published = rehearsals[0].row(id).published
        if published.value is not None and published.se is not None:
            low, high = published.value - published.se, published.value + published.se
            axes.axvspan(low, high, color=colour, alpha=0.15, linewidth=0)
        if published.value is not None:
            axes.axvline(published.value, color=colour, linewidth=0.8)
        for place, rehearsal in enumerate(rehearsals):
            row = rehearsal.row(id)
            height_here = place + (number - 0.5) * 0.25
            assert row.low is not None
            assert row.high is not None
            axes.plot([row.low, row.high], [height_here] * 2, color=colour, linewidth=1.0)
            axes.plot([row.mean], [height_here], mark, color=colour, markersize=3.5)
        axes.plot([], [], mark, color=colour, markersize=3.5, label=robot)
    axes.set_yticks(range(len(rehearsals)), labels if wide else [textwrap.fill(label, 26) for label in labels])
    axes.set_ylim(len(rehearsals) - 0.4, -0.6)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0, labelsize=LETTERS if wide else LETTERS - 1.0)
    short_numbers(axes.xaxis)
    axes.set_xlabel(title)
    figure.legend(loc="lower left", ncols=1, frameon=False)
    return figure


# The page


def _study(study: str, ranked: Sequence[Rehearsal], out: Path) -> dict[str, object]:
    nearest = ranked[0]
    units = "; ".join(
        f"{row.published.text}: {row.published.scale:.3g} ({row.published.scaled_by})"
        for row in nearest.rows
        if row.published.scale is not None
    )
    missing = [[number.text, number.as_text(), number.missing] for number in PUBLISHED[study] if not number.simulated]
    return {
        "name": study,
        "many": len(ranked),
        "nearest": _label(nearest),
        "distance": PAGE.format(nearest.distance, 2),
        "against": [_label(rehearsal) for rehearsal in ranked if rehearsal.contradicts],
        "pictures": _pictures(study, ranked),
        "reading": READING,
        "figure": figure_name(study),
        "figure_kinds": figure_kinds(figure_name(study), out),
        "overview": _overview(study, ranked),
        "nearest_numbers": _numbers(nearest),
        "others": [
            (_label(rehearsal), PAGE.format(rehearsal.distance, 2), _numbers(rehearsal)) for rehearsal in ranked[1:]
        ],
        "units": units,
        "missing": Table("Not simulated", ["Number", "Published", "Why"], missing, words=3),
    }


def _overview(study: str, ranked: Sequence[Rehearsal]) -> Table:
    published = [row.published for row in ranked[0].rows if not row.published.id.endswith("-se")]
    heads = ["Participants", "Distance", *(number.id.replace("-", " ") for number in published)]
    rows = [["published", DASH, *(number.as_text() for number in published)]]
    rows += [
        [
            _label(rehearsal),
            PAGE.format(rehearsal.distance, 2),
            *(_ours(rehearsal.row(number.id)) for number in published),
        ]
        for rehearsal in ranked
    ]
    return Table(f"The {study} study, the nearest first", heads, rows)


def _ours(row: Comparison) -> str:
    mark = " (other direction)" if row.contradicts else ""
    return (f"{percent(row.mean)} %" if row.is_share else PAGE.format(row.mean)) + mark


def _numbers(rehearsal: Rehearsal) -> Table:
    rows = []
    for row in rehearsal.rows:
        published = row.published
        if row.is_share:
            rows.append([published.text, published.claim, f"{percent(row.mean)} %", *[DASH] * 4])
            continue
        rows.append(
            [
                published.text + (f" ({published.computed})" if published.computed else ""),
                published.as_text(),
                _ours(row) + ("" if row.sd is None else f" ± {PAGE.format(row.sd)}"),
                PAGE.format(row.difference),
                PAGE.format(row.ratio, 2),
                PAGE.format(row.off, 1),
                DASH if row.below is None else f"{percent(row.below)} %",
            ]
        )
    heads = ["Number", "Published", "Ours ± s.d.", "Difference", "Ratio", "s.e. off", "Studies at or below"]
    return Table(_label(rehearsal), heads, rows)


def _pictures(study: str, rehearsals: Sequence[Rehearsal]) -> list[Markup]:
    """Return the figure for the page, for wide screens and for narrow ones."""
    return [
        inline_figure(
            figure_svg(partial(calibration_figure, study, rehearsals, width)),
            figure_name(study),
            words(DRAWN[study][0]),
            kind=kind,
            head=HEAD,
        )
        for kind, width in (("wide", WIDE), ("narrow", NARROW))
    ]
