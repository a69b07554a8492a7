"""Every number that the paper published about its two studies, as data.

They are from the results of its sections *Experiments* and *Online Casino Study*.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

_ANSWERS = "simulated participants give no answers"

_GROUPS = "the behaviours do not say who does research"

_PUBLISHED_SE = "its published standard error"


@dataclass(frozen=True)
class Published:
    """One published number.

    ``value`` is None where the paper gives a limit only (``claim``). ``se`` is the published standard error.
    ``computed`` tells what we have worked out of other published numbers. ``missing`` says why a number is not
    simulated. ``scale`` is the unit of the distance by which populations are ranked (None: not ranked by it).
    """

    id: str
    text: str
    value: float | None = None
    se: float | None = None
    claim: str = ""
    computed: str = ""
    missing: str = ""
    scale: float | None = None
    scaled_by: str = ""

    @property
    def simulated(self) -> bool:
        """Whether a simulated study has this number."""
        return not self.missing

    def as_text(self) -> str:
        """Return the number as it was published."""
        if self.value is None:
            return self.claim
        text = f"{self.value:,.1f}" if abs(self.value) >= 1000 else f"{self.value:g}"
        return text if self.se is None else f"{text} ± {self.se:g}"


def _mean(id: str, text: str, value: float, se: float, scale: float | None = None, scaled_by: str = "") -> Published:
    return Published(id, text, value, se, scale=se if scale is None else scale, scaled_by=scaled_by or _PUBLISHED_SE)


def _count(id: str, text: str, value: int, of: int) -> Published:
    scale = math.sqrt(value * (1 - value / of))
    return Published(id, text, value, scale=scale, scaled_by="the binomial standard error of the published count")


def _apart(a: float, b: float) -> float:
    return round(math.hypot(a, b), 3)


CASINO_LUCK = 1000 * math.sqrt(25) * math.sqrt(4 / 150)
"""How much the coins of 25 casinos of 1000 pulls vary, because their best means do: the largest of four draws from
Unif[0, 1] has variance 4/150. The casinos of the paper are not known."""

_INDEPENDENT = "both standard errors, as if independent"

_CASINOS_TOO = "its standard error and the luck of 25 unknown casinos"

PUBLISHED: dict[str, tuple[Published, ...]] = {
    "burger": (
        _mean("regret-aware", "Task regret with Partner-Aware UCB", 2.7, 0.31),
        _mean("regret-naive", "Task regret with Naive UCB", 3.6, 0.31),
        Published(
            "regret-difference",
            "Regret, Partner-Aware minus Naive",
            -0.9,
            computed="from the two means",
            scale=_apart(0.31, 0.31),
            scaled_by=_INDEPENDENT,
        ),
        Published("regret-aware-se", "Standard error of the regret, Partner-Aware", 0.31),
        Published("regret-naive-se", "Standard error of the regret, Naive", 0.31),
        Published("regret-p", "Lower regret with p < .005 (share of studies)", claim="p < .005"),
        _mean("good-aware", "Satisfied customers with Partner-Aware UCB", 13.5, 0.6),
        _mean("good-naive", "Satisfied customers with Naive UCB", 12.7, 0.6),
        Published(
            "good-difference",
            "Satisfied customers, Partner-Aware minus Naive",
            0.8,
            computed="from the two means",
            scale=_apart(0.6, 0.6),
            scaled_by=_INDEPENDENT,
        ),
        Published("good-aware-se", "Standard error of the customers, Partner-Aware", 0.6),
        Published("good-naive-se", "Standard error of the customers, Naive", 0.6),
        Published("good-p", "More customers with p < .05 (share of studies)", claim="p < .05"),
        Published("alpha", "Cronbach's alpha of the survey", claim="> .95", missing=_ANSWERS),
        Published("researchers-aware", "Regret of 19 AI researchers, Partner-Aware", 1.8, 0.47, missing=_GROUPS),
        Published("researchers-naive", "Regret of 19 AI researchers, Naive", 2.8, 0.58, missing=_GROUPS),
        Published("others-aware", "Regret of 39 others, Partner-Aware", 3.1, 0.39, missing=_GROUPS),
        Published("others-naive", "Regret of 39 others, Naive", 4.1, 0.35, missing=_GROUPS),
    ),
    "casino": (
        _mean(
            "coins-aware",
            "Coins with Partner-Aware UCB",
            18_825.8,
            39.3,
            _apart(39.3, CASINO_LUCK),
            _CASINOS_TOO,
        ),
        _mean("coins-naive", "Coins with Naive UCB", 17_717.2, 235.0, _apart(235.0, CASINO_LUCK), _CASINOS_TOO),
        Published(
            "coins-difference",
            "Coins, Partner-Aware minus Naive",
            1108.6,
            computed="from the two means",
            scale=_apart(39.3, 235.0),
            scaled_by=_INDEPENDENT,
        ),
        Published("coins-aware-se", "Standard error of the coins, Partner-Aware", 39.3),
        Published("coins-naive-se", "Standard error of the coins, Naive", 235.0),
        _count("participants-lower", "Participants of 24 with lower regret", 23, 24),
        _count("participants-significant", "Participants of 24 with significantly lower regret", 14, 24),
        _count("casinos-lower", "Casinos of 25 with lower regret", 21, 25),
        _count("casinos-significant", "Casinos of 25 with significantly lower regret", 16, 25),
        Published(
            "anova-p", "Effect of the algorithm, p < .005, towards less regret (share of studies)", claim="p < .005"
        ),
        Published("alpha", "Cronbach's alpha of the survey", claim="> .85", missing=_ANSWERS),
        Published("survey-p", "All survey items in favour of Partner-Aware UCB", claim="p < .005", missing=_ANSWERS),
    ),
}
"""Every published number of both studies that the paper gives."""

CASINO_BANK = "casino-bank"
"""The casino study with the bank as a third condition, which has not been run with people."""
_NOT_PLAYED = "not played by people"

PUBLISHED[CASINO_BANK] = (
    *PUBLISHED["casino"],
    Published("coins-bank", "Coins with the bank", claim=_NOT_PLAYED),
    Published("bank-difference", "Coins, bank minus Partner-Aware", claim=_NOT_PLAYED),
    Published("bank-p", "More coins than with Partner-Aware, p < .005 (share of studies)", claim=_NOT_PLAYED),
)

PEOPLE = {"burger": 58, "casino": 24, CASINO_BANK: 24}
"""How many took part."""
