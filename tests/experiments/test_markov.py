"""Panels and sweeps of Markov problems: the same chunks, stores and claims as the bandit's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cobandit import InvalidInput, UnknownName, mdp
from cobandit.experiments import Chunk, Job, Settings, chunks, compare_teams, panel, parse_sweep, run
from cobandit.experiments.dask import Dask
from cobandit.experiments.executors import Processes
from cobandit.experiments.figures.markov import MARKOV
from cobandit.experiments.store import Store
from cobandit.experiments.work import compute

SWEEP = """
name = "lines"
horizon = 40
runs = 2
[problem]
markov = "burger-line"
observability = [1.0, 0.5]
[[team]]
name = "aware"
agent = "partner-aware-ucbvi"
[[team]]
name = "mixed"
members = [{agent = "naive-ucbvi"}, {agent = "very-naive-ucbvi"}]
[grid]
window = [1, 5]
"problem.steps" = [2, 3]
"""


def test_the_panels():
    job = Job.paper(["mdp"], Settings(runs=2))
    assert [each.name for each in job.panels] == list(MARKOV)
    assert all(each.horizon % each.curves[0].problem.steps == 0 for each in job.panels)
    aware = panel("mdp-chain").curve("partner-aware")
    assert aware.team == mdp.Team.of("partner-aware-ucbvi")
    assert job.panels[0].curve("partner-aware").team == aware.team, "the index of the bandit's panels is not theirs"
    with pytest.raises(UnknownName, match="Did you mean 'mdp-chain'"):
        panel("mdp-chian")


def test_a_chunk_is_played_by_its_room():
    curve: Any = panel("mdp-burger-line-3").curve("very-naive")
    played = compute(Chunk("mdp-burger-line-3", curve, 0, 1, 2, 31, 5))
    whole = mdp.simulate(curve.problem, curve.team, 10, 3, 5, checkpoints=30)
    assert np.array_equal(played.task_regret[:, -1], whole.task_regret[1:, -1])


def test_a_sweep():
    panels, settings = parse_sweep(SWEEP)
    assert [each.name for each in panels] == ["lines-steps-2", "lines-steps-3"]
    assert [curve.name for curve in panels[0].curves] == ["aware-window-1", "aware-window-5", "mixed"]
    assert panels[1].curves[0].problem == mdp.make_problem("burger-line", steps=3)
    assert settings.runs == 2
    for wrong, words in (
        (SWEEP.replace("burger-line", "burgerline"), "Did you mean 'burger-line'"),
        (SWEEP.replace('agent = "partner-aware-ucbvi"', 'agent = "partner-aware-ucb"'), "partner-aware-ucbvi"),
        (SWEEP.replace("problem.steps", "problem.stps"), "Did you mean 'steps'"),
    ):
        with pytest.raises(InvalidInput, match=words):
            parse_sweep(wrong)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Dask's own shutdown warns of sockets it closes a little later
def test_processes_and_a_real_cluster_play_a_sweep_alike(tmp_path):
    panels, settings = parse_sweep(SWEEP)
    for name, executor in (("processes", Processes(1)), ("dask", Dask(workers=1))):
        results = run(panels, settings, tmp_path / name, executor)
        assert [curve.runs for result in results for curve in result.curves] == [2] * 6
        for chunk in (chunk for each in panels for chunk in chunks(each, settings)):
            played = Store(tmp_path / name).read(chunk)
            assert played is not None
            assert np.array_equal(played.task_regret, compute(chunk).task_regret)


def test_teams_are_compared():
    teams = [mdp.Team.of(name) for name in ("naive-ucbvi", "optimal")]
    compared = compare_teams(mdp.make_problem("chain"), teams, 40, runs=2, engine="reference")
    assert compared.labels == ["optimal", "naive-ucbvi"]
