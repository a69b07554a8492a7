"""What people are paid: decimals from the file to the list."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from cobandit import InvalidInput
from cobandit.studies import StudyDesign, load_design, parse_design
from cobandit.studies.design import Payment

BURGER = load_design("burger").to_dict()


def rules(**values: Any) -> Payment:
    return Payment.read("payment", {"currency": "GBP"} | values)


@pytest.mark.parametrize(
    ("bonuses", "successes", "passed", "bonus"),
    [
        ([], 30, True, "0.00"),
        ([{"per": "success", "amount": "0.05"}], 27, True, "1.35"),
        ([{"per": "success", "amount": 0.1}], 3, None, "0.30"),  # as floats: 0.30000000000000004
        ([{"per": "success", "amount": "0.005"}], 1, True, "0.01"),  # half a penny goes up
        ([{"per": "success", "amount": "0.005"}], 3, True, "0.02"),
        ([{"per": "success", "amount": "0.10", "most": "2.00"}], 40, True, "2.00"),
        ([{"per": "participant", "amount": 1}], 0, None, "1.00"),
        ([{"per": "participant", "amount": "1", "attention": True}], 9, False, "0.00"),
        ([{"per": "participant", "amount": "1", "attention": True}], 9, None, "1.00"),
        ([{"per": "success", "amount": "0.02"}, {"per": "participant", "amount": "0.5"}], 10, True, "0.70"),
    ],
)
def test_bonuses(bonuses: list[Any], successes: int, passed: bool | None, bonus: str) -> None:
    pay = rules(fixed="2.50", bonuses=bonuses).pay(successes, passed)
    assert (str(pay.fixed), str(pay.bonus)) == ("2.50", bonus)
    assert pay.total == Decimal("2.50") + Decimal(bonus)


@pytest.mark.parametrize(("currency", "bonus"), [("EUR", "1.24"), ("JPY", "1"), ("KWD", "1.235")])
def test_the_coins_of_a_currency(currency: str, bonus: str) -> None:
    assert (
        str(rules(currency=currency, bonuses=[{"per": "participant", "amount": "1.235"}]).pay(0, None).bonus) == bonus
    )


@pytest.mark.parametrize(
    "values",
    [
        {"currency": "pounds"},
        {"currency": 7},
        {"fixed": "-1"},
        {"fixed": "1,50"},
        {"fixed": "nan"},
        {"fixed": float("nan")},
        {"fixed": float("inf")},
        {"fixed": 1e-9},
        {"fixed": True},
        {"fixed": "1.005"},
        {"fixed": "5000000"},
        {"currency": "JPY", "fixed": "1.50"},
        {"bonus": []},
        {"bonuses": {}},
        {"bonuses": [{"per": "hour", "amount": "1"}]},
        {"bonuses": [{"per": "success"}]},
        {"bonuses": [{"per": "success", "amount": "0"}]},
        {"bonuses": [{"per": "success", "amount": "1", "most": "0.5"}]},
        {"bonuses": [{"per": "success", "amount": "1", "each": 2}]},
    ],
)
def test_rules_that_are_none(values: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        StudyDesign.from_dict(BURGER | {"payment": {"currency": "GBP"} | values})


def test_from_a_file_and_back() -> None:
    from cobandit.studies.design import design_text

    text = design_text("three-by-three") + (
        '\n[payment]\ncurrency = "EUR"\nfixed = 3\n\n[[payment.bonuses]]\nper = "success"\namount = 0.07\n'
    )
    design = parse_design(text)
    assert design.payment is not None
    assert str(design.payment.pay(10, None).total) == "3.70"
    assert StudyDesign.from_dict(design.to_dict()) == design
    assert "payment" not in load_design("burger").essence()  # digests of designs without it are what they were
