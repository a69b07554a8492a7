"""Chunks on a Dask cluster. The only place for Dask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from cobandit.base.errors import CobanditError, InvalidInput
from cobandit.base.extras import require_extras
from cobandit.base.machine import available_cores
from cobandit.experiments.spec import Chunk
from cobandit.experiments.store import ChunkFile
from cobandit.experiments.work import compute_file

CHUNKS_PER_THREAD = 4
FEWEST_HANDED_OUT = 64
"""Chunks the cluster knows of at a time: enough that no worker waits, and no more, however many runs there are."""


class ClusterError(CobanditError):
    """The cluster cannot be reached, or does not fit to this installation."""


class Dask:
    """A Dask cluster: the one at ``address`` (``tcp://host:port``), or workers started on this machine."""

    name = "dask"

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        if address is not None and "://" not in address:
            raise InvalidInput(f"The address of the cluster must be one like tcp://127.0.0.1:8786, got {address!r}.")
        self.address = address
        self.workers = available_cores() if workers is None else workers

    def play(self, chunks: Sequence[Chunk]) -> Iterator[tuple[Chunk, ChunkFile]]:
        """Yield each chunk with its file; Dask plays the chunks of a lost worker again on another one."""
        require_extras("Playing on a Dask cluster", dask=True)
        from distributed import Client, as_completed

        from cobandit import __version__

        cluster = _local_cluster(self.workers) if self.address is None else None
        try:
            client = Client(self.address or cluster)  # waits as long as distributed.comm.timeouts.connect says
        except (OSError, TimeoutError) as error:
            if cluster is not None:
                cluster.close()
            raise ClusterError(f"No Dask cluster answers at {self.address}: is its scheduler running?") from error
        try:
            queue = iter(chunks)
            under_way: dict[Any, Chunk] = {}
            finished = as_completed()

            def hand_out(most: int) -> None:
                for chunk in islice(queue, max(0, most - len(under_way))):
                    future = client.submit(compute_file, chunk, pure=False, retries=2)
                    under_way[future] = chunk
                    finished.add(future)

            most = _most_handed_out(client)
            hand_out(most)
            for number, future in enumerate(finished, start=1):
                file = _result(future)
                chunk = under_way.pop(future)
                future.release()
                if file.version != __version__:
                    raise ClusterError(
                        f"The cluster's workers run cobandit {file.version}, this machine {__version__}; "
                        "install the same version on both."
                    )
                if number % FEWEST_HANDED_OUT == 0:
                    most = _most_handed_out(client)  # workers come and go
                hand_out(most)
                yield chunk, file
        finally:
            client.close()
            if cluster is not None:
                cluster.close()


def _local_cluster(workers: int) -> Any:
    """Return a cluster of worker processes on this machine."""
    from distributed import LocalCluster

    try:
        return LocalCluster(n_workers=workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=None)
    except (RuntimeError, OSError, TimeoutError) as error:
        reason = str(error).rstrip(".")
        raise ClusterError(
            f"Dask could not start {workers} workers on this machine ({reason}): they were killed, or there is not "
            "enough memory. Fewer workers may help; with --resume, finished chunks are not played again."
        ) from error


def _result(future: Any) -> ChunkFile:
    """Return the file that a worker has made."""
    from distributed import CancelledError, KilledWorker
    from distributed.comm.core import CommClosedError

    try:
        file: ChunkFile = future.result()
    except (KilledWorker, CancelledError, CommClosedError) as error:
        raise ClusterError(
            f"The Dask cluster was lost ({type(error).__name__}): its workers were killed, or its scheduler is gone. "
            "Start again with --resume; finished chunks are not played again."
        ) from error
    return file


def _most_handed_out(client: Any) -> int:
    threads: int = sum(client.nthreads().values())
    return max(FEWEST_HANDED_OUT, CHUNKS_PER_THREAD * threads)
