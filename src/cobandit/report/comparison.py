"""The comparison figure: teams on one problem, the mean and, because tails are heavy, the median beside it."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.base.extras import require_extras
from cobandit.engine import Result
from cobandit.problem import FixedMeans, RandomMeans

FORMATS = (".svg", ".png", ".pdf")
REGRETS = ("task", "team")

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9", "#7F7F7F")
"""Okabe and Ito's palette, told apart by every kind of colour vision; its yellow is left out as it fades on paper."""

DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (6, 1.5, 1, 1.5)), (0, (3, 1, 1, 1, 1, 1)))
"""A second sign beside the colour, for grey prints."""

LONGEST_LINEAR = 20.0
"""Quantiles up to here are read well on a linear scale."""

SMALL = 9.0
"""The size of small letters, in points."""

LABEL_GAP = 0.05
"""The least distance of two labels, as a share of a panel's height."""


def checked_figure(path: str | os.PathLike[str]) -> Path:
    """Where a figure will go: its folder is made; refused early if it cannot be drawn or written."""
    target = Path(path).expanduser()
    if target.suffix.lower() not in FORMATS:
        raise InvalidInput(f"The figure is {str(target)!r}; a name that ends in {', '.join(FORMATS)} is needed.")
    require_extras("Drawing a figure", plot=True)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"The folder {str(target.parent)!r} cannot be made: {error.strerror}.") from None
    if target.is_dir() or not os.access(target.parent, os.W_OK):
        raise InvalidInput(f"The figure {str(target)!r} is a folder or lies in one that cannot be written to.")
    return target


def draw_comparison(results: Sequence[Result], path: str | os.PathLike[str], *, regret: str = "task") -> Path:
    """Draw teams on one problem: left the mean with its standard error, right each median with its middle 80 %.

    ``regret`` is ``"task"`` or ``"team"``. The file appears whole or not at all.
    """
    if not results:
        raise InvalidInput("results is empty; at least one result is needed to draw.")
    if regret not in REGRETS:
        raise UnknownName("regret", regret, REGRETS)
    target = checked_figure(path)
    import matplotlib

    # Text stays text in SVG, and the same results give the same file.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "cobandit", "font.size": SMALL + 1}):
        figure = _figure(results, regret)
        _write(figure, target)
    return target


def _figure(results: Sequence[Result], regret: str) -> Any:
    """The figure itself, on no screen and in no global state."""
    from matplotlib.figure import Figure

    curves = [_Curves(number, result, regret) for number, result in enumerate(results)]
    rows = 1 if len(curves) <= 2 else 2 if len(curves) <= 8 else math.ceil(len(curves) / 4)
    columns = math.ceil(len(curves) / rows)
    figure: Any = Figure(figsize=(13.0, 5.6), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(1.0, 1.15))
    means = left.subplots()
    _draw_means(means, curves)
    means.set_ylabel(f"cumulative {regret} regret")
    left.suptitle("Mean over the runs, with its standard error", fontsize=SMALL + 2)
    panels = right.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    for place, panel in enumerate(panels):
        if place < len(curves):
            _draw_median(panel, curves, place, last_in_column=place + columns >= len(curves))
        else:
            panel.set_visible(False)
    scale = " (logarithmic above 1)" if _highest(curves) > LONGEST_LINEAR else ""
    right.suptitle(f"Median, with the middle 80 % of the runs{scale}", fontsize=SMALL + 2)
    figure.suptitle(_title(results[0]), fontsize=SMALL + 3, fontweight="bold")
    return figure


class _Curves:
    """One team's lines and bands, and how they are drawn."""

    def __init__(self, number: int, result: Result, regret: str) -> None:
        summary = result.summary()
        chosen = summary.task_regret if regret == "task" else summary.team_regret
        self.label = result.team.label
        self.rounds = np.concatenate([[0], result.checkpoints])
        self.mean = _from_zero(chosen.mean)
        self.error = _from_zero([0.0 if se is None else se for se in chosen.se])
        self.median, self.low, self.high = (_from_zero(line) for line in (chosen.median, chosen.q10, chosen.q90))
        self.colour = COLOURS[number % len(COLOURS)]
        self.dash = DASHES[number % len(DASHES)]

    @property
    def mark(self) -> str:
        """By which an SVG file can be searched for the line."""
        return self.label.replace(" + ", "-and-")

    @property
    def broken_label(self) -> str:
        """The label of a mixed team, a line for each member."""
        return self.label.replace(" + ", " +\n")


def _from_zero(values: Sequence[float | None]) -> NDArray[np.float64]:
    """The curve with the round before the first, in which nothing is lost yet."""
    return np.array([0.0, *values], dtype=np.float64)


