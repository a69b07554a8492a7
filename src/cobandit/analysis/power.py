"""How many participants a study needs: whole studies are simulated, and every planned test is made on each of them.

One crowd serves all sizes: study s has as many participants as the largest size, and its smaller sizes are the first
ones of these. A curve over the sizes is therefore smooth and costs no more than its last point; in return its points
are not independent of each other, and each interval speaks for its own size only. Participants are simulated
(`cobandit.studies.behaviours`), so the curves tell how many people *such* participants would need, no more.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.analysis.cell_tally import CellTally
from cobandit.analysis.plan import BETWEEN, GOOD, TASK_REGRET, TEAM_REGRET, AnalysisPlan, Hypothesis, default_plan
from cobandit.analysis.population import Population, population
from cobandit.analysis.power_curves import LeftOut, PowerAnalysis
from cobandit.analysis.tally import Tally
from cobandit.analysis.words import unit_note
from cobandit.base.checks import is_list, short_repr, whole
from cobandit.base.errors import InvalidInput, TooLarge
from cobandit.base.extras import require_extras
from cobandit.base.streams import CrowdStream, checked_seed, generator
from cobandit.engine.choice import Engine
from cobandit.engine.simulation import Progress
from cobandit.studies.cells import order_cycle, shares_of
from cobandit.studies.crowd import Crowd, Mixture, simulate_participants
from cobandit.studies.design import StudyDesign, load_design

Array = NDArray[np.float64]

SIZES = tuple(range(10, 101, 10))

MOST_SIZES = 200

MOST_PARTICIPANTS = 100_000

MOST_SIMULATIONS = 100_000

MOST_ROUNDS = 10**11
"""Rounds of one power analysis; about a day's work for two cores."""

ROUNDS_PER_CROWD = 20_000_000
"""Studies are simulated in crowds of about this many rounds, so that memory does not grow with the number of
studies.
"""

_SURVEY_REASON = "it is about answers, and simulated participants give none: there is no model of what people answer"

_GROUP_REASON = "it compares groups of people, and the behaviours do not say how such groups differ"


def power_analysis(
    design: StudyDesign | str,
    behaviours: Mixture | Population,
    participants: Sequence[int] = SIZES,
    simulations: int = 1000,
    seed: int | None = 0,
    *,
    plan: AnalysisPlan | None = None,
    engine: Engine = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
) -> PowerAnalysis:
    """Simulate ``simulations`` whole studies and return the power of each planned test at each number of participants.

    Without a ``plan``, the paper's plan for the design is used (`default_plan`). The numbers are independent of engine
    and threads; the first studies are independent of the number of studies. Tests of survey answers and of groups of
    people cannot be simulated and are listed in ``left_out``; in a family with other tests, Holm's correction counts
    them as tests without an effect. ``progress(done, all)`` counts participants.

    In a design for teams, the numbers of participants are multiples of the size of a team, and tests have one value per
    team, as in `analyse`. A population (`population`) may say how alike the members of a team are and how many people
    leave; a team that lacks a member is not counted, and n is the number of people who begin.
    """
    require_extras("A power analysis", stats=True, fast=engine == "fast")
    study = load_design(design) if isinstance(design, str) else design
    if not isinstance(study, StudyDesign):
        raise InvalidInput(f"design must be a StudyDesign or the name of one, got {short_repr(design)}.")
    people = population(behaviours)
    size = len(study.participant_seats)
    sizes = checked_sizes(participants, size)
    count = whole(1, MOST_SIMULATIONS)("simulations", simulations)
    number = checked_seed(seed)
    chosen = default_plan(study) if plan is None else plan.checked(study)
    simulated, left_out = _sorted_out(chosen.hypotheses)
    refuse_endless(study, sizes[-1] * count)

    start = time.perf_counter()
    names = [condition.name for condition in study.conditions]
    within = len(study.cells) == 1
    tally = Tally(chosen, simulated, names, sizes, size) if within else CellTally(chosen, simulated, study, sizes)
    used, correlation = "", TeamCorrelation(study)
    for crowd, studies in crowds_of(
        study, people, sizes[-1], count, number, engine=engine, threads=threads, progress=progress
    ):
        stay = (
            None
            if people.dropout == 0.0
            else generator(crowd.seed, CrowdStream.DROPOUTS).random(studies.shape) >= people.dropout
        )
        tally.add(measures_of(crowd, studies), None if stay is None else _whole_teams(stay, size))
        correlation.add(crowd)
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
        notes=_notes(study, chosen, simulated, left_out),
        team_correlation=correlation.value,
    )


