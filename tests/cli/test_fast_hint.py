"""Whoever waits for plain Python without need is told of the extra that would help, and nobody else."""

from __future__ import annotations

import pytest

import cobandit as cb
from cobandit.cli import experiments, output
from cobandit.engine import choice
from cobandit.experiments import ChunkEvent, Processes
from cobandit.experiments.dask import Dask
from cobandit.experiments.spec import Chunk, Curve


@pytest.fixture
def without_numba(monkeypatch):
    monkeypatch.setattr(choice, "installed", lambda extra: extra != "fast")


@pytest.mark.parametrize("command", ["simulate", "compare"])
def test_a_slow_base_install_is_told(run, monkeypatch, without_numba, command):
    monkeypatch.setattr(output, "SLOW_SECONDS", 0.0)
    done = run(command, "--team", "naive-ucb", "--runs", "2", "--horizon", "10", "--format", "json")
    assert done.exit_code == 0
    assert "pip install 'cobandit[fast]'" in done.stderr
    assert "fast]" not in done.stdout


def test_so_is_whoever_watches(run, monkeypatch, without_numba, tmp_path):
    monkeypatch.setattr(output, "SLOW_SECONDS", 0.0)
    done = run("watch", "--runs", "2", "--horizon", "10", "--out", str(tmp_path / "run.html"))
    assert done.exit_code == 0
    assert "pip install 'cobandit[fast]'" in done.stderr


class Stubborn(cb.Agent):
    """Of somebody's own, and thus plain Python in any install."""

    def choose(self):
        return 0

    def observe(self, team_action, reward):
        pass


@pytest.mark.parametrize(
    ("team", "lacking", "executor", "seconds", "told"),
    [
        ("naive-ucb", "fast", Processes(1), 5.0, True),
        ("naive-ucb", "fast", Processes(1), 1.0, False),
        ("naive-ucb", "none", Processes(1), 5.0, False),
        ("naive-ucb", "fast", Dask("tcp://127.0.0.1:1"), 5.0, False),
        (Stubborn(), "fast", Processes(1), 5.0, False),
    ],
    ids=["slow", "quick", "installed", "played elsewhere", "an agent of one's own"],
)
def test_whoever_plays_chunks_is_told(monkeypatch, capsys, tmp_path, team, lacking, executor, seconds, told):
    monkeypatch.setattr(experiments, "installed", lambda extra: extra != lacking)
    problem = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], observability=[1.0, 0.5])
    chunk = Chunk("panel", Curve("curve", "curve", problem, cb.Team.of(team)), 0, 0, 1, 10, 0)
    with experiments.watched(tmp_path, ["sweep"], executor) as watch:
        watch(ChunkEvent("planned", chunk))
        watch(ChunkEvent("finished", chunk, seconds=seconds))
    assert ("pip install 'cobandit[fast]'" in capsys.readouterr().err) is told


def test_a_quick_one_is_not(run, without_numba):
    assert run("simulate", "--runs", "2", "--horizon", "10").stderr == ""


def test_nor_who_asked_for_plain_python():
    problem = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], observability=[1.0, 0.5])
    result = cb.simulate(problem, cb.Team.of("naive-ucb"), horizon=10, runs=2, seed=0, engine="reference")
    object.__setattr__(result, "seconds", 60.0)
    assert output.fast_hint([result]) is None
