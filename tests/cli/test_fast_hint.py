"""Whoever waits for plain Python without need is told of the extra that would help, and nobody else."""

from __future__ import annotations

import pytest

import cobandit as cb
from cobandit.cli import output
from cobandit.engine import simulation


@pytest.fixture
def without_numba(monkeypatch):
    monkeypatch.setattr(simulation, "installed", lambda extra: extra != "fast")


@pytest.mark.parametrize("command", ["simulate", "compare"])
def test_a_slow_base_install_is_told(run, monkeypatch, without_numba, command):
    monkeypatch.setattr(output, "SLOW_SECONDS", 0.0)
    done = run(command, "--team", "naive-ucb", "--runs", "2", "--horizon", "10", "--format", "json")
    assert done.exit_code == 0
    assert "pip install 'cobandit[fast]'" in done.stderr
    assert "fast]" not in done.stdout


def test_a_quick_one_is_not(run, without_numba):
    assert run("simulate", "--runs", "2", "--horizon", "10").stderr == ""


def test_nor_who_asked_for_plain_python():
    problem = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], observability=[1.0, 0.5])
    result = cb.simulate(problem, cb.Team.of("naive-ucb"), horizon=10, runs=2, seed=0, engine="reference")
    object.__setattr__(result, "seconds", 60.0)
    assert output.fast_hint([result]) is None
