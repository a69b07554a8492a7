"""Experiments: spec -> chunks -> run (processes or Dask) -> store -> claims; and teams compared side by side.

`Job` is the short way: the paper's panels or a sweep file, played into a folder and read from it again.
"""

from cobandit.experiments.arena import Arena, ArenaResult, run_arena
from cobandit.experiments.comparison import TeamComparison, compare_teams
from cobandit.experiments.dask import Dask
from cobandit.experiments.diagnosis import diagnose_panel
from cobandit.experiments.executors import Executor, Processes
from cobandit.experiments.figures import PANELS, STANDOFF, THEORY, panel
from cobandit.experiments.jobs import Job
from cobandit.experiments.run import ChunkEvent, CurveResult, PanelResult, read_manifest, run
from cobandit.experiments.spec import Chunk, Curve, Panel, Settings, chunks, with_index
from cobandit.experiments.sweep import parse_sweep

__all__ = [
    "PANELS",
    "STANDOFF",
    "THEORY",
    "Arena",
    "ArenaResult",
    "Chunk",
    "ChunkEvent",
    "Curve",
    "CurveResult",
    "Dask",
    "Executor",
    "Job",
    "Panel",
    "PanelResult",
    "Processes",
    "Settings",
    "TeamComparison",
    "chunks",
    "compare_teams",
    "diagnose_panel",
    "panel",
    "parse_sweep",
    "read_manifest",
    "run",
    "run_arena",
    "with_index",
]
