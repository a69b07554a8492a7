"""Text from the command line as values."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from cobandit.base.checks import whole
from cobandit.base.errors import InvalidInput
from cobandit.cli import app, parsing


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("25", 25),
        (" 25 ", 25),
        ("1e3", 1000.0),
        ("10_000", 10_000),
        (".025", 0.025),
        ("none", None),
        ("None", None),
        ("null", None),
        ("true", True),
        ("[1, .5]", [1, 0.5]),
        ("1,.5", (1, 0.5)),
        ('"first"', "first"),
        ("first", "first"),
        ("__import__('os')", "__import__('os')"),
        ("1 if True else 2", "1 if True else 2"),
        ("", ""),
    ],
)
def test_value(text, value):
    assert parsing.value(text) == value


@pytest.mark.parametrize(
    ("text", "number"),
    [("2,000", 2000), ("1,000,000", 1_000_000), ("2000", 2000), ("none", None), ("2,00", "2,00"), ("[1]", "[1]")],
)
def test_a_single_number_may_be_written_as_our_tables_print_it(text, number):
    assert parsing.number(text) == number


@pytest.mark.parametrize(
    ("text", "entries"), [("1,0.5", (1, 0.5)), ("[1, .5]", (1, 0.5)), ("1", (1,)), ("1,", (1,)), ("2, 2 ,2", (2, 2, 2))]
)
def test_numbers(text, entries):
    assert parsing.numbers("--observability", text, "1,0.5") == entries


@pytest.mark.parametrize("text", ["1;0.5", "", "1 0.5", "one,two", "1,,2"])
def test_numbers_that_are_none(text):
    with pytest.raises(
        InvalidInput, match=r"--observability must be numbers separated by commas, such as 1,0\.5, got "
    ):
        parsing.numbers("--observability", text, "1,0.5")


@pytest.mark.parametrize(
    "text", ["[[.8,.4],[.2,.6]]", "[[0.8, 0.4], [0.2, 0.6]]", " ((.8,.4),(.2,.6)) ", "[\n[.8,.4],\n[.2,.6]\n]"]
)
def test_a_matrix_as_people_write_it(text):
    assert [list(row) for row in parsing.means("--means", text)] == [[0.8, 0.4], [0.2, 0.6]]


@pytest.mark.parametrize("name", parsing.NAMED_MEANS)
def test_names_of_means(name):
    assert parsing.means("--means", name) == name


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("prior_sd=0.2", "prior_sd", 0.2),
        ("prior-sd = .2", "prior_sd", 0.2),
        ("ties=random", "ties", "random"),
        ("discount=none", "discount", None),
        ("x=a=b", "x", "a=b"),
    ],
)
def test_setting(text, name, value):
    assert parsing.setting(text) == (name, value)


class TestTypedOptions:
    def test_an_integer_is_checked_by_the_librarys_own_check(self):
        parse = parsing.integer("runs", 1, 64)
        assert [parse(text) for text in ("1", "2e1", "64", 7)] == [1, 20, 64, 7]
        assert parsing.integer("horizon", 1)("2,000") == 2000
        for text in ("zero", "0", "65", "1.5", "1,2", "none"):
            with pytest.raises(InvalidInput) as in_python:
                whole(1, 64)("runs", parsing.number(text))
            with pytest.raises(parsing.InvalidOption) as on_the_command_line:
                parse(text)
            assert str(on_the_command_line.value) == str(in_python.value)

    def test_a_seed_may_be_drawn(self):
        assert parsing.seed()("12") == 12
        assert parsing.seed()("none") != parsing.seed()("none")
        with pytest.raises(parsing.InvalidOption, match="seed"):
            parsing.seed()("-1")

    def test_a_speed_is_above_zero(self):
        assert parsing.positive_real("robot-speed", 1.0)("0.25") == 0.25
        with pytest.raises(parsing.InvalidOption, match="robot-speed"):
            parsing.positive_real("robot-speed", 1.0)("0")

    def test_help_shows_the_type_of_every_number(self):
        helped = CliRunner().invoke(app, ["simulate", "--help"]).output
        for shown in ("--horizon INTEGER", "--runs INTEGER", "--seed INTEGER|none", "--delay INTEGER", "--df FLOAT"):
            assert shown in helped
