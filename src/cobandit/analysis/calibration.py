"""The paper's studies, rehearsed with simulated participants and compared with the published numbers.

The results are not evidence about people. They show how far each kind of simulated participant is from the participants
of the paper, so that researchers know the limits of simulated behaviours. The populations and both index variants of
the robots are a fixed list. Selecting the best match afterwards is fitting, not prediction. The published numbers are
in `analysis.published`.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.analysis.calibration_designs import BANK, with_bank, with_casinos, with_index
from cobandit.analysis.population import Population, population
from cobandit.analysis.power import MOST_SIMULATIONS, crowd_seed, refuse_endless
from cobandit.analysis.published import CASINO_BANK, PEOPLE, PUBLISHED, Published
from cobandit.base.checks import one_of, short_repr, whole
from cobandit.base.errors import InvalidInput
from cobandit.base.extras import require_extras
from cobandit.base.files import make_folder, save_csv, save_json
from cobandit.base.streams import CrowdStream, checked_seed
from cobandit.engine.choice import Engine
from cobandit.engine.simulation import Progress
from cobandit.stats import paired_t_p_values
from cobandit.studies.crowd import Mixture, simulate_participants
from cobandit.studies.design import StudyDesign, load_design

Array = NDArray[np.float64]

NAIVE, AWARE = "naive-ucb", "partner-aware-ucb"

STUDIES = ("burger", "casino")
"""The studies of the paper, which are rehearsed where none is named."""

KNOWN_STUDIES = (*STUDIES, CASINO_BANK)

INDICES = ("paper", "companion")

SIMULATIONS = {"burger": 1000, "casino": 50, CASINO_BANK: 50}
"""How many studies are simulated by default; one of the casino takes as long as 250 of the burger."""

SIGNIFICANT = 0.05
"""The level at which a single participant or casino counts as significant; two-sided, which the paper leaves open."""

STUDIES_PER_CROWD = 250

BEHAVIOURS = ("softmax", "epsilon-greedy", "win-stay-lose-shift", "knowledge-gradient", "naive-ucb")

POPULATIONS: dict[str, Sequence[tuple[str, float]]] = {
    **{name: ((name, 1.0),) for name in BEHAVIOURS},
    "noisy people": (("softmax", 1.0), ("epsilon-greedy", 1.0), ("win-stay-lose-shift", 1.0)),
    "softmax and knowledge gradient": (("softmax", 0.5), ("knowledge-gradient", 0.5)),
    "noisy people, a few planners": (
        ("softmax", 0.35),
        ("epsilon-greedy", 0.35),
        ("win-stay-lose-shift", 0.1),
        ("knowledge-gradient", 0.2),
    ),
    "noisy people, many planners": (
        ("softmax", 0.2),
        ("epsilon-greedy", 0.2),
        ("win-stay-lose-shift", 0.1),
        ("knowledge-gradient", 0.5),
    ),
}
"""Who is rehearsed: every noisy person, two planners, and mixtures of them, each with its share."""


@dataclass(frozen=True)
class Comparison:
    """One published number and our estimate of it.

    ``mean``, ``sd``, ``low`` and ``high`` (the middle 95 %) are over simulated studies of the published size; a share
    of studies has only ``mean``. ``off`` is the distance from the published number to our mean, in published standard
    errors. ``below`` is the share of simulated studies at or below the published number.
    """

    published: Published
    mean: float
    sd: float | None
    low: float | None
    high: float | None
    below: float | None

    @property
    def is_share(self) -> bool:
        """Whether it is a share of the simulated studies, and no mean over them."""
        return self.sd is None

    @property
    def difference(self) -> float | None:
        """Ours minus the published number."""
        return None if self.published.value is None else self.mean - self.published.value

    @property
    def ratio(self) -> float | None:
        """Ours over the published number."""
        value = self.published.value
        return None if value is None or value == 0.0 else self.mean / value

    @property
    def off(self) -> float | None:
        """Published standard errors between the two."""
        difference, se = self.difference, self.published.se
        return None if difference is None or se is None else difference / se

    @property
    def contradicts(self) -> bool:
        """Whether a difference points the other way than the published one."""
        value = self.published.value
        return self.published.id.endswith("-difference") and value is not None and self.mean * value < 0

    def to_dict(self) -> dict[str, Any]:
        """Plain values by name, ready for JSON."""
        return {
            "id": self.published.id,
            "text": self.published.text,
            "published": self.published.value,
            "published_se": self.published.se,
            "claim": self.published.claim,
            "computed": self.published.computed,
            "mean": self.mean,
            "sd": self.sd,
            "low": self.low,
            "high": self.high,
            "difference": self.difference,
            "ratio": self.ratio,
            "published_se_off": self.off,
            "share_at_or_below": self.below,
            "contradicts": self.contradicts,
        }


@dataclass(frozen=True)
class Rehearsal:
    """One population in one study with one index of the robots."""

    study: str
    index: str
    population: Population
    simulations: int
    rows: tuple[Comparison, ...]

    @property
    def distance(self) -> float:
        """The root of the mean square of (ours - published) / scale over all numbers that have a scale."""
        squares = [
            (row.difference / row.published.scale) ** 2
            for row in self.rows
            if row.published.scale is not None and row.difference is not None
        ]
        return math.sqrt(sum(squares) / len(squares))

    @property
    def contradicts(self) -> bool:
        """Whether some difference points the other way than the published one."""
        return any(row.contradicts for row in self.rows)

    def _shares(self) -> dict[str, float]:
        """Return the share of each agent, whatever its options."""
        shares: dict[str, float] = {}
        for member, share in self.population.members:
            shares[member.title] = shares.get(member.title, 0.0) + share
        return shares

    def row(self, id: str) -> Comparison:
        """Return the comparison of one number."""
        return next(row for row in self.rows if row.published.id == id)

    def to_dict(self) -> dict[str, Any]:
        """Plain values by name, ready for JSON."""
        return {
            "study": self.study,
            "index": self.index,
            "population": self.population.label,
            "shares": self._shares(),
            "simulations": self.simulations,
            "distance": self.distance,
            "contradicts": self.contradicts,
            "numbers": [row.to_dict() for row in self.rows],
        }


@dataclass(frozen=True)
class Calibration:
    """All rehearsals of one or both studies."""

    rehearsals: tuple[Rehearsal, ...]
    participants: Mapping[str, int]
    seed: int
    engine: str
    seconds: float

    @property
    def studies(self) -> tuple[str, ...]:
        """The studies that were rehearsed."""
        return tuple(dict.fromkeys(rehearsal.study for rehearsal in self.rehearsals))

    def of(self, study: str) -> tuple[Rehearsal, ...]:
        """Return the rehearsals of one study, the nearest first."""
        mine = [rehearsal for rehearsal in self.rehearsals if rehearsal.study == study]
        return tuple(sorted(mine, key=lambda rehearsal: rehearsal.distance))

    def to_dict(self) -> dict[str, Any]:
        """Plain values by name, ready for JSON."""
        return {
            "simulated": True,
            "warning": WARNING,
            "seed": self.seed,
            "engine": self.engine,
            "seconds": self.seconds,
            "participants": dict(self.participants),
            "rehearsals": [rehearsal.to_dict() for rehearsal in self.rehearsals],
            "not_simulated": {
                study: [
                    {
                        "id": published.id,
                        "text": published.text,
                        "published": published.as_text(),
                        "reason": published.missing,
                    }
                    for published in PUBLISHED[study]
                    if published.missing
                ]
                for study in self.studies
            },
        }

    def save(self, folder: str | os.PathLike[str], *, command: str = "") -> list[Path]:
        """Write ``calibration.csv`` and ``calibration.json`` into a folder.

        ``command`` is the line that repeats the work; the JSON file begins with it where it is given. The page with the
        figures is `cobandit.report.write_calibration_report`.
        """
        out = Path(folder)
        make_folder(out)
        about = {"command": command} if command else {}
        return [
            save_csv(out / "calibration.csv", COLUMNS, calibration_rows(self)),
            save_json(out / "calibration.json", about | self.to_dict()),
        ]


WARNING = (
    "All participants here are simulated; nothing here is evidence about people. The published numbers are those of "
    "the paper's real participants."
)

FITTING = (
    "The nearest population was picked because it is the nearest, after the published numbers were known: that is "
    "fitting, not prediction, and says nothing about how people decide."
)

COLUMNS = (
    "study",
    "index",
    "population",
    "simulations",
    "distance",
    "id",
    "published",
    "published_se",
    "claim",
    "mean",
    "sd",
    "low",
    "high",
    "difference",
    "ratio",
    "published_se_off",
    "share_at_or_below",
    "contradicts",
)
"""The columns of ``calibration.csv``."""


def calibration_rows(calibration: Calibration) -> Iterator[list[Any]]:
    """Yield one row for every population, index and published number, in the order of `COLUMNS`."""
    for rehearsal in calibration.rehearsals:
        who = (rehearsal.study, rehearsal.index, rehearsal.population.label)
        about = [*who, rehearsal.simulations, rehearsal.distance]
        for row in rehearsal.rows:
            values = row.to_dict()
            yield [*about, *(values[key] for key in COLUMNS[5:])]


def calibrate(
    studies: Sequence[str] = STUDIES,
    simulations: int | None = None,
    participants: int | None = None,
    seed: int | None = 0,
    *,
    indices: Sequence[str] = INDICES,
    further: Sequence[Population] = (),
    engine: Engine = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Calibration:
    """Rehearse the paper's studies with every population of `POPULATIONS` and both indices of the robots.

    Simulates ``simulations`` studies of ``participants`` each (default: the published number). All populations use the
    same random numbers: participant i of a mixture plays exactly as participant i of the pure population of the same
    behaviour, so mixtures need no further simulation. The casinos of the paper are not published; each simulated casino
    study draws 25, the same for all populations and both indices. ``"casino-bank"`` is the casino study with the bank
    as a third condition for every participant. ``further`` populations, such as a fitted one, are rehearsed, too; each
    needs a simulation of its own. ``progress(done, all)`` counts participants.
    """
    require_extras("Rehearsing the paper's studies", stats=True, fast=engine == "fast")
    chosen = [one_of(KNOWN_STUDIES, "study")("study", name) for name in dict.fromkeys(studies)]
    if not chosen:
        raise InvalidInput("No study was named; burger, casino or casino-bank is needed, or several of them.")
    variants = [one_of(INDICES, "index")("index", name) for name in dict.fromkeys(indices)]
    number = checked_seed(seed)
    counts = {
        name: whole(2, MOST_SIMULATIONS)("simulations", SIMULATIONS[name] if simulations is None else simulations)
        for name in chosen
    }
    sizes = {
        name: whole(2, 10_000)("participants", PEOPLE[name] if participants is None else participants)
        for name in chosen
    }
    designs = {name: load_design("casino" if name == CASINO_BANK else name) for name in chosen}
    people = {label: population(parts, label) for label, parts in POPULATIONS.items()}
    more = _named_apart(further, people)
    crowds = len(BEHAVIOURS) + len(more)
    for name in chosen:
        refuse_endless(designs[name], sizes[name] * counts[name] * crowds * len(variants))
    total = sum(sizes[name] * counts[name] for name in chosen) * crowds * len(variants)
    finished, used = 0, ""

    def done(more: int) -> None:
        nonlocal finished
        finished += more
        if progress is not None:
            progress(finished, total)

    start = time.perf_counter()
    rehearsals: list[Rehearsal] = []
    for name in chosen:
        for index in variants:
            batches: dict[str, list[dict[str, Array]]] = {label: [] for label in (*people, *more)}
            design = with_index(designs[name], index)
            design = with_bank(design) if name == CASINO_BANK else design
            for pure, draws, played_by in _played(design, sizes[name], counts[name], number, engine, threads, more):
                used = played_by
                for label in more:
                    batches[label].append(_statistics(name, *pure[label]))
                for label, mixture in people.items():
                    batches[label].append(_statistics(name, *_mixed(mixture, pure, draws)))
                done(crowds * draws.size)
            asked = [row for row in PUBLISHED[name] if row.simulated and _comparable(row, sizes[name], name)]
            for label, parts in batches.items():
                numbers = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
                rows = tuple(_compared(published, numbers[published.id]) for published in asked)
                rehearsals.append(Rehearsal(name, index, (people | more)[label], counts[name], rows))
    return Calibration(tuple(rehearsals), sizes, number, used, time.perf_counter() - start)


def _named_apart(further: Sequence[Population], known: Mapping[str, Population]) -> dict[str, Population]:
    """Return further populations by their labels, which must not be taken."""
    named: dict[str, Population] = {}
    for place, entry in enumerate(further):
        if not isinstance(entry, Population):
            raise InvalidInput(f"further[{place}] must be a Population, got {short_repr(entry)}.")
        if entry.label in known or entry.label in named or entry.label in BEHAVIOURS:
            raise InvalidInput(f"The population {entry.label!r} is rehearsed already; leave it out.")
        named[entry.label] = entry
    return named


Outcomes = tuple[Array, Array]  # task regret and good outcomes: studies x participants x conditions x episodes


def _played(
    design: StudyDesign,
    participants: int,
    simulations: int,
    seed: int,
    engine: Engine,
    threads: int | None,
    more: Mapping[str, Population],
) -> Iterator[tuple[dict[str, Outcomes], Array, str]]:
    """Yield some studies at a time: what each pure or further population achieved, and a draw per participant.

    The draws are for the mixtures of pure populations. The conditions are partner-aware, naive and, where it plays, the
    bank.
    """
    shared = design.means.per == "study"
    each = 1 if shared else STUDIES_PER_CROWD
    size = -(-participants // len(design.orders)) * len(design.orders)
    for number, first in enumerate(range(0, simulations, each)):
        count = min(each, simulations - first)
        study = with_casinos(design, seed, number) if shared else design
        pure, used = {}, ""
        everybody: dict[str, Mixture] = {name: name for name in BEHAVIOURS}
        everybody |= {label: list(mixture.members) for label, mixture in more.items()}
        for behaviour, mixture in everybody.items():
            crowd = simulate_participants(
                study, mixture, count * size, crowd_seed(seed, number), engine=engine, threads=threads
            )
            used = crowd.engine
            order = [crowd.conditions.index(name) for name in (AWARE, NAIVE, BANK) if name in crowd.conditions]
            outcomes = [
                values[:, order].reshape(count, size, *values[:, order].shape[1:])[:, :participants].astype(np.float64)
                for values in (crowd.task_regret, crowd.good)
            ]
            pure[behaviour] = (outcomes[0], outcomes[1])
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(CrowdStream.POPULATIONS, number)))
        yield pure, rng.random((count, participants)), used


def _mixed(people: Population, pure: Mapping[str, Outcomes], draws: Array) -> Outcomes:
    """Return each participant's outcomes under the behaviour that the draw gives them."""
    if len(people.members) == 1:
        return pure[people.members[0][0].title]
    kinds = np.searchsorted(np.cumsum([share for _, share in people.members])[:-1], draws, side="right")
    regret, good = (np.empty_like(values) for values in next(iter(pure.values())))
    for kind, (member, _) in enumerate(people.members):
        chosen = kinds == kind
        regret[chosen], good[chosen] = (values[chosen] for values in pure[member.title])
    return regret, good


