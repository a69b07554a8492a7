"""Whole jobs: the paper's panels or a sweep file, played into a folder that says what it holds and is read again."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cobandit.base.errors import InvalidInput
from cobandit.base.files import checked_path
from cobandit.experiments.executors import Executor, Processes
from cobandit.experiments.figures import MARKOV_PREFIX, panel, panel_names
from cobandit.experiments.run import PanelResult, Watch, gather, read_manifest, run
from cobandit.experiments.spec import Panel, Settings, with_index, with_relabelling
from cobandit.experiments.store import Store
from cobandit.experiments.sweep import parse_sweep, sweep_text

PAPER = "The paper's simulations, reproduced"


@dataclass(frozen=True)
class Job:
    """Panels, the settings they are run with, and a title for the report.

    Created by `Job.paper`, by `Job.sweep`, or by `Job.stored` from a folder that one of them has written. ``source`` is
    the part of the folder's manifest that recreates the job, in addition to panels and settings.
    """

    title: str
    panels: tuple[Panel, ...]
    settings: Settings
    source: Mapping[str, Any]

    @classmethod
    def paper(cls, names: Iterable[str] = (), settings: Settings | None = None) -> Job:
        """Create a job from names of panels of the paper, such as ``sim1-left``; by default all panels, and Theorem 1.

        ``mdp`` means all panels of Markov problems, whose teams keep their own index.
        """
        chosen = Settings(panel_runs=True) if settings is None else settings
        panels = tuple(map(panel, panel_names(names)))
        panels = tuple(
            wanted if wanted.name.startswith(MARKOV_PREFIX) else with_index(wanted, chosen.index) for wanted in panels
        )
        return cls(PAPER, _relabelled(panels, chosen), chosen, {"kind": "reproduce"})

    @classmethod
    def sweep(cls, file: str | os.PathLike[str], relabel: bool = False) -> Job:
        """Return the sweep that a TOML file describes; ``relabel`` permutes each agent's arms in every run."""
        return cls._of_sweep(sweep_text(Path(file)), relabel, str(file))

    @classmethod
    def _of_sweep(cls, text: str, relabel: bool, where: str = "the sweep") -> Job:
        panels, described = parse_sweep(text, where)
        settings = replace(described, relabel=relabel)
        title = panels[0].title.split(":")[0]  # what all panels have in common
        return cls(title, _relabelled(tuple(panels), settings), settings, {"kind": "sweep", "sweep": text})

    @classmethod
    def stored(cls, folder: str | os.PathLike[str]) -> Job:
        """Return the job whose results lie in a folder."""
        manifest = read_manifest(folder)
        try:
            settings = Settings(**manifest["settings"])
            if manifest["kind"] == "sweep":
                return cls._of_sweep(manifest["sweep"], settings.relabel)
            return cls.paper(manifest["panels"], settings)
        except (KeyError, TypeError) as error:
            where = str(folder)
            raise InvalidInput(f"The manifest in {where!r} is not one of this version: {error}.") from error

    def run(
        self,
        folder: str | os.PathLike[str],
        executor: Executor | None = None,
        *,
        resume: bool = False,
        watch: Watch | None = None,
    ) -> list[PanelResult]:
        """Play the job into a folder and give the results; `run` says what ``resume`` and ``watch`` do.

        The executor is this machine's cores where none is given.
        """
        played_by = Processes() if executor is None else executor
        about = dict(self.source)
        return run(self.panels, self.settings, folder, played_by, resume=resume, about=about, watch=watch)

    def results(self, folder: str | os.PathLike[str]) -> list[PanelResult]:
        """Return the results that lie in a folder, without playing anything."""
        store = Store(checked_path("folder", folder))
        return [gather(panel, self.settings, store) for panel in self.panels]


def _relabelled(panels: tuple[Panel, ...], settings: Settings) -> tuple[Panel, ...]:
    return tuple(map(with_relabelling, panels)) if settings.relabel else panels
