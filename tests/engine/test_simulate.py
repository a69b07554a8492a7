"""The one entry: what it promises whatever the engine, and what it refuses."""

import builtins
import importlib.util
import json
import os
import subprocess
import sys

import numpy as np
import pyarrow.parquet as parquet
import pytest

import cobandit as cb
from cobandit.base.machine import physical_memory

PROBLEM = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], observability=[1.0, 0.5])
TEAM = cb.Team.of("partner-aware-ucb")


class Stubborn(cb.Agent):
    """A custom agent: always plays its last arm."""

    def choose(self) -> int:
        return self.briefing.own_arms - 1

    def observe(self, team_action, reward) -> None:
        self.seen = reward


@pytest.mark.parametrize("name", ["partner-aware-ucb", "partner-aware-ts", "mucb-intervals", "centralised-ucb"])
def test_results_do_not_depend_on_threads(name: str) -> None:
    team = cb.Team.of(name)
    results = [cb.simulate(PROBLEM, team, 700, 150, 3, threads=threads).task_regret for threads in (1, 2, 5)]
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


@pytest.mark.parametrize("runs", [16, 63, 64, 65, 700])
def test_lock_step_runs_in_any_number(runs: int) -> None:
    horizon = 1 + 1_000_000 // runs
    quick = cb.simulate(PROBLEM, TEAM, horizon, runs, 4, checkpoints=[5, horizon], first_run=9, threads=2)
    again = cb.simulate(PROBLEM, TEAM, horizon, 1, 4, checkpoints=[5, horizon], first_run=8 + runs, threads=1)
    np.testing.assert_array_equal(quick.task_regret[-1:], again.task_regret)


def test_auto_takes_the_reference_for_custom_agents() -> None:
    team = cb.Team([Stubborn(), cb.PartnerAwareUCB()])
    result = cb.simulate(PROBLEM, team, 50, 3, 0)
    assert result.engine == "reference"
    assert (result.trajectory(1).actions[:, 0] == 1).all()
    assert cb.simulate(PROBLEM, TEAM, 500, 30, 0).engine == "fast"
    with pytest.raises(cb.InvalidInput, match="cannot play this: Stubborn has no compiled form"):
        cb.simulate(PROBLEM, team, 50, 3, 0, engine="fast")


def test_a_subclass_of_a_registered_agent_is_not_taken_for_it() -> None:
    class Contrary(cb.NaiveUCB):
        def choose(self) -> int:
            return 1 - super().choose()

    result = cb.simulate(PROBLEM, cb.Team.of(Contrary()), 20, 2, 0)
    assert result.engine == "reference"
    assert (result.trajectory(0).actions[0] == 1).all()


def test_without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert cb.simulate(PROBLEM, TEAM, 20, 2, 0).engine == "reference"
    with pytest.raises(cb.MissingExtra, match=r"pip install 'cobandit\[fast\]'"):
        cb.simulate(PROBLEM, TEAM, 20, 2, 0, engine="fast")


def test_a_seed_is_drawn_and_told_where_it_is_none() -> None:
    assert cb.simulate(PROBLEM, TEAM, 20, 2).seed == 0
    first, second = cb.simulate(PROBLEM, TEAM, 20, 2, None), cb.simulate(PROBLEM, TEAM, 20, 2, None)
    assert first.seed != second.seed
    again = cb.simulate(PROBLEM, TEAM, 20, 2, first.seed)
    np.testing.assert_array_equal(first.task_regret, again.task_regret)


def test_progress_reaches_the_end() -> None:
    for engine in ("fast", "reference"):
        calls: list[tuple[int, int]] = []
        cb.simulate(PROBLEM, TEAM, 30, 7, 0, engine=engine, progress=lambda *now, calls=calls: calls.append(now))
        assert calls[-1] == (7, 7)
        assert [done for done, _ in calls] == sorted(done for done, _ in calls)


def test_an_error_in_the_middle_ends_the_threads() -> None:
    def stop(done: int, runs: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cb.simulate(PROBLEM, TEAM, 2000, 4000, 0, threads=2, progress=stop)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"horizon": 0}, "horizon must be an integer of at least 1, got 0"),
        ({"horizon": 2**40}, "horizon must be an integer from 1 to 2,147,483,647"),
        ({"runs": 0}, "runs must be"),
        ({"seed": -1}, "seed must be"),
        ({"seed": np.random.default_rng(0)}, "seed must be .*got Generator"),
        ({"threads": 0}, "threads must be"),
        ({"first_run": -1}, "first_run must be"),
        ({"engine": "warp"}, "There is no engine 'warp'"),
        ({"keep": "sumary"}, "There is no keep 'sumary'. Did you mean 'summary'"),
        ({"out": "runs.csv"}, r"ends in \.parquet"),
        ({"engine": "fats"}, "Did you mean 'fast'"),
        ({"checkpoints": []}, "at least one round, in ascending order"),
        ({"checkpoints": [5, 5]}, "in ascending order"),
        ({"checkpoints": [5, 500]}, r"checkpoints\[1\] must be an integer from 1 to 100"),
        ({"checkpoints": "all"}, "checkpoints must be .*, got 'all'"),
        ({"problem": [[0.8, 0.4], [0.2, 0.6]]}, "must be a Problem"),
        ({"team": cb.Team([cb.NaiveUCB()] * 3)}, "The team has 3 agents, but the problem has 2"),
    ],
)
def test_bad_input_is_refused_before_any_work(changes: dict, message: str) -> None:
    arguments = {"problem": PROBLEM, "team": TEAM, "horizon": 100, "runs": 5, "seed": 0} | changes
    with pytest.raises(cb.InvalidInput, match=message):
        cb.simulate(**arguments)


