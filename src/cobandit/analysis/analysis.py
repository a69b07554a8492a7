"""A study, real or rehearsed, as the results section of a paper: measures, plan, tests, deviations, and the words.

`analyse` takes the tables of an export, `analyse_data` a study in memory. What was not planned before the data is
called exploratory; whoever was left out, whatever could not be tested and wherever the plan was not followed stands in
the analysis as a sentence.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from cobandit.analysis import words
from cobandit.analysis.findings import (
    UNTESTABLE,
    Described,
    Grid,
    Result,
    descriptions,
    grids,
    hypothesis_results,
    order_results,
    population_results,
    reliability_results,
    robustness_results,
    score_hypotheses,
)
from cobandit.analysis.measures import Measures, Tables, measures
from cobandit.analysis.plan import (
    AnalysisPlan,
    Exclusions,
    Hypothesis,
    default_plan,
    parse_plan,
    text_digest,
)
from cobandit.base.checks import short_repr
from cobandit.base.errors import InvalidInput
from cobandit.base.extras import require_extras
from cobandit.base.numbers import count
from cobandit.studies.data import StudyData, this_software
from cobandit.studies.design import StudyDesign
from cobandit.studies.export import tables as tables_of

TESTING = "Analysing a study"
PLANNED, OPEN, LATE, CHANGED, UNPLANNED = "planned", "open", "late", "changed", "none"
STATUSES = (PLANNED, OPEN, LATE, CHANGED, UNPLANNED)
"""What a plan is worth: fixed before the first person; stored while nobody has begun; stored later; not the text that
its digest vouches for, or not to be read; not there."""


@dataclass(frozen=True)
class PlanState:
    """The plan that was stored with the study, and whether it came before the data.

    ``counts``: what the plan asks for may be called planned. ``sentence`` says all of it for the report.
    """

    status: str
    counts: bool
    sentence: str
    plan: AnalysisPlan | None = None
    digest: str | None = None
    fixed_at: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values by name, ready for JSON."""
        kept = None if self.plan is None else self.plan.to_dict()
        return {
            "status": self.status,
            "counts": self.counts,
            "sentence": self.sentence,
            "sha256": self.digest,
            "fixed_at": self.fixed_at,
            "plan": kept,
        }


