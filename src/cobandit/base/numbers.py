"""Numbers as texts for people: one way to write them, and the styles of the places in which they stand."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, localcontext

DASH = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True)
class NumberStyle:
    """The format of numbers in one place.

    ``decimals`` contains pairs of a size and the decimals of numbers below it; all larger numbers have ``fewest``.
    """

    decimals: tuple[tuple[float, int], ...]
    fewest: int = 0
    absent: str = DASH
    infinite: str = DASH
    minus: str = "-"
    largest: float = math.inf
    """From here on a number is written as a power of ten."""

    def decimals_for(self, values: Iterable[float]) -> int:
        """Return how many decimals a column needs whose values are as large as these."""
        size = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
        return next((places for below, places in self.decimals if size < below), self.fewest)

    def format(self, value: float | None, decimals: int | None = None) -> str:
        """Return a number with as many digits as a person reads, or with the decimals that are given; never a negative
        0.
        """
        if value is None:
            return self.absent
        if not math.isfinite(value):
            return self.infinite
        if abs(value) >= self.largest:
            return f"{value:.3g}".replace("-", self.minus)
        places = self.decimals_for([value]) if decimals is None else decimals
        return f"{rounded(value, places):z,.{places}f}".replace("-", self.minus)


APA = NumberStyle(((1_000.0, 2),), fewest=1)
"""The paragraphs, tables and figures of a study: two decimals, large numbers with one."""

PAGE = NumberStyle(((10.0, 2), (100.0, 1)), minus=MINUS)
"""The tables of a page: three digits or so."""

TERMINAL = NumberStyle(((100.0, 2), (10_000.0, 1)), absent="-", infinite="none", largest=1e9)
"""The tables of a terminal, which are copied as plain text."""


def rounded(value: float, decimals: int = 0) -> Decimal:
    """Return the number as people read it, rounded half away from zero, as browsers do: 0.125 becomes 0.13.

    Python's own formatting rounds the binary value half to even, so 12.5 would become 12 and 13.5 would become 14.
    """
    with localcontext() as context:
        context.prec = 400  # the digits of the largest double and then some
        return Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)


def percent(share: float, decimals: int = 0) -> str:
    """Return a share in percent, without the sign: 0.125 is "13"."""
    return f"{rounded(share, decimals + 2).scaleb(2):z.{decimals}f}"


def count(many: int, noun: str, plural: str = "") -> str:
    """``1 casino``, ``25 casinos``."""
    return f"{many:,} {noun if many == 1 else plural or noun + 's'}"