def test_sizes_that_cannot_fit_are_refused() -> None:
    with pytest.raises(cb.TooLarge, match=r"need about .* GiB; this machine has"):
        cb.simulate(PROBLEM, TEAM, 2_000_000, 2_000_000_000, 0, checkpoints=1_000_000, keep="runs")
    wide = cb.Problem.bernoulli("random", [1, 0.5], arms=(16_000, 16_000))
    with pytest.raises(cb.TooLarge):
        cb.simulate(wide, TEAM, 10, 1, 0, threads=64)


def test_memory_grows_with_checkpoints_and_not_with_rounds() -> None:
    script = """
import resource, sys
import cobandit as cb
problem = cb.Problem.bernoulli([[.8, .4], [.2, .6]], observability=[1.0, 0.5])
team = cb.Team.of("partner-aware-ucb")
cb.simulate(problem, team, 100, 20_000, 0, checkpoints=10, threads=1)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
cb.simulate(problem, team, 20_000, 20_000, 0, checkpoints=10, threads=1)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    # All rounds of all runs would be 20,000 x 20,000 numbers: 400 MB even at a byte each.
    assert int(done.stdout) < 40_000


def test_a_result_is_kept_whole(tmp_path) -> None:
    result = cb.simulate(PROBLEM, TEAM, 60, 4, 7, checkpoints=3, first_run=2)
    path = result.save(tmp_path / "runs.parquet")
    table = parquet.read_table(path)
    assert table.column_names == ["run", "t", "task_regret", "team_regret"]
    assert table["run"].to_pylist() == [2] * 3 + [3] * 3 + [4] * 3 + [5] * 3
    assert table["t"].to_pylist() == [20, 40, 60] * 4
    assert table["task_regret"].to_pylist() == result.task_regret.ravel().tolist()
    kept = json.loads(table.schema.metadata[b"cobandit"])
    assert kept["seed"] == 7
    assert kept["team"] == {"agent": "partner-aware-ucb", **cb.PartnerAwareUCB().options}
    assert kept["problem"]["observation"] == {"name": "missed", "observability": [1.0, 0.5]}
    assert os.listdir(tmp_path) == ["runs.parquet"]


def test_a_result_that_cannot_be_kept(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = cb.simulate(PROBLEM, TEAM, 20, 2, 0)
    with pytest.raises(cb.InvalidInput, match=r"ends in \.parquet"):
        result.save(tmp_path / "runs.csv")
    result.save(tmp_path / "nowhere" / "runs.parquet")
    assert (tmp_path / "nowhere" / "runs.parquet").is_file()
    target = tmp_path / "runs.parquet"
    target.write_bytes(b"what was there before")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(parquet.ParquetWriter, "write_table", full)
    with pytest.raises(OSError, match="No space left"):
        result.save(target)
    assert target.read_bytes() == b"what was there before"
    assert sorted(os.listdir(tmp_path)) == ["nowhere", "runs.parquet"]


def test_keeping_without_pyarrow(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest, **more):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(cb.MissingExtra, match=r"pip install 'cobandit\[parquet\]'"):
        cb.simulate(PROBLEM, TEAM, 20, 2, 0, engine="reference").save(tmp_path / "runs.parquet")


def test_a_summary_says_what_numpy_says() -> None:
    result = cb.simulate(PROBLEM, TEAM, 300, 40, 1, checkpoints=6)
    summary = result.summary()
    final = result.task_regret[:, -1]
    assert summary.checkpoints.tolist() == [50, 100, 150, 200, 250, 300]
    assert summary.task_regret.mean[-1] == pytest.approx(np.mean(final))
    assert summary.task_regret.se[-1] == pytest.approx(np.std(final, ddof=1) / 40**0.5)
    assert summary.task_regret.median[-1] == pytest.approx(np.median(final))
    assert summary.task_regret.q10[-1] == pytest.approx(np.quantile(final, 0.1))
    assert summary.task_regret.q90[-1] == pytest.approx(np.quantile(final, 0.9))
    assert summary.team_regret.mean[-1] == pytest.approx(0.75 * np.mean(final))
    assert "task regret" in str(summary)
    low = summary.task_regret.mean - summary.task_regret.se
    assert low.shape == (6,)
    assert (low < summary.task_regret.mean).all()
    with pytest.raises(ValueError, match="read-only"):
        summary.task_regret.mean[0] = 0.0
    single = cb.simulate(PROBLEM, TEAM, 300, 1, 1).summary()
    assert np.isnan(single.task_regret.se[-1])
    assert single.to_dict()["task_regret"]["se"][-1] is None
    json.dumps(single.to_dict(), allow_nan=False)


def test_a_trajectory_as_a_table() -> None:
    trajectory = cb.simulate(PROBLEM, TEAM, 30, 4, 0).trajectory(run=3)
    rows = list(trajectory.rows())
    assert len(rows) == len(trajectory) == 30
    assert list(rows[0]) == [
        "run", "t", "arm_0", "arm_1", "reward", "seen_0", "seen_1", "predicted_1_0", "task_regret",
    ]  # fmt: skip
    assert [row["t"] for row in rows] == list(range(1, 31))
    assert all(row["seen_0"] == row["reward"] for row in rows)
    assert all(row["seen_1"] in (0.0, row["reward"]) for row in rows)
    with pytest.raises(cb.InvalidInput, match="run must be an integer from 0 to 3"):
        cb.simulate(PROBLEM, TEAM, 30, 4, 0).trajectory(run=4)


def test_a_system_that_does_not_tell_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(name: str) -> int:
        raise ValueError(name)

    monkeypatch.setattr(os, "sysconf", unknown)
    assert physical_memory() is None
