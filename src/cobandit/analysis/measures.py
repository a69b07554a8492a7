"""Measures of a study: regret, good outcomes and survey answers by participant, condition and episode.

All values come from the exported tables, so a database and a folder of CSV files give the same numbers. Every exclusion
is recorded in ``excluded`` with its rule and a sentence, missing data of other participants in ``gaps``, and
irregularities of the data in ``notes``. Paper: Dependent Measures of both studies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.analysis.exclusions import Exclusion, Gap, exclude, gaps_of
from cobandit.analysis.plan import GOOD, SCALE, SCORE, SURVEY, TASK_REGRET, TEAM_REGRET, Exclusions
from cobandit.analysis.scales import ScaleAnswers, find_scale, scale_answers
from cobandit.analysis.tables import (
    Array,
    People,
    PlayedEpisodes,
    Tables,
    note_disagreements,
    note_takeovers,
    survey_answers,
)
from cobandit.base.errors import UnknownName
from cobandit.studies.design import StudyDesign


@dataclass(frozen=True)
class Flow:
    """How many people there were at each stage, from the tables to the tests."""

    in_tables: int
    of_another_kind: int
    not_begun: int
    began: int
    excluded: int
    analysed: int


@dataclass(frozen=True, eq=False)
class Measures:
    """Arrays over participants x conditions (x episodes); NaN marks missing values.

    An episode counts only if all its rounds were played: the regret of half an episode cannot be compared with that of
    a whole one. ``curves`` is cumulative task regret at the rounds ``points``, participants x conditions x episodes x
    points; NaN after the last round of a condition with shorter episodes. ``survey`` contains the answers as given,
    participants x conditions x items; ``score`` is their mean with reversed items recoded, if all items were answered.
    ``first_arm`` is the share of counted rounds in which the participant chose the arm that is the first one in
    unswapped sets, under either label.

    ``teams`` names the team of each participant, where several people are in one team. ``unit`` says what the first
    axis counts: "participant", or "team" in what `cobandit.analysis.teams.team_measures` returns. ``scales`` contains
    the ratings of questionnaires, by questionnaire and scale.
    """

    design: StudyDesign
    kind: str
    participants: tuple[str, ...]
    orders: tuple[tuple[str, ...], ...]
    rounds: NDArray[np.int64]
    task_regret: Array
    team_regret: Array
    good: Array
    points: NDArray[np.int64]
    curves: Array
    survey: Array
    first_arm: Array
    reaction_ms: Array
    answers: Mapping[str, tuple[Any, ...]]
    attention_failed: tuple[bool, ...]
    excluded: tuple[Exclusion, ...]
    gaps: tuple[Gap, ...]
    flow: Flow
    notes: tuple[str, ...] = field(default=())
    teams: tuple[str, ...] = field(default=())
    unit: str = "participant"
    scales: Mapping[str, ScaleAnswers] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.participants)

    @property
    def conditions(self) -> tuple[str, ...]:
        """The names of the conditions, in the order of the second axis."""
        return tuple(condition.name for condition in self.design.conditions)

    @property
    def items(self) -> tuple[str, ...]:
        """The ids of the survey items, in the order of the last axis of ``survey``."""
        return tuple(item.id for item in self.design.survey.items)

    @property
    def reversed(self) -> tuple[bool, ...]:
        """Which items speak against the AI."""
        return tuple(item.reversed for item in self.design.survey.items)

    @cached_property
    def score(self) -> Array:
        """Mean survey answer by participant and condition, reversed items turned round: higher is better for the AI."""
        turned = np.where(self.reversed, self.design.survey.points + 1 - self.survey, self.survey)
        return np.asarray(turned.mean(axis=2), dtype=np.float64)

    @cached_property
    def mean_curves(self) -> Array:
        """Cumulative task regret of an episode, participants x conditions x points: the mean over all episodes."""
        return np.asarray(self.curves.mean(axis=2), dtype=np.float64)

    def regret_curves(self, measure: str) -> Array:
        """Cumulative regret at ``points``, participants x conditions x episodes x points: task or team regret."""
        team = np.array([*self.design.team_factors.values()])[:, np.newaxis, np.newaxis]
        factors = {TASK_REGRET: np.ones((1, 1, 1)), TEAM_REGRET: team}
        if measure not in factors:
            raise UnknownName("regret", measure, factors)
        return np.asarray(self.curves * factors[measure], dtype=np.float64)

    def column(self, condition: str) -> int:
        """Return the place of a condition on the second axis."""
        if condition not in self.conditions:
            raise UnknownName("condition", condition, self.conditions)
        return self.conditions.index(condition)

    def cells(self, measure: str) -> Array:
        """Return a measure of the task by participant, condition and episode."""
        known = {TASK_REGRET: self.task_regret, TEAM_REGRET: self.team_regret, GOOD: self.good}
        if measure not in known:
            raise UnknownName("measure of episodes", measure, known)
        return known[measure]

    def totals(self, measure: str) -> Array:
        """Return a measure by participant and condition: summed over all episodes, which must all be there; or the
        survey.
        """
        if measure == SCORE:
            return self.score
        if measure.startswith(SCALE):
            scores = find_scale(dict(self.scales), measure).scores
            return np.array(np.broadcast_to(scores, (len(self), len(self.conditions))))
        if measure.startswith(SURVEY):
            item = measure.removeprefix(SURVEY)
            if item not in self.items:
                raise UnknownName("survey item", item, self.items)
            return np.asarray(self.survey[:, :, self.items.index(item)], dtype=np.float64)
        return np.asarray(self.cells(measure).sum(axis=2), dtype=np.float64)

    def means_over_episodes(self, measure: str) -> Array:
        """Return a measure by participant and condition: the mean over those episodes that are there; or the survey."""
        if measure == SCORE or measure.startswith((SURVEY, SCALE)):
            return self.totals(measure)
        values = self.cells(measure)
        there = ~np.isnan(values)
        count = there.sum(axis=2)
        sums = np.where(there, values, 0.0).sum(axis=2)
        means: Array = np.divide(sums, count, out=np.full(count.shape, np.nan), where=count > 0)
        return means

    def by_set(self, values: Array) -> Array:
        """Rearrange participants x conditions to participants x sets, in the order in which each participant met
        them.
        """
        by_set = np.full((len(values), self.design.sets), np.nan)
        for i, order in enumerate(self.orders):
            for place, condition in enumerate(order):
                by_set[i, place] = values[i, self.column(condition)]
        return by_set

    def playing(self, *conditions: str) -> Measures:
        """Return the measures of those who play one of the conditions; without cells that is everyone."""
        if len(self.design.cells) == 1:
            return self
        return self.only([i for i, order in enumerate(self.orders) if set(order) & set(conditions)])

    def only(self, rows: Sequence[int]) -> Measures:
        """Return the measures of some participants or teams, by their places."""
        chosen = list(rows)
        arrays = ("rounds", "task_regret", "team_regret", "good", "curves", "survey", "first_arm", "reaction_ms")
        listed = ("participants", "orders", "attention_failed", "teams")
        changes: dict[str, Any] = {name: getattr(self, name)[chosen] for name in arrays}
        for name in listed:
            values = getattr(self, name)
            changes[name] = tuple(values[i] for i in chosen) if values else ()
        changes["answers"] = {key: tuple(values[i] for i in chosen) for key, values in self.answers.items()}
        changes["scales"] = {name: replace(scale, answers=scale.answers[chosen]) for name, scale in self.scales.items()}
        return replace(self, **changes)

    def cell_names(self) -> tuple[str, ...]:
        """Return the cell of each participant; empty names, where the design has none."""
        cells = {order: self.design.cell_of(i) for i, order in enumerate(self.design.orders)}
        return tuple(cells[order] for order in self.orders)

    def own_means(self, values: Array, conditions: Sequence[str]) -> Array:
        """Return the mean over those of the conditions that each participant plays, in an array participants x
        conditions.
        """
        if len(self.design.cells) == 1:
            return np.asarray(values[:, [self.column(name) for name in conditions]].mean(axis=1), dtype=np.float64)
        means = np.full(len(values), np.nan)
        for i, order in enumerate(self.orders):
            own = [self.column(name) for name in conditions if name in order]
            if own:
                means[i] = values[i, own].mean()
        return means

    def group(self, question: str) -> tuple[Any, ...]:
        """Return the answers of all participants to a question about themselves; None: no answer."""
        if question not in self.answers:
            raise UnknownName("question of the demographics", question, self.answers)
        return self.answers[question]


def measures(
    design: StudyDesign, tables: Tables, exclusions: Exclusions | None = None, *, kind: str | None = None
) -> Measures:
    """Compute the measures of a study from its tables, as `tables` makes them or `studies.read_export` reads them.

    ``kind`` selects real or simulated participants; by default real ones, if there are any. ``exclusions`` are the
    rules (default: exclude participants who have not finished).
    """
    rules = Exclusions() if exclusions is None else exclusions
    notes: list[str] = []
    wide = People(design, tables, kind, notes)
    played = PlayedEpisodes(design, tables, wide, notes, rules.takeover_share)
    excluded = exclude(design, wide, played, rules, notes)
    left_out = {entry.participant for entry in excluded}
    staying = [i for i, name in enumerate(wide.names) if name not in left_out]
    survey = survey_answers(design, tables, wide, notes)
    note_disagreements(design, wide, played, notes)
    note_takeovers(design, wide, played, notes)
    return Measures(
        design=design,
        kind=wide.kind,
        participants=tuple(wide.names[i] for i in staying),
        orders=tuple(wide.orders[i] for i in staying),
        rounds=played.rounds[staying],
        task_regret=played.task_regret[staying],
        team_regret=played.team_regret[staying],
        good=played.good[staying],
        points=played.points,
        curves=played.curves[staying],
        survey=survey[staying],
        first_arm=played.first_arm[staying],
        reaction_ms=played.reaction_ms[staying],
        answers={question: tuple(values[i] for i in staying) for question, values in wide.answers.items()},
        attention_failed=tuple(bool(wide.failed[i]) for i in staying),
        excluded=tuple(excluded),
        gaps=tuple(gaps_of(design, wide, played, survey, staying)),
        flow=Flow(
            in_tables=wide.in_tables,
            of_another_kind=wide.strangers,
            not_begun=wide.not_begun,
            began=len(wide.names),
            excluded=len(left_out),
            analysed=len(staying),
        ),
        notes=tuple(notes),
        teams=tuple(wide.teams[i] for i in staying) if wide.teams else (),
        scales={
            name: replace(scale, answers=scale.answers[staying]) for name, scale in scale_answers(design, wide).items()
        },
    )
