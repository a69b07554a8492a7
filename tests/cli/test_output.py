"""Numbers for people, strict JSON and CSV for programs."""

from __future__ import annotations

import io
import json
import math

import pytest

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
