"""What lies on what in a burger, and who brings it."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from cobandit.base.errors import InvalidInput
from cobandit.studies.burger import FILLINGS, Layer, burger_layers, two_filling_layers

ORDERS = {
    (0, 0): ["patty", "tomato", "cheese", "lettuce"],
    (0, 1): ["patty", "lettuce", "cheese", "tomato"],
    (1, 0): ["cheese", "tomato", "patty", "lettuce"],
    (1, 1): ["cheese", "lettuce", "patty", "tomato"],
}


@pytest.mark.parametrize("arms", ORDERS)
def test_four_fillings_in_their_order_between_buns(arms):
    layers = burger_layers(arms)
    assert [layer.item for layer in layers] == ["bottom_bun", *ORDERS[arms], "top_bun"]
    assert [layer.by for layer in layers] == ["shop", *["participant", "partner"] * 2, "shop"]


def test_no_burger_lacks_a_filling_and_no_two_are_the_same():
    burgers = [burger_layers(arms) for arms in itertools.product((0, 1), repeat=2)]
    assert len(set(burgers)) == 4
    everything = {Layer(item, "participant") for item in FILLINGS[0]} | {Layer(item, "partner") for item in FILLINGS[1]}
    assert all(set(burger[1:-1]) == everything for burger in burgers)


def test_one_filling_of_each_where_a_design_has_no_more():
    assert [layer.item for layer in two_filling_layers((1, 0))] == ["bottom_bun", "cheese", "tomato", "top_bun"]
    assert [layer.item for layer in two_filling_layers((8, 2))] == ["bottom_bun", "slab_8", "slab_2", "top_bun"]
    assert [layer.by for layer in two_filling_layers((0, 0))] == ["shop", "participant", "partner", "shop"]


def test_arms_may_be_numbers_of_an_array():
    arms: Any = np.array([1, 0])
    assert burger_layers(arms) == burger_layers((1, 0))


@pytest.mark.parametrize(
    "arms", [(), (0,), (0, 1, 0), (2, 0), (0, -1), (0, 0.5), (0, float("nan")), ("patty", 0), "01", None, 7, (True, 0)]
)
def test_anything_else_is_refused(arms):
    with pytest.raises(InvalidInput, match="must be"):
        burger_layers(arms)


def test_more_slabs_than_keys_are_refused():
    with pytest.raises(InvalidInput, match="0 to 8"):
        two_filling_layers((9, 0))
