"""Chunks on disk and on the way there: resuming, damage, dead workers, a killed run."""

import json
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet
import pytest

import cobandit as cb
from cobandit.base.files import whole_file
from cobandit.experiments import Chunk, ChunkEvent, Processes, Settings, chunks, read_manifest, run
from cobandit.experiments.executors import WorkerLost
from cobandit.experiments.figures import panel
from cobandit.experiments.run import gather
from cobandit.experiments.store import ChunkFile, Store, Unusable
from cobandit.experiments.work import compute_file

SETTINGS = Settings(runs=25, horizon=20, chunk_runs=10, seed=4)
PANELS = [panel("sim1-left"), panel("sim4")]


class Here:
    """Plays every chunk in this process, and remembers which."""

    name = "here"

    def __init__(self, stop_after: int | None = None) -> None:
        self.played: list[str] = []
        self.stop_after = stop_after

    def play(self, waiting: Sequence[Chunk]) -> Iterator[tuple[Chunk, ChunkFile]]:
        for chunk in waiting:
            if self.stop_after is not None and len(self.played) >= self.stop_after:
                raise KeyboardInterrupt
            self.played.append(chunk.id)
            yield chunk, compute_file(chunk)


def numbers(results: list) -> list[np.ndarray]:
    return [curve.task_regret for result in results for curve in result.curves]


def assert_equal(first: list, second: list) -> None:
    for a, b in zip(numbers(first), numbers(second), strict=True):
        assert a.tobytes() == b.tobytes()


def test_results_are_what_simulate_gives(tmp_path: Path) -> None:
    (result,) = run(PANELS[:1], SETTINGS, tmp_path, Here())
    for curve in result.curves:
        whole = cb.simulate(curve.curve.problem, curve.curve.team, 20, 25, 4)
        np.testing.assert_array_equal(curve.task_regret, whole.task_regret)
        np.testing.assert_array_equal(curve.team_regret, whole.team_regret)
        np.testing.assert_array_equal(curve.checkpoints, whole.checkpoints)


def test_worker_processes_give_the_same_numbers(tmp_path: Path) -> None:
    here = run(PANELS, SETTINGS, tmp_path / "here", Here())
    there = run(PANELS, SETTINGS, tmp_path / "there", Processes(2))
    assert_equal(here, there)


def test_resuming_plays_only_what_is_missing(tmp_path: Path) -> None:
    complete = run(PANELS, SETTINGS, tmp_path / "complete", Here())
    with pytest.raises(KeyboardInterrupt):
        run(PANELS, SETTINGS, tmp_path / "cut", Here(stop_after=7))
    second = Here()
    steps: list[ChunkEvent] = []
    resumed = run(PANELS, SETTINGS, tmp_path / "cut", second, resume=True, watch=steps.append)
    every = [chunk.id for each in PANELS for chunk in chunks(each, SETTINGS)]
    assert second.played == every[7:]
    assert [step.chunk.id for step in steps if step.kind == "kept"] == every[:7]
    assert_equal(complete, resumed)
    third = Here()
    run(PANELS, SETTINGS, tmp_path / "cut", third, resume=True)
    assert third.played == []
    run(PANELS, SETTINGS, tmp_path / "cut", third)
    assert third.played == every