def _statistics(study: str, regret: Array, good: Array) -> dict[str, Array]:
    """Return every number of the published tables for each simulated study."""
    total, won = regret.sum(axis=3), good.sum(axis=3)
    difference = total[..., 0] - total[..., 1]
    less = difference.mean(axis=1) < 0
    p = paired_t_p_values(difference)
    if study == "burger":
        gained = won[..., 0] - won[..., 1]
        return {
            **_means("regret", total),
            **_means("good", won),
            "regret-p": (p < 0.005) & less,
            "good-p": (paired_t_p_values(gained) < 0.05) & (gained.mean(axis=1) > 0),
        }
    each = regret[:, :, 0] - regret[:, :, 1]  # studies x participants x casinos
    return {
        **_means("coins", won),
        **(_of_bank(won) if won.shape[2] > 2 else {}),
        "participants-lower": (each.mean(axis=2) < 0).sum(axis=1).astype(np.float64),
        "participants-significant": _significant(each).astype(np.float64),
        "casinos-lower": (each.mean(axis=1) < 0).sum(axis=1).astype(np.float64),
        "casinos-significant": _significant(each.transpose(0, 2, 1)).astype(np.float64),
        "anova-p": (p < 0.005) & less,  # two conditions: the F of the algorithm is the square of this t
    }


