"""Numbers as texts: digits by size, no negative zero, and a sign for what is no number."""

from __future__ import annotations

import math

import pytest

from cobandit.base.numbers import APA, DASH, MINUS, PAGE, TERMINAL, count, percent


@pytest.mark.parametrize(
    ("value", "apa", "page", "terminal"),
    [
        (0.0, "0.00", "0.00", "0.00"),
        (-0.001, "0.00", "0.00", "0.00"),
        (3.14159, "3.14", "3.14", "3.14"),
        (-31.4159, "-31.42", f"{MINUS}31.4", "-31.42"),
        (314.159, "314.16", "314", "314.2"),
        (31415.9, "31,415.9", "31,416", "31,416"),
        (1.5e12, "1,500,000,000,000.0", "1,500,000,000,000", "1.5e+12"),
        (None, DASH, DASH, "-"),
        (math.inf, DASH, DASH, "none"),
        (math.nan, DASH, DASH, "none"),
    ],
)
def test_every_style(value: float | None, apa: str, page: str, terminal: str) -> None:
    assert [style.format(value) for style in (APA, PAGE, TERMINAL)] == [apa, page, terminal]


def test_decimals_may_be_given() -> None:
    assert PAGE.format(1234.5678, 2) == "1,234.57"
    assert APA.format(-1.26, 1) == "-1.3"


def test_halves_are_rounded_away_from_zero() -> None:
    assert [percent(share) for share in (0.125, 0.135, 0.285, -0.125, 1.0)] == ["13", "14", "29", "-13", "100"]
    assert [percent(share, 1) for share in (0.9875, 0.98745, 2 / 3)] == ["98.8", "98.7", "66.7"]
    assert [APA.format(value) for value in (0.125, 0.375, -0.125, 2.675)] == ["0.13", "0.38", "-0.13", "2.68"]
    assert [PAGE.format(value, 0) for value in (2.5, 3.5, -2.5)] == ["3", "4", f"{MINUS}3"]


def test_a_column_has_the_decimals_of_its_largest_number() -> None:
    assert PAGE.decimals_for([0.5, -12.0, math.inf]) == 1
    assert TERMINAL.decimals_for([0.5, 1234.5, math.nan]) == 1
    assert APA.decimals_for([]) == 2


def test_things_are_counted_in_words() -> None:
    assert [count(many, "run") for many in (0, 1, 2_000)] == ["0 runs", "1 run", "2,000 runs"]
    assert count(2, "hypothesis", "hypotheses") == "2 hypotheses"
