"""The hypotheses of a study, tested: every answer a row of data, with the question and what it means.

Nothing here chooses what counts as planned; it is told, and it tells of each result.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cobandit import stats
from cobandit.analysis.findings import NOT_SUPPORTED, SUPPORTED, UNTESTABLE, StudyResult, mark, measure_name
from cobandit.analysis.measures import Measures
from cobandit.analysis.plan import BETWEEN, SCORE, SURVEY, Hypothesis, contrasts, episode_word
from cobandit.analysis.tables import Array
from cobandit.stats import Finding
from cobandit.studies.design import StudyDesign

_BESIDE = {"Wilcoxon signed-rank": "wilcoxon", "paired t": "paired-t", "Welch t": "welch", "Student t": "student"}
"""The name of a test that stands beside the answer to a hypothesis, by what the finding calls it."""

_OTHER_TEST = {
    "wilcoxon": "the other paired test",
    "paired-t": "the other paired test",
    "welch": "Welch's t test, which needs no equal spreads",
    "student": "Student's t test, as in the paper",
}


def hypothesis_results(
    measured: Measures, hypotheses: Sequence[tuple[Hypothesis, bool]], alpha: float, marks: str = "holm"
) -> list[StudyResult]:
    """Every hypothesis tested, with Holm's correction within its family, and the other test of its kind beside it.

    ``hypotheses`` comes with whether each was planned; planned and exploratory tests never share a correction.
    ``marks`` says of which p-value the asterisks are: "holm" the corrected, "paper" the uncorrected one.
    """
    tested: list[tuple[Hypothesis, bool, tuple[Finding, ...]]] = []
    for hypothesis, planned in hypotheses:
        tested.append((hypothesis, planned, _tested(measured, hypothesis, alpha)))
    families: dict[tuple[bool, str], list[int]] = defaultdict(list)
    for place, (hypothesis, planned, _) in enumerate(tested):
        if hypothesis.family:
            families[planned, hypothesis.family].append(place)
    first = {place: findings[0] for place, (_, _, findings) in enumerate(tested)}
    for places in families.values():
        for place, row in zip(places, stats.adjusted([first[place] for place in places]), strict=True):
            first[place] = row
    results: list[StudyResult] = []
    for place, (hypothesis, planned, findings) in enumerate(tested):
        results.append(_judged(hypothesis, planned, first[place], alpha, marks))
        for row in findings[1:]:
            results.append(_beside(hypothesis, planned, row))
    return results


def _tested(measured: Measures, hypothesis: Hypothesis, alpha: float) -> tuple[Finding, ...]:
    """The test that answers the hypothesis first, then what stands beside it."""
    level = 1 - alpha
    name = f"{hypothesis.id}: {measure_name(measured.design, hypothesis.measure)}"
    if hypothesis.test == "rm-anova":
        return anova(measured, hypothesis.measure, hypothesis.compares, name)
    if hypothesis.test in BETWEEN:
        return _between(measured, hypothesis, name, level)
    values = measured.totals(hypothesis.measure)
    first, second = (values[:, measured.column(condition)] for condition in hypothesis.compares)
    labels = (hypothesis.compares[0], hypothesis.compares[1])
    how: dict[str, Any] = {"name": name, "alternative": hypothesis.alternative, "level": level, "labels": labels}
    pair = stats.paired_t(first, second, **how), stats.wilcoxon(first, second, **how)
    return pair if hypothesis.test == "paired-t" else pair[::-1]


def _between(measured: Measures, hypothesis: Hypothesis, name: str, level: float) -> tuple[Finding, Finding]:
    places = [measured.column(condition) for condition in hypothesis.compares]
    values = measured.totals(hypothesis.measure)[:, places].mean(axis=1)
    welch, student = between(
        measured,
        values,
        hypothesis.group,
        hypothesis.groups,
        name=name,
        alternative=hypothesis.alternative,
        level=level,
    )
    return (student, welch) if hypothesis.test == "student" else (welch, student)


def between(
    measured: Measures,
    values: Array,
    question: str,
    groups: tuple[str, ...] = (),
    *,
    name: str,
    alternative: str = "two-sided",
    level: float = 0.95,
) -> tuple[Finding, Finding]:
    """Welch's and Student's t test of one value per participant between two answers to a question.

    Whoever gave another answer, or none, is counted and told.
    """
    asked = next(entry for entry in measured.design.demographics if entry.id == question)
    first, second = groups or asked.choices[:2]
    given = measured.group(question)
    samples = [values[[answer == choice for answer in given]] for choice in (first, second)]
    labels = (f"{question}: {first}", f"{question}: {second}")
    how: dict[str, Any] = {"name": name, "alternative": alternative, "level": level, "labels": labels}
    welch, student = stats.welch_t(*samples, **how), stats.student_t(*samples, **how)
    silent = sum(answer is None for answer in given)
    otherwise = len(given) - silent - sum(map(len, samples))
    notes = [f"{silent} of {len(given)} did not answer {asked.text!r}."] if silent else []
    notes += [f"{otherwise} of {len(given)} gave another answer to {asked.text!r}."] if otherwise else []

    def noted(finding: Finding) -> Finding:
        note = " ".join([*notes, finding.note]).strip()
        for choice, label in zip((first, second), labels, strict=True):
            note = note.replace(label, repr(choice))  # the label, with the question's id, is for programs
        return replace(finding, note=note)

    return noted(welch), noted(student)


def anova(measured: Measures, measure: str, conditions: Sequence[str], name: str) -> tuple[Finding, ...]:
    """Repeated-measures analysis of variance: algorithm x episode where there are several episodes, else algorithm.

    Episodes that nobody has in all conditions are left out, and the note says so.
    """
    places = [measured.column(condition) for condition in conditions]
    survey = measure == SCORE or measure.startswith(SURVEY)
    if survey or measured.design.episodes == 1:
        return stats.rm_anova(measured.totals(measure)[:, places], ("algorithm",), name=name)
    word = episode_word(measured.design)
    cells = measured.cells(measure)[:, places]
    somebody = ~np.isnan(cells).any(axis=1).all(axis=0) if len(cells) else np.ones(cells.shape[2], dtype=bool)
    dropped = np.flatnonzero(~somebody)
    played = cells[:, :, somebody]
    if played.shape[2] < 2:
        effects = stats.rm_anova(played.mean(axis=2) if played.shape[2] else cells[:, :, 0], ("algorithm",), name=name)
    else:
        effects = stats.rm_anova(played, ("algorithm", word), name=name)
    if not len(dropped):
        return effects
    which = ", ".join(str(place + 1) for place in dropped)
    note = f"Left out because nobody has played them in all conditions: {word} {which}."
    return tuple(replace(row, note=f"{note} {row.note}".strip()) for row in effects)


def _judged(hypothesis: Hypothesis, planned: bool, finding: Finding, alpha: float, marks: str = "holm") -> StudyResult:
    p = finding.p if finding.p_adjusted is None else finding.p_adjusted
    verdict, reason = _verdict(hypothesis, finding, p, alpha)
    return StudyResult(
        id=hypothesis.id,
        section="hypothesis",
        question=hypothesis.text,
        finding=finding,
        measure=hypothesis.measure,
        compares=hypothesis.compares,
        hypothesis=hypothesis.id,
        planned=planned,
        family=hypothesis.family,
        group=hypothesis.group,
        mark=mark(finding.p if marks == "paper" else p),
        verdict=verdict,
        reason=reason,
    )


def _verdict(hypothesis: Hypothesis, finding: Finding, p: float | None, alpha: float) -> tuple[str, str]:
    if p is None:
        return UNTESTABLE, finding.note or "The test gave no p-value."
    if p >= alpha:
        corrected = finding.p is not None and finding.p < alpha
        lost = "Holm's correction takes the significance away." if corrected else ""
        return NOT_SUPPORTED, lost
    difference = finding.estimate or 0.0
    wrong = {"less": difference > 0, "greater": difference < 0}.get(hypothesis.direction, False)
    if wrong:
        return NOT_SUPPORTED, "The difference is significant, but it points the other way."
    return SUPPORTED, ""


def _beside(hypothesis: Hypothesis, planned: bool, finding: Finding) -> StudyResult:
    effect = finding.test.removeprefix("RM ANOVA ")
    analysis = hypothesis.test == "rm-anova"
    what = effect.replace(" x ", "-x-") if analysis else _BESIDE[finding.test]
    return StudyResult(
        id=f"{hypothesis.id}/{what}",
        section="anova" if analysis else "companion",
        question=f"{effect} in the same analysis" if analysis else f"{hypothesis.id} by {_OTHER_TEST[what]}",
        finding=finding,
        measure=hypothesis.measure,
        compares=hypothesis.compares,
        planned=planned and analysis,
        mark=mark(finding.p),
    )


def score_hypotheses(design: StudyDesign) -> Iterator[Hypothesis]:
    """The survey as one number, for every two conditions: always exploratory, unless a plan has it."""
    pairs = contrasts(design)
    for first, second in pairs:
        yield Hypothesis(
            id=f"survey-score-{first}-{second}" if len(pairs) > 1 else "survey-score",
            text=f"The survey score differs between {first} and {second}.",
            measure=SCORE,
            test="paired-t",
            compares=(first, second),
            family="survey-score" if len(pairs) > 1 else "",
        )
