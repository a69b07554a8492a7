"""Views of one result: a curve in the caller's own axes, and a small page in a notebook."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from cobandit.base.checks import one_of, short_repr
from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.base.extras import require_extras
from cobandit.base.numbers import DASH, PAGE, count, percent
from cobandit.engine.result import Band, RegretName, checked_regret, picked_rows
from cobandit.engine.words import problem_lines, team_line
from cobandit.report.kit.drawing import from_zero
from cobandit.report.kit.palette import COLOURS
from cobandit.report.kit.templates import template_environment

if TYPE_CHECKING:
    from cobandit.engine import Result

BANDS: tuple[Band, ...] = get_args(Band)
ROWS = 5
WIDTH, HEIGHT = 360, 120


def plot_result(
    result: Result,
    ax: Any = None,
    *,
    regret: RegretName = "task",
    band: Band = "se",
    label: str | None = None,
    **options: Any,
) -> Any:
    """Draw the regret of a result over the rounds into matplotlib's ``ax``, or into a new one, and give it back.

    ``band`` is ``"se"`` (the mean within its standard error), ``"quantiles"`` (the median within the middle 80 %) or
    ``"none"`` (the mean alone); ``label`` is the team's by default; all else, such as ``color``, goes to the line.
    """
    require_extras("Drawing a result", plot=True)
    checked_regret("regret", regret)
    one_of(BANDS)("band", band)
    _check_line_options(options)
    if label is not None and not isinstance(label, str):
        raise InvalidInput(f"label must be a text or None, got {short_repr(label)}.")
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots()
    elif not (hasattr(ax, "plot") and hasattr(ax, "fill_between")):
        raise InvalidInput(f"ax must be the Axes of matplotlib, such as plt.gca(), got {short_repr(ax)}.")
    summary = result.summary()
    chosen = summary.of_regret(regret)
    rounds = np.concatenate([[0], summary.checkpoints])
    centre = chosen.median if band == "quantiles" else chosen.mean
    low, high = (chosen.q10, chosen.q90) if band == "quantiles" else (centre - chosen.se, centre + chosen.se)
    (line,) = ax.plot(rounds, from_zero(centre), label=result.team.label if label is None else label, **options)
    if band != "none" and np.isfinite(low).all():
        ax.fill_between(rounds, from_zero(low), from_zero(high), color=line.get_color(), alpha=0.2, linewidth=0)
    ax.set_xlabel(ax.get_xlabel() or "round")
    ax.set_ylabel(ax.get_ylabel() or f"cumulative {regret} regret")
    return ax


def _check_line_options(options: dict[str, Any]) -> None:
    """Refuse options that a line of matplotlib does not have, or values that they cannot have."""
    from matplotlib.artist import ArtistInspector
    from matplotlib.lines import Line2D

    inspector = ArtistInspector(Line2D)
    aliases = [alias for names in inspector.aliasd.values() for alias in names]
    known = sorted({*inspector.get_setters(), *aliases} - {"data", "xdata", "ydata", "figure", "label"})
    for name in options:
        if name not in known:
            raise UnknownName("option of a line called", name, known)
    try:
        Line2D([], [], **options)
    except Exception as error:  # each property has its own checks
        raise InvalidInput(f"options must fit a line of matplotlib, got {short_repr(options)}: {error}.") from None


def result_html(result: Result) -> str:
    """Problem, team, curve and table of a result, as a notebook shows them; nothing in it needs a script."""
    summary = result.summary()
    regrets = (summary.task_regret, summary.team_regret)
    rows = [
        [
            f"{summary.checkpoints[k]:,}",
            *(_cell(values[k]) for each in regrets for values in (each.mean, each.se, each.median)),
        ]
        for k in picked_rows(len(summary.checkpoints), ROWS)
    ]
    task = summary.task_regret
    top = float(np.nanmax([task.q90.max(), task.mean.max(), 1e-12]))
    points = [(t / result.horizon, value / top) for t, value in _points(summary.checkpoints, task.mean)]
    band = [(t / result.horizon, value / top) for t, value in _points(summary.checkpoints, task.q90)] + [
        (t / result.horizon, value / top) for t, value in reversed(_points(summary.checkpoints, task.q10))
    ]
    template = template_environment("cobandit.report").get_template("simulation/result.html")
    return template.render(
        team=team_line(result.team),
        lines=problem_lines(result.problem),
        runs=f"{count(result.runs, 'run')} of {count(result.horizon, 'round')}, seed {result.seed}",
        engine=f"{result.engine} engine: {result.engine_reason}",
        kept="" if result.keeps_runs else "Only the summary of the runs is held.",
        rows=rows,
        causes=_causes(result),
        sentences=[] if result.counted is None else result.counted.sentences(),
        line=_path(points),
        band=_path(band),
        top=_cell(top),
        horizon=f"{result.horizon:,}",
        width=WIDTH,
        height=HEIGHT,
    )


def _causes(result: Result) -> list[dict[str, str]]:
    """Return the causes of the regret of a result that was diagnosed, as pieces of a bar and rows of a table."""
    if result.counted is None:
        return []
    last = result.counted.regret[-1]
    total = float(last.sum()) or 1.0
    starts = (np.cumsum(last) - last) / total * WIDTH
    return [
        {
            "name": name,
            "mean": _cell(mean),
            "share": f"{percent(mean / total)}%",
            "x": f"{x:.1f}",
            "width": f"{mean / total * WIDTH:.1f}",
            "colour": COLOURS[number % len(COLOURS)],
        }
        for number, (name, mean, x) in enumerate(zip(result.counted.causes, last.tolist(), starts, strict=True))
    ]


def _points(rounds: Any, values: Any) -> list[tuple[float, float]]:
    return [(0.0, 0.0), *zip(rounds.tolist(), values.tolist(), strict=True)]


def _path(points: list[tuple[float, float]]) -> str:
    return " ".join(f"{x * WIDTH:.1f},{(1.0 - y) * HEIGHT:.1f}" for x, y in points)


def _cell(value: float) -> str:
    return DASH if math.isnan(value) else PAGE.format(float(value))
