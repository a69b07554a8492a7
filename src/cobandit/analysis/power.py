"""How many participants a study needs: whole studies are simulated, and every planned test is made on each of them.

One crowd serves all sizes: study s has as many participants as the largest size, and its smaller sizes are the first
ones of these. A curve over the sizes is therefore smooth and costs no more than its last point; in return its points
are not independent of each other, and each interval speaks for its own size only. Participants are simulated
(`cobandit.studies.behaviours`), so the curves tell how many people *such* participants would need, no more.
"""

from __future__ import annotations

import itertools
import math
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.agents import Agent
from cobandit.analysis.plan import GOOD, TASK_REGRET, TEAM_REGRET, AnalysisPlan, Hypothesis, default_plan
from cobandit.base.checks import is_list, real, short_repr, whole
from cobandit.base.errors import InvalidInput, TooLarge
from cobandit.base.extras import require_extras
from cobandit.base.streams import CrowdStream, checked_seed
from cobandit.engine.simulation import Progress
from cobandit.stats import Interval, paired_t_p_values, rm_anova, wilcoxon, wilson_interval
from cobandit.studies.behaviours import make_behaviour
from cobandit.studies.crowd import Crowd, Mixture, simulate_participants
from cobandit.studies.design import StudyDesign, load_design

Array = NDArray[np.float64]

TARGETS = (0.8, 0.9)
"""The powers that people plan for."""

SIZES = tuple(range(10, 101, 10))
MOST_SIZES = 200
MOST_PARTICIPANTS = 100_000
MOST_SIMULATIONS = 100_000

MOST_ROUNDS = 10**11
"""Rounds of one power analysis; about a day's work for two cores."""

ROUNDS_PER_CROWD = 20_000_000
"""Studies are played in crowds of about so many rounds: the memory in use does not grow with the number of studies."""


_SURVEY_REASON = "it is about answers, and simulated participants give none: there is no model of what people answer"
_GROUP_REASON = "it compares groups of people, and the behaviours do not say how such groups differ"

# Behaviours as text

_PART = re.compile(r"\s*([A-Za-z][\w-]*)\s*(?:\(([^()]*)\))?\s*(?::\s*([^,()\s]+)\s*)?")
EXAMPLE = "softmax:0.5,knowledge-gradient:0.5 or softmax(temperature=0.2,memory=4)"


@dataclass(frozen=True)
class Population:
    """Who takes part: behaviours with their shares, and what the mixture is called."""

    label: str
    members: tuple[tuple[Agent, float], ...]

    def __str__(self) -> str:
        return self.label


def read_population(text: str) -> Population:
    """A mixture from text: ``NAME(option=value,...):WEIGHT`` and so on, separated by commas.

    Options and weights may be left out; weights for all or for none (then all are equal). Nothing is evaluated: a value
    is a number, true, false, none or a word.
    """
    if not isinstance(text, str) or not text.strip():
        raise InvalidInput(f"The behaviour is {short_repr(text)}; a mixture such as {EXAMPLE} is needed.")
    found: list[tuple[Agent, str | None]] = []
    place = 0
    while True:
        part = _PART.match(text, place)
        if part is None or (part.end() < len(text) and text[part.end()] != ","):
            raise InvalidInput(f"The behaviour is {short_repr(text)}; a mixture such as {EXAMPLE} is needed.")
        found.append((make_behaviour(part[1], **_options(part[2] or "")), part[3]))
        place = part.end() + 1
        if part.end() == len(text):
            break
    weighted = sum(weight is not None for _, weight in found)
    if weighted not in (0, len(found)):
        raise InvalidInput(
            f"The behaviour {short_repr(text)} has {weighted} weights for {len(found)} parts; all or none."
        )
    members = [
        (behaviour, 1.0 if weight is None else real(0.0, 1e12)(f"The weight of {behaviour.title}", _value(weight)))
        for behaviour, weight in found
    ]
    return population(members)


