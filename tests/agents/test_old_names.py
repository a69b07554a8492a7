"""Names that have changed still work, with a warning."""

from __future__ import annotations

import pytest

import cobandit as cb
from cobandit import agents
from cobandit.agents import bank


@pytest.mark.parametrize("home", [cb, agents, bank])
def test_the_old_name_of_the_bank_warns(home: object) -> None:
    with pytest.warns(DeprecationWarning, match=r"\.BankFollower is now .*\.Bank; the old name will go"):
        assert home.BankFollower is cb.Bank  # type: ignore[attr-defined]
    assert "BankFollower" not in cb.__all__
    with pytest.raises(AttributeError, match="no attribute 'Banc'"):
        home.Banc  # type: ignore[attr-defined]  # noqa: B018
