"""The page of a run to watch holds the very run, and what the agents thought; what cannot be watched is refused."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cobandit as cb
from cobandit.engine.watched import watch_run

PROBLEM = cb.Problem.bernoulli("random", [1.0, 0.5], arms=(2, 3), observation="missed-known")


def data_of(path: Path) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', path.read_text(encoding="utf-8"))
    assert found is not None
    return json.loads(found.group(1))


def simulated(team: cb.Team, **options: Any) -> cb.Result:
    return cb.simulate(options.pop("problem", PROBLEM), team, **{"horizon": 40, "runs": 3, "seed": 5} | options)


def test_the_page_holds_the_run(tmp_path):
    result = simulated(cb.Team.of("partner-aware-ucb", window=3))
    path = result.watch(2, tmp_path / "new" / "page.html")
    data, run = data_of(path), result.trajectory(2)
    assert data["cells"] == np.ravel_multi_index(tuple(run.actions.T), (2, 3)).tolist()
    assert data["rewards"] == run.rewards.tolist()
    assert data["seen"][1] == [None if np.isnan(look) else look for look in run.seen[:, 1]]
    assert data["predictions"][1] == run.predictions[:, 1].tolist()
    np.testing.assert_allclose(data["regret"], run.task_regret, rtol=1e-3)
    np.testing.assert_allclose(data["means"][0], run.means.ravel(), rtol=1e-3)
    assert [other["run"] for other in data["others"]] == [0, 1, 2]
    assert data["others"][0]["strip"][0] == np.ravel_multi_index(tuple(result.trajectory(0).actions[0]), (2, 3))


def test_ratings_are_what_the_agent_chooses_by():
    """The leader, who waits for nobody, plays its part of the cell that it rates best: Alg. 2."""
    watched = watch_run(PROBLEM, cb.Team.of("partner-aware-ucb"), 60, 1, 0)
    best = watched.ratings[:, 0].reshape(60, -1).argmax(axis=1)
    np.testing.assert_array_equal(best // 3, watched.trajectory.actions[:, 0])
    assert np.isinf(watched.ratings[0]).all()  # nothing was tried yet


@pytest.mark.parametrize("name", sorted(cb.AGENTS))
def test_every_agent_rates_team_actions_or_none_and_draws_nothing(name):
    team = cb.Team.of(name)
    watched = watch_run(PROBLEM, team, 30, 2, 1)
    assert watched.trajectory.same_as(simulated(team, horizon=30, seed=2, engine="reference").trajectory(1))
    assert watched.ratings.shape == (30, len(watched.titles), 2, 3)


def test_means_that_change_are_those_of_the_round(tmp_path):
    class Drifting(cb.RandomMeans):
        changes = True

        def draw(self, t, previous, rng):
            return np.full((2, 3), 1.0 / t)

    problem = cb.Problem.of(Drifting((2, 3)), cb.Bernoulli(), observability=[1, 0.5])
    data = data_of(simulated(cb.Team.of("softmax"), problem=problem).watch(0, tmp_path / "page.html"))
    assert data["means"][3] == [0.25] * 6
    assert data["others"][0]["best"] == -1


def test_long_runs_keep_fewer_ratings(tmp_path, monkeypatch):
    monkeypatch.setattr("cobandit.report.simulation.watch.MOST_RATINGS", 100)
    data = data_of(simulated(cb.Team.of("naive-ucb")).watch(0, tmp_path / "page.html"))
    assert data["step"] == 5
    assert len(data["ratings"][0]) == 8
    assert len(data["cells"]) == 40


def test_what_cannot_be_watched_is_refused(tmp_path, monkeypatch):
    result = simulated(cb.Team.of("centralised-ucb"))
    assert len(data_of(result.watch(0, tmp_path / "page.html"))["ratings"]) == 1
    with pytest.raises(cb.InvalidInput, match=r"run must be .*got 3"):
        result.watch(3)
    with pytest.raises(cb.InvalidInput, match=r"ends in \.html"):
        result.watch(0, tmp_path / "page.pdf")
    with pytest.raises(cb.TooLarge, match="30,000 rounds"):
        simulated(cb.Team.of("naive-ucb"), horizon=30_000, runs=1).watch(0)
    monkeypatch.chdir(tmp_path)
    assert result.watch(1) == Path("watch-run-1.html")
