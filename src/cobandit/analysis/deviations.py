"""Comparison of the followed plan with the stored one: merging them, and sentences about the differences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cobandit.analysis.findings import UNTESTABLE, StudyResult
from cobandit.analysis.measures import Measures
from cobandit.analysis.plan import AnalysisPlan, Exclusions, Hypothesis
from cobandit.analysis.plan_state import CHANGED, LATE, UNPLANNED, PlanState
from cobandit.base.json_types import JsonObject


def joined_plan(stored: AnalysisPlan, given: AnalysisPlan) -> AnalysisPlan:
    """Return the plan that was handed in, with every stored hypothesis that it does not have: none is forgotten."""
    asked = [test_of(hypothesis) for hypothesis in given.hypotheses]
    ids = {hypothesis.id for hypothesis in given.hypotheses}
    missing = [hypothesis for hypothesis in stored.hypotheses if test_of(hypothesis) not in asked]
    forgotten = [replace(hypothesis, id=free_id(hypothesis.id, ids)) for hypothesis in missing]
    return replace(given, hypotheses=(*given.hypotheses, *forgotten))


def free_id(id: str, taken: set[str]) -> str:
    """Return the id, or the first of its kind that is not taken; taken from now on."""
    name, number = id, 1
    while name in taken:
        number += 1
        name = f"{id}-{number}"
    taken.add(name)
    return name


def test_of(hypothesis: Hypothesis) -> JsonObject:
    """Return the parts of a hypothesis that a plan fixes: everything except name and wording."""
    return {key: value for key, value in hypothesis.to_dict().items() if key not in ("id", "text")}


def changed_files(about: Mapping[str, Any]) -> list[str]:
    """Return a sentence where files of an export were changed later."""
    files = about.get("changed_files") or ()
    return [f"These files were changed after the export: {', '.join(map(str, files))}."] if files else []


def deviations_from(
    measured: Measures,
    followed: AnalysisPlan,
    stored: PlanState,
    given: AnalysisPlan | None,
    results: tuple[StudyResult, ...],
) -> list[str]:
    """Return sentences about all differences between the analysis and the stored plan."""
    sentences = []
    flow = measured.flow
    if stored.status in (LATE, CHANGED):
        sentences.append(stored.sentence)
    if given is not None and stored.status == UNPLANNED:
        sentences.append(
            "The plan that was followed was handed in with the analysis and not stored with the study, so nothing "
            "shows that it came before the data; every result is exploratory."
        )
    planned = stored.plan if stored.plan is not None else followed
    if given is not None and stored.plan is not None:
        sentences += _changes(stored.plan, given)
    if stored.plan is not None:
        removed = [entry.sentence for entry in measured.excluded if entry.rule == "removed"]
        sentences += [f"{sentence} The plan does not say so." for sentence in removed]
    if planned.n is not None and planned.n != flow.analysed:
        sentences.append(
            f"The plan asks for {planned.n} participants; {flow.analysed} were analysed ({flow.began} began, "
            f"{flow.excluded} excluded)."
        )
    for row in results:
        if row.planned and row.verdict == UNTESTABLE:
            sentences.append(f"{row.id} was planned and could not be tested. {row.reason}")
    return sentences


def _changes(stored: AnalysisPlan, given: AnalysisPlan) -> list[str]:
    """Return sentences about the changes that a given plan makes."""
    sentences = []
    if given.alpha != stored.alpha:
        sentences.append(f"The level of significance is {given.alpha:g}; the plan says {stored.alpha:g}.")
    if given.marks != stored.marks:
        sentences.append(f"The asterisks follow the rule {given.marks!r}; the plan says {stored.marks!r}.")
    if given.regret != stored.regret:
        sentences.append(f"The regret is {given.regret} regret; the plan says {stored.regret} regret.")
    if given.exclusions != stored.exclusions:
        sentences += [
            f"The exclusion rule {key} is {_said(getattr(given.exclusions, key))}; the plan says "
            f"{_said(getattr(stored.exclusions, key))}."
            for key in Exclusions().to_dict()
            if key != "listed" and getattr(given.exclusions, key) != getattr(stored.exclusions, key)
        ]
        planned = {entry.participant for entry in stored.exclusions.listed}
        sentences += [
            f"{entry.participant} is excluded by name, which the plan does not do: {entry.reason}"
            for entry in given.exclusions.listed
            if entry.participant not in planned
        ]
        names = {entry.participant for entry in given.exclusions.listed}
        sentences += [
            f"{entry.participant} is not excluded, although the plan names them: {entry.reason}"
            for entry in stored.exclusions.listed
            if entry.participant not in names
        ]
    asked = [test_of(hypothesis) for hypothesis in stored.hypotheses]
    added = [hypothesis.id for hypothesis in given.hypotheses if test_of(hypothesis) not in asked]
    if added:
        sentences.append(f"Added to the stored plan, and exploratory: {', '.join(added)}.")
    return sentences


def _said(value: Any) -> str:
    return "not set" if value is None else str(value).lower() if isinstance(value, bool) else f"{value:g}"
