"""Both engines of Markov problems play the same steps, to the last bit; results are those of the bandit's class."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cobandit import Gaussian, InvalidInput, Problem, Result, Team, mdp, simulate
from tests.mdp.agent_table import CASES
from tests.parameters import quick

PROBLEMS = {
    "2x3": mdp.make_problem("random", states=4, steps=3, arms=(2, 3), concentration=0.6),
    "three agents, random roles": mdp.make_problem(
        "random", states=3, steps=2, arms=(2, 2, 2), observability=(1.0, 0.5, 0.7), roles="random"
    ),
    "gaussian": mdp.make_problem(
        "random", states=3, steps=3, arms=(3, 2), observation="noisy", noise=[0.1, 0.3], reward=Gaussian(0.1, 0.5)
    ),
    "missed-known": mdp.make_problem("burger-line", observation="missed-known", observability=(0.8, 0.4)),
}


@pytest.mark.parametrize(
    "kind", quick(sorted({name for name, _ in CASES}), ("centralised-psrl", "partner-aware-ucbvi"))
)
def test_the_same_steps(kind):
    for name, options in CASES:
        if name != kind:
            continue
        team = mdp.Team.of(name, **options)
        for title, problem in PROBLEMS.items():
            horizon = 30 * problem.steps
            plain = mdp.run_trajectory(problem, team, horizon, 3, 1)
            compiled = mdp.run_trajectory(problem, team, horizon, 3, 1, "fast")
            assert plain.same_as(compiled), (title, options)


@pytest.mark.long
def test_mixed_teams_play_the_same_steps():
    problem = PROBLEMS["three agents, random roles"]
    team = mdp.Team([mdp.make_agent(name) for name in ("naive-psrl", "partner-aware-ucbvi", "very-naive-ucbvi")])
    assert mdp.run_trajectory(problem, team, 40, 1, 0).same_as(mdp.run_trajectory(problem, team, 40, 1, 0, "fast"))


def test_the_same_regrets_on_any_number_of_threads_and_in_parts(tmp_path):
    problem, team = mdp.make_problem("chain"), mdp.Team.of("partner-aware-ucbvi")
    whole = mdp.simulate(problem, team, 30, 6, 5, engine="fast", threads=3, out=tmp_path / "runs.parquet")
    plain = mdp.simulate(problem, team, 30, 6, 5, engine="reference")
    assert np.array_equal(whole.task_regret, plain.task_regret)
    parts = [mdp.simulate(problem, team, 30, 3, 5, engine="fast", first_run=first) for first in (3, 0)]
    assert np.array_equal(Result.concat(parts).task_regret, whole.task_regret)
    assert type(Result.load(tmp_path / "runs.parquet")) is mdp.MarkovResult
    loaded = mdp.MarkovResult.load(tmp_path / "runs.parquet")
    assert (loaded.problem, loaded.team) == (problem, team)
    assert loaded.trajectory(2).same_as(plain.trajectory(2))
    assert np.array_equal(loaded.team_regret, loaded.task_regret * 0.75)
    again = Result.from_dict(whole.describe())
    assert np.array_equal(again.task_regret, whole.task_regret)
    summary = mdp.simulate(problem, team, 30, 6, 5, engine="fast", keep="summary").summary()
    assert summary.task_regret.mean[-1] == pytest.approx(whole.task_regret[:, -1].mean())


def test_a_bandits_file_holds_no_states(tmp_path):
    bandit = simulate(Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]]), Team.of("naive-ucb"), 5, 2, 0)
    with pytest.raises(InvalidInput, match="a bandit"):
        mdp.MarkovResult.load(bandit.save(tmp_path / "runs.parquet"))


def test_what_has_no_compiled_form_goes_to_the_plain_engine():
    class Bolder(mdp.NaiveUCBVI):
        pass

    result = mdp.simulate(mdp.make_problem("chain"), mdp.Team.of(Bolder()), 3, 1, 0)
    assert result.engine == "reference"
    assert (
        "Bolder has no compiled form"
        in mdp.simulate(mdp.make_problem("chain"), mdp.Team.of(Bolder()), 3, 2000, 0, checkpoints=1).engine_reason
    )


WITHOUT_COMPILER = """
import cobandit as cb
from cobandit import mdp
from tests.mdp.agent_table import OPTIONS
problem = mdp.make_problem("random", states=3, steps=2, arms=(2, 2, 2), observability=(1.0, 0.5, 0.7))
for name, rows in OPTIONS.items():
    for options in (rows[0], rows[-1]):
        team = mdp.Team.of(name, **options)
        assert mdp.run_trajectory(problem, team, 24, 3, 1).same_as(mdp.run_trajectory(problem, team, 24, 3, 1, "fast"))
print("played")
"""


def test_the_kinds_as_plain_python():
    """Without the compiler arrays have bounds: a pointer that went astray would be noticed."""
    root = Path(__file__).resolve().parents[2]
    settings = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-c", WITHOUT_COMPILER]
    done = subprocess.run(command, capture_output=True, text=True, cwd=root, env=settings, check=False)
    assert done.stdout == "played\n", done.stderr


@pytest.mark.long
def test_bandits_are_compiled_beside_markov_problems(tmp_path):
    """What the loop over episodes adds to the compiler must not hide a field of any bandit's player."""
    code = (
        "import cobandit as cb, cobandit.mdp.fast.loop\n"
        "problem = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]])\n"
        "print(cb.simulate(problem, cb.Team.of('bank'), 5, 2, 0, engine='fast').engine)\n"
    )
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.stdout == "fast\n", done.stderr
