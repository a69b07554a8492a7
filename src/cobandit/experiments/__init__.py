"""Experiments: spec -> chunks -> run (processes or Dask) -> store -> claims."""

from cobandit.experiments.executors import Executor, Processes
from cobandit.experiments.run import CurveResult, PanelResult, Step, StreamedCurveResult, read_manifest, run
from cobandit.experiments.spec import Chunk, Curve, Panel, Settings, chunks, with_index

__all__ = [
    "Chunk",
    "Curve",
    "CurveResult",
    "Executor",
    "Panel",
    "PanelResult",
    "Processes",
    "Settings",
    "Step",
    "StreamedCurveResult",
    "chunks",
    "read_manifest",
    "run",
    "with_index",
]
