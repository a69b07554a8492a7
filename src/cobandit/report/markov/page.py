"""The page of teams in a Markov decision process: regret, growth, visits of states over time, where runs stick."""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cobandit.base.errors import InvalidInput
from cobandit.base.extras import require_extras
from cobandit.base.numbers import PAGE, count, percent
from cobandit.engine import Result
from cobandit.engine.words import distinct_labels, problem_lines
from cobandit.mdp import MarkovResult
from cobandit.report.kit.figure import TEXT_STAYS_TEXT, drawing_style
from cobandit.report.kit.html import Frame, write_html
from cobandit.report.markov.graph import state_graph
from cobandit.report.markov.sticking import MOST_REPLAYED, StuckRun, stuck_runs, visits_over_time
from cobandit.report.simulation.comparison import comparison_figure, result_lines
from cobandit.report.simulation.drawing import final_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "report.html"
MOST_NAMED_STATES = 30
"""Up to this many states, heat maps show the number of each state."""


def write_markov_report(results: Sequence[Result], out: str | os.PathLike[str]) -> Path:
    """Write ``out/report.html`` about teams in one Markov problem; where the page is.

    Every result must keep its runs: the page shows the worst of them, played again from the seed.
    """
    require_extras("Writing a report", plot=True)
    if not results:
        raise InvalidInput("results is empty; at least one result is needed for a report.")
    played: list[MarkovResult] = []
    for result in results:
        if not isinstance(result, MarkovResult) or (played and result.problem != played[0].problem):
            raise InvalidInput("The results of a report must all be of one and the same Markov problem.")
        if not result.keeps_runs:
            raise InvalidInput("A report shows single runs, but a result keeps its summary alone; use keep='runs'.")
        played.append(result)
    first = played[0]
    labels = distinct_labels([result.team for result in played])
    world = first.problem.instance(np.random.default_rng(0)).world
    with drawing_style(TEXT_STAYS_TEXT):
        curves = _picture(comparison_figure(results, "task"))
        graph = _picture(state_graph(first.problem, world))
        teams = [
            {
                "label": label,
                "heat": _picture(_heat_map(result)),
                "stuck": [_stuck_row(run) for run in stuck_runs(result)],
            }
            for label, result in zip(labels, played, strict=True)
        ]
    frame = Frame(
        title=f"Teams in a Markov decision process: {first.problem.dynamics.name}",
        lead=f"{count(first.runs, 'run')} of {count(first.horizon // first.problem.steps, 'episode')} for each team",
        styles=("report.css", "markov.css"),
    )
    content = {
        "problem": problem_lines(first.problem),
        "curves": curves,
        "graph": graph,
        "finals": final_rows(result_lines(played, "task")),
        "teams": teams,
        "replayed": count(min(first.runs, MOST_REPLAYED), "run"),
        "seed": first.seed,
    }
    return write_html(Path(out) / NAME, "markov/report.html", frame, content)


def _picture(figure: Figure) -> str:
    """Return a figure as the address of a picture within the page."""
    file = io.BytesIO()
    figure.savefig(file, format="svg", metadata={"Date": None})
    return "data:image/svg+xml;base64," + base64.b64encode(file.getvalue()).decode()


def _stuck_row(run: StuckRun) -> tuple[str, ...]:
    return str(run.run), PAGE.format(run.lost), str(run.step), run.state, f"{percent(run.share)}%"


def _heat_map(result: MarkovResult) -> Figure:
    from matplotlib.figure import Figure

    shares = visits_over_time(result)
    figure = Figure(figsize=(8.0, min(9.0, 1.2 + 0.22 * len(shares))), layout="constrained")
    axes = figure.subplots()
    picture = axes.imshow(shares, aspect="auto", cmap="Blues", vmin=0.0, extent=(0, result.horizon, len(shares), 0))
    axes.set_xlabel("round")
    axes.set_ylabel("state")
    if len(shares) <= MOST_NAMED_STATES:
        axes.set_yticks(np.arange(len(shares)) + 0.5, [str(state) for state in range(len(shares))])
    figure.colorbar(picture, label="share of the steps")
    return figure