@dataclass(frozen=True, eq=False)
class Analysis:
    """Everything an analysis found, as data; ``methods`` and ``results_text`` say it in words.

    ``plan`` is what was followed (the stored plan, one that was handed in, or the default one), ``stored`` what was
    known of a stored one. ``results`` holds all rows, planned ones first; ``grids`` the tests within participants and
    within casinos; ``described`` means and spreads. ``deviations``, ``exclusions`` and ``notes`` are sentences.
    """

    design: StudyDesign
    measures: Measures
    plan: AnalysisPlan
    stored: PlanState
    results: tuple[Result, ...]
    grids: tuple[Grid, ...]
    described: tuple[Described, ...]
    deviations: tuple[str, ...]
    notes: tuple[str, ...]
    versions: Mapping[str, str]

    @property
    def kind(self) -> str:
        """Whose data these are: "real", "rehearsal" or "demo"."""
        return self.measures.kind

    @property
    def simulated(self) -> bool:
        """Whether the participants are no people."""
        return self.kind == "rehearsal"

    @property
    def exclusions(self) -> tuple[str, ...]:
        """A sentence for everybody who is left out."""
        return tuple(entry.sentence for entry in self.measures.excluded)

    @property
    def planned(self) -> tuple[Result, ...]:
        """The answers to planned hypotheses."""
        return tuple(row for row in self.results if row.planned and row.section == "hypothesis")

    @property
    def exploratory(self) -> tuple[Result, ...]:
        """The answers to questions that no plan asked before the data."""
        return tuple(row for row in self.results if not row.planned and row.section == "hypothesis")

    def section(self, *names: str) -> tuple[Result, ...]:
        """The results of some sections (see ``SECTIONS``)."""
        return tuple(row for row in self.results if row.section in names)

    def result(self, id: str) -> Result:
        """The result of an id."""
        for row in self.results:
            if row.id == id:
                return row
        raise InvalidInput(f"The analysis has no result {short_repr(id)}.")

    @cached_property
    def methods_parts(self) -> tuple[words.Paragraph, ...]:
        """A methods section written from the design: titles and paragraphs."""
        return words.methods(self)

    @cached_property
    def results_parts(self) -> tuple[words.Paragraph, ...]:
        """A results section written from the numbers: titles and paragraphs."""
        return words.results(self)

    @property
    def methods(self) -> str:
        """The methods section as plain text, an empty line between paragraphs."""
        return words.joined(self.methods_parts)

    @property
    def results_text(self) -> str:
        """The results section as plain text, an empty line between paragraphs."""
        return words.joined(self.results_parts)

    def rows(self) -> list[dict[str, Any]]:
        """All results and all rows of the grids as one flat table, ready for CSV; None: nothing to say."""
        made = [_flat(row.to_dict() | {"finding": row.finding}) for row in self.results]
        for grid in self.grids:
            for entry in grid.rows:
                about = {
                    "id": f"by-{grid.by}/{'/'.join(grid.compares)}/{entry.label}",
                    "section": f"by {grid.by}",
                    "measure": grid.measure,
                    "compares": list(grid.compares),
                    "planned": False,
                    "mark": entry.mark,
                }
                made.append(_flat(about | {"finding": entry.finding}))
        return made

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data, ready for JSON; NaN becomes None."""
        measured = self.measures
        return {
            "study": self.design.name,
            "version": self.design.version,
            "title": self.design.title,
            "digest": self.design.digest,
            "kind": self.kind,
            "simulated": self.simulated,
            "versions": dict(self.versions),
            "plan": self.plan.to_dict(),
            "stored_plan": self.stored.to_dict(),
            "flow": asdict(measured.flow),
            "participants": list(measured.participants),
            "excluded": [asdict(entry) for entry in measured.excluded],
            "gaps": [asdict(entry) for entry in measured.gaps],
            "deviations": list(self.deviations),
            "notes": list(self.notes),
            "described": [entry.to_dict() for entry in self.described],
            "results": [row.to_dict() for row in self.results],
            "grids": [grid.to_dict() for grid in self.grids],
            "measures": {
                "conditions": list(measured.conditions),
                "orders": [list(order) for order in measured.orders],
                "task_regret": _nested(measured.task_regret),
                "team_regret": _nested(measured.team_regret),
                "good": _nested(measured.good),
                "survey_items": list(measured.items),
                "survey": _nested(measured.survey),
                "survey_score": _nested(measured.score),
                "curve_rounds": measured.points.tolist(),
                "mean_curves": _nested(measured.mean_curves),
            },
            "methods": self.methods,
            "results_text": self.results_text,
        }

    def __repr__(self) -> str:
        return f"<Analysis of {self.design.name}: {len(self.measures)} {self.kind}, {len(self.results)} results>"


def _nested(values: np.ndarray[Any, Any]) -> Any:
    def plain(part: Any) -> Any:
        if isinstance(part, list):
            return [plain(entry) for entry in part]
        return None if isinstance(part, float) and not math.isfinite(part) else part

    return plain(values.tolist())


COLUMNS = (
    "id", "section", "planned", "hypothesis", "family", "measure", "compares", "group", "test", "n", "statistic_name",
    "statistic", "df", "p", "p_adjusted", "mark", "alternative", "estimate_name", "estimate", "estimate_low",
    "estimate_high", "effect_name", "effect", "low", "high", "level", "mean_1", "sd_1", "se_1", "n_1", "mean_2", "sd_2",
    "se_2", "n_2", "verdict", "reason", "question", "note",
)  # fmt: skip
"""The columns of `Analysis.rows`."""


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    found = row["finding"]
    made: dict[str, Any] = dict.fromkeys(COLUMNS) | {key: row.get(key) for key in COLUMNS if key in row}
    made["compares"] = " - ".join(row["compares"])
    for key in COLUMNS:
        if hasattr(found, key) and key not in row:
            made[key] = getattr(found, key)
    made["df"] = None if found.df is None else " ".join(f"{value:.6g}" for value in found.df)
    for place, group in enumerate(found.groups[:2], start=1):
        made |= {f"mean_{place}": group.mean, f"sd_{place}": group.sd, f"se_{place}": group.se, f"n_{place}": group.n}
    return made


def about_data(data: StudyData) -> dict[str, Any]:
    """What `analyse` needs to know about a study in memory, in the words of an export's ``study.json``."""
    return {
        "analysis_plan": data.plan,
        "analysis_plan_sha256": data.plan_digest,
        "about": dict(data.about),
        "versions": dict(data.versions),
    }


def analyse_data(data: StudyData, *, kind: str | None = None, plan: AnalysisPlan | None = None) -> Analysis:
    """The analysis of a study in memory."""
    require_extras(TESTING, stats=True)
    return analyse(data.design, tables_of(data, practice=False), about_data(data), kind=kind, plan=plan)


