"""A real Dask cluster: the same numbers, also when a worker is killed in the middle."""

import dataclasses
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pytest
from distributed import Client, LocalCluster

import cobandit as cb
from cobandit.experiments import Arena, ChunkEvent, Settings, chunks, run
from cobandit.experiments.arena import arena_settings
from cobandit.experiments.arena.entries import BASELINE, CENTRAL
from cobandit.experiments.dask import ClusterError, Dask
from cobandit.experiments.figures import panel
from cobandit.experiments.store import Store
from cobandit.experiments.work import compute
from tests.web.servers import spawned_by

pytestmark = pytest.mark.filterwarnings("ignore")  # Dask's own shutdown warns of sockets it closes a little later

SETTINGS = Settings(runs=400, horizon=300, chunk_runs=20, seed=2)


def expected(name: str) -> list[bytes]:
    return [compute(chunk).task_regret.tobytes() for chunk in chunks(panel(name), SETTINGS)]


def stored(out: Path, name: str) -> list[bytes]:
    kept = []
    for chunk in chunks(panel(name), SETTINGS):
        found = Store(out).read(chunk)
        assert found is not None
        kept.append(found.task_regret.tobytes())
    return kept


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of a cluster that several tests use: starting its workers costs more than most runs."""
    with LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster:
        yield cluster.scheduler_address


def test_a_cluster_by_address_with_a_worker_killed_in_mid_run(tmp_path: Path, address: str) -> None:
    with Client(address) as client:
        victims = list(client.run(os.getpid).values())
    killed: list[int] = []

    def watch(step: ChunkEvent) -> None:
        if step.kind == "finished" and not killed:
            os.kill(victims[0], signal.SIGKILL)
            killed.append(victims[0])

    (result,) = run([panel("sim1-left")], SETTINGS, tmp_path, Dask(address), watch=watch)
    assert killed
    assert [len(curve.task_regret) for curve in result.curves] == [400, 400, 400]
    assert stored(tmp_path, "sim1-left") == expected("sim1-left")


def test_a_cluster_of_its_own_is_handed_a_few_chunks_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cobandit.experiments.dask.FEWEST_HANDED_OUT", 3)
    monkeypatch.setattr("cobandit.experiments.dask.CHUNKS_PER_THREAD", 2)
    real = Client.submit
    submitted: list[int] = []
    finished: list[int] = []
    most: list[int] = []

    def submit(self: Client, *args: Any, **more: Any) -> Any:
        submitted.append(1)
        most.append(len(submitted) - len(finished))
        return real(self, *args, **more)

    def watch(step: ChunkEvent) -> None:
        finished.extend([1] if step.kind == "finished" else [])

    monkeypatch.setattr(Client, "submit", submit)
    run([panel("sim4")], SETTINGS, tmp_path, Dask(workers=2), watch=watch)
    assert len(submitted) == len(finished) == 60
    # Four for the two threads of the cluster, and the one that is being stored.
    assert max(most) <= 5
    assert stored(tmp_path, "sim4") == expected("sim4")


def test_no_cluster_there(tmp_path: Path) -> None:
    short = dask.config.set({"distributed.comm.timeouts.connect": "1s"})
    with short, pytest.raises(ClusterError, match=r"No Dask cluster answers at tcp://127\.0\.0\.1:9"):
        run([panel("sim4")], SETTINGS, tmp_path, Dask("tcp://127.0.0.1:9"))
    with pytest.raises(cb.InvalidInput, match=r"must be one like tcp://127\.0\.0\.1:8786"):
        Dask("127.0.0.1")


@contextmanager
def killed_at_their_start() -> Iterator[None]:
    """Kill every process that this one spawns from now on, as a machine without memory would."""
    over = threading.Event()
    earlier = set(spawned_by(os.getpid()))

    def kill() -> None:
        while not over.wait(0.01):
            for pid in set(spawned_by(os.getpid())) - earlier:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    killing = threading.Thread(target=kill)
    killing.start()
    try:
        yield
    finally:
        over.set()
        killing.join()


def test_workers_killed_while_they_start(tmp_path: Path) -> None:
    with killed_at_their_start(), pytest.raises(ClusterError, match=r"could not start 1 workers .*--resume"):
        run([panel("sim3-left")], SETTINGS, tmp_path, Dask(workers=1))


def test_a_cluster_that_is_closed_in_mid_run(tmp_path: Path) -> None:
    cluster = LocalCluster(n_workers=1, threads_per_worker=1, host="127.0.0.1", dashboard_address=None)

    def close(step: ChunkEvent) -> None:
        if step.kind == "finished":
            cluster.close()

    with pytest.raises(ClusterError, match=r"The Dask cluster was lost .*--resume"):
        run([panel("sim1-left")], SETTINGS, tmp_path, Dask(cluster.scheduler_address), watch=close)


def test_workers_of_another_version_are_refused(tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cb, "__version__", "9.9.9")
    with pytest.raises(ClusterError, match=r"run cobandit .*, this machine 9\.9\.9"):
        run([panel("sim3-left")], SETTINGS, tmp_path, Dask(address))


@pytest.mark.long
@pytest.mark.slow
def test_an_arena_on_a_cluster(tmp_path: Path, address: str) -> None:
    arena, settings = Arena.of(["exact-12", "unknown"], ["greedy"], ["bank"]), arena_settings(4, seed=3)
    arena = dataclasses.replace(arena, teams=tuple(entry for entry in arena.teams if entry.name in (BASELINE, CENTRAL)))
    result = arena.run(tmp_path, settings, Dask(address))
    played = {
        chunk.id: compute(chunk).task_regret[:, -1] for panel in arena.panels() for chunk in chunks(panel, settings)
    }
    exact, unknown = result.places
    np.testing.assert_array_equal(exact.pair("greedy", "bank"), played["arena-exact-12/pair.greedy.bank/0"])
    both = [played[f"arena-unknown/pair.greedy.bank.{seat}/0"] for seat in range(2)]
    np.testing.assert_array_equal(unknown.pair("greedy", "bank"), np.mean(both, axis=0))
