"""What was played, in words: a problem in two lines, a team with its options, labels that tell teams apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cobandit.agents.team import Team
from cobandit.problem import FixedMeans, Gaussian, PiecewiseMeans, Problem, RandomMeans, RandomWalkMeans

MOST_CELLS_SHOWN = 16
"""Up to this many team actions the means are written out."""


def settings(options: dict[str, Any]) -> str:
    """Return an agent's options in a sentence."""
    return ", ".join(f"{name} {'none' if value is None else value}" for name, value in options.items())


def team_line(team: Team) -> str:
    """Return a team with all its options."""
    return " + ".join(f"{name} ({settings(options)})" if options else name for name, options in _players(team))


def distinct_labels(teams: Sequence[Team]) -> list[str]:
    """Return a short label for each team; those of one name get the options in which they differ.

    >>> from cobandit import Team
    >>> distinct_labels([Team.of("naive-ucb"), Team.of("naive-ucb", exploration=1.0), Team.of("naive-ts")])
    ['naive-ucb (exploration 0.025)', 'naive-ucb (exploration 1.0)', 'naive-ts']
    """
    labels = [team.label for team in teams]
    distinct = list(labels)
    for label in {label for label in labels if labels.count(label) > 1}:
        places = [place for place, own in enumerate(labels) if own == label]
        options = [_options(teams[place]) for place in places]
        names = dict.fromkeys(name for each in options for name in each)
        differing = [name for name in names if any(each.get(name) != options[0].get(name) for each in options)]
        for place, each in zip(places, options, strict=True):
            if differing:
                distinct[place] = f"{label} ({settings({name: each.get(name) for name in differing})})"
    return distinct


def problem_lines(problem: Any) -> list[str]:
    """Return a description of the problem in two lines."""
    arms = " x ".join(str(size) for size in problem.arms)
    if not isinstance(problem, Problem):
        means = f"{problem.dynamics.name} of {problem.states:,} states in episodes of {problem.steps:,} steps"
    elif isinstance(problem.means, FixedMeans):
        means = f"means {_nested(problem.means)}" if problem.cells <= MOST_CELLS_SHOWN else "given means"
    elif isinstance(problem.means, RandomMeans):
        means = f"means drawn from {problem.means.low:g} to {problem.means.high:g} in each run"
    elif isinstance(problem.means, RandomWalkMeans):
        walk = problem.means
        means = f"means that walk from {walk.low:g} to {walk.high:g} in steps of {walk.step:g}"
    elif isinstance(problem.means, PiecewiseMeans):
        means = f"means that change in rounds {', '.join(map(str, problem.means.changes_at)) or '(none)'}"
    else:
        means = f"means by {type(problem.means).__name__}"
    if getattr(problem, "relabel", False):
        means += ", arms relabelled in each run"
    reward = problem.reward.name.capitalize()
    if isinstance(problem.reward, Gaussian):
        low, high = problem.reward.low, problem.reward.high
        given = problem.reward.values is not None
        reward += " (sd given)" if given else f" (sd {low:g})" if low == high else f" (sd {low:g} to {high:g})"
    observation = problem.observation
    kind = "noise" if observation.name == "noisy" else "observability"
    levels = ", ".join(f"{level:.3g}" for level in observation.levels)
    rules = {"random": "roles drawn for each run", "elected": "the leader elected in the first rounds"}
    lead = rules[str(problem.roles)] if problem.draws_roles else f"agent {problem.known_ranks().index(0)} leads"
    delay = getattr(problem, "delay", 0)
    hidden = ", partners' arms hidden" if getattr(problem, "actions", "observed") == "hidden" else ""
    late = f", feedback delayed by {delay:,} round{'s' * (delay != 1)}" if delay else ""
    return [
        f"{problem.agents} agents, {arms} arms, {means}, {reward} rewards",
        f"{observation.name} observation, {kind} {levels}{late}{hidden}, {lead}",
    ]


def _players(team: Team) -> list[tuple[str, dict[str, object]]]:
    """Name and options of the one kind, or of every member."""
    description = team.describe()
    members = description.get("members", [description])
    return [
        (member["agent"], {key: value for key, value in member.items() if key not in ("agent", "class")})
        for member in members
    ]


def _options(team: Team) -> dict[str, Any]:
    """Return the options of all players; those of a mixed team carry the number of the agent."""
    players = _players(team)
    if len(players) == 1:
        return players[0][1]
    return {
        f"agent {place}'s {name}": value
        for place, (_, options) in enumerate(players)
        for name, value in options.items()
    }


def _nested(means: FixedMeans) -> str:
    """Return the means as nested brackets, short."""

    def text(part: Any) -> str:
        return f"[{', '.join(map(text, part))}]" if isinstance(part, list) else f"{part:g}"

    return text(np.array(means.values).reshape(means.arms).tolist())