def _whole_teams(stay: NDArray[np.bool_], size: int) -> NDArray[np.bool_]:
    """Return the teams of which every member stays, studies x teams."""
    return np.asarray(stay.reshape(len(stay), -1, size).all(axis=2))


def checked_sizes(participants: Any, team_size: int = 1) -> tuple[int, ...]:
    """Return the numbers of participants: whole, at least 2 teams (or people), ascending, multiples of the team size.

    The default sizes are rounded up to whole teams.
    """
    if participants is SIZES:
        participants = [-(-n // team_size) * team_size for n in SIZES]
    if isinstance(participants, int) and not isinstance(participants, bool):
        participants = (participants,)
    if not is_list(participants):
        raise InvalidInput(f"participants must be a list of numbers such as 10,20,40, got {short_repr(participants)}.")
    given = list(participants)
    if not 1 <= len(given) <= MOST_SIZES:
        raise InvalidInput(f"participants has {len(given)} entries; from 1 to {MOST_SIZES} are needed.")
    sizes = [whole(2 * team_size, MOST_PARTICIPANTS)("The number of participants", n) for n in given]
    broken = next((n for n in sizes if n % team_size), None)
    if broken is not None:
        raise InvalidInput(f"participants must be multiples of {team_size}, the people of a team, got {broken}.")
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
            f"rounds; the limit is {MOST_ROUNDS:.0e}. Ask for fewer simulations or participants."
        )


def _rounds_of_one(design: StudyDesign) -> int:
    warm = 0 if design.warm_start is None else design.warm_start.rounds
    return design.sets * design.episodes * (warm + design.most_rounds)


def crowds_of(
    design: StudyDesign,
    people: Population,
    participants: int,
    simulations: int,
    seed: int,
    *,
    engine: Engine = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Iterator[tuple[Crowd, NDArray[np.int64]]]:
    """Yield whole studies in a few large crowds, each with the indices of its participants, studies x participants.

    Every study begins with the first order, so each is counterbalanced like a real one.
    """
    cycle = len(order_cycle(design)) * len(design.participant_seats)
    size = -(-participants // cycle) * cycle
    each = max(1, ROUNDS_PER_CROWD // (size * _rounds_of_one(design)))
    for crowd_number, first in enumerate(range(0, simulations, each)):
        count = min(each, simulations - first)
        before = first * size

        def report(done: int, _: int, before: int = before) -> None:
            assert progress is not None
            progress(before + done, simulations * size)

        crowd = simulate_participants(
            design,
            people.members,
            count * size,
            crowd_seed(seed, crowd_number),
            engine=engine,
            threads=threads,
            progress=None if progress is None else report,
            alike=people.alike,
        )
        yield crowd, np.arange(count * size).reshape(count, size)[:, :participants]


def crowd_seed(seed: int, number: int) -> int:
    """Return the seed of the crowd of a number."""
    state = np.random.SeedSequence(seed, spawn_key=(CrowdStream.CROWDS, number)).generate_state(2, np.uint32)
    return int(state[0]) | int(state[1]) << 32


def measures_of(crowd: Crowd, places: NDArray[np.int64]) -> dict[str, Array]:
    """Return the totals over all counted rounds: studies x participants x conditions; in a design for teams, the means
    of the members, studies x teams x conditions. NaN marks conditions that a participant does not play.
    """

    def of_units(values: Array) -> Array:
        if crowd.team_size == 1:
            return values
        return np.asarray(values.reshape(len(values), -1, crowd.team_size, values.shape[2]).mean(axis=2))

    regret = of_units(crowd.task_regret.sum(axis=2)[places])
    good = np.where(crowd.played, crowd.good.sum(axis=2), np.nan)
    return {
        TASK_REGRET: regret,
        TEAM_REGRET: regret * np.array([*crowd.design.team_factors.values()]),
        GOOD: of_units(good[places]),
    }


class TeamCorrelation:
    """How alike people of one team are: the intraclass correlation of their task regret where they play alone.

    Sums are kept crowd by crowd (one-way analysis of variance within each condition). ``value`` is None in a design
    without teams, or without a condition that people play alone.
    """

    def __init__(self, design: StudyDesign) -> None:
        self._size = len(design.participant_seats)
        self._columns = [c for c, condition in enumerate(design.conditions) if condition.alone]
        self._between, self._within, self._teams = 0.0, 0.0, 0

    def add(self, crowd: Crowd) -> None:
        """Add the teams of a crowd; seats differ in what they see, so each seat is measured from its own mean."""
        if self._size == 1 or not self._columns:
            return
        totals = crowd.task_regret.sum(axis=2)[:, self._columns]
        teams = totals.reshape(-1, self._size, len(self._columns))
        centred = teams - teams.mean(axis=0)
        means = centred.mean(axis=1, keepdims=True)
        self._between += self._size * float((means**2).sum())
        self._within += float(((centred - means) ** 2).sum())
        self._teams += len(teams)

    @property
    def value(self) -> float | None:
        """The correlation; 0: people of one team are no more alike than others."""
        if self._teams < 2:
            return None
        between = self._between / ((self._teams - 1) * len(self._columns))
        within = self._within / ((self._teams - 1) * (self._size - 1) * len(self._columns))
        total = between + (self._size - 1) * within
        return (between - within) / total if total > 0 else None


def _sorted_out(hypotheses: Sequence[Hypothesis]) -> tuple[tuple[Hypothesis, ...], tuple[LeftOut, ...]]:
    """Return the hypotheses that can be simulated, and the others with the reason."""
    simulated, left_out = [], []
    for hypothesis in hypotheses:
        if hypothesis.measure not in (TASK_REGRET, TEAM_REGRET, GOOD):
            left_out.append(LeftOut(hypothesis, _SURVEY_REASON))
        elif hypothesis.group:
            left_out.append(LeftOut(hypothesis, _GROUP_REASON))
        else:
            simulated.append(hypothesis)
    if not simulated:
        raise InvalidInput(
            "The plan has no test that can be simulated: one of task_regret, team_regret or good between conditions "
            "(paired-t, wilcoxon, rm-anova; of different people welch, student, anova, mixed-anova) is needed."
        )
    return tuple(simulated), tuple(left_out)


def _notes(
    design: StudyDesign, plan: AnalysisPlan, simulated: Sequence[Hypothesis], left_out: Sequence[LeftOut]
) -> tuple[str, ...]:
    notes = []
    mixed = {test.hypothesis.family for test in left_out} & {hypothesis.family for hypothesis in simulated} - {""}
    for family in sorted(mixed):
        notes.append(f"In the family {family} Holm's correction counts tests that are left out as showing nothing.")
    origins = design.means_rules.values()
    if all(rule.draw == "fixed" for rule in origins):
        notes.append("Every simulated study has exactly the means of the design: the power is that for these means.")
    elif any(rule.per == "study" for rule in origins):
        notes.append(
            "Every simulated study has the same means, drawn once: the power is that for these means, and the study "
            "that is served draws its own."
        )
    if len(design.cells) > 1:
        shares = ", ".join(f"{cell} {share}" for cell, share in shares_of(design).items())
        notes.append(f"n counts the people of all cells, who are divided between them in the proportion {shares}.")
        if any(hypothesis.test in BETWEEN for hypothesis in simulated):
            notes.append("For tests of different people (welch, student) the effect is Cohen's d in place of d_z.")
    if design.group is not None:
        notes.append(unit_note(design))
        notes.append("The simulated people miss no time limit, so no rounds are taken over.")
    rules = plan.exclusions
    if rules.attention_failed or rules.quiz_attempts is not None or rules.fastest_ms is not None:
        notes.append("No one is excluded here: n counts the participants who remain after the plan's exclusions.")
    return tuple(notes)
