"""Chunks on a Dask cluster. The only place for Dask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cobandit.engine.simulation import available_cores
from cobandit.errors import CobanditError, InvalidInput
from cobandit.experiments.spec import Chunk
from cobandit.experiments.store import Computed
from cobandit.experiments.work import compute
from cobandit.extras import require_extras

PATIENCE = "10s"
"""How long to wait for a scheduler to answer."""


class ClusterError(CobanditError):
    """The cluster cannot be reached, or does not fit to this installation."""


class Dask:
    """A Dask cluster: the one at ``address`` (``tcp://host:port``), or workers started on this machine."""

    name = "dask"

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        if address is not None and "://" not in address:
            raise InvalidInput(f"The address of the cluster is {address!r}; one like tcp://127.0.0.1:8786 is needed.")
        self.address = address
        self.workers = available_cores() if workers is None else workers

    def play(self, chunks: Sequence[Chunk]) -> Iterator[tuple[Chunk, Computed]]:
        """Each chunk with its numbers; Dask plays the chunks of a lost worker again on another one."""
        require_extras("Playing on a Dask cluster", dask=True)
        from distributed import Client, LocalCluster, as_completed

        from cobandit import __version__

        cluster = None
        if self.address is None:
            cluster = LocalCluster(
                n_workers=self.workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
            )
        try:
            client = Client(self.address or cluster, timeout=PATIENCE)
        except (OSError, TimeoutError) as error:
            raise ClusterError(f"No Dask cluster answers at {self.address}: is its scheduler running?") from error
        try:
            futures = {client.submit(compute, chunk, pure=False, retries=2): chunk for chunk in chunks}
            for future in as_completed(list(futures)):
                computed = future.result()
                if computed.version != __version__:
                    raise ClusterError(
                        f"The cluster's workers run cobandit {computed.version}, this machine {__version__}; "
                        "install the same version on both."
                    )
                yield futures[future], computed
                future.release()
        finally:
            client.close()
            if cluster is not None:
                cluster.close()
