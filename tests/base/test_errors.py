"""How errors show what came."""

from __future__ import annotations

from cobandit.base.errors import short_repr


def test_a_value_is_shown_short_and_on_one_line() -> None:
    assert short_repr("x" * 1000) == "'" + "x" * 56 + "..."
    assert short_repr("two\nlines") == r"'two\nlines'"
    assert short_repr(10**5000) == "a int too long to show"
