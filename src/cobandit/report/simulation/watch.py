"""A page that replays one run, with each agent's ratings of its options, and small pictures of other runs."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cobandit.base.checks import whole
from cobandit.base.errors import InvalidInput, TooLarge
from cobandit.base.extras import require_extras
from cobandit.base.files import checked_path
from cobandit.base.numbers import PAGE, count
from cobandit.engine.trajectory import Trajectory
from cobandit.engine.watched import WatchedRun, watch_run
from cobandit.engine.words import problem_lines, team_line
from cobandit.report.kit.html import Frame, write_html

if TYPE_CHECKING:
    from cobandit.engine import Result

MOST_ROUNDS = 20_000
"""A page with more rounds than this would open slowly, and is too long to watch."""
MOST_RATINGS = 400_000
"""Ratings beyond this many are kept of every second, third ... round only."""
MOST_CELLS = 1_024
"""A picture with more cells than this cannot be read."""
MOST_OTHERS = 24
"""Other runs shown as small pictures."""
STRIP = 300
"""The maximal number of parts of a small picture; each shows the most played team action of its rounds."""


def write_watch_page(result: Result, run: int, path: str | os.PathLike[str] | None = None) -> Path:
    """Write the page that replays ``run`` of a result, and return its path.

    The reference engine plays the run again with the same random numbers. The page shows up to 24 other runs as small
    pictures.
    """
    require_extras("A page to watch", plot=True)
    number = int(whole(result.first_run, result.first_run + result.runs - 1)("run", run))
    target = Path(f"watch-run-{number}.html") if path is None else checked_path("path", path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise InvalidInput(f"path must be a file that ends in .html, got {str(target)!r}.")
    problem = result.problem
    if result.horizon > MOST_ROUNDS or problem.cells > MOST_CELLS:
        raise TooLarge(
            f"{count(result.horizon, 'round')} with {count(problem.cells, 'team action')} cannot be watched; up to "
            f"{MOST_ROUNDS:,} rounds and {MOST_CELLS:,} team actions can. Simulate a shorter one."
        )
    watched = watch_run(problem, result.team, result.horizon, result.seed, number)
    others = [
        _small(result.trajectory(other))
        for other in range(result.first_run, result.first_run + min(result.runs, MOST_OTHERS))
    ]
    title = f"Run {number} of {result.team.label}"
    lead = f"{count(result.horizon, 'round')}, seed {result.seed}"
    data = {**_played(watched), "others": others}
    frame = Frame(title, lead, styles=("report.css", "watch.css"), scripts=("watch.js",), data=data)
    content = {
        "team": team_line(result.team),
        "lines": problem_lines(problem),
        "panels": [_panel(watched, k) for k in range(len(watched.titles))],
        "agents": problem.agents,
        "lost": PAGE.format(float(watched.trajectory.task_regret[-1])),
    }
    return write_html(target, "simulation/watch.html", frame, content)


def _panel(watched: WatchedRun, k: int) -> dict[str, object]:
    """Return the heading of the picture of a player's ratings."""
    ranks = watched.trajectory.ranks
    if len(watched.titles) < len(ranks):
        return {"number": k, "title": watched.titles[k], "role": "one brain for all"}
    role = "leads" if ranks[k] == 0 else "follows" if len(ranks) == 2 else f"rank {ranks[k]}"
    return {"number": k, "title": watched.titles[k], "role": role}


def _played(watched: WatchedRun) -> dict[str, object]:
    """Return the run as the page's script takes it; cells are numbered in row-major order."""
    run = watched.trajectory
    arms = run.means.shape
    rounds, players = watched.ratings.shape[:2]
    step = max(1, math.ceil(watched.ratings.size / MOST_RATINGS))
    ratings = watched.ratings[::step].reshape(-1, players, math.prod(arms))
    means = watched.means.reshape(rounds, -1)
    changes = bool((means != means[0]).any())
    joint = players < len(arms)
    return {
        "arms": list(arms),
        "ranks": list(run.ranks),
        "cells": np.ravel_multi_index(tuple(run.actions.T), arms).tolist(),
        "rewards": _numbers(run.rewards),
        "seen": [_numbers(run.seen[:, i]) for i in range(len(arms))],
        "predictions": [] if joint else [run.predictions[:, i].tolist() for i in range(len(arms))],
        "regret": _numbers(run.task_regret),
        "means": [_numbers(row) for row in (means[::step] if changes else means[:1])],
        "ratings": [[_numbers(ratings[t, k]) for t in range(len(ratings))] for k in range(players)],
        "step": step,
    }


def _numbers(values: NDArray[np.float64]) -> list[float | str | None]:
    """Four digits of each; nothing for NaN, and a word for infinity, which JSON does not know."""
    return [
        None if math.isnan(value) else float(f"{value:.4g}") if math.isfinite(value) else "inf"
        for value in values.tolist()
    ]


def _small(run: Trajectory) -> dict[str, object]:
    """Return a run as a strip of team actions, each piece showing the one that was played most."""
    cells = np.ravel_multi_index(tuple(run.actions.T), run.means.shape)
    pieces = np.array_split(cells, min(STRIP, len(cells)))
    most = [int(np.bincount(piece).argmax()) for piece in pieces]
    best = int(run.means.argmax()) if run.round_regret is None else -1
    return {"run": run.run, "strip": most, "best": best, "regret": float(f"{run.task_regret[-1]:.4g}")}
