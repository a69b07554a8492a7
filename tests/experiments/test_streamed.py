"""Too many runs to hold: read chunk by chunk, judged from moments, with what all runs at once would have given."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

import cobandit as cb
from cobandit.experiments import Chunk, Curve, Panel, PanelResult, Processes, Settings, chunks, run
from cobandit.experiments.claims import AgainstBound, Beats, Linear, NoDifference, Rises, Sublinear, pairs_of
from cobandit.experiments.figures import panel
from cobandit.experiments.run import gather
from cobandit.experiments.spec import CHECKPOINTS
from cobandit.experiments.store import ChunkFile, ChunkResult, Store, packed
from cobandit.experiments.work import compute, compute_file
from cobandit.report.simulation.drawing import drawing_of
from cobandit.stats.bootstrap import MOST_RESAMPLED
from cobandit.stats.streaming import KEPT_VALUES, RELATIVE_ERROR

FIXED = cb.Problem.bernoulli(cb.local_optima(2), [1.0, 0.5])
TEAMS = {"aware": "partner-aware-ucb", "naive": "naive-ucb", "blind": "very-naive-ucb"}
CLAIMS = (
    Sublinear("aware", "a"),
    Linear("naive", "b"),
    Beats("aware", ("naive", "blind"), "c"),
    NoDifference(("naive", "blind", "aware"), "d"),
    Rises(("aware", "blind", "naive"), "e"),
    AgainstBound("aware", "below", "proved", "f"),
)
PANEL = Panel(
    "many", "Many runs", "", "", tuple(Curve(k, k, FIXED, cb.Team.of(v)) for k, v in TEAMS.items()), 40, CLAIMS
)
SETTINGS = Settings(runs=700, horizon=40, chunk_runs=64, seed=4)


class Here:
    """Plays every chunk in this process."""

    name = "here"

    def play(self, chunks: Sequence[Chunk]) -> Iterator[tuple[Chunk, ChunkFile]]:
        for chunk in chunks:
            yield chunk, compute_file(chunk)


def read(store: Store, chunk: Chunk) -> ChunkResult:
    found = store.read(chunk)
    assert found is not None
    return found


@pytest.fixture
def little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few runs are already too many to hold, and too many to resample."""
    monkeypatch.setattr("cobandit.stats.streaming.KEPT_VALUES", 1_000)
    monkeypatch.setattr("cobandit.stats.streaming.FEWEST_STREAMED", 100)
    monkeypatch.setattr("cobandit.stats.bootstrap.MOST_RESAMPLED", 100)


@pytest.fixture
def exact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PanelResult:
    """All runs at once, with the intervals of many runs."""
    (result,) = run([PANEL], SETTINGS, tmp_path / "exact", Here())
    with monkeypatch.context() as patched:
        patched.setattr("cobandit.stats.bootstrap.MOST_RESAMPLED", 100)
        assert len(result.verdicts) == len(CLAIMS)
    return result


def test_what_is_streamed_is_never_resampled() -> None:
    # Verdicts from moments are those of the normal interval, which all runs at once would get as well.
    assert KEPT_VALUES // CHECKPOINTS >= MOST_RESAMPLED


@pytest.mark.usefixtures("little_room")
def test_a_panel_from_moments_is_the_panel_from_all_runs(tmp_path: Path, exact: PanelResult) -> None:
    streamed = gather(PANEL, SETTINGS, Store(tmp_path / "exact"))
    assert all(curve.kept is None for curve in streamed.curves)
    for ours, theirs in zip(streamed.curves, exact.curves, strict=True):
        assert (ours.runs, ours.engine, ours.curve) == (theirs.runs, theirs.engine, theirs.curve)
        assert ours.seconds == pytest.approx(theirs.seconds)
        np.testing.assert_array_equal(ours.checkpoints, theirs.checkpoints)
        for statistic in ("mean", "se", "median", "q10", "q90"):
            within = 1e-9 if statistic in ("mean", "se") else RELATIVE_ERROR
            wanted = getattr(theirs.summary(), statistic)
            np.testing.assert_allclose(getattr(ours.summary(), statistic), wanted, rtol=within)
        for name, value in theirs.finals().items():
            assert ours.finals()[name] == pytest.approx(value, rel=RELATIVE_ERROR if "median" in name else 1e-9)
    for found, wanted in zip(streamed.verdicts, exact.verdicts, strict=True):
        assert (found.claim, found.outcome, found.runs) == (wanted.claim, wanted.outcome, wanted.runs)
        for a, b in zip(found.findings, wanted.findings, strict=True):
            assert a.name == b.name
            assert (a.value, a.low, a.high) == pytest.approx((b.value, b.low, b.high), rel=1e-9)
    drawn = drawing_of(streamed)
    assert drawn.runs == 700
    np.testing.assert_allclose(drawn.lines[1].mean, drawing_of(exact).lines[1].mean, rtol=1e-9)
    json.dumps(streamed.to_dict(), allow_nan=False)


