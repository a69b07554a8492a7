"""Scales of questionnaires: scores by participant and condition, and Cronbach's alpha for each time of asking.

The measure ``scale:QUESTIONNAIRE/SCALE`` is the mean of the ratings of a scale, reversed ones turned round, of everyone
who answered all of them. ``scale:QUESTIONNAIRE`` is enough where the questionnaire has one scale.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from cobandit import stats
from cobandit.analysis.between import pair_test
from cobandit.analysis.findings import StudyResult
from cobandit.analysis.plan import SCALE, Hypothesis, contrasts
from cobandit.analysis.tables import Array, People
from cobandit.base.errors import UnknownName
from cobandit.studies.design import StudyDesign
from cobandit.studies.questionnaires import Questionnaire, Scale


@dataclass(frozen=True, eq=False)
class ScaleAnswers:
    """The ratings of one scale, participants x conditions x items, as given; NaN marks missing ones.

    A questionnaire that is asked once has one column in place of the conditions.
    """

    questionnaire: Questionnaire
    scale: Scale
    answers: Array

    @property
    def name(self) -> str:
        """The id of the questionnaire and of the scale, as in measures."""
        return f"{self.questionnaire.id}/{self.scale.id}"

    @property
    def reversed(self) -> tuple[bool, ...]:
        """Which ratings are turned round."""
        return tuple(turned for _, turned in self.questionnaire.ratings[self.scale.id])

    @property
    def scores(self) -> Array:
        """The mean rating by participant and condition, reversed ones turned round."""
        turned = np.where(self.reversed, self.scale.points + 1 - self.answers, self.answers)
        return np.asarray(turned.mean(axis=2), dtype=np.float64)


def scale_answers(design: StudyDesign, people: People) -> dict[str, ScaleAnswers]:
    """Return the ratings of every scale, by questionnaire and scale, from the wide table."""
    scales = {}
    for questionnaire in design.questionnaires:
        after = [(condition.name,) for condition in design.conditions] if questionnaire.repeated else [()]
        for scale in questionnaire.scales:
            items = [id for id, _ in questionnaire.ratings[scale.id]]
            answers = np.full((len(people.names), len(after), len(items)), np.nan)
            for c, condition in enumerate(after):
                for i, item in enumerate(items):
                    answers[:, c, i] = people.numbers("q", questionnaire.id, item, *condition)
            answers[(answers < 1) | (answers > scale.points)] = np.nan  # only a changed file holds such values
            rated = ScaleAnswers(questionnaire, scale, answers)
            scales[rated.name] = rated
    return scales


def find_scale(scales: dict[str, ScaleAnswers], measure: str) -> ScaleAnswers:
    """Return the scale that a measure names."""
    name = measure.removeprefix(SCALE)
    if name in scales:
        return scales[name]
    fitting = [scale for scale in scales.values() if scale.questionnaire.id == name]
    if len(fitting) != 1:
        raise UnknownName("scale", name, scales)
    return fitting[0]


def scale_reliability(
    scales: dict[str, ScaleAnswers], conditions: tuple[str, ...], level: float
) -> Iterator[StudyResult]:
    """Yield Cronbach's alpha of each scale with two or more ratings, for each time at which it was asked."""
    for scale in scales.values():
        if len(scale.reversed) < 2:
            continue
        times = conditions if scale.questionnaire.repeated else ("",)
        for c, condition in enumerate(times):
            given = scale.answers[:, c]
            given = given[~np.isnan(given).all(axis=1)]  # who was not asked has not left a gap
            said = f"{scale.name} after {condition}" if condition else scale.name
            finding = stats.cronbach_alpha(
                given, reverse=scale.reversed, points=scale.scale.points, name=f"reliability: {said}", level=level
            )
            yield StudyResult(
                id=f"reliability/{scale.name}{f'/{condition}' if condition else ''}",
                section="reliability",
                question=f"Do the items of {said} measure one thing?",
                finding=finding,
                measure=f"{SCALE}{scale.name}",
                compares=(condition,) if condition else (),
            )


def scale_hypotheses(design: StudyDesign) -> Iterator[Hypothesis]:
    """Yield a paired test of each scale that is asked after every set: exploratory, unless a plan has it."""
    pairs = contrasts(design)
    for questionnaire in design.questionnaires:
        for scale in questionnaire.scales if questionnaire.when == "after" else ():
            family = f"scale-{questionnaire.id}-{scale.id}"
            for first, second in pairs:
                yield Hypothesis(
                    id=f"{family}-{first}-{second}" if len(pairs) > 1 else family,
                    text=f"The score of {questionnaire.id}/{scale.id} differs between {first} and {second}.",
                    measure=f"{SCALE}{questionnaire.id}/{scale.id}",
                    test=pair_test(design, (first, second)),
                    compares=(first, second),
                    family=family if len(pairs) > 1 else "",
                )


def averaged_scales(scales: dict[str, ScaleAnswers], members: list[list[int]]) -> dict[str, ScaleAnswers]:
    """Return the scales with one row for each team: the mean of its members."""

    def averaged(values: Array) -> Array:
        parts = [values[team].mean(axis=0) for team in members]
        return np.array(parts, dtype=np.float64).reshape(len(members), *values.shape[1:])

    return {name: replace(scale, answers=averaged(scale.answers)) for name, scale in scales.items()}