def analyse(
    design: StudyDesign,
    tables: Tables,
    about: Mapping[str, Any] | None = None,
    *,
    kind: str | None = None,
    plan: AnalysisPlan | None = None,
) -> Analysis:
    """The analysis of a study from its exported tables; ``about`` is what ``study.json`` says beside them.

    ``kind`` picks people or simulated participants (by default people, where there are any). ``plan`` is followed in
    place of the stored one; what it adds or changes is exploratory and a deviation.
    """
    require_extras(TESTING, stats=True)
    known = about or {}
    if plan is not None:
        plan.checked(design)
    stored = plan_state(design, tables, known)
    followed = plan or stored.plan or default_plan(design)
    if plan is not None and stored.plan is not None:
        followed = _joined(stored.plan, plan)
    measured = measures(design, tables, followed.exclusions, kind=kind)
    results = tuple(_results(measured, followed, stored))
    notes = [*measured.notes, *_notes(measured)]
    return Analysis(
        design=design,
        measures=measured,
        plan=followed,
        stored=stored,
        results=results,
        grids=tuple(grids(measured, followed.alpha)),
        described=tuple(descriptions(measured, followed.alpha)),
        deviations=(*_edited(known), *_deviations(measured, followed, stored, plan, results)),
        notes=tuple(notes),
        versions=dict(known.get("versions") or {}) | {"analysed_with": this_software()["cobandit"]},
    )


def _joined(stored: AnalysisPlan, given: AnalysisPlan) -> AnalysisPlan:
    """The plan that was handed in, with every stored hypothesis that it does not have: none is forgotten."""
    asked = [_test_of(hypothesis) for hypothesis in given.hypotheses]
    ids = {hypothesis.id for hypothesis in given.hypotheses}
    missing = [hypothesis for hypothesis in stored.hypotheses if _test_of(hypothesis) not in asked]
    kept = [replace(one, id=_free(one.id, ids)) for one in missing]
    return replace(given, hypotheses=(*given.hypotheses, *kept))


def _free(id: str, taken: set[str]) -> str:
    name, number = id, 1
    while name in taken:
        number += 1
        name = f"{id}-{number}"
    taken.add(name)
    return name


def _test_of(hypothesis: Hypothesis) -> dict[str, Any]:
    """What a plan fixes about a hypothesis: all but what it is called and how it is worded."""
    return {key: value for key, value in hypothesis.to_dict().items() if key not in ("id", "text")}


# The plan


def plan_state(design: StudyDesign, tables: Tables, about: Mapping[str, Any]) -> PlanState:
    """What is known of the stored plan: whether there is one, and whether it came before the data."""
    text, digest = about.get("analysis_plan"), about.get("analysis_plan_sha256")
    beside = about.get("about")
    fixed = beside.get("plan_fixed_at") if isinstance(beside, Mapping) else None
    if not isinstance(text, str):
        return PlanState(
            UNPLANNED, False, "No analysis plan was stored with the study, so every result is exploratory."
        )
    own = text_digest(text)
    if digest is not None and digest != own:
        why = f"its SHA-256 is {own[:12]}..., and {str(digest)[:12]}... was stored"
        return _unusable(CHANGED, f"The stored plan is not the one that its digest vouches for ({why})", digest, fixed)
    try:
        plan = parse_plan(text, "the stored plan").checked(design)
    except InvalidInput as error:
        return _unusable(CHANGED, f"The stored plan cannot be followed: {str(error).rstrip('.')}", own, fixed)
    earlier = _began_before(tables, fixed)
    if plan.late or earlier:
        many = count(plan.late or earlier, "participant")
        sentence = (
            f"The analysis plan (SHA-256 {own[:12]}...) was stored after {many} had started, so every result is "
            f"exploratory."
        )
        return PlanState(LATE, False, sentence, plan, own, fixed)
    if fixed is None:
        sentence = f"The analysis plan (SHA-256 {own[:12]}...) was stored before any real participant had started."
        return PlanState(OPEN, True, sentence, plan, own, None)
    sentence = f"The analysis plan (SHA-256 {own[:12]}...) was fixed at {fixed}, when the first participant started."
    return PlanState(PLANNED, True, sentence, plan, own, fixed)


def _unusable(status: str, why: str, digest: Any, fixed: Any) -> PlanState:
    told = None if digest is None else str(digest)
    return PlanState(status, False, f"{why}. Every result is exploratory.", None, told, fixed)


def _began_before(tables: Tables, fixed: Any) -> int:
    """How many real participants had consented before the plan was fixed (all, where it never was)."""
    wide = tables.get("wide", {})
    if "consented_at" not in wide or "kind" not in wide:
        return 0
    real = np.array([kind == "real" for kind in wide["kind"].tolist()], dtype=bool)
    times = np.asarray(wide["consented_at"], dtype="datetime64[ms]")[real]
    times = times[~np.isnat(times)]
    if not isinstance(fixed, str):
        return len(times)
    try:
        moment = np.datetime64(fixed.removesuffix("Z").removesuffix("+00:00"), "ms")
    except ValueError:
        return len(times)
    return int((times < moment).sum())