def population(behaviours: Mixture | Population, label: str = "") -> Population:
    """The same from names and agents, as `simulate_participants` takes them; labelled by its parts."""
    if isinstance(behaviours, Population):
        return behaviours
    parts = [(behaviours, 1.0)] if isinstance(behaviours, (str, Agent)) else behaviours
    if not is_list(parts) or not all(isinstance(part, (tuple, list)) and len(part) == 2 for part in parts):
        raise InvalidInput(
            f"The behaviours are {short_repr(behaviours)}; a name or a list of (name, weight) is needed."
        )
    members = [make_behaviour(name) for name, _ in parts]
    weights = [
        real(0.0, 1e12)(f"The weight of {member.title}", weight)
        for member, (_, weight) in zip(members, parts, strict=True)
    ]
    if sum(weights) <= 0.0:
        raise InvalidInput("There is no behaviour with a weight above 0; at least one is needed.")
    kept = tuple((member, weight / sum(weights)) for member, weight in zip(members, weights, strict=True))
    return Population(label or _label(kept), kept)


def _options(text: str) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for part in text.split(",") if text.strip() else []:
        name, sign, value = part.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise InvalidInput(f"An option is {short_repr(part)}; name=value is needed, such as temperature=0.2.")
        key = name.strip().replace("-", "_")
        if key in options:
            raise InvalidInput(f"The option {key} was given twice; once is needed.")
        options[key] = _value(value.strip())
    return options


def _value(text: str) -> Any:
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _label(members: Sequence[tuple[Agent, float]]) -> str:
    """Names with their shares, and those options that are not at their default."""
    parts = []
    for behaviour, share in members:
        defaults = {name: default for name, default, _ in behaviour.option_rows()}
        own = {key: value for key, value in behaviour.options.items() if value != defaults.get(key, value)}
        title = behaviour.title + (f"({','.join(f'{key}={value}' for key, value in own.items())})" if own else "")
        parts.append(title if len(members) == 1 else f"{title} {100 * share:.3g} %")
    return ", ".join(parts)


