"""Parquet files of a simulation: every run, written while it is played, or the summary of runs that were not kept."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from cobandit.base.files import whole_file
from cobandit.base.json_types import JsonObject
from cobandit.base.parquet import pyarrow_modules
from cobandit.stats import StreamedSummary
from cobandit.stats.streaming import batches

ROWS_PER_GROUP = 1 << 18
"""Rows written in one go: 2 MB a column."""

SUMMARY = "cobandit.summary"
"""The key of the metadata under which a summary is packed."""

DIAGNOSTICS = "cobandit.diagnostics"
"""The key of the metadata under which diagnostics are kept, as JSON."""

WriteRuns = Callable[..., None]
"""Takes the number of the first run, task regret and, where it is no multiple of that, team regret."""


@contextmanager
def runs_file(
    path: Path,
    checkpoints: NDArray[np.int64],
    team_factor: float,
    provenance: dict[str, Any],
    diagnostics: JsonObject | None = None,
) -> Iterator[WriteRuns]:
    """Open a file for runs and yield a function that writes some runs: the number of the first, and the regrets.

    The file has one row per run and checkpoint, with the provenance and the diagnostics in the metadata. It is written
    completely or not at all.
    """
    with (
        whole_file(path) as file,
        runs_writer(file, checkpoints, team_factor, provenance, diagnostics=diagnostics) as write,
    ):
        yield write


@contextmanager
def runs_writer(
    file: IO[bytes],
    checkpoints: NDArray[np.int64],
    team_factor: float,
    provenance: dict[str, Any],
    compression: str = "snappy",
    diagnostics: JsonObject | None = None,
) -> Iterator[WriteRuns]:
    """Write runs to an open file, in row groups of a fixed size, so that memory does not grow with the runs."""
    arrow, parquet = pyarrow_modules()
    kinds = {"run": np.int64, "t": np.int64, "task_regret": np.float64, "team_regret": np.float64}
    fields = [(name, arrow.from_numpy_dtype(kind)) for name, kind in kinds.items()]
    schema = arrow.schema(fields, metadata=_metadata(provenance, diagnostics))
    points = len(checkpoints)
    with parquet.ParquetWriter(file, schema, compression=compression) as writer:

        def write(
            first_run: int, task_regret: NDArray[np.float64], team_regret: NDArray[np.float64] | None = None
        ) -> None:
            for runs in batches(range(len(task_regret)), max(1, ROWS_PER_GROUP // points)):
                part = slice(runs.start, runs.stop)
                task = task_regret[part]
                team = task * team_factor if team_regret is None else team_regret[part]
                columns = run_columns(first_run + runs.start, checkpoints, task, team)
                # Around buffers: where Arrow is given arrays of NumPy it imports pandas, which takes half a second.
                buffers = [np.ascontiguousarray(columns[name], dtype=kind) for name, kind in kinds.items()]
                arrays = [
                    arrow.Array.from_buffers(field.type, len(values), [None, arrow.py_buffer(values)])
                    for field, values in zip(schema, buffers, strict=True)
                ]
                writer.write_table(arrow.Table.from_arrays(arrays, schema=schema))

        yield write


def _metadata(provenance: JsonObject, diagnostics: JsonObject | None) -> dict[str, str]:
    known = {"cobandit": json.dumps(provenance, default=str)}
    return known if diagnostics is None else known | {DIAGNOSTICS: json.dumps(diagnostics)}


def run_columns(
    first_run: int, checkpoints: NDArray[np.int64], task_regret: NDArray[np.float64], team_regret: NDArray[np.float64]
) -> dict[str, NDArray[Any]]:
    """Return regrets of runs x checkpoints as columns: one row per run and checkpoint."""
    return {
        "run": np.repeat(np.arange(first_run, first_run + len(task_regret)), len(checkpoints)),
        "t": np.tile(checkpoints, len(task_regret)),
        "task_regret": task_regret.ravel(),
        "team_regret": team_regret.ravel(),
    }


def write_summary(
    path: Path,
    checkpoints: NDArray[np.int64],
    team_factor: float,
    summary: StreamedSummary,
    provenance: dict[str, Any],
    diagnostics: JsonObject | None = None,
) -> None:
    """Write the summary of runs that were not stored: one row per checkpoint, with the histogram of task regret as
    lists.

    The parts of the summary are stored in the metadata, so that it can be read again and more runs can be added.
    """
    arrow, parquet = pyarrow_modules()
    columns = summary_columns(checkpoints, team_factor, summary)
    with io.BytesIO() as packed:
        np.savez_compressed(packed, allow_pickle=False, **summary.to_arrays())
        metadata = {**_metadata(provenance, diagnostics), SUMMARY: packed.getvalue()}
    table = arrow.table(columns).replace_schema_metadata(metadata)
    with whole_file(path) as file:
        parquet.write_table(table, file)


def summary_columns(checkpoints: NDArray[np.int64], team_factor: float, summary: StreamedSummary) -> dict[str, Any]:
    """Return the statistics of both regrets, the extremes and the histogram of task regret, one row per checkpoint."""
    low, high, counts = summary.histogram()
    task = summary.summary()
    columns: dict[str, Any] = {"t": checkpoints, "runs": np.full(len(checkpoints), summary.count)}
    for name, regret in (("task_regret", task), ("team_regret", task.scaled(team_factor))):
        columns |= {f"{name}_{statistic}": values for statistic, values in regret.to_dict().items()}
    columns |= {"task_regret_min": summary.least, "task_regret_max": summary.most}
    used = [np.flatnonzero(row) for row in counts]
    columns["bin_low"] = [low[bins] for bins in used]
    columns["bin_high"] = [high[bins] for bins in used]
    columns["bin_runs"] = [row[bins] for row, bins in zip(counts, used, strict=True)]
    return columns
