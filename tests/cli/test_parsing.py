"""Text from the command line as values."""

from __future__ import annotations

import pytest

from cobandit.base.errors import InvalidInput
from cobandit.cli import parsing


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
    with pytest.raises(InvalidInput, match=r"--observability is .*numbers and commas are needed, such as 1,0\.5"):
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
