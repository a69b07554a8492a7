"""Public objects behave alike: equality, reprs, forms for notebooks, defaults."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import cobandit as cb
from cobandit import mdp

PROBLEM = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], observability=[1.0, 0.5])
NAMES: dict[str, Any] = {name: getattr(cb, name) for name in cb.__all__}
MARKOV: dict[str, Any] = NAMES | {name: getattr(mdp, name) for name in mdp.__all__}


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (PROBLEM, NAMES),
        (cb.Problem.gaussian("random", [0.1, 0.5], arms=(2, 3)), NAMES),
        (cb.Problem.bernoulli("random-walk", arms=(2, 2), roles=(1, 0), delay=2), NAMES),
        (cb.Team.of("bank", plan=True), NAMES),
        (cb.Team.of("centralised-ucb"), NAMES),
        (cb.Team(["naive-ucb", cb.Softmax(memory=3)]), NAMES),
        (cb.KnowledgeGradient(discount=0.5), NAMES),
        (mdp.make_problem("chain"), MARKOV),
        (mdp.Team.of("partner-aware-ucbvi", window=3), MARKOV),
    ],
)
def test_reprs_are_valid_python(value: Any, names: dict[str, Any]) -> None:
    assert eval(repr(value), dict(names)) == value


def test_results_are_equal_whatever_the_engine() -> None:
    result = cb.simulate(PROBLEM, "naive-ucb", 30, 3, seed=1)
    same = cb.simulate(PROBLEM, cb.NaiveUCB, 30, 3, seed=1, engine="reference")
    assert result == same
    assert hash(result) == hash(same)
    assert result != cb.simulate(PROBLEM, "naive-ucb", 30, 3, seed=2)
    assert result != cb.simulate(PROBLEM, "naive-ts", 30, 3, seed=1)
    summarised = [cb.simulate(PROBLEM, "naive-ucb", 30, 3, seed=1, keep="summary") for _ in range(2)]
    assert summarised[0] == summarised[1]
    assert summarised[0] != result
    assert result != "naive-ucb"
    compared = [cb.experiments.compare_teams(PROBLEM, ["naive-ucb", "naive-ts"], 30, 3, seed) for seed in (1, 1, 2)]
    assert compared[0] == compared[1]
    assert compared[0] != compared[2]


def test_summary_and_diagnostics_are_properties_and_methods() -> None:
    result = cb.simulate(PROBLEM, "naive-ucb", 30, 3, diagnose=True)
    assert result.summary is result.summary()
    assert result.diagnostics is result.diagnostics()


def test_forms_for_notebooks_are_escaped_tables() -> None:
    class Odd(cb.NaiveUCB):
        name = "a<b"

    result = cb.simulate(PROBLEM, Odd(), 30, 3, engine="reference")
    compared = cb.experiments.TeamComparison((result,))
    shown = [PROBLEM, result.team, cb.Team([Odd(), "naive-ts"]), result.summary, result.summary.task_regret, compared]
    for value in shown:
        html = value._repr_html_()  # type: ignore[attr-defined]
        assert html.startswith("<table>")
        assert html.endswith("</table>")
        assert "a<b" not in html
    assert "a&lt;b" in compared._repr_html_()


def test_one_default_seed_and_one_default_reward() -> None:
    functions: list[Any] = [cb.simulate, mdp.simulate, cb.studies.simulate_participants, cb.experiments.compare_teams]
    assert {inspect.signature(function).parameters["seed"].default for function in functions} == {0}
    environments = [cb.interop.SeatEnv, cb.interop.SeatVectorEnv, cb.interop.TeamEnv]
    assert {inspect.signature(kind).parameters["reward"].default for kind in environments} == {"seen"}


def test_the_first_state_may_be_given_by_its_number() -> None:
    transitions, means = np.full((2, 2, 2, 2), 0.5), np.full((2, 2, 2), 0.5)
    by_number = mdp.MarkovProblem.of(transitions, means, steps=3, start=1)
    assert by_number == mdp.MarkovProblem.of(transitions, means, steps=3, start=[0.0, 1.0])
    assert mdp.MarkovProblem.of(transitions, means, steps=3, start=0) == mdp.MarkovProblem.of(transitions, means, 3)
    with pytest.raises(cb.InvalidInput, match="start must be an integer from 0 to 1"):
        mdp.MarkovProblem.of(transitions, means, steps=3, start=2)


@pytest.mark.parametrize("team", ["naive-ucb", cb.NaiveUCB, cb.NaiveUCB(), ["naive-ucb", "naive-ucb"]])
def test_environments_take_what_makes_a_team(team: Any) -> None:
    env = cb.interop.SeatEnv(PROBLEM, team, 0, 5)
    assert isinstance(env.team, cb.Team)