@pytest.mark.parametrize(
    "harm", ["cut short", "a flipped bit", "not parquet", "empty", "changed numbers", "no metadata"]
)
def test_a_damaged_chunk_is_noticed_named_and_played_again(tmp_path: Path, harm: str) -> None:
    before = run(PANELS[:1], SETTINGS, tmp_path, Here())
    store = Store(tmp_path)
    victim = list(chunks(PANELS[0], SETTINGS))[4]
    path = store.path(victim)
    content = path.read_bytes()
    if harm == "cut short":
        path.write_bytes(content[: len(content) // 2])
    elif harm == "a flipped bit":
        middle = len(content) // 3
        path.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
    elif harm == "not parquet":
        path.write_bytes(b"PAR1 or so")
    elif harm == "empty":
        path.write_bytes(b"")
    else:
        table = parquet.read_table(path)
        metadata = table.schema.metadata
        if harm == "changed numbers":
            values = table["task_regret"].to_numpy().copy()
            values[3] += 1e-9
            table = table.set_column(2, "task_regret", [values])
            parquet.write_table(table.replace_schema_metadata(metadata), path)
        else:
            parquet.write_table(table.replace_schema_metadata({}), path)
    with pytest.raises(Unusable):
        store.read(victim)
    with pytest.raises(cb.InvalidInput, match=rf"{victim.id} is damaged.*--resume"):
        gather(PANELS[0], SETTINGS, store)
    again = Here()
    steps: list[ChunkEvent] = []
    after = run(PANELS[:1], SETTINGS, tmp_path, again, resume=True, watch=steps.append)
    assert again.played == [victim.id]
    assert [(step.chunk.id, "damaged" in step.detail) for step in steps if step.kind == "unusable"] == [
        (victim.id, True)
    ]
    assert_equal(before, after)


PROVENANCE = ("digest", "checksum", "engine", "seconds", "version", "machine")
UNREADABLE = (b"", b"[]", b"3", b"null", b"\xff", b"{", b"[" * 100_000)


def test_damaged_provenance_of_a_chunk_is_noticed_and_named(tmp_path: Path) -> None:
    run(PANELS[:1], SETTINGS, tmp_path, Here())
    store = Store(tmp_path)
    victim = list(chunks(PANELS[0], SETTINGS))[4]
    table = parquet.read_table(store.path(victim))
    about = json.loads(table.schema.metadata[b"cobandit"])
    damages = [("", raw) for raw in UNREADABLE]
    for entry in PROVENANCE:
        without = {key: value for key, value in about.items() if key != entry}
        wrong = [without, without | {entry: None}, without | {entry: []}]
        damages += [(entry, json.dumps(facts).encode()) for facts in wrong]
    for entry, raw in damages:
        parquet.write_table(table.replace_schema_metadata({b"cobandit": raw}), store.path(victim))
        with pytest.raises(cb.InvalidInput, match=rf"{victim.id} is damaged.*{entry}.*--resume"):
            gather(PANELS[0], SETTINGS, store)


def test_chunks_of_other_settings_are_not_taken_for_these(tmp_path: Path) -> None:
    run(PANELS[:1], SETTINGS, tmp_path, Here())
    other = replace(SETTINGS, seed=5)
    again = Here()
    steps: list[ChunkEvent] = []
    run(PANELS[:1], other, tmp_path, again, resume=True, watch=steps.append)
    assert len(again.played) == 9
    assert {step.detail for step in steps if step.kind == "unusable"} == {"made with other settings"}


def test_a_file_says_where_it_comes_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cobandit.engine.choice.SMALL_JOB", 0)
    monkeypatch.setattr("cobandit.engine.choice.READY_SECONDS", {"memory": 0.0, "disk": 0.0, "none": 0.0})
    run(PANELS[1:], SETTINGS, tmp_path, Here())
    first = next(chunks(PANELS[1], SETTINGS))
    about = json.loads(parquet.read_schema(Store(tmp_path).path(first)).metadata[b"cobandit"])
    assert about["chunk"]["id"] == "sim4/n-2/0"
    assert about["chunk"]["seed"] == 4
    assert about["chunk"]["curve"]["team"]["agent"] == "partner-aware-ucb"
    assert about["version"] == cb.__version__
    assert about["engine"] == "fast"
    assert about["machine"]
    manifest = read_manifest(tmp_path)
    assert manifest["panels"] == ["sim4"]
    assert Settings(**manifest["settings"]) == SETTINGS


def test_nothing_half_written_is_ever_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = whole_file

    @contextmanager
    def full(path: Path) -> Iterator[object]:
        with real(path) as file:
            file.write(b"half of it")
            raise OSError(28, "No space left on device")
        yield file

    monkeypatch.setattr("cobandit.experiments.store.whole_file", full)
    with pytest.raises(cb.InvalidInput, match=r"No space left on device.*--resume"):
        run(PANELS[1:], SETTINGS, tmp_path, Here())
    monkeypatch.undo()
    assert not list((tmp_path / "chunks").rglob("*.parquet"))
    assert not list(tmp_path.rglob(".partial-*"))
    first = Store(tmp_path).path(next(chunks(PANELS[1], SETTINGS)))
    (first.parent / ".partial-left-by-a-crash").write_bytes(b"half of it")
    again = Here()
    run(PANELS[1:], SETTINGS, tmp_path, again, resume=True)
    assert len(again.played) == 9


def test_folders_without_results(tmp_path: Path) -> None:
    with pytest.raises(cb.InvalidInput, match=r"holds no results: there is no manifest\.json"):
        read_manifest(tmp_path)
    (tmp_path / "manifest.json").write_text("[]")
    with pytest.raises(cb.InvalidInput, match="is not a manifest"):
        read_manifest(tmp_path)
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(cb.InvalidInput, match="cannot be read"):
        read_manifest(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(cb.InvalidInput, match="cannot be made"):
        run(PANELS, SETTINGS, tmp_path / "file" / "below", Here())


class KillOnce(cb.Agent):
    """An agent that ends its own process, the first time it is ever asked; without a mark every time."""

    def __init__(self, mark: str) -> None:
        self.mark = mark

    def choose(self) -> int:
        if not os.path.exists(self.mark):
            if self.mark:
                Path(self.mark).touch()
            self.last_words()
            os.kill(os.getpid(), signal.SIGKILL)
        return 0

    def last_words(self) -> None:
        pass

    def observe(self, team_action, reward) -> None:
        pass


class KillWhileSending(KillOnce):
    """Its process ends when the length of a result and a few of its bytes are sent."""

    def last_words(self) -> None:
        frame = sys._getframe()
        while "result_queue" not in frame.f_locals:
            assert frame.f_back is not None
            frame = frame.f_back
        os.write(frame.f_locals["result_queue"]._writer.fileno(), struct.pack("!i", 1000) + b"half of it")


def _deadly(mark: str, kind: type[KillOnce] = KillOnce):
    from cobandit.experiments import Curve, Panel

    team = cb.Team([kind(mark), cb.NaiveUCB()])
    problem = cb.Problem.bernoulli(cb.local_optima(2), [1, 0.5])
    return Panel("deadly", "", "", "", (Curve("one", "one", problem, team),), 20)


@pytest.fixture
def known_to_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let worker processes import the agents of this file."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    for kind in (KillOnce, KillWhileSending):
        monkeypatch.setattr(kind, "__module__", "test_run")
    monkeypatch.setitem(sys.modules, "test_run", sys.modules[__name__])
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))


@pytest.mark.usefixtures("known_to_workers")
@pytest.mark.parametrize("kind", [KillOnce, KillWhileSending])
def test_a_worker_that_dies_takes_nothing_with_it(tmp_path: Path, kind: type[KillOnce]) -> None:
    deadly = _deadly(str(tmp_path / "mark"), kind)
    (result,) = run([deadly], Settings(runs=6, horizon=20, chunk_runs=2), tmp_path / "out", Processes(2))
    assert result.curves[0].task_regret.shape == (6, 20)
    assert (tmp_path / "mark").exists()


@pytest.mark.usefixtures("known_to_workers")
def test_workers_that_die_again_and_again_are_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deadly = _deadly("")
    monkeypatch.setattr("cobandit.experiments.executors.MOST_RESTARTS", 1)
    with pytest.raises(WorkerLost, match="died 2 times, lately on one of deadly/one/0"):
        run([deadly], Settings(runs=2, horizon=20), tmp_path / "out", Processes(1))


def test_a_run_killed_in_the_middle_goes_on_where_it_was(tmp_path: Path) -> None:
    script = """
import sys
from dataclasses import replace
from pathlib import Path
from cobandit.experiments import Processes, Settings, run
from cobandit.experiments.figures import panel
if __name__ == "__main__":
    settings = Settings(runs=300, horizon=100, chunk_runs=10, seed=1)
    run([panel("sim1-left")], settings, Path(sys.argv[1]), Processes(2), resume=True)
"""
    (tmp_path / "job.py").write_text(script)
    out = tmp_path / "out"
    command = [sys.executable, str(tmp_path / "job.py"), str(out)]
    job = subprocess.Popen(command, start_new_session=True)
    try:
        while len(list(out.rglob("*.parquet"))) < 5 and job.poll() is None:
            time.sleep(0.01)
    finally:
        # Its own group: the workers must die as well, as on a machine that loses power.
        os.killpg(job.pid, signal.SIGKILL)
        job.wait()
    kept = {path: path.stat().st_mtime_ns for path in out.rglob("*.parquet")}
    assert 5 <= len(kept) < 90
    subprocess.run(command, check=True)
    assert all(path.stat().st_mtime_ns == when for path, when in kept.items())
    settings = Settings(runs=300, horizon=100, chunk_runs=10, seed=1)
    resumed = [gather(panel("sim1-left"), settings, Store(out))]
    assert_equal(run([panel("sim1-left")], settings, tmp_path / "complete", Here()), resumed)
