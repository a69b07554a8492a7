"""What a power analysis gives: points, curves, the smallest size that reaches a power; as rows and as files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cobandit.analysis.plan import AnalysisPlan, Hypothesis
from cobandit.analysis.population import Population
from cobandit.base.errors import InvalidInput
from cobandit.base.files import make_folder, save_csv, save_json
from cobandit.base.json_types import JsonObject
from cobandit.base.numbers import count, percent
from cobandit.stats import Interval
from cobandit.studies.design import StudyDesign

TARGETS = (0.8, 0.9)
"""The powers that people plan for."""

COLUMNS = (
    "design",
    "behaviour",
    "hypothesis",
    "measure",
    "test",
    "n",
    "simulations",
    "power",
    "power_low",
    "power_high",
    "holm",
    "holm_low",
    "holm_high",
    "opposite",
    "effect_d_z",
    "effect_sd",
    "difference",
)
"""The columns of ``power.csv``."""


@dataclass(frozen=True)
class PowerPoint:
    """One planned test at one size of the study.

    ``power`` is the share of simulated studies in which the test is significant and, where a direction is planned, the
    difference does not point the other way; ``corrected`` the same with Holm's correction within the family (None: no
    family). ``planned`` is the one by which the plan's hypothesis would be judged.
    ``opposite`` is the share that is significant the wrong way. ``effect`` is d_z, its mean over the studies and its
    standard deviation between them (None: no two conditions, or no study in which people differ).
    """

    n: int
    simulations: int
    power: Interval
    corrected: Interval | None
    opposite: float
    effect: float | None
    effect_sd: float | None
    difference: float | None

    @property
    def planned(self) -> Interval:
        """The power of the test as it is planned: corrected, where it is in a family."""
        return self.power if self.corrected is None else self.corrected

    def to_dict(self) -> dict[str, Any]:
        """Plain values by name, ready for JSON."""
        row: JsonObject = {"n": self.n, "simulations": self.simulations}
        for key, interval in (("power", self.power), ("holm", self.corrected)):
            row |= {
                key: None if interval is None else interval.value,
                f"{key}_low": None if interval is None else interval.low,
                f"{key}_high": None if interval is None else interval.high,
            }
        return row | {
            "opposite": self.opposite,
            "effect_d_z": self.effect,
            "effect_sd": self.effect_sd,
            "difference": self.difference,
        }


@dataclass(frozen=True)
class Smallest:
    """The smallest size that reaches a power: the first one from which on every size of the list does.

    ``low`` and ``high`` are the same for the upper and the lower limits of the intervals; None: no size of the list.
    """

    target: float
    n: int | None
    low: int | None
    high: int | None
    largest: int

    def __str__(self) -> str:
        if self.n is None:
            return f"not reached by n = {self.largest}"
        low = self.n if self.low is None else self.low
        high = f"above {self.largest}" if self.high is None else f"{self.high}"
        return f"{self.n}" if str(low) == high else f"{self.n} ({low} to {high})"

    def to_dict(self) -> dict[str, Any]:
        """Plain values by name, ready for JSON."""
        return {"target": self.target, "n": self.n, "low": self.low, "high": self.high, "largest": self.largest}


@dataclass(frozen=True)
class PowerCurve:
    """One planned test over all sizes."""

    hypothesis: Hypothesis
    points: tuple[PowerPoint, ...]

    def smallest(self, target: float, *, corrected: bool = True) -> Smallest:
        """Return the smallest size of the list that reaches the power ``target``, as planned or without Holm's
        correction.
        """
        intervals = [point.planned if corrected else point.power for point in self.points]
        sizes = [point.n for point in self.points]

        def first(values: Sequence[float]) -> int | None:
            reached = None
            for n, value in zip(reversed(sizes), reversed(values), strict=True):
                if value < target:
                    break
                reached = n
            return reached

        return Smallest(
            target,
            first([interval.value for interval in intervals]),
            first([interval.high for interval in intervals]),
            first([interval.low for interval in intervals]),
            sizes[-1],
        )


@dataclass(frozen=True)
class LeftOut:
    """A planned test that cannot be simulated, and why."""

    hypothesis: Hypothesis
    reason: str


@dataclass(frozen=True)
class PowerAnalysis:
    """The power of every planned test that can be simulated, for one population of simulated participants."""

    design: StudyDesign
    plan: AnalysisPlan
    population: Population
    sizes: tuple[int, ...]
    simulations: int
    seed: int
    engine: str
    seconds: float
    curves: tuple[PowerCurve, ...]
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...] = ()
    team_correlation: float | None = None

    @property
    def team_size(self) -> int:
        """How many people are in a team; 1 in a design for one person."""
        return len(self.design.participant_seats)

    def people(self, n: int) -> str:
        """Return a number of participants in words, with the number of teams where people are in teams."""
        return f"{n:,}" if self.team_size == 1 else f"{n:,} in {count(n // self.team_size, 'team')}"

    def needed(self, smallest: Smallest) -> str:
        """Return the smallest number of participants in words, with the number of teams where people are in teams."""
        if self.team_size == 1 or smallest.n is None:
            return str(smallest)
        return f"{smallest}: {count(smallest.n // self.team_size, 'team')}"

    @property
    def team_sentences(self) -> tuple[str, ...]:
        """Sentences about teams and people who leave; none in a design for one person in which all stay."""
        sentences = []
        if self.team_size > 1:
            likeness = (
                f", {percent(self.population.alike)} % of the teams are of one kind" if self.population.alike else ""
            )
            sentences.append(
                f"n counts people in teams of {self.team_size}; every test has one value per team. Members draw their "
                f"behaviours one by one{likeness}."
            )
            if self.team_correlation is not None:
                sentences.append(
                    f"The task regret of two people of one team correlates by {self.team_correlation:.2f} where they "
                    "play alone (intraclass correlation, each seat from its own mean)."
                )
        if self.population.dropout:
            whole = (1 - self.population.dropout) ** self.team_size
            lost = "teams that lack a member are" if self.team_size > 1 else "they are"
            sentences.append(
                f"{percent(self.population.dropout)} % of the people leave, and {lost} not analysed, which leaves "
                f"{percent(whole)} %; n counts those who begin."
            )
        return tuple(sentences)

    def curve(self, id: str) -> PowerCurve:
        """Return the curve of one hypothesis."""
        curves = {curve.hypothesis.id: curve for curve in self.curves}
        if id not in curves:
            raise InvalidInput(f"There is no curve of {id!r}; there are those of {', '.join(curves)}.")
        return curves[id]

    @property
    def chance(self) -> str:
        """In a sentence, the chance that such a study finds its first hypothesis: at the planned n, or the largest."""
        curve = self.curves[0]
        point = next((point for point in curve.points if point.n == self.plan.n), curve.points[-1])
        power = point.planned
        way = "" if curve.hypothesis.direction == "two-sided" else " in the expected direction"
        missed = "most such studies would not find it" if power.value < 0.5 else "the others would miss it"
        many = f"{point.n:,} simulated participants"
        if self.team_size > 1:
            many += f" in {count(point.n // self.team_size, 'team')}"
        return (
            f"With {many} the chance of a significant {curve.hypothesis.id}{way} is "
            f"{percent(power.value)} % ({percent(power.low)} to {percent(power.high)} %); {missed}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values by name, ready for JSON."""
        return {
            "chance": self.chance,
            "design": self.design.name,
            "digest": self.design.digest,
            "plan": self.plan.digest,
            "alpha": self.plan.alpha,
            "behaviour": self.population.label,
            "members": [
                {"behaviour": member.title, "options": member.options, "share": share}
                for member, share in self.population.members
            ],
            "participants": list(self.sizes),
            "simulations": self.simulations,
            "seed": self.seed,
            "engine": self.engine,
            "seconds": self.seconds,
            "simulated": True,
            "tests": [
                {
                    "hypothesis": curve.hypothesis.to_dict(),
                    "smallest": [curve.smallest(target).to_dict() for target in TARGETS],
                    "smallest_uncorrected": [curve.smallest(target, corrected=False).to_dict() for target in TARGETS],
                    "points": [point.to_dict() for point in curve.points],
                }
                for curve in self.curves
            ],
            "left_out": [{"id": test.hypothesis.id, "reason": test.reason} for test in self.left_out],
            "notes": list(self.notes),
        } | self._about_teams()

    def _about_teams(self) -> dict[str, object]:
        """Return the facts about teams and people who leave; nothing for a design that has neither."""
        leaving: dict[str, object] = {"dropout": self.population.dropout} if self.population.dropout else {}
        if self.team_size == 1:
            return leaving
        return leaving | {
            "team_size": self.team_size,
            "teams": [n // self.team_size for n in self.sizes],
            "alike": self.population.alike,
            "team_correlation": self.team_correlation,
        }

    def save(self, folder: str | os.PathLike[str], *, command: str = "") -> list[Path]:
        """Write ``power.csv`` and ``power.json`` into a folder. `save_power_analyses` writes several analyses
        together.
        """
        return save_power_analyses([self], folder, command=command)


def power_rows(analyses: Sequence[PowerAnalysis]) -> Iterator[list[Any]]:
    """Yield one row for every population, test and size, in the order of `COLUMNS`."""
    for analysis in analyses:
        for curve in analysis.curves:
            about = [analysis.design.name, analysis.population.label, curve.hypothesis.id]
            about += [curve.hypothesis.measure, curve.hypothesis.test]
            for point in curve.points:
                row = point.to_dict()
                yield [*about, *(row[key] for key in COLUMNS[5:])]


def save_power_analyses(
    analyses: Sequence[PowerAnalysis], folder: str | os.PathLike[str], *, command: str = ""
) -> list[Path]:
    """Write ``power.csv``, a row for every population, test and size, and ``power.json``, all there is, into a folder.

    ``command`` is the line that repeats the work; the JSON file begins with it where it is given. The page with the
    figures is `cobandit.report.write_power_report`.
    """
    out = Path(folder)
    make_folder(out)
    about = {"command": command} if command else {}
    data = about | {"simulated": True, "analyses": [analysis.to_dict() for analysis in analyses]}
    return [save_csv(out / "power.csv", COLUMNS, power_rows(analyses)), save_json(out / "power.json", data)]
