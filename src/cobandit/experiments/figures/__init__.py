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
"""Thm 1 beside what is measured; not a figure of the paper, and always part of the report."""

STANDOFF = "theorem-1-standoff"
"""Problems in which Thm 1 fails; played only where it is asked for by name."""

MARKOV_GROUP, MARKOV_PREFIX = "mdp", "mdp-"
"""All panels of teams in Markov decision processes, and how their names begin; played where they are asked for."""


def panel_names(names: Iterable[str]) -> tuple[str, ...]:
    """Names of panels, each once, groups of them written out; all of the paper where none is named."""
    wanted: list[str] = []
    for name in names:
        if name == MARKOV_GROUP:
            from cobandit.experiments.figures.markov import MARKOV

            wanted += MARKOV
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
    known = (*PANELS, THEORY, STANDOFF)
    if not isinstance(name, str) or name not in known:
        raise UnknownName("panel", name, (*known, MARKOV_GROUP))
    of_paper: Panel = import_module(f"cobandit.experiments.figures.{name.replace('-', '_')}").PANEL
    return of_paper
