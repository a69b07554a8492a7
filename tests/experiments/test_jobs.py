"""A job is played into a folder and made again from what lies there."""

from __future__ import annotations

import json

import pytest

import cobandit as cb
from cobandit.experiments import PANELS, THEORY, Job, Settings

SWEEP = """
name = "small"
title = "Small: a test"
horizon = 40
runs = 3
[problem]
means = "local-optima"
arms = [3, 3]
observability = [1.0, 0.5]
[[team]]
agent = "naive-ucb"
"""


def test_the_paper_is_all_panels_unless_some_are_named():
    assert [panel.name for panel in Job.paper().panels] == [*PANELS, THEORY]
    assert [panel.name for panel in Job.paper(["sim1-left", "sim1-left"]).panels] == ["sim1-left"]


def test_a_sweep_comes_back_from_its_folder(tmp_path):
    (tmp_path / "small.toml").write_text(SWEEP)
    job = Job.sweep(tmp_path / "small.toml")
    assert job.title == "Small"
    played = job.run(tmp_path / "out")
    again = Job.stored(tmp_path / "out")
    assert (again.title, again.settings) == (job.title, job.settings)
    (stored,) = again.results(tmp_path / "out")
    assert (stored.curves[0].task_regret == played[0].curves[0].task_regret).all()
    assert stored.curves[0].curve.problem.arms == (3, 3)


def test_a_paper_job_keeps_its_settings(tmp_path):
    job = Job.paper(["sim1-left"], Settings(runs=2, horizon=20, index="anytime"))
    job.run(tmp_path)
    assert Job.stored(tmp_path) == job


def test_a_manifest_of_something_else(tmp_path):
    (tmp_path / "manifest.json").write_text(json.dumps({"settings": {"speed": 3}}))
    with pytest.raises(cb.InvalidInput, match="is not one of this version"):
        Job.stored(tmp_path)
