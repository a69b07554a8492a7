"""Why a team lost, as a figure: regret by cause, what was played, mismatches and insisting, and when teams locked."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cobandit.base.checks import short_repr
from cobandit.base.errors import InvalidInput
from cobandit.engine import Diagnostics, Result
from cobandit.report.kit.drawing import from_zero
from cobandit.report.kit.figure import bare_axes, drawing_style, faint_grid, whole_numbers, write_figure
from cobandit.report.kit.palette import COLOURS, DASHES
from cobandit.report.simulation.comparison import STYLE, checked_figure

if TYPE_CHECKING:
    pass

MOST_CELLS = 8
"""Of more team actions the most played are drawn, and the others as one."""


def draw_diagnosis(result: Result, path: str | os.PathLike[str]) -> Path:
    """Draw why the team of a result lost: four panels over the rounds, with the definitions of `Diagnostics`.

    A result that was not diagnosed plays its runs again. The file appears whole or not at all.
    """
    if not isinstance(result, Result):
        raise InvalidInput(f"result must be what simulate gives back, got {short_repr(result)}.")
    target = checked_figure(path)
    with drawing_style(STYLE):
        write_figure(diagnosis_figure(result.diagnostics, result.team.label), target, dpi=150)
    return target


def diagnosis_figure(diagnostics: Diagnostics, title: str) -> Any:
    """Return the figure itself."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.0, 7.0), layout="constrained")
    causes, cells, waits, locks = figure.subplots(2, 2, sharex=True).ravel()
    rounds = np.concatenate([[0], diagnostics.checkpoints])
    stacked = [from_zero(column) for column in diagnostics.regret.T]
    causes.stackplot(rounds, stacked, labels=diagnostics.causes, colors=COLOURS[: len(stacked)], alpha=0.8)
    causes.set_title("Task regret by cause, mean of the runs")
    names, shares = _most_played(diagnostics)
    cells.stackplot(diagnostics.checkpoints, shares, labels=names, colors=COLOURS, alpha=0.8)
    cells.set_title("Share of each team action")
    lines = {"mismatch": diagnostics.mismatch}
    for i, share in enumerate(diagnostics.insisted_share.T):
        lines[f"agent {i} insists"] = share
    for number, (name, line) in enumerate(lines.items()):
        style = {"color": COLOURS[number % len(COLOURS)], "linestyle": DASHES[number % len(DASHES)]}
        waits.plot(diagnostics.checkpoints, line, label=name, **style)
    waits.set_title("Share of rounds of mismatch, and of insisting")
    for number, name in enumerate(("on the best", "on another")):
        line = from_zero(diagnostics.locked[:, number])
        locks.plot(rounds, line, label=name, color=COLOURS[number], linestyle=DASHES[number])
    locks.set_title(f"Share of runs that have locked ({diagnostics.lock_rounds} rounds on end)")
    for axes in (causes, cells, waits, locks):
        bare_axes(axes)
        faint_grid(axes)
        whole_numbers(axes.xaxis)
        axes.legend(framealpha=0.85, edgecolor="none", fontsize="small")
    for axes in (cells, waits, locks):
        axes.set_ylim(0.0, 1.0)
    for axes in (waits, locks):
        axes.set_xlabel("round")
    figure.suptitle(f"{title}: {diagnostics.runs:,} runs", fontweight="bold")
    return figure


def _most_played(diagnostics: Diagnostics) -> tuple[list[str], list[Any]]:
    """Return names and shares of the most played team actions, and of all others together."""
    shares = diagnostics.share.reshape(len(diagnostics.checkpoints), -1)
    order = np.argsort(-shares.sum(axis=0), kind="stable")
    chosen = sorted(order[: MOST_CELLS if len(order) <= MOST_CELLS else MOST_CELLS - 1].tolist())
    names = [str(tuple(int(arm) for arm in np.unravel_index(cell, diagnostics.arms))) for cell in chosen]
    columns = [shares[:, cell] for cell in chosen]
    if len(chosen) < len(order):
        return [*names, "others"], [*columns, 1.0 - np.sum(columns, axis=0)]
    return names, columns
