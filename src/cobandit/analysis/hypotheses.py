"""Tests of the hypotheses of a study. Each answer is a row of data with the question and its interpretation.

This module does not decide which tests are planned: the caller passes this, and each result contains it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cobandit import stats
from cobandit.analysis.between import EFFECTS, anova_factors, pair_test, within_columns
from cobandit.analysis.findings import NOT_SUPPORTED, SUPPORTED, UNTESTABLE, StudyResult, mark, measure_name
from cobandit.analysis.measures import Measures
from cobandit.analysis.plan import (
    ANOVAS,
    BETWEEN,
    SCORE,
    SURVEY,
    Hypothesis,
    contrasts,
    episode_word,
    factor_word,
)
from cobandit.analysis.tables import Array
from cobandit.analysis.teams import MIXED, in_units
from cobandit.stats import Finding
from cobandit.studies.design import StudyDesign

_COMPANIONS = {"Wilcoxon signed-rank": "wilcoxon", "paired t": "paired-t", "Welch t": "welch", "Student t": "student"}
"""The short name of each companion test, by the name that the finding uses."""

_OTHER_TEST = {
    "wilcoxon": "the other paired test",
    "paired-t": "the other paired test",
    "welch": "Welch's t test, which needs no equal spreads",
    "student": "Student's t test, as in the paper",
}


def hypothesis_results(
    measured: Measures, hypotheses: Sequence[tuple[Hypothesis, bool]], alpha: float, marks: str = "holm"
) -> list[StudyResult]:
    """Test every hypothesis, with Holm's correction within its family, and add the companion test of each.

    Each of ``hypotheses`` has a flag whether it was planned; planned and exploratory tests never share a correction.
    ``marks`` selects the p-values of the asterisks: "holm" for the corrected, "paper" for the uncorrected ones.
    """
    tested: list[tuple[Hypothesis, bool, tuple[Finding, ...]]] = []
    for hypothesis, planned in hypotheses:
        findings = tuple(in_units(finding, measured.unit) for finding in _tested(measured, hypothesis, alpha))
        tested.append((hypothesis, planned, findings))
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
        results.append(_result_of(hypothesis, planned, first[place], alpha, marks))
        for row in _companions(hypothesis, findings, [other for other, _ in hypotheses]):
            results.append(_companion_result(hypothesis, planned, row))
    return results


def _companions(
    hypothesis: Hypothesis, findings: tuple[Finding, ...], others: Sequence[Hypothesis]
) -> tuple[Finding, ...]:
    """Return the companions; those of a mixed analysis are the effects that no hypothesis is about."""
    if hypothesis.test != "mixed-anova":
        return findings[1:]
    asked = {other.essential for other in others}
    rest = [effect for effect in EFFECTS if effect != hypothesis.effect]
    free = [replace(hypothesis, effect=effect).essential not in asked for effect in rest]
    shown = hypothesis.effect == "within"
    return tuple(row for row, alone in zip(findings[1:], free, strict=True) if alone and shown)


def _tested(measured: Measures, hypothesis: Hypothesis, alpha: float) -> tuple[Finding, ...]:
    """Return the test that answers the hypothesis, followed by its companion tests."""
    level = 1 - alpha
    name = f"{hypothesis.id}: {measure_name(measured.design, hypothesis.measure)}"
    measured = measured.playing(*hypothesis.compares)
    if hypothesis.test == "rm-anova":
        return anova(measured, hypothesis.measure, hypothesis.compares, name)
    if hypothesis.test in ANOVAS:
        return _anova_of_cells(measured, hypothesis, name, level)
    if hypothesis.group:
        return _between(measured, hypothesis, name, level)
    first, second = (
        measured.playing(condition).totals(hypothesis.measure)[:, measured.column(condition)]
        for condition in hypothesis.compares
    )
    labels = (hypothesis.compares[0], hypothesis.compares[1])
    how: dict[str, Any] = {"name": name, "alternative": hypothesis.alternative, "level": level, "labels": labels}
    if hypothesis.test in BETWEEN:
        two = stats.welch_t(first, second, **how), stats.student_t(first, second, **how)
        return two if hypothesis.test == "welch" else two[::-1]
    pair = stats.paired_t(first, second, **how), stats.wilcoxon(first, second, **how)
    return pair if hypothesis.test == "paired-t" else pair[::-1]


def _between(measured: Measures, hypothesis: Hypothesis, name: str, level: float) -> tuple[Finding, Finding]:
    values = measured.own_means(measured.totals(hypothesis.measure), hypothesis.compares)
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


def _anova_of_cells(measured: Measures, hypothesis: Hypothesis, name: str, level: float) -> tuple[Finding, ...]:
    """Return the analysis of variance of conditions of different people, or of both kinds."""
    values, groups = measured.totals(hypothesis.measure), measured.cell_names()
    within, cells = anova_factors(measured.design)
    if hypothesis.test == "anova":
        totals = measured.own_means(values, hypothesis.compares)
        return (stats.anova(totals, groups, cells, name=name, level=level),)
    columns = within_columns(measured.design, hypothesis.compares)
    table = np.stack([measured.own_means(values, column) for column in columns], axis=1)
    findings = stats.mixed_anova(table, groups, (within, cells), name=name)
    first = EFFECTS.index(hypothesis.effect)
    return (findings[first], *findings[:first], *findings[first + 1 :])


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
    """Return Welch's and Student's t test of one value per participant between two answers to a question.

    Participants with another answer, or without one, are counted in a note. In measures of teams, a team is in a group
    if all its members gave the answer.
    """
    asked = next(entry for entry in measured.design.demographics if entry.id == question)
    first, second = groups or asked.choices[:2]
    given = measured.group(question)
    samples = [values[[answer == choice for answer in given]] for choice in (first, second)]
    labels = (f"{question}: {first}", f"{question}: {second}")
    how: dict[str, Any] = {"name": name, "alternative": alternative, "level": level, "labels": labels}
    welch, student = stats.welch_t(*samples, **how), stats.student_t(*samples, **how)
    silent = sum(answer is None for answer in given)
    mixed = sum(answer is MIXED for answer in given)
    otherwise = len(given) - silent - mixed - sum(map(len, samples))
    notes = [f"{silent} of {len(given)} did not answer {asked.text!r}."] if silent else []
    if mixed:
        notes.append(
            f"{mixed} of {len(given)} teams are left out, because their members gave different answers to "
            f"{asked.text!r}."
        )
    notes += [f"{otherwise} of {len(given)} gave another answer to {asked.text!r}."] if otherwise else []

    def noted(finding: Finding) -> Finding:
        note = " ".join([*notes, finding.note]).strip()
        for choice, label in zip((first, second), labels, strict=True):
            note = note.replace(label, repr(choice))  # the label, with the question's id, is for programs
        return replace(finding, note=note)

    return noted(welch), noted(student)


def anova(measured: Measures, measure: str, conditions: Sequence[str], name: str) -> tuple[Finding, ...]:
    """Return a repeated-measures analysis of variance: algorithm x episode if there are several episodes, else
    algorithm.

    Episodes that no participant has in all conditions are left out, and the note says so.
    """
    places = [measured.column(condition) for condition in conditions]
    factor = factor_word(measured.design)
    survey = measure == SCORE or measure.startswith(SURVEY)
    if survey or measured.design.episodes == 1:
        return stats.rm_anova(measured.totals(measure)[:, places], (factor,), name=name)
    word = episode_word(measured.design)
    cells = measured.cells(measure)[:, places]
    somebody = ~np.isnan(cells).any(axis=1).all(axis=0) if len(cells) else np.ones(cells.shape[2], dtype=bool)
    dropped = np.flatnonzero(~somebody)
    played = cells[:, :, somebody]
    if played.shape[2] < 2:
        effects = stats.rm_anova(played.mean(axis=2) if played.shape[2] else cells[:, :, 0], (factor,), name=name)
    else:
        effects = stats.rm_anova(played, (factor, word), name=name)
    if not len(dropped):
        return effects
    which = ", ".join(str(place + 1) for place in dropped)
    note = f"Left out because no participant has played them in all conditions: {word} {which}."
    return tuple(replace(row, note=f"{note} {row.note}".strip()) for row in effects)


def _result_of(
    hypothesis: Hypothesis, planned: bool, finding: Finding, alpha: float, marks: str = "holm"
) -> StudyResult:
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


def _companion_result(hypothesis: Hypothesis, planned: bool, finding: Finding) -> StudyResult:
    effect = finding.test.rpartition("ANOVA ")[2]
    analysis = hypothesis.test in ANOVAS
    what = effect.replace(" x ", "-x-") if analysis else _COMPANIONS[finding.test]
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
    """Yield the survey as one number, for every two conditions: always exploratory, unless a plan has it."""
    pairs = contrasts(design)
    for first, second in pairs:
        yield Hypothesis(
            id=f"survey-score-{first}-{second}" if len(pairs) > 1 else "survey-score",
            text=f"The survey score differs between {first} and {second}.",
            measure=SCORE,
            test=pair_test(design, (first, second)),
            compares=(first, second),
            family="survey-score" if len(pairs) > 1 else "",
        )
