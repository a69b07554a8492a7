"""What was played, in words, and labels that tell teams apart."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import cobandit as cb
from cobandit.engine.words import distinct_labels, problem_lines, team_line
from cobandit.problem.means import Tensor


def test_teams_of_one_kind_get_what_differs() -> None:
    teams = [cb.Team.of("partner-aware-ucb", window=window, exploration=0.1) for window in (1, 5)]
    assert distinct_labels([*teams, cb.Team.of("naive-ucb")]) == [
        "partner-aware-ucb (window 1)",
        "partner-aware-ucb (window 5)",
        "naive-ucb",
    ]


def test_mixed_teams_name_the_agent_that_differs() -> None:
    teams = [cb.Team([cb.NaiveUCB(), cb.PartnerAwareUCB(window=window)]) for window in (1, 5)]
    assert distinct_labels(teams) == [
        "naive-ucb + partner-aware-ucb (agent 1's window 1)",
        "naive-ucb + partner-aware-ucb (agent 1's window 5)",
    ]


def test_equal_teams_stay_as_they_are() -> None:
    assert distinct_labels([cb.Team.of("optimal"), cb.Team.of("optimal")]) == ["optimal", "optimal"]
    assert team_line(cb.Team.of("optimal")) == "optimal"


@pytest.mark.parametrize("name", cb.AGENTS)
def test_a_team_in_a_line(name: str) -> None:
    line = team_line(cb.Team.of(name))
    assert line.startswith(name)
    for option in dataclasses.fields(cb.AGENTS[name]):
        if option.metadata.get("described"):
            assert f"{option.name} {'none' if option.default is None else option.default}" in line


class Dice:
    """Means in a class of one's own."""

    arms, changes = (2, 2), False

    def draw(self, t: int, previous: Tensor | None, rng: np.random.Generator) -> Tensor:
        return rng.random(self.arms)


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (cb.Problem.bernoulli(arms=(3, 2)), ["3 x 2 arms, means drawn from 0 to 1 in each run, Bernoulli"]),
        (cb.Problem.bernoulli([[0.5] * 9] * 9), ["9 x 9 arms, given means"]),
        (cb.Problem.gaussian(arms=(2, 2)), ["Gaussian (sd 0.1 to 0.5)", "noisy observation, noise 0, 0"]),
        (cb.Problem.gaussian(arms=(2, 2), sd=0.3), ["Gaussian (sd 0.3)"]),
        (cb.Problem.gaussian(arms=(2, 2), sd=[[0.1, 0.2], [0.3, 0.4]]), ["Gaussian (sd given)"]),
        (cb.Problem.bernoulli(arms=(2, 2), roles="random"), ["roles drawn for each run"]),
        (cb.Problem.bernoulli(arms=(2, 2), roles=(1, 0)), ["agent 1 leads"]),
        (cb.Problem.bernoulli(Dice()), ["2 x 2 arms, means by Dice, Bernoulli"]),
    ],
)
def test_a_problem_in_two_lines(problem: cb.Problem, words: list[str]) -> None:
    lines = "\n".join(problem_lines(problem))
    for word in words:
        assert word in lines