def _draw_means(axes: Any, curves: Sequence[_Curves]) -> None:
    """All teams in one panel, each named where its line ends."""
    for curve in curves:
        low, high = curve.mean - curve.error, curve.mean + curve.error
        axes.fill_between(curve.rounds, low, high, color=curve.colour, alpha=0.2, linewidth=0)
        (line,) = axes.plot(curve.rounds, curve.mean, color=curve.colour, linestyle=curve.dash, linewidth=2.0)
        line.set_gid(f"mean-{curve.mark}")
    last = int(curves[0].rounds[-1])
    top = max(float((curve.mean + curve.error).max()) for curve in curves)
    top = 1.05 * top if top > 0.0 else 1.0
    axes.set_xlim(0, last)
    axes.set_ylim(0, top)
    _plain_axes(axes)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel("round")
    ends = [float(curve.mean[-1]) / top for curve in curves]
    gap = LABEL_GAP * max(curve.broken_label.count("\n") + 1 for curve in curves)
    for curve, end, place in zip(curves, ends, _spread(ends, gap), strict=True):
        axes.annotate(
            curve.broken_label,
            xy=(1.0, end),
            xytext=(1.045, place),
            xycoords="axes fraction",
            textcoords="axes fraction",
            va="center",
            fontsize=SMALL,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "relpos": (0.0, 0.5),
                "color": curve.colour,
                "linewidth": 1.2,
                "shrinkA": 1.0,
                "shrinkB": 1.0,
            },
        )


def _draw_median(axes: Any, curves: Sequence[_Curves], place: int, *, last_in_column: bool) -> None:
    """One team in front, the others' medians in grey behind it; bands of several teams would hide each other."""
    for number, curve in enumerate(curves):
        if number != place:
            axes.plot(curve.rounds, curve.median, color="#BBBBBB", linewidth=0.8, zorder=1)
    curve = curves[place]
    axes.fill_between(curve.rounds, curve.low, curve.high, color=curve.colour, alpha=0.25, linewidth=0, zorder=2)
    (line,) = axes.plot(curve.rounds, curve.median, color=curve.colour, linestyle=curve.dash, linewidth=2.0, zorder=3)
    line.set_gid(f"median-{curve.mark}")
    axes.set_title(curve.broken_label, fontsize=SMALL)
    top = _highest(curves)
    if top > LONGEST_LINEAR:
        # Linear up to 1, so that a regret of 0 has its place, and logarithmic above: the quantiles span decades.
        axes.set_yscale("symlog", linthresh=1.0, linscale=0.5)
        axes.set_yticks([0.0, *(10.0**power for power in range(math.ceil(math.log10(1.3 * top))))])
        axes.set_yticks([], minor=True)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.set_ylim(0, 1.3 * top if top > 0.0 else 1.0)
    axes.set_xlim(0, int(curve.rounds[-1]))
    axes.xaxis.get_major_locator().set_params(nbins=3, integer=True)
    axes.tick_params(labelsize=SMALL - 1, labelbottom=last_in_column)
    _plain_axes(axes)
    if last_in_column:
        axes.set_xlabel("round", fontsize=SMALL)


def _highest(curves: Sequence[_Curves]) -> float:
    return max(float(curve.high.max()) for curve in curves)


def _plain_axes(axes: Any) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#DDDDDD", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")


def _spread(wanted: Sequence[float], gap: float) -> list[float]:
    """The places nearest to the wanted ones (in squares) that leave the gap between any two, within 0 to 1.

    With k gaps taken off the k-th place, the places need only be ascending: neighbours out of order are pooled.
    """
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    pools: list[tuple[float, int]] = []
    for k, i in enumerate(order):
        mean, size = wanted[i] - k * gap, 1
        while pools and pools[-1][0] > mean:
            before, count = pools.pop()
            mean, size = (mean * size + before * count) / (size + count), size + count
        pools.append((mean, size))
    room = max(0.0, 1.0 - gap * (len(wanted) - 1))
    ascending = [min(max(mean, 0.0), room) for mean, size in pools for _ in range(size)]
    places = [0.0] * len(wanted)
    for k, i in enumerate(order):
        places[i] = ascending[k] + k * gap
    return places


def _title(result: Result) -> str:
    problem = result.problem
    arms = " x ".join(str(size) for size in problem.arms)
    kinds = {FixedMeans: "fixed means", RandomMeans: "random means"}
    means = kinds.get(type(problem.means), f"means by {type(problem.means).__name__}")
    kind = "noise" if problem.observation.name == "noisy" else "observability"
    if not problem.steady_sight:
        kind = f"sight by {type(problem.observation).__name__}:"
    levels = ", ".join(f"{level:.3g}" for level in problem.observation.levels)
    return f"{arms} arms, {means}, {kind} {levels}; {result.runs:,} runs, seed {result.seed}"


def _write(figure: Any, target: Path) -> None:
    kind = target.suffix.lower().removeprefix(".")
    handle, partial = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            figure.savefig(file, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)
        os.chmod(partial, 0o644)
        os.replace(partial, target)
    except BaseException:
        os.unlink(partial)
        raise