# What comes out


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
        row: dict[str, Any] = {"n": self.n, "simulations": self.simulations}
        for key, found in (("power", self.power), ("holm", self.corrected)):
            row |= {
                key: None if found is None else found.value,
                f"{key}_low": None if found is None else found.low,
                f"{key}_high": None if found is None else found.high,
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
        """The smallest size of the list that reaches the power ``target``, as planned or without Holm's correction."""
        found = [point.planned if corrected else point.power for point in self.points]
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
            first([interval.value for interval in found]),
            first([interval.high for interval in found]),
            first([interval.low for interval in found]),
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

    def curve(self, id: str) -> PowerCurve:
        """The curve of one hypothesis."""
        found = {curve.hypothesis.id: curve for curve in self.curves}
        if id not in found:
            raise InvalidInput(f"There is no curve of {id!r}; there are those of {', '.join(found)}.")
        return found[id]

    def to_dict(self) -> dict[str, Any]:
        """Plain values by name, ready for JSON."""
        return {
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
            "left_out": [{"id": one.hypothesis.id, "reason": one.reason} for one in self.left_out],
            "notes": list(self.notes),
        }


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


def power_rows(analyses: Sequence[PowerAnalysis]) -> Iterator[list[Any]]:
    """One row for every population, test and size, in the order of `COLUMNS`."""
    for analysis in analyses:
        for curve in analysis.curves:
            about = [analysis.design.name, analysis.population.label, curve.hypothesis.id]
            about += [curve.hypothesis.measure, curve.hypothesis.test]
            for point in curve.points:
                row = point.to_dict()
                yield [*about, *(row[key] for key in COLUMNS[5:])]


# The analysis itself


def power_analysis(
    design: StudyDesign | str,
    behaviours: Mixture | Population,
    participants: Sequence[int] = SIZES,
    simulations: int = 1000,
    seed: int | None = 0,
    *,
    plan: AnalysisPlan | None = None,
    engine: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
) -> PowerAnalysis:
    """Simulate ``simulations`` whole studies and give the power of each planned test at each number of participants.

    Without a ``plan`` the paper's plan for the design is taken (`default_plan`). The numbers are the same whatever the
    engine and the threads; the first studies are the same whatever their number. Tests of survey answers and of groups
    of people cannot be simulated and are told in ``left_out``; where one is in a family with others, Holm's correction
    counts it as a test that shows nothing. ``progress(done, all)`` counts participants.
    """
    require_extras("A power analysis", stats=True, fast=engine == "fast")
    study = load_design(design) if isinstance(design, str) else design
    if not isinstance(study, StudyDesign):
        raise InvalidInput(f"design is {short_repr(design)}; a StudyDesign or the name of one is needed.")
    people = population(behaviours)
    sizes = checked_sizes(participants)
    count = whole(1, MOST_SIMULATIONS)("simulations", simulations)
    number = checked_seed(seed)
    chosen = default_plan(study) if plan is None else plan.checked(study)
    kept, left_out = _sorted_out(chosen.hypotheses)
    refuse_endless(study, sizes[-1] * count)

    start = time.perf_counter()
    tally = Tally(chosen, kept, [condition.name for condition in study.conditions], sizes)
    used = ""
    for crowd, studies in crowds_of(
        study, people, sizes[-1], count, number, engine=engine, threads=threads, progress=progress
    ):
        tally.add(measures_of(crowd, studies))
        used = crowd.engine
    return PowerAnalysis(
        design=study,
        plan=chosen,
        population=people,
        sizes=sizes,
        simulations=count,
        seed=number,
        engine=used,
        seconds=time.perf_counter() - start,
        curves=tally.curves(),
        left_out=left_out,
        notes=_notes(study, chosen, kept, left_out),
    )


def checked_sizes(participants: Any) -> tuple[int, ...]:
    """The numbers of participants: whole, at least 2, ascending."""
    if isinstance(participants, int) and not isinstance(participants, bool):
        participants = (participants,)
    if not is_list(participants):
        raise InvalidInput(f"participants is {short_repr(participants)}; a list of numbers such as 10,20,40 is needed.")
    given = list(participants)
    if not 1 <= len(given) <= MOST_SIZES:
        raise InvalidInput(f"participants has {len(given)} entries; from 1 to {MOST_SIZES} are needed.")
    sizes = [whole(2, MOST_PARTICIPANTS)("The number of participants", n) for n in given]
    for before, after in itertools.pairwise(sizes):
        if after <= before:
            raise InvalidInput(f"participants has {after} after {before}; the numbers must ascend.")
    return tuple(sizes)


def refuse_endless(design: StudyDesign, participants: int) -> None:
    """Work that would not come to an end is refused before it starts."""
    rounds = participants * _rounds_of_one(design)
    if rounds > MOST_ROUNDS:
        raise TooLarge(
            f"{participants:,} simulated participants of {_rounds_of_one(design):,} rounds each are {rounds:.2g} "
            f"rounds; at most {MOST_ROUNDS:.0e} are played at once. Ask for fewer simulations or participants."
        )


def _rounds_of_one(design: StudyDesign) -> int:
    warm = 0 if design.warm_start is None else design.warm_start.rounds
    return len(design.conditions) * design.episodes * (warm + design.rounds)


def crowds_of(
    design: StudyDesign,
    people: Population,
    participants: int,
    simulations: int,
    seed: int,
    *,
    engine: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Iterator[tuple[Crowd, NDArray[np.int64]]]:
    """Whole studies in a few large crowds; each crowd with the places of its participants, studies x participants.

    Every study begins with the first order, so each is counterbalanced as a real one would be.
    """
    room = -(-participants // len(design.orders)) * len(design.orders)
    each = max(1, ROUNDS_PER_CROWD // (room * _rounds_of_one(design)))
    for crowd_number, first in enumerate(range(0, simulations, each)):
        count = min(each, simulations - first)
        before = first * room

        def report(done: int, _: int, before: int = before) -> None:
            assert progress is not None
            progress(before + done, simulations * room)

        crowd = simulate_participants(
            design,
            people.members,
            count * room,
            crowd_seed(seed, crowd_number),
            engine=engine,
            threads=threads,
            progress=None if progress is None else report,
        )
        yield crowd, np.arange(count * room).reshape(count, room)[:, :participants]


def crowd_seed(seed: int, number: int) -> int:
    """The seed of the crowd of a number."""
    state = np.random.SeedSequence(seed, spawn_key=(CrowdStream.CROWDS, number)).generate_state(2, np.uint32)
    return int(state[0]) | int(state[1]) << 32


def measures_of(crowd: Crowd, places: NDArray[np.int64]) -> dict[str, Array]:
    """What each participant achieved over all counted rounds: studies x participants x conditions."""
    regret = crowd.task_regret.sum(axis=2)[places]
    return {
        TASK_REGRET: regret,
        TEAM_REGRET: regret * crowd.design.problem.team_factor,
        GOOD: crowd.good.sum(axis=2).astype(np.float64)[places],
    }


def _sorted_out(hypotheses: Sequence[Hypothesis]) -> tuple[tuple[Hypothesis, ...], tuple[LeftOut, ...]]:
    """The hypotheses that can be simulated, and the others with the reason."""
    kept, left_out = [], []
    for hypothesis in hypotheses:
        if hypothesis.measure not in (TASK_REGRET, TEAM_REGRET, GOOD):
            left_out.append(LeftOut(hypothesis, _SURVEY_REASON))
        elif hypothesis.test == "welch":
            left_out.append(LeftOut(hypothesis, _GROUP_REASON))
        else:
            kept.append(hypothesis)
    if not kept:
        raise InvalidInput(
            "The plan has no test that can be simulated: one of task_regret, team_regret or good between conditions "
            "(paired-t, wilcoxon, rm-anova) is needed."
        )
    return tuple(kept), tuple(left_out)


def _notes(
    design: StudyDesign, plan: AnalysisPlan, kept: Sequence[Hypothesis], left_out: Sequence[LeftOut]
) -> tuple[str, ...]:
    notes = []
    mixed = {one.hypothesis.family for one in left_out} & {hypothesis.family for hypothesis in kept} - {""}
    for family in sorted(mixed):
        notes.append(f"In the family {family} Holm's correction counts tests that are left out as showing nothing.")
    if design.means.per == "study" or design.means.draw == "fixed":
        notes.append("Every simulated study has the very means of the design: the power is that for these means.")
    rules = plan.exclusions
    if rules.attention_failed or rules.quiz_attempts is not None or rules.fastest_ms is not None:
        notes.append("Nobody is excluded here: n counts the participants who are left after the plan's exclusions.")
    return tuple(notes)


class Tally:
    """Counts, study by study, what every planned test shows at every size."""

    def __init__(
        self, plan: AnalysisPlan, hypotheses: Sequence[Hypothesis], conditions: Sequence[str], sizes: Sequence[int]
    ) -> None:
        self._plan, self._hypotheses, self._sizes = plan, tuple(hypotheses), tuple(sizes)
        self._places = [[list(conditions).index(name) for name in one.compares] for one in self._hypotheses]
        # How many tests of its family Holm's correction counts, and which of them are simulated.
        planned = [one.family for one in plan.hypotheses]
        self._families = {
            family: ([k for k, one in enumerate(self._hypotheses) if one.family == family], planned.count(family))
            for family in dict.fromkeys(one.family for one in self._hypotheses)
            if family
        }
        shape = (len(self._hypotheses), len(self._sizes))
        self._studies = 0
        self._hits, self._corrected, self._opposite = (np.zeros(shape, dtype=np.int64) for _ in range(3))
        self._effects = [[_Moments() for _ in self._sizes] for _ in self._hypotheses]
        self._differences = [[_Moments() for _ in self._sizes] for _ in self._hypotheses]

    def add(self, measures: Mapping[str, Array]) -> None:
        """Some more studies: each measure as studies x participants x conditions."""
        self._studies += len(next(iter(measures.values())))
        for j, n in enumerate(self._sizes):
            values = [
                np.ascontiguousarray(measures[one.measure][:, :n, places])
                for one, places in zip(self._hypotheses, self._places, strict=True)
            ]
            p_values = np.stack([p_values_of(*pair) for pair in zip(self._hypotheses, values, strict=True)])
            corrected = p_values.copy()
            for members, planned in self._families.values():
                corrected[members] = holm_p_values(p_values[members], planned)
            for k, one in enumerate(self._hypotheses):
                right, wrong = self._directions(one, values[k])
                self._hits[k, j] += np.count_nonzero((p_values[k] < self._plan.alpha) & right)
                self._corrected[k, j] += np.count_nonzero((corrected[k] < self._plan.alpha) & right)
                self._opposite[k, j] += np.count_nonzero((p_values[k] < self._plan.alpha) & wrong)
                if values[k].shape[2] == 2:
                    difference = values[k][..., 0] - values[k][..., 1]
                    mean, sd = difference.mean(axis=1), difference.std(axis=1, ddof=1)
                    self._differences[k][j].add(mean)
                    self._effects[k][j].add(mean[sd > 0] / sd[sd > 0])

    @staticmethod
    def _directions(hypothesis: Hypothesis, values: Array) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """In which studies the difference does not point the wrong way, and in which it does."""
        if hypothesis.direction == "two-sided" or hypothesis.test == "rm-anova":
            wrong = np.zeros(len(values), dtype=bool)
        else:
            difference = values[..., 0] - values[..., 1]
            middle = np.median(difference, axis=1) if hypothesis.test == "wilcoxon" else difference.mean(axis=1)
            wrong = middle > 0 if hypothesis.direction == "less" else middle < 0
        return ~wrong, wrong

    def curves(self) -> tuple[PowerCurve, ...]:
        """What has been counted so far."""
        if not self._studies:
            raise InvalidInput("There is no simulated study yet; at least one is needed.")
        return tuple(
            PowerCurve(one, tuple(self._point(k, j) for j in range(len(self._sizes))))
            for k, one in enumerate(self._hypotheses)
        )

    def _point(self, k: int, j: int) -> PowerPoint:
        effect, difference = self._effects[k][j], self._differences[k][j]
        family = bool(self._hypotheses[k].family)
        return PowerPoint(
            n=self._sizes[j],
            simulations=self._studies,
            power=wilson_interval(int(self._hits[k, j]), self._studies),
            corrected=wilson_interval(int(self._corrected[k, j]), self._studies) if family else None,
            opposite=float(self._opposite[k, j] / self._studies),
            effect=effect.mean if effect.count else None,
            effect_sd=effect.sd,
            difference=difference.mean if difference.count else None,
        )


def p_values_of(hypothesis: Hypothesis, values: Array) -> Array:
    """The p-value of the planned test in each study; ``values`` is studies x participants x compared conditions.

    A study that cannot be tested has shown nothing: its p-value is 1.
    """
    if hypothesis.test == "paired-t":
        return paired_t_p_values(values[..., 0] - values[..., 1], hypothesis.alternative)
    if hypothesis.test == "wilcoxon":
        # One by one: the exact distribution depends on the ties of each study.
        found = [wilcoxon(study[:, 0], study[:, 1], alternative=hypothesis.alternative).p for study in values]
    elif values.shape[2] == 2:
        # With two conditions their effect in a repeated-measures analysis is the paired t test: F = t squared.
        return paired_t_p_values(values[..., 0] - values[..., 1])
    else:
        # Summed over the episodes: a second factor does not change the F of the first one.
        found = [rm_anova(study, ("condition",))[0].p for study in values]
    return np.array([1.0 if p is None else p for p in found])


def holm_p_values(p_values: Array, tests: int) -> Array:
    """Holm's correction of each study (tests x studies); tests of the family that are not there count with p = 1."""
    order = np.argsort(p_values, axis=0, kind="stable")
    factors = np.arange(tests, tests - len(p_values), -1)[:, np.newaxis]
    stepped = np.maximum.accumulate(np.take_along_axis(p_values, order, axis=0) * factors, axis=0)
    corrected = np.empty_like(p_values)
    np.put_along_axis(corrected, order, np.minimum(stepped, 1.0), axis=0)
    return corrected


class _Moments:
    """Mean and standard deviation of numbers that come in batches."""

    def __init__(self) -> None:
        self.count, self.mean, self._squares = 0, 0.0, 0.0

    def add(self, values: Array) -> None:
        """One more batch."""
        if not len(values):
            return
        mean, total = float(values.mean()), self.count + len(values)
        gap = mean - self.mean
        self._squares += float(((values - mean) ** 2).sum()) + gap**2 * self.count * len(values) / total
        self.mean += gap * len(values) / total
        self.count = total

    @property
    def sd(self) -> float | None:
        """The standard deviation; None for fewer than two numbers."""
        return math.sqrt(self._squares / (self.count - 1)) if self.count > 1 else None
