"""What a researcher is told about a design before anybody takes part."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cobandit.base.records import Table
from cobandit.studies import ParticipantPlan, load_design, shipped_designs
from cobandit.studies.advice import design_warnings

SHIPPED = replace(load_design("burger"), partners=(), languages=("en",), translations=Table())
BURGER = replace(SHIPPED, consent=replace(SHIPPED.consent, text="What our board has approved."))


@pytest.mark.parametrize("name", shipped_designs())
def test_nothing_is_wrong_with_what_is_shipped(name: str) -> None:
    """Except the consent, which only the researcher can write, and the limit of swapped labels in `burger-pair`."""
    consent, *others = design_warnings(load_design(name))
    assert "is the placeholder of a shipped design" in consent
    assert ["sets 1, 3 have the same labels" in other for other in others] == [True] * (name == "burger-pair")


def test_swapped_labels_repeat_over_three_conditions() -> None:
    third = replace(BURGER.conditions[0], name="third")
    three = replace(BURGER, conditions=(*BURGER.conditions, third))
    (warning,) = design_warnings(three)
    assert "sets 1, 3 have the same labels and the same chances and luck" in warning
    (own,) = design_warnings(replace(three, shared_luck=False))
    assert "sets 1, 3 have the same labels and the same chances, so" in own
    four = replace(three, conditions=(*three.conditions, replace(third, name="fourth")))
    assert "sets 1, 3 and sets 2, 4 have" in design_warnings(four)[0]
    assert design_warnings(replace(three, swap_labels=False)) == []


def test_the_warning_is_true() -> None:
    three = replace(BURGER, conditions=(*BURGER.conditions, replace(BURGER.conditions[0], name="third")))
    first, second, last = ParticipantPlan(three, 5, 0).episodes
    assert (first.means == last.means).all()
    assert (first.luck() == last.luck()).all()
    assert (first.means != second.means).any()
