"""What the checks for agents and models of one's own refuse, and how they say so."""

from __future__ import annotations

import numpy as np
import pytest

import cobandit as cb
from cobandit import AgentError, InvalidInput
from cobandit.testing import AgentContract, check_compiled


def test_a_contract_without_its_agent() -> None:
    class Unmade(AgentContract):
        pass

    with pytest.raises(NotImplementedError, match=r"Unmade must write make\(self\)"):
        Unmade().make()


def test_nothing_to_compare() -> None:
    with pytest.raises(AgentError, match="Nothing could be compared: no problems were given"):
        check_compiled(cb.NaiveUCB(), problems=[])
    with pytest.raises(InvalidInput, match="must be an agent or a joint controller"):
        check_compiled("naive-ucb")  # type: ignore[arg-type]


def test_ranks_that_are_drawn_are_not_known() -> None:
    problem = cb.Problem.bernoulli(np.eye(2), roles="random")
    with pytest.raises(InvalidInput, match="no ranks are known beforehand"):
        problem.known_ranks()
