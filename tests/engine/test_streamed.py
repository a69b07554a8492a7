"""Too many runs to keep: the summary says the same, in memory that does not grow, whoever plays and however."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as parquet
import pytest

import cobandit as cb
from cobandit.engine import fast, reference, simulation
from cobandit.stats import StreamedSummary, summarise
from cobandit.stats.streaming import RELATIVE_ERROR

PROBLEM = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], observability=[1.0, 0.5])
TEAM = cb.Team.of("partner-aware-ucb")
STATISTICS = ("mean", "se", "median", "q10", "q90")


def bits(result: cb.Result) -> dict[str, bytes]:
    assert isinstance(result.kept, StreamedSummary)
    return {name: array.tobytes() for name, array in result.kept.to_arrays().items()}


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in pieces of 64 runs, so that few runs make many pieces."""
    monkeypatch.setattr(simulation, "batch_rows", lambda points: 64)


@pytest.fixture
def little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few runs are already too many to be kept unasked."""
    monkeypatch.setattr("cobandit.stats.streaming.KEPT_VALUES", 1_000)
    monkeypatch.setattr("cobandit.stats.streaming.FEWEST_STREAMED", 100)


@pytest.mark.usefixtures("small_batches")
def test_a_summary_beside_every_run() -> None:
    every = cb.simulate(PROBLEM, TEAM, 300, 500, 1, checkpoints=6, keep="runs")
    summed = cb.simulate(PROBLEM, TEAM, 300, 500, 1, checkpoints=6, keep="summary")
    assert (every.keeps_runs, summed.keeps_runs) == (True, False)
    assert summed.runs == every.runs == 500
    for regret in ("task_regret", "team_regret"):
        exact, ours = (getattr(result.summary(), regret) for result in (every, summed))
        for statistic in STATISTICS:
            within = 1e-9 if statistic in ("mean", "se") else RELATIVE_ERROR
            np.testing.assert_allclose(getattr(ours, statistic), getattr(exact, statistic), rtol=within)
    assert str(summed.summary()).splitlines()[0] == str(every.summary()).splitlines()[0]
    assert summed.trajectory(77).same_as(every.trajectory(77))


@pytest.mark.usefixtures("small_batches")
def test_the_loop_is_chosen_by_all_runs_not_by_those_of_a_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast, "ROUNDS_WORTH_STEPPING", 100_000)
    play, kernels = fast.play_runs, []

    def watched(*arguments: Any) -> Any:
        kernels.append(arguments[-2])
        return play(*arguments)

    monkeypatch.setattr(fast, "play_runs", watched)
    cb.simulate(PROBLEM, TEAM, 300, 500, 1, checkpoints=6, keep="summary", engine="fast")
    assert kernels == ["lockstep"] * 4


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("name", ["partner-aware-ucb", "partner-aware-ts"])
def test_the_bits_do_not_depend_on_threads_or_engine(name: str) -> None:
    team = cb.Team.of(name)
    results = [
        cb.simulate(PROBLEM, team, 60, 150, 3, checkpoints=5, keep="summary", **how)
        for how in ({"threads": 1}, {"threads": 2}, {"threads": 5}, {"engine": "reference"})
    ]
    assert all(bits(result) == bits(results[0]) for result in results)
    assert all(result.summary() == results[0].summary() for result in results)


def test_the_bits_do_not_depend_on_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    for size in (16, 64, 100, 1_000):
        monkeypatch.setattr(simulation, "batch_rows", lambda points, size=size: size)
        made.append(bits(cb.simulate(PROBLEM, TEAM, 40, 333, 3, checkpoints=4, first_run=7, keep="summary")))
    assert all(each == made[0] for each in made)


@pytest.mark.usefixtures("small_batches")
def test_pieces_of_a_job_are_put_together() -> None:
    whole = cb.simulate(PROBLEM, TEAM, 40, 500, 3, checkpoints=4, keep="summary")
    first, second = (
        cb.simulate(PROBLEM, TEAM, 40, runs, 3, checkpoints=4, first_run=start, keep="summary")
        for start, runs in ((0, 199), (199, 301))
    )
    assert isinstance(first.kept, StreamedSummary)
    assert isinstance(second.kept, StreamedSummary)
    second.kept.merge(first.kept)
    assert bits(second) == bits(whole)


@pytest.mark.usefixtures("little_room")
def test_auto_keeps_what_is_small() -> None:
    small = cb.simulate(PROBLEM, TEAM, 20, 200, 0, checkpoints=5)
    large = cb.simulate(PROBLEM, TEAM, 20, 201, 0, checkpoints=5)
    assert small.keeps_runs
    assert not large.keeps_runs
    assert small.provenance()["keeps"] == "runs"
    assert large.provenance()["keeps"] == "summary"
    assert "summary only" in repr(large)
    assert "summary" not in repr(small)
    assert f"mean task regret {large.summary().task_regret.mean[-1]:.2f}" in repr(large)
    # Few runs are kept whatever the number of checkpoints: a histogram of each would be larger.
    assert cb.simulate(PROBLEM, TEAM, 400, 100, 0, checkpoints=400).keeps_runs


def test_what_auto_keeps_is_what_it_always_was() -> None:
    result = cb.simulate(PROBLEM, TEAM, 50, 300, 2)
    again = cb.simulate(PROBLEM, TEAM, 50, 300, 2, keep="runs")
    assert result.task_regret.tobytes() == again.task_regret.tobytes()
    assert result.summary().task_regret == summarise(result.task_regret)
    assert result.summary().team_regret == summarise(result.task_regret * 0.75)


def test_single_runs_of_a_summary_are_an_error_that_helps() -> None:
    result = cb.simulate(PROBLEM, TEAM, 20, 50, 0, keep="summary")
    for name in ("task_regret", "team_regret"):
        with pytest.raises(cb.RunsNotKept, match=r"50 runs x 20 checkpoints.*keep='runs'.*out='runs\.parquet'") as told:
            getattr(result, name)
        assert isinstance(told.value, cb.CobanditError)
        assert str(pickle.loads(pickle.dumps(told.value))) == str(told.value)
    with pytest.raises(cb.InvalidInput, match="run must be an integer from 0 to 49"):
        result.trajectory(50)


def test_a_summary_travels() -> None:
    result = cb.simulate(PROBLEM, TEAM, 20, 50, 0, keep="summary")
    assert pickle.loads(pickle.dumps(result)).summary() == result.summary()


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_progress_counts_on_from_batch_to_batch(engine: str) -> None:
    done: list[int] = []
    cb.simulate(PROBLEM, TEAM, 5, 200, 0, engine=engine, keep="summary", progress=lambda runs, _: done.append(runs))  # type: ignore[arg-type]
    assert done[-1] == 200
    assert done == sorted(set(done))


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("keep", ["runs", "summary"])
def test_every_run_in_a_file_while_playing(tmp_path: Path, keep: str) -> None:
    every = cb.simulate(PROBLEM, TEAM, 60, 200, 7, checkpoints=3, first_run=2)
    target = tmp_path / "runs.parquet"
    result = cb.simulate(PROBLEM, TEAM, 60, 200, 7, checkpoints=3, first_run=2, keep=keep, out=target)  # type: ignore[arg-type]
    assert result.keeps_runs is (keep == "runs")
    table = parquet.read_table(target)
    assert table.column_names == ["run", "t", "task_regret", "team_regret"]
    assert table["run"].to_pylist() == np.repeat(np.arange(2, 202), 3).tolist()
    assert table["t"].to_pylist() == [20, 40, 60] * 200
    assert table["task_regret"].to_numpy().tobytes() == every.task_regret.tobytes()
    assert table["team_regret"].to_numpy().tobytes() == every.team_regret.tobytes()
    kept = json.loads(table.schema.metadata[b"cobandit"])
    assert set(kept) == set(every.stored_provenance())
    assert (kept["keeps"], kept["runs"], kept["seed"]) == ("runs", 200, 7)
    assert os.listdir(tmp_path) == ["runs.parquet"]


@pytest.mark.usefixtures("small_batches")
def test_a_file_that_is_not_finished_is_not_there(tmp_path: Path) -> None:
    target = tmp_path / "runs.parquet"
    target.write_bytes(b"what was there before")

    def stop(done: int, runs: int) -> None:
        if done > 100:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cb.simulate(PROBLEM, TEAM, 20, 300, 0, keep="summary", out=target, progress=stop)
    assert target.read_bytes() == b"what was there before"
    assert os.listdir(tmp_path) == ["runs.parquet"]


def test_a_summary_in_a_file(tmp_path: Path) -> None:
    every = cb.simulate(PROBLEM, TEAM, 60, 400, 7, checkpoints=3)
    result = cb.simulate(PROBLEM, TEAM, 60, 400, 7, checkpoints=3, keep="summary")
    table = parquet.read_table(result.save(tmp_path / "summary.parquet"))
    rows = table.to_pylist()
    assert [row["t"] for row in rows] == [20, 40, 60]
    assert [row["runs"] for row in rows] == [400] * 3
    for regret in ("task_regret", "team_regret"):
        for statistic in STATISTICS:
            assert table[f"{regret}_{statistic}"].to_pylist() == result.summary().to_dict()[regret][statistic]
    for k, row in enumerate(rows):
        column = every.task_regret[:, k]
        assert (row["task_regret_min"], row["task_regret_max"]) == (column.min(), column.max())
        inside = [
            int(((column >= low) & ((column < high) | (low == high == column))).sum())
            for low, high in zip(row["bin_low"], row["bin_high"], strict=True)
        ]
        assert row["bin_runs"] == inside
        assert sum(inside) == 400
        assert 0 not in inside
    assert json.loads(table.schema.metadata[b"cobandit"])["keeps"] == "summary"


def test_a_single_streamed_run_can_be_kept(tmp_path: Path) -> None:
    result = cb.simulate(PROBLEM, TEAM, 20, 1, 0, checkpoints=2, keep="summary")
    assert np.isnan(result.summary().task_regret.se).all()
    table = parquet.read_table(result.save(tmp_path / "one.parquet"))
    assert table["task_regret_se"].to_pylist() == [None, None]


def test_what_fits_is_asked_of_the_summary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation, "physical_memory", lambda: 200_000_000)
    with pytest.raises(cb.TooLarge, match=r"need about .* keep='summary' keeps no runs"):
        cb.simulate(PROBLEM, TEAM, 1_000, 1_000_000, 0, keep="runs")
    monkeypatch.setattr(reference, "play_runs", lambda *_: (np.zeros((len(_[4]), 100)), None))
    assert cb.simulate(PROBLEM, TEAM, 1_000, 100_000, 0, engine="reference").runs == 100_000
    with pytest.raises(cb.TooLarge, match=r"Ask for fewer of them\.$"):
        cb.simulate(PROBLEM, TEAM, 100_000, 100_000, 0, checkpoints=100_000, keep="summary")


SCRIPT = """
import resource, sys
import cobandit as cb
problem = cb.Problem.bernoulli([[.8, .4], [.2, .6]], observability=[1.0, 0.5])
team = cb.Team.of("partner-aware-ucb")
runs, out = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None
result = cb.simulate(problem, team, 20, runs, 0, threads=2, keep="summary", out=out)
result.summary()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("to_file", [False, True])
def test_a_million_runs_need_no_more_memory_than_ten_thousand(tmp_path: Path, to_file: bool) -> None:
    peaks = []
    for runs in (10_000, 1_000_000):
        out = [str(tmp_path / "runs.parquet")] if to_file else []
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(runs), *out], capture_output=True, text=True, check=True
        )
        peaks.append(int(done.stdout))
    unit = 1 if sys.platform != "darwin" else 1024
    # A million runs of 20 checkpoints are 160 MB, and as much again as team regret.
    assert (peaks[1] - peaks[0]) / unit < 40_000
