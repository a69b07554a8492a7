"""Finished chunks on disk: one Parquet file each, whole or absent, with where its numbers come from.

A file says which chunk it is (the chunk's digest) and carries a checksum of its numbers, so that work of other
settings is not taken for this one's and damage is noticed.
"""

from __future__ import annotations

import hashlib
import io
import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.base.errors import InvalidInput
from cobandit.base.files import PARTIAL, whole_file
from cobandit.base.json_types import JsonObject
from cobandit.base.parquet import pyarrow_modules
from cobandit.engine.runs_file import runs_writer
from cobandit.experiments.spec import Chunk

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ChunkResult:
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
            plain = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
            digest.update(plain.reshape(-1).data)
        return digest.hexdigest()


def joined(pieces: Sequence[ChunkResult]) -> ChunkResult:
    """Consecutive chunks of one curve as one."""
    return replace(
        pieces[0],
        task_regret=np.concatenate([piece.task_regret for piece in pieces]),
        team_regret=np.concatenate([piece.team_regret for piece in pieces]),
        seconds=sum(piece.seconds for piece in pieces),
    )


@dataclass(frozen=True, eq=False)
class ChunkFile:
    """A finished chunk as the content of its file: much smaller than its numbers, so it travels well."""

    content: bytes
    seconds: float
    version: str


def packed(chunk: Chunk, computed: ChunkResult) -> ChunkFile:
    """Return the file of a finished chunk: one row per run and checkpoint, and in its metadata where they come from."""
    about = {
        "chunk": chunk.describe(),
        "digest": chunk.digest,
        "checksum": computed.checksum,
        "engine": computed.engine,
        "seconds": computed.seconds,
        "version": computed.version,
        "machine": computed.machine,
    }
    file = io.BytesIO()
    factor = chunk.curve.problem.team_factor
    with runs_writer(file, computed.checkpoints, factor, about, compression="zstd") as write:
        write(chunk.first_run, computed.task_regret, computed.team_regret)
    return ChunkFile(file.getvalue(), computed.seconds, computed.version)


def this_machine() -> str:
    """Return the machine's kind, without its name."""
    return f"{platform.system()} {platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}"


class Unusable(Exception):
    """A stored file that cannot be used; the message says why."""


@dataclass(frozen=True)
class Store:
    """The chunks below one folder."""

    root: Path

    def path(self, chunk: Chunk) -> Path:
        """Return the path of a chunk's file, which may not exist yet."""
        return self.root / "chunks" / chunk.panel / chunk.curve.name / f"{chunk.number:05d}.parquet"

    def write(self, chunk: Chunk, file: ChunkFile) -> None:
        """Keep a finished chunk."""
        path = self.path(chunk)
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with whole_file(path) as target:
                target.write(file.content)
        except OSError as error:
            raise InvalidInput(
                f"The finished chunk {chunk.id} cannot be stored at {str(path)!r}: {error.strerror}. Free space, then "
                "start again with --resume; what is stored is not played again."
            ) from error

    def read(self, chunk: Chunk) -> ChunkResult | None:
        """Return a finished chunk; None if there is none; `Unusable` if its file is damaged or of other settings."""
        path = self.path(chunk)
        if not path.exists():
            return None
        _, parquet = pyarrow_modules()
        try:
            # Neither read_table nor to_numpy: they import pandas, which takes longer than to read all panels.
            with parquet.ParquetFile(path) as file:
                table = file.read(columns=["t", "task_regret", "team_regret"])
            about = _provenance(table.schema.metadata)
            if about["digest"] != chunk.digest:
                raise Unusable("made with other settings")
            runs = chunk.runs
            columns: dict[str, NDArray[Any]] = {
                name: np.from_dlpack(table[name].combine_chunks()) for name in table.column_names
            }
            points = len(columns["t"]) // runs
            computed = ChunkResult(
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


_PROVENANCE: dict[str, type | tuple[type, ...]] = {
    "digest": str,
    "checksum": str,
    "engine": str,
    "seconds": (int, float),
    "version": str,
    "machine": str,
}


def _provenance(metadata: Mapping[bytes, bytes] | None) -> JsonObject:
    """Return the provenance in the metadata of a chunk's file, with every entry that reading needs."""
    about = json.loads((metadata or {}).get(b"cobandit", b"{}"))
    wrong = [name for name, kind in _PROVENANCE.items() if not isinstance(dict(about).get(name), kind)]
    if wrong:
        raise Unusable(f"damaged (its metadata has no usable entry {wrong[0]!r})")
    return dict(about)
