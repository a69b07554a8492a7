"""Numbers for people, strict JSON and CSV for programs."""

from __future__ import annotations

import io
import json
import math

import pytest

from cobandit import AGENTS, Problem, Team
from cobandit.base.files import write_csv
from cobandit.cli import output


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (math.inf, "none"),
        (0.0, "0.00"),
        (3.14159, "3.14"),
        (99.994, "99.99"),
        (123.456, "123.5"),
        (-123.456, "-123.5"),
        (12345.6, "12,346"),
        (1.5e12, "1.5e+12"),
    ],
)
def test_number(value, text):
    assert output.number(value) == text


def test_a_column_has_one_number_of_decimals():
    places = output.decimals_for([0.5, 1234.5, math.inf])
    assert [output.number(value, places) for value in (0.5, 1234.5)] == ["0.5", "1,234.5"]
    assert output.decimals_for([]) == 2


@pytest.mark.parametrize(("value", "text"), [(0.123, "0.12 s"), (45.6, "46 s"), (600.0, "10.0 min")])
def test_seconds(value, text):
    assert output.seconds(value) == text


def test_json_is_strict(capsys):
    output.print_json({"a": [1.5, math.nan, (math.inf, "x")], "b": {"c": -math.inf, "d": None, "e": True}})
    told = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert told == {"a": [1.5, None, [None, "x"]], "b": {"c": None, "d": None, "e": True}}


def test_csv_leaves_the_unknown_empty():
    file = io.StringIO()
    write_csv(file, ["t", "seen"], [(1, math.nan), (2, 0.5), (3, None)])
    assert file.getvalue() == "t,seen\n1,\n2,0.5\n3,\n"


@pytest.mark.parametrize("name", AGENTS)
def test_a_team_in_a_line(name):
    line = output.team_line(Team.of(name))
    assert line.startswith(name)
    for option, default, _ in AGENTS[name].option_rows():
        assert f"{option} {'none' if default is None else default}" in line


class Dice:
    """Means in a class of one's own."""

    arms, changes = (2, 2), False

    def draw(self, t, previous, rng):
        return rng.random(self.arms)


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (Problem.bernoulli(arms=(3, 2)), ["3 x 2 arms, means drawn from 0 to 1 in each run, Bernoulli"]),
        (Problem.bernoulli([[0.5] * 9] * 9), ["9 x 9 arms, given means"]),
        (Problem.gaussian(arms=(2, 2)), ["Gaussian (sd 0.1 to 0.5)", "noisy observation, noise 0, 0"]),
        (Problem.gaussian(arms=(2, 2), sd=0.3), ["Gaussian (sd 0.3)"]),
        (Problem.gaussian(arms=(2, 2), sd=[[0.1, 0.2], [0.3, 0.4]]), ["Gaussian (sd given)"]),
        (Problem.bernoulli(arms=(2, 2), roles="random"), ["roles drawn for each run"]),
        (Problem.bernoulli(arms=(2, 2), roles=(1, 0)), ["agent 1 leads"]),
        (Problem.bernoulli(Dice()), ["2 x 2 arms, means by Dice, Bernoulli"]),
    ],
)
def test_a_problem_in_two_lines(problem, words):
    lines = "\n".join(output.problem_lines(problem))
    for word in words:
        assert word in lines
