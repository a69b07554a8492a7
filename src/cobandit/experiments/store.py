"""Finished chunks on disk: one Parquet file each, whole or absent, with where its numbers come from.

A file says which chunk it is (the chunk's digest) and carries a checksum of its numbers, so that work of other
settings is not taken for this one's and damage is noticed.
"""

from __future__ import annotations

import hashlib
import json
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.engine.result import pyarrow_modules
from cobandit.experiments.spec import Chunk
from cobandit.files import PARTIAL, whole_file

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Computed:
    """What playing a chunk gave: regrets of runs x checkpoints, and where and how they were made."""

    checkpoints: NDArray[np.int64]
    task_regret: Numbers
    team_regret: Numbers
    engine: str
    seconds: float
    version: str
    machine: str

    @property
    def checksum(self) -> str:
        """A fingerprint of the numbers."""
        digest = hashlib.sha256()
        for array in (self.checkpoints, self.task_regret, self.team_regret):
            digest.update(np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes())
        return digest.hexdigest()


def this_machine() -> str:
    """The machine's kind, without its name."""
    return f"{platform.system()} {platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}"


class Unusable(Exception):
    """A stored file that cannot be used; the message says why."""


@dataclass(frozen=True)
class Store:
    """The chunks below one folder."""

    root: Path

    def path(self, chunk: Chunk) -> Path:
        """Where a chunk's file is or will be."""
        return self.root / "chunks" / chunk.panel / chunk.curve.name / f"{chunk.number:05d}.parquet"

    def write(self, chunk: Chunk, computed: Computed) -> None:
        """Keep a finished chunk."""
        arrow, parquet = pyarrow_modules()
        rows, points = computed.task_regret.shape
        about = {
            "chunk": chunk.describe(),
            "digest": chunk.digest,
            "checksum": computed.checksum,
            "engine": computed.engine,
            "seconds": computed.seconds,
            "version": computed.version,
            "machine": computed.machine,
        }
        table = arrow.table(
            {
                "run": np.repeat(np.arange(chunk.first_run, chunk.first_run + rows), points),
                "t": np.tile(computed.checkpoints, rows),
                "task_regret": computed.task_regret.ravel(),
                "team_regret": computed.team_regret.ravel(),
            }
        ).replace_schema_metadata({"cobandit": json.dumps(about, default=str)})
        path = self.path(chunk)
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            parquet.write_table(table, file, compression="zstd")

    def read(self, chunk: Chunk) -> Computed | None:
        """A finished chunk; None if there is none; `Unusable` if its file is damaged or of other settings."""
        path = self.path(chunk)
        if not path.exists():
            return None
        _, parquet = pyarrow_modules()
        try:
            table = parquet.read_table(path)
            about: dict[str, Any] = json.loads(table.schema.metadata[b"cobandit"])
            if about["digest"] != chunk.digest:
                raise Unusable("made with other settings")
            runs = chunk.runs
            columns = {name: table[name].to_numpy() for name in ("t", "task_regret", "team_regret")}
            points = len(columns["t"]) // runs
            computed = Computed(
                checkpoints=columns["t"][:points].astype(np.int64),
                task_regret=columns["task_regret"].reshape(runs, points),
                team_regret=columns["team_regret"].reshape(runs, points),
                engine=about["engine"],
                seconds=about["seconds"],
                version=about["version"],
                machine=about["machine"],
            )
        except Unusable:
            raise
        except Exception as error:
            raise Unusable(f"damaged ({type(error).__name__})") from error
        if computed.checksum != about["checksum"]:
            raise Unusable("damaged (its numbers do not match their checksum)")
        return computed

    def clear(self, panel: str) -> None:
        """Remove a panel's chunks and what an interrupted writer may have left."""
        for path in (self.root / "chunks" / panel).glob("*/*"):
            if path.suffix == ".parquet" or path.name.startswith(PARTIAL):
                path.unlink()