def _means(name: str, values: Array) -> dict[str, Array]:
    means, errors = values.mean(axis=1), values.std(axis=1, ddof=1) / math.sqrt(values.shape[1])
    return {
        f"{name}-aware": means[:, 0],
        f"{name}-naive": means[:, 1],
        f"{name}-difference": means[:, 0] - means[:, 1],
        f"{name}-aware-se": errors[:, 0],
        f"{name}-naive-se": errors[:, 1],
    }


def _of_bank(won: Array) -> dict[str, Array]:
    """Return the results of the bank, the third condition, compared with Partner-Aware UCB."""
    gained = won[..., 2] - won[..., 0]
    return {
        "coins-bank": won[..., 2].mean(axis=1),
        "bank-difference": gained.mean(axis=1),
        "bank-p": (paired_t_p_values(gained) < 0.005) & (gained.mean(axis=1) > 0),
    }


def _significant(differences: Array) -> NDArray[np.int64]:
    """Return how many rows of each study (studies x rows x values) are significantly below 0."""
    studies, rows, values = differences.shape
    flat = differences.reshape(studies * rows, values)
    below = (paired_t_p_values(flat) < SIGNIFICANT) & (flat.mean(axis=1) < 0)
    counted: NDArray[np.int64] = below.reshape(studies, rows).sum(axis=1)
    return counted


def _comparable(published: Published, participants: int, study: str) -> bool:
    """Return a count of participants can be compared only in a study of the published size."""
    return participants == PEOPLE[study] or not published.id.startswith("participants-")


def _compared(published: Published, values: Array) -> Comparison:
    if values.dtype == bool:
        return Comparison(published, float(values.mean()), None, None, None, None)
    low, high = np.quantile(values, [0.025, 0.975])
    below = None if published.value is None else float((values <= published.value).mean())
    return Comparison(published, float(values.mean()), float(values.std(ddof=1)), float(low), float(high), below)
