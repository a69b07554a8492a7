"""What participants are paid: a fixed amount and bonuses, in whole units of the currency's smallest coin.

Amounts are decimals from the design file to the list of payments; no float ever holds one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

from cobandit.base.checks import one_of, short_repr, with_schema
from cobandit.base.errors import InvalidInput
from cobandit.base.records import Record, entry, flag, listing

PER = ("success", "participant")
"""What a bonus is paid for: each success of the team in rounds that count, or once for each participant."""

MOST_MONEY = Decimal(1_000_000)
_CURRENCY = re.compile(r"[A-Z]{3}")
_AMOUNT = re.compile(r"\d{1,7}(?:\.\d{1,6})?")
_NO_COINS = frozenset(
    ("BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "VND", "VUV", "XAF", "XOF")
)
_THREE_PLACES = frozenset(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"))


def _currency(name: str, value: object) -> str:
    if not isinstance(value, str) or not _CURRENCY.fullmatch(value):
        raise InvalidInput(f"{name} must be a code of three capitals, such as 'EUR' or 'GBP', got {short_repr(value)}.")
    return value


def money(name: str, value: object) -> str:
    """Return an amount of money as a decimal string ("0.05"), from a string or a number of a TOML file."""
    text = value if isinstance(value, str) else repr(value)
    if isinstance(value, bool) or not isinstance(value, (str, int, float)) or not _AMOUNT.fullmatch(text):
        raise InvalidInput(f"{name} must be an amount of money, such as '2.50', got {short_repr(value)}.")
    if Decimal(text) > MOST_MONEY:
        raise InvalidInput(f"{name} is {text}; at most {MOST_MONEY:,} is possible.")
    return text


def _amount_or_empty(name: str, value: object) -> str:
    return "" if value == "" else money(name, value)


with_schema(_currency, {"type": "string", "pattern": f"^{_CURRENCY.pattern}$"})
with_schema(money, {"type": ["string", "number"], "pattern": f"^{_AMOUNT.pattern}$", "minimum": 0})
with_schema(_amount_or_empty, {"type": ["string", "number"], "pattern": f"^(?:{_AMOUNT.pattern})?$", "minimum": 0})


@dataclass(frozen=True)
class Bonus(Record):
    """One bonus: ``amount`` for each success, or once per participant; ``most`` caps it.

    ``attention``: only for those who have passed every attention check.
    """

    per: str = entry(one_of(PER, "thing a bonus is paid per"))
    amount: str = entry(money)
    most: str = entry(_amount_or_empty, "")
    attention: bool = entry(flag, False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not Decimal(self.amount):
            raise InvalidInput("The amount of a bonus is 0; one that is paid is needed, or none.")
        if self.most and Decimal(self.most) < Decimal(self.amount):
            raise InvalidInput(f"The most of a bonus is {self.most}, less than its amount, {self.amount}.")

    def paid(self, successes: int, attention_passed: bool | None) -> Decimal:
        """Return the bonus by this rule, before rounding; ``attention_passed`` is None if there was no check."""
        if self.attention and attention_passed is False:
            return Decimal(0)
        earned = Decimal(self.amount) * (successes if self.per == "success" else 1)
        return min(earned, Decimal(self.most)) if self.most else earned


@dataclass(frozen=True)
class Pay:
    """What one participant gets: the fixed amount and the bonus, each rounded to the smallest coin, half up."""

    currency: str
    fixed: Decimal
    bonus: Decimal

    @property
    def total(self) -> Decimal:
        """Both together."""
        return self.fixed + self.bonus


@dataclass(frozen=True)
class Payment(Record):
    """The rules by which the participants of a study are paid."""

    currency: str = entry(_currency)
    fixed: str = entry(money, "0")
    bonuses: tuple[Bonus, ...] = entry(listing(Bonus.read, 0, 10), ())

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.can_pay(self.fixed):
            raise InvalidInput(
                f"payment.fixed is {self.fixed} {self.currency}, whose smallest coin is {self.coin}; an amount that "
                "can be paid is needed."
            )

    @property
    def coin(self) -> Decimal:
        """The smallest amount of the currency (ISO 4217)."""
        places = 0 if self.currency in _NO_COINS else 3 if self.currency in _THREE_PLACES else 2
        return Decimal(1).scaleb(-places)

    def can_pay(self, amount: str) -> bool:
        """Return whether an amount consists of whole coins."""
        return self.rounded(Decimal(amount)) == Decimal(amount)

    def rounded(self, amount: Decimal) -> Decimal:
        """Return an amount rounded to whole coins, half up."""
        try:
            return amount.quantize(self.coin, ROUND_HALF_UP)
        except InvalidOperation as error:
            raise InvalidInput(f"The payment must have at most 28 digits, got {amount} {self.currency}.") from error

    def pay(self, successes: int, attention_passed: bool | None) -> Pay:
        """Return the pay for a finished study with this many successes; bonuses are added up, then rounded once."""
        bonus = sum((rule.paid(successes, attention_passed) for rule in self.bonuses), Decimal(0))
        return Pay(self.currency, self.rounded(Decimal(self.fixed)), self.rounded(bonus))
