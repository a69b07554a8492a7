"""Relabelled arms in panels, sweeps and the arena: on where asked for, stored with the results, fair to all labels."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import cobandit as cb
from cobandit.experiments import Arena, Job, Settings
from cobandit.experiments.arena import SETTINGS, arena_settings
from cobandit.experiments.sweep import parse_sweep
from tests.experiments.test_arena import InThisProcess, Stubborn
from tests.experiments.test_jobs import SWEEP


def test_panels_of_the_paper_keep_their_labels_unless_asked():
    plain = Job.paper(["sim1-left", "theorem-1"], Settings(runs=3))
    asked = Job.paper(["sim1-left", "theorem-1"], Settings(runs=3, relabel=True))
    for one, other in zip(plain.panels, asked.panels, strict=True):
        assert other.fixed == f"{one.fixed}, arms relabelled in each run"
        for before, after in zip(one.curves, other.curves, strict=True):
            assert not before.problem.relabel
            assert after.problem == before.problem.relabelled()
            assert after.team == before.team


def test_a_relabelled_job_comes_back_from_its_folder(tmp_path):
    job = Job.paper(["sim1-left"], Settings(runs=4, horizon=20, relabel=True))
    (played,) = job.run(tmp_path / "paper", InThisProcess())
    assert Job.stored(tmp_path / "paper") == job
    assert played.to_dict()["relabel"] is True
    curve = job.panels[0].curves[0]
    alone = cb.simulate(curve.problem, curve.team, 20, 4, 0)
    assert (played.curves[0].task_regret[:, -1] == alone.task_regret[:, -1]).all()
    (tmp_path / "small.toml").write_text(SWEEP)
    sweep = Job.sweep(tmp_path / "small.toml", relabel=True)
    sweep.run(tmp_path / "sweep", InThisProcess())
    assert Job.stored(tmp_path / "sweep") == sweep
    assert all(curve.problem.relabel for panel in sweep.panels for curve in panel.curves)


def test_a_sweep_file_may_relabel_its_problem():
    text = SWEEP.replace("arms = [3, 3]", "arms = [3, 3]\nrelabel = true")
    panels, settings = parse_sweep(text)
    assert panels[0].curves[0].problem.relabel
    assert not settings.relabel
    both, _ = parse_sweep(SWEEP + '[grid]\n"problem.relabel" = [false, true]\n')
    assert [panel.curves[0].problem.relabel for panel in both] == [False, True]
    with pytest.raises(cb.InvalidInput, match="relabel must be True or False, got 3"):
        parse_sweep(SWEEP.replace("arms = [3, 3]", "arms = [3, 3]\nrelabel = 3"))


def test_markov_problems_are_refused():
    with pytest.raises(cb.InvalidInput, match="panel mdp-chain: the arms of Markov problems cannot be relabelled"):
        Job.paper(["mdp-chain"], Settings(relabel=True))
    text = 'name = "s"\nhorizon = 40\nruns = 3\n[problem]\nmarkov = "chain"\nrelabel = true\n'
    text += '[[team]]\nagent = "naive-ucbvi"\n'
    with pytest.raises(cb.InvalidInput, match="Markov problems cannot be relabelled"):
        parse_sweep(text)
    with pytest.raises(cb.InvalidInput, match="relabel must be True or False, got 1"):
        Settings(relabel=1)  # type: ignore[arg-type]
    with pytest.raises(cb.InvalidInput, match="relabel must be True or False, got 'no'"):
        Arena.of(relabel="no")  # type: ignore[arg-type]


def test_always_the_first_arm_is_no_winning_team():
    """It has no regret with the labels of the problem; relabelled it plays each cell in a quarter of the runs."""
    lost = {}
    for relabel in (False, True):
        (place,) = Arena.of(["fixed-500"], relabel=relabel).settings
        assert isinstance(place.problem, cb.Problem)
        lost[relabel] = cb.simulate(place.problem, cb.Team([Stubborn(), Stubborn()]), 500, 40, 1).task_regret[:, -1]
    assert (lost[False] == 0.0).all()
    gaps = 500 * (0.8 - np.array([0.8, 0.4, 0.2, 0.6]))
    assert set(np.round(lost[True], 6)) == set(np.round(gaps, 6))
    assert lost[True].mean() == pytest.approx(gaps.mean(), abs=4 * gaps.std() / math.sqrt(40))


def test_the_arena_relabels_every_problem_without_states_by_default():
    arena = Arena.of()
    assert arena.relabel
    for place, known in zip(arena.settings, SETTINGS, strict=True):
        assert place == known.relabelled()
        assert place.markov or place.problem == replace(known.problem, relabel=True)  # type: ignore[arg-type]
    for panel, place in zip(arena.panels(), arena.settings, strict=True):
        assert all(place.markov or curve.problem.relabel for curve in panel.curves)
    assert Arena.of(relabel=False).settings == SETTINGS


def test_arenas_from_before_are_read_with_the_labels_they_had(tmp_path):
    arena = Arena.of(["exact-12"], ["greedy"], ["window-1"], relabel=False)
    assert arena.run(tmp_path, arena_settings(3), InThisProcess()).to_dict()["relabel"] is False
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest.pop("relabel") is False
    del manifest["settings"]["relabel"]
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    stored, settings = Arena.stored(tmp_path)
    assert stored == arena
    assert stored.results(tmp_path, settings).place("exact-12").runs == 3
