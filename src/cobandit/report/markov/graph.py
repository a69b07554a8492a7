"""The states of a problem as a picture: circles, arrows where a team action can lead, colours for what a state pays."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cobandit.base.extras import require_extras
from cobandit.mdp import MarkovProblem, World
from cobandit.report.kit.figure import TEXT_STAYS_TEXT, drawing_style, write_figure
from cobandit.report.simulation.comparison import checked_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_NAMED = 25
"""Of more states than this the names are left out."""


def write_state_graph(problem: MarkovProblem, path: str | os.PathLike[str], *, seed: int = 0) -> Path:
    """Draw the states of a problem, as the world of one run has them, into an SVG, PNG or PDF file."""
    require_extras("Drawing the states of a problem", plot=True)
    target = checked_figure(path)
    with drawing_style(TEXT_STAYS_TEXT):
        write_figure(state_graph(problem, problem.instance(np.random.default_rng(seed)).world), target, dpi=150)
    return target


def distances(world: World) -> list[int]:
    """Return the smallest number of steps from the start to each state; unreachable states get one more than the
    maximum.
    """
    states = len(world.start)
    leads = world.transitions.max(axis=1) > 0.0
    steps = [states] * states
    at = {state for state in range(states) if world.start[state] > 0.0}
    for step in range(states):
        for state in at:
            steps[state] = min(steps[state], step)
        at = {int(z) for state in at for z in np.flatnonzero(leads[state]) if steps[int(z)] == states}
        if not at:
            break
    return steps


def places(world: World) -> list[tuple[float, float]]:
    """Return the position of each state: in layers by distance if there are several, else in a circle."""
    steps = distances(world)
    states = len(steps)
    if len(set(steps)) == 1:
        turns = [math.tau * state / states for state in range(states)]
        return [(math.sin(turn), math.cos(turn)) for turn in turns]
    layers = sorted(set(steps))
    points = [(0.0, 0.0)] * states
    for column, layer in enumerate(layers):
        members = [state for state in range(states) if steps[state] == layer]
        for row, state in enumerate(members):
            x = 2.0 * column / max(1, len(layers) - 1) - 1.0
            y = 1.0 - 2.0 * (row + 0.5) / len(members)
            points[state] = (x, y if len(members) > 1 else 0.08 * (-1.0) ** column)
    return points


def state_graph(problem: MarkovProblem, world: World) -> Figure:
    """Return the figure itself."""
    from matplotlib.figure import Figure

    names = problem.dynamics.state_names()
    points = places(world)
    figure = Figure(figsize=(8.0, 5.0), layout="constrained")
    axes = figure.subplots()
    axes.set_axis_off()
    axes.set_xlim(-1.25, 1.25)
    axes.set_ylim(-1.2, 1.2)
    pays = world.means.max(axis=1)
    most = max(float(pays.max()), 1e-9)
    for state, (x, y) in enumerate(points):
        for target in np.flatnonzero(world.transitions[state].max(axis=0) > 0.0):
            chance = float(world.transitions[state, :, target].max())
            if int(target) != state:
                axes.annotate(
                    "",
                    xy=points[int(target)],
                    xytext=(x, y),
                    arrowprops={
                        "arrowstyle": "->",
                        "color": "0.45",
                        "alpha": 0.25 + 0.75 * chance,
                        "connectionstyle": "arc3,rad=0.12",
                        "shrinkA": 9.0,
                        "shrinkB": 9.0,
                    },
                )
    shades = [(1.0 - 0.75 * pay / most, 1.0 - 0.35 * pay / most, 1.0) for pay in pays]
    across, up = zip(*points, strict=True)
    axes.scatter(across, up, s=240, c=shades, edgecolors="0.2", zorder=3)
    if len(points) <= MOST_NAMED:
        for state, (x, y) in enumerate(points):
            axes.annotate(str(state), (x, y), ha="center", va="center", fontsize=8, zorder=4)
            if names[state] != str(state):
                axes.annotate(names[state], (x, y - 0.09), ha="center", va="top", fontsize=6, zorder=4)
    axes.set_title(
        f"{problem.dynamics.name}: {problem.states} states, {problem.steps} steps an episode; "
        "darker: the best team action pays more",
        fontsize=10,
    )
    return figure
