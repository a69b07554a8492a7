"""TOML that nobody would write by hand: every reader of it answers with an error of ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from cobandit.analysis.plan import parse_plan
from cobandit.base.errors import InvalidInput
from cobandit.base.toml import parse_toml
from cobandit.experiments.sweep import parse_sweep
from cobandit.studies.design import parse_design

READERS = [lambda text: parse_toml(text, "the text"), parse_design, parse_plan, parse_sweep]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rounds = " + "9" * 10_000, "thousands of digits"),
        ("rounds = 0x" + "f" * 10_000, "40,000 bits"),
        ("rounds = " + "9" * 4000, "bits; 64 bits are the limit"),
        ("rounds = " + "[" * 100_000, "nested too deeply"),
        ("rounds = " + "[" * 40 + "]" * 40, "nested too deeply"),
        ("a." * 5000 + "b = 1", "nested too deeply"),
        ("rounds = ", "not valid TOML"),
    ],
)
def test_what_no_reader_takes(reader: Callable[[str], Any], text: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        reader(text)


def test_what_is_fine() -> None:
    assert parse_toml("a = [[1, -2]]\nb.c = 18446744073709551615", "x") == {"a": [[1, -2]], "b": {"c": 2**64 - 1}}