@pytest.mark.usefixtures("little_room")
def test_the_size_of_chunks_leaves_no_trace(tmp_path: Path) -> None:
    results = []
    for size in (50, 64, 333, 1_000):
        settings = Settings(runs=700, horizon=40, chunk_runs=size, seed=4)
        (result,) = run([PANEL], settings, tmp_path / str(size), Here())
        results.append(result)
    for result in results[1:]:
        assert [curve.summary() for curve in result.curves] == [curve.summary() for curve in results[0].curves]
        assert [curve.regrets for curve in result.curves] == [curve.regrets for curve in results[0].curves]
        assert result.verdicts == results[0].verdicts


@pytest.mark.usefixtures("little_room")
def test_single_runs_are_on_disk(tmp_path: Path) -> None:
    (result,) = run([PANEL], SETTINGS, tmp_path, Here())
    for name in ("task_regret", "team_regret"):
        with pytest.raises(cb.RunsNotKept, match=r"Of 700 runs of aware .* Parquet files of its chunks"):
            getattr(result.curves[0], name)
    first = next(chunks(PANEL, SETTINGS))
    assert parquet.read_table(Store(tmp_path).path(first)).num_rows == 64 * 40


@pytest.mark.usefixtures("little_room")
def test_damage_is_named_here_too(tmp_path: Path) -> None:
    run([PANEL], SETTINGS, tmp_path, Here())
    victim = list(chunks(PANEL, SETTINGS))[15]
    path = Store(tmp_path).path(victim)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(cb.InvalidInput, match=f"{victim.id} is damaged.*--resume"):
        gather(PANEL, SETTINGS, Store(tmp_path))
    path.unlink()
    with pytest.raises(cb.InvalidInput, match=f"{victim.id} is not there.*--resume"):
        gather(PANEL, SETTINGS, Store(tmp_path))


def test_a_chunk_stored_as_one_table_is_still_read(tmp_path: Path) -> None:
    chunk = next(chunks(PANEL, SETTINGS))
    computed = compute(chunk)
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
            "run": np.repeat(np.arange(64), 40),
            "t": np.tile(computed.checkpoints, 64),
            "task_regret": computed.task_regret.ravel(),
            "team_regret": computed.team_regret.ravel(),
        }
    ).replace_schema_metadata({"cobandit": json.dumps(about, default=str)})
    path = Store(tmp_path).path(chunk)
    path.parent.mkdir(parents=True)
    parquet.write_table(table, path, compression="zstd")
    found = read(Store(tmp_path), chunk)
    assert found.task_regret.tobytes() == computed.task_regret.tobytes()
    assert found.checksum == computed.checksum
    fresh = parquet.read_table(_written(Store(tmp_path / "new"), chunk))
    assert fresh.equals(table)
    assert fresh.schema.equals(table.schema)


def _written(store: Store, chunk: Chunk) -> Path:
    store.write(chunk, compute_file(chunk))
    return store.path(chunk)


def test_a_chunk_of_many_row_groups_is_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cobandit.engine.runs_file.ROWS_PER_GROUP", 16 * 40)
    chunk = next(chunks(PANEL, SETTINGS))
    path = _written(Store(tmp_path), chunk)
    assert parquet.read_metadata(path).num_row_groups == 4
    assert read(Store(tmp_path), chunk).task_regret.tobytes() == compute(chunk).task_regret.tobytes()