def _results(measured: Measures, plan: AnalysisPlan, stored: PlanState) -> list[Result]:
    fixed = [_test_of(one) for one in stored.plan.hypotheses] if stored.counts and stored.plan is not None else []
    asked = [(hypothesis, _test_of(hypothesis) in fixed) for hypothesis in plan.hypotheses]
    known = {hypothesis.essential for hypothesis in plan.hypotheses}
    taken = {hypothesis.id for hypothesis in plan.hypotheses}
    for more in (*default_plan(measured.design).hypotheses, *score_hypotheses(measured.design)):
        if more.essential not in known:
            asked.append((replace(more, id=_free(more.id, taken)), False))
    asked.sort(key=lambda entry: not entry[1])
    alpha = plan.alpha
    return [
        *hypothesis_results(measured, asked, alpha),
        *population_results(measured, alpha),
        *reliability_results(measured, alpha),
        *order_results(measured, alpha),
        *robustness_results(measured, alpha),
    ]


def _edited(about: Mapping[str, Any]) -> list[str]:
    files = about.get("changed_files") or ()
    return [f"These files were changed after the export: {', '.join(map(str, files))}."] if files else []


def _deviations(
    measured: Measures,
    followed: AnalysisPlan,
    stored: PlanState,
    given: AnalysisPlan | None,
    results: tuple[Result, ...],
) -> list[str]:
    found = []
    flow = measured.flow
    if stored.status in (LATE, CHANGED):
        found.append(stored.sentence)
    if given is not None and stored.status == UNPLANNED:
        found.append(
            "The plan that was followed was handed in with the analysis and not stored with the study, so nothing "
            "shows that it came before the data; every result is exploratory."
        )
    planned = stored.plan if stored.plan is not None else followed
    if given is not None and stored.plan is not None:
        found += _changes(stored.plan, given)
    if planned.n is not None and planned.n != flow.analysed:
        found.append(
            f"The plan asks for {planned.n} participants; {flow.analysed} were analysed ({flow.began} began, "
            f"{flow.excluded} excluded)."
        )
    for row in results:
        if row.planned and row.verdict == UNTESTABLE:
            found.append(f"{row.id} was planned and could not be tested. {row.reason}")
    return found


def _changes(stored: AnalysisPlan, given: AnalysisPlan) -> list[str]:
    """What a plan that was handed in changes."""
    found = []
    if given.alpha != stored.alpha:
        found.append(f"The level of significance is {given.alpha:g}; the plan says {stored.alpha:g}.")
    if given.exclusions != stored.exclusions:
        found += [
            f"The exclusion rule {key} is {_said(getattr(given.exclusions, key))}; the plan says "
            f"{_said(getattr(stored.exclusions, key))}."
            for key in Exclusions().to_dict()
            if key != "listed" and getattr(given.exclusions, key) != getattr(stored.exclusions, key)
        ]
        planned = {entry.participant for entry in stored.exclusions.listed}
        found += [
            f"{entry.participant} is excluded by name, which the plan does not do: {entry.reason}"
            for entry in given.exclusions.listed
            if entry.participant not in planned
        ]
        names = {entry.participant for entry in given.exclusions.listed}
        found += [
            f"{entry.participant} is not excluded, although the plan names them: {entry.reason}"
            for entry in stored.exclusions.listed
            if entry.participant not in names
        ]
    new = [_test_of(one) for one in stored.hypotheses]
    added = [one.id for one in given.hypotheses if _test_of(one) not in new]
    if added:
        found.append(f"Added to the stored plan, and exploratory: {', '.join(added)}.")
    return found


def _said(value: Any) -> str:
    return "not set" if value is None else str(value).lower() if isinstance(value, bool) else f"{value:g}"


def _notes(measured: Measures) -> list[str]:
    """What readers should know besides."""
    design, found = measured.design, []
    factor = design.problem.team_factor
    found.append(
        f"Team regret is {factor:g} times task regret in this design, so both have the same test statistics, p-values "
        f"and effect sizes."
    )
    if len(measured.conditions) == 1:
        found.append("The design has one condition only, so there is nothing to compare.")
    failed = sum(measured.attention_failed)
    if design.attention:
        found.append(f"{failed} of {len(measured)} analysed participants failed an attention check.")
    if len(measured) == 0:
        found.append("Nobody is left to analyse, so nothing could be tested.")
    orders = {order: measured.orders.count(order) for order in design.orders}
    if len(measured) and len(design.orders) > 1:
        counts = ", ".join(f"{count} of {' > '.join(order)}" for order, count in orders.items())
        found.append(f"Orders: {counts}.")
    return found
