"""One result of a study as a row of data, before it is a sentence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Description:
    """A sample in a few numbers: mean, spread, and the t interval of the mean; None where there is too little data."""

    name: str = ""
    n: int
    mean: float | None = None
    median: float | None = None
    sd: float | None = None
    se: float | None = None
    low: float | None = None
    high: float | None = None
    level: float = 0.95
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values by name, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One test as one row: the question, the result, the size of the effect and its uncertainty.

    ``name`` is the question, ``test`` the method. ``estimate`` has the units of the data (a mean difference, a
    coefficient), ``effect`` has no units (``effect_name`` says which effect size), and both have limits at ``level``,
    which are two-sided for every ``alternative``. ``n`` counts participants, for a two-sample test those of both
    groups. ``groups`` describes the samples, ``more`` contains further numbers of the method. ``adjusted`` sets
    ``p_adjusted`` if several tests answer one question.

    Values that could not be computed are None, and ``note`` gives the reason. No number in a row is ever NaN or
    infinite, so a row can always be written as JSON.
    """

    name: str
    test: str
    n: int
    statistic_name: str = ""
    statistic: float | None = None
    df: tuple[float, ...] | None = None
    p: float | None = None
    p_adjusted: float | None = None
    alternative: str = "two-sided"
    estimate_name: str = ""
    estimate: float | None = None
    estimate_low: float | None = None
    estimate_high: float | None = None
    effect_name: str = ""
    effect: float | None = None
    low: float | None = None
    high: float | None = None
    level: float = 0.95
    groups: tuple[Description, ...] = ()
    more: Mapping[str, float | None] = field(default_factory=dict, hash=False)
    note: str = ""

    def __post_init__(self) -> None:
        # A net under every method: a number that is none must not travel on unnoticed.
        lost = []
        for name in _NUMBERS:
            value = getattr(self, name)
            if value is not None:
                if not math.isfinite(value):
                    lost.append(name.replace("_", " "))
                object.__setattr__(self, name, finite(value))
        if self.df is not None:
            object.__setattr__(self, "df", tuple(float(value) for value in self.df))
        object.__setattr__(self, "more", {name: finite(value) for name, value in self.more.items()})
        if lost:
            object.__setattr__(self, "note", sentences([self.note, f"Beyond what can be computed: {', '.join(lost)}."]))

    def to_dict(self) -> dict[str, Any]:
        """Plain values by name, ready for JSON."""
        row = asdict(self)
        row["df"] = None if self.df is None else list(self.df)
        row["groups"] = [group.to_dict() for group in self.groups]
        return row


_NUMBERS = tuple(entry.name for entry in fields(Finding) if entry.type in ("float", "float | None"))


def finite(value: float | None) -> float | None:
    """Return the number as a plain float, or None where there is none."""
    return None if value is None or not math.isfinite(value) else float(value)


def sentences(parts: Iterable[str]) -> str:
    """Return the sentences that are not empty, each once, as one note."""
    return " ".join(dict.fromkeys(part for part in parts if part))