def test_team_regret_is_stored_as_it_came(tmp_path: Path) -> None:
    chunk = next(chunks(PANEL, SETTINGS))
    computed = compute(chunk)
    uneven = replace(computed, team_regret=computed.task_regret * np.linspace(0.1, 0.9, 40))
    store = Store(tmp_path)
    store.write(chunk, packed(chunk, uneven))
    assert read(store, chunk).team_regret.tobytes() == uneven.team_regret.tobytes()


def test_worker_processes_are_handed_a_few_chunks_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    submitted: list[str] = []

    class Pool:
        """Has done everything as soon as it is asked."""

        _processes = None

        def __init__(self, *_: object, **__: object) -> None:
            pass

        def submit(self, work: object, chunk: Chunk) -> Future[ChunkFile]:
            submitted.append(chunk.id)
            future: Future[ChunkFile] = Future()
            future.set_result(ChunkFile(b"", 0.0, ""))
            return future

        def shutdown(self, **_: object) -> None:
            pass

    monkeypatch.setattr("cobandit.experiments.executors.ProcessPoolExecutor", Pool)
    waiting = list(chunks(PANEL, Settings(runs=100, chunk_runs=1)))
    for finished, _ in enumerate(Processes(2).play(waiting)):
        assert len(submitted) - finished <= 6
    assert sorted(submitted) == sorted(chunk.id for chunk in waiting)


def test_pairs_are_what_claims_compare() -> None:
    assert pairs_of(CLAIMS) == [("aware", "naive"), ("aware", "blind"), ("blind", "naive")]
    assert pairs_of(panel("sim4").claims) == []


def test_a_claim_about_a_single_curve_has_nothing_to_compare(exact: PanelResult) -> None:
    regrets = {curve.curve.name: curve.regrets for curve in exact.curves}
    assert NoDifference(("aware",), "").judge(regrets).outcome == "holds"
    assert Rises(("aware",), "").judge(regrets).outcome == "holds"


SCRIPT = """
import resource, sys
from pathlib import Path
import cobandit as cb
from cobandit.experiments import Curve, Panel, Settings, run
from cobandit.experiments.claims import Beats, Linear
from cobandit.experiments.work import compute_file

class Here:
    name = "here"
    def play(self, chunks):
        for chunk in chunks:
            yield chunk, compute_file(chunk)

fixed = cb.Problem.bernoulli(cb.local_optima(2), [1.0, 0.5])
curves = tuple(Curve(name, name, fixed, cb.Team.of(name)) for name in ("partner-aware-ucb", "naive-ucb"))
claims = (Linear("naive-ucb", ""), Beats("partner-aware-ucb", ("naive-ucb",), ""))
settings = Settings(runs=int(sys.argv[1]), horizon=20, chunk_runs=5_000)
(result,) = run([Panel("many", "", "", "", curves, 20, claims)], settings, Path(sys.argv[2]), Here())
result.to_dict()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.long
@pytest.mark.slow
def test_a_million_runs_need_no_more_memory_than_ten_thousand(tmp_path: Path) -> None:
    peaks = []
    for runs in (10_000, 1_000_000):
        command = [sys.executable, "-c", SCRIPT, str(runs), str(tmp_path / str(runs))]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        peaks.append(int(done.stdout))
    unit = 1 if sys.platform != "darwin" else 1024
    # A million runs of two curves are 320 MB, and as much again as team regret.
    assert (peaks[1] - peaks[0]) / unit < 20_000


class DimmingSight(cb.Missed):
    """Sees ever less, so that team regret is no multiple of task regret."""

    def slope(self, t: int, agent: int) -> float:
        return super().slope(t, agent) / t


def test_team_regret_of_changing_sight_is_its_own(tmp_path: Path, little_room: None) -> None:
    problem = replace(FIXED, observation=DimmingSight((1.0, 0.5)))
    dim = replace(PANEL, curves=(Curve("dim", "dim", problem, cb.Team.of("very-naive-ucb")),), claims=())
    (result,) = run([dim], replace(SETTINGS, runs=150), tmp_path, Here())
    (curve,) = result.curves
    assert curve.kept is None
    played = [compute(chunk).team_regret[:, -1] for chunk in chunks(dim, replace(SETTINGS, runs=150))]
    assert curve.finals()["mean_team_regret"] == pytest.approx(np.concatenate(played).mean(), rel=1e-12)
    assert curve.finals()["mean_team_regret"] == pytest.approx(curve.regrets.final.mean, rel=1e-12)
