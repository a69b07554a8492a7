"""The paper's simulation figures: one file per panel, with its curves and its claims."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

from cobandit.base.errors import UnknownName
from cobandit.experiments.spec import Panel

PANELS = (
    "sim0-left",
    "sim0-right",
    "sim1-left",
    "sim1-right",
    "sim2-left",
    "sim2-right",
    "sim3-left",
    "sim3-right",
    "sim4",
    "other-envs-left",
    "other-envs-right",
    "apx1",
    "very-naive",
)
"""Every panel of the paper, in its order."""

THEORY = "theorem-1"
"""Theorem 1 compared with measurements; not a figure of the paper, and always part of the report."""

STANDOFF = "theorem-1-standoff"
"""Problems in which Thm 1 fails, and its corrections; played only where it is asked for by name."""

HIDDEN_ACTIONS = "hidden-actions"
"""Agents that never see their partners' arms; played only where it is asked for by name."""

CURIOSITY_GROUP, CURIOSITY_PREFIX = "curiosity", "curiosity-"
"""All panels about followers that explore more than their leader; played where they are asked for."""

MARKOV_GROUP, MARKOV_PREFIX = "mdp", "mdp-"
"""All panels of teams in Markov decision processes, and how their names begin; played where they are asked for."""


def panel_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return names of panels, each once, with groups expanded; by default all panels of the paper."""
    wanted: list[str] = []
    for name in names:
        if name == MARKOV_GROUP:
            from cobandit.experiments.figures.markov import MARKOV

            wanted += MARKOV
        elif name == CURIOSITY_GROUP:
            from cobandit.experiments.figures.curiosity import CURIOSITY

            wanted += CURIOSITY
        else:
            wanted.append(name)
    return tuple(dict.fromkeys(wanted)) or (*PANELS, THEORY)


def panel(name: str) -> Panel:
    """Return the panel of that name; an error about an unknown name suggests the nearest known one."""
    if isinstance(name, str) and name.startswith(MARKOV_PREFIX):
        from cobandit.experiments.figures import markov

        if name in markov.MARKOV:
            return markov.markov_panel(name)
        raise UnknownName("panel", name, markov.MARKOV)
    if isinstance(name, str) and name.startswith(CURIOSITY_PREFIX):
        from cobandit.experiments.figures import curiosity

        if name in curiosity.CURIOSITY:
            return curiosity.curiosity_panel(name)
        raise UnknownName("panel", name, curiosity.CURIOSITY)
    known = (*PANELS, THEORY, STANDOFF, HIDDEN_ACTIONS)
    if not isinstance(name, str) or name not in known:
        raise UnknownName("panel", name, (*known, CURIOSITY_GROUP, MARKOV_GROUP))
    of_paper: Panel = import_module(f"cobandit.experiments.figures.{name.replace('-', '_')}").PANEL
    return of_paper
