"""One piece of work: play a chunk. The same function runs in this process, in a worker process and on a cluster."""

from __future__ import annotations

from cobandit.experiments.any_problem import simulate_any
from cobandit.experiments.spec import Chunk
from cobandit.experiments.store import ChunkFile, ChunkResult, packed, this_machine


def compute(chunk: Chunk) -> ChunkResult:
    """Play the runs of a chunk on one core."""
    from cobandit import __version__

    result = simulate_any(
        chunk.curve.problem,
        chunk.curve.team,
        chunk.horizon,
        chunk.runs,
        chunk.seed,
        threads=1,
        checkpoints=min(chunk.checkpoints, chunk.horizon),
        first_run=chunk.first_run,
        keep="runs",
    )
    return ChunkResult(
        checkpoints=result.checkpoints,
        task_regret=result.task_regret,
        team_regret=result.team_regret,
        engine=result.engine,
        seconds=result.seconds,
        version=__version__,
        machine=this_machine(),
    )


def compute_file(chunk: Chunk) -> ChunkFile:
    """Play a chunk and compress it in the worker process, so that little data is sent and the main process does not
    wait.
    """
    return packed(chunk, compute(chunk))
