"""Analysis of a study, real or rehearsed: measures, plan, tests, deviations, and the text of a results section.

`analyse` takes the tables of an export, `analyse_data` a study in memory. Tests that were not planned before the data
are exploratory. For every excluded participant, every test that was not possible and every deviation from the plan, the
analysis contains a sentence.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from cobandit.analysis import words
from cobandit.analysis.checks import order_results, population_results, reliability_results, robustness_results
from cobandit.analysis.deviations import changed_files, deviations_from, free_id, joined_plan, test_of
from cobandit.analysis.findings import Described, Grid, StudyResult
from cobandit.analysis.grids import descriptions, grids
from cobandit.analysis.hypotheses import hypothesis_results, score_hypotheses
from cobandit.analysis.measures import Measures, measures
from cobandit.analysis.methods_text import methods
from cobandit.analysis.plan import GOOD, SCORE, TASK_REGRET, TEAM_REGRET, AnalysisPlan, default_plan
from cobandit.analysis.plan_file import plan_toml
from cobandit.analysis.plan_state import PlanState, plan_state
from cobandit.analysis.results_text import results
from cobandit.analysis.scales import scale_hypotheses, scale_reliability
from cobandit.analysis.tables import Tables
from cobandit.analysis.teams import team_measures
from cobandit.base.checks import short_repr
from cobandit.base.errors import InvalidInput
from cobandit.base.extras import require_extras
from cobandit.base.files import make_folder, save_csv, save_json, save_text, strict
from cobandit.base.json_types import JsonObject
from cobandit.studies.data import StudyData, this_software
from cobandit.studies.design import StudyDesign
from cobandit.studies.export import tables as tables_of

TESTING = "Analysing a study"
RESULTS = "results.json"

COLUMNS = (
    "id", "section", "planned", "hypothesis", "family", "measure", "compares", "group", "test", "n", "statistic_name",
    "statistic", "df", "p", "p_adjusted", "mark", "alternative", "estimate_name", "estimate", "estimate_low",
    "estimate_high", "effect_name", "effect", "low", "high", "level", "mean_1", "sd_1", "se_1", "n_1", "mean_2", "sd_2",
    "se_2", "n_2", "verdict", "reason", "question", "note",
)  # fmt: skip
"""The columns of `Analysis.rows`."""


@dataclass(frozen=True, eq=False)
class Analysis:
    """The results of an analysis, as data; ``methods`` and ``results_text`` describe them in words.

    ``plan`` is the plan that was followed (the stored plan, a given one, or the default), ``stored`` the state of the
    stored plan. ``results`` contains all rows, planned ones first; ``grids`` the tests within participants and within
    casinos; ``described`` means and spreads. ``deviations``, ``exclusions`` and ``notes`` are sentences.
    """

    design: StudyDesign
    measures: Measures
    plan: AnalysisPlan
    stored: PlanState
    results: tuple[StudyResult, ...]
    grids: tuple[Grid, ...]
    described: tuple[Described, ...]
    deviations: tuple[str, ...]
    notes: tuple[str, ...]
    versions: Mapping[str, str]

    @cached_property
    def units(self) -> Measures:
        """The measures with a row for each unit of the tests: the team, where several people are in one team; else
        the participant.
        """
        return team_measures(self.measures)

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
        """A sentence for each excluded participant."""
        return tuple(entry.sentence for entry in self.measures.excluded)

    @property
    def planned(self) -> tuple[StudyResult, ...]:
        """The answers to planned hypotheses."""
        return tuple(row for row in self.results if row.planned and row.section == "hypothesis")

    @property
    def exploratory(self) -> tuple[StudyResult, ...]:
        """The answers to questions that no plan asked before the data."""
        return tuple(row for row in self.results if not row.planned and row.section == "hypothesis")

    def section(self, *names: str) -> tuple[StudyResult, ...]:
        """Return the results of some sections (see ``SECTIONS``)."""
        return tuple(row for row in self.results if row.section in names)

    def result(self, id: str) -> StudyResult:
        """Return the result of an id."""
        for row in self.results:
            if row.id == id:
                return row
        raise InvalidInput(f"The analysis has no result {short_repr(id)}.")

    @cached_property
    def methods_parts(self) -> tuple[words.Paragraph, ...]:
        """A methods section written from the design: titles and paragraphs."""
        return methods(self)

    @cached_property
    def results_parts(self) -> tuple[words.Paragraph, ...]:
        """A results section written from the numbers: titles and paragraphs."""
        return results(self)

    @property
    def methods(self) -> str:
        """The methods section as plain text, an empty line between paragraphs."""
        return words.joined(self.methods_parts)

    @property
    def results_text(self) -> str:
        """The results section as plain text, an empty line between paragraphs."""
        return words.joined(self.results_parts)

    def rows(self) -> list[dict[str, Any]]:
        """Return all results and all rows of the grids as one flat table, ready for CSV; None: nothing to say."""
        rows = [_flat(row.to_dict() | {"finding": row.finding}) for row in self.results]
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
                rows.append(_flat(about | {"finding": entry.finding}))
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Return the analysis as plain data, ready for JSON; NaN becomes None."""
        measured = self.measures
        teams = {}
        if self.design.group is not None:
            units = self.units
            values = {
                measure: strict(units.totals(measure).tolist()) for measure in (TASK_REGRET, TEAM_REGRET, GOOD, SCORE)
            }
            members = {"teams": list(units.participants), "team_of_participant": list(measured.teams)}
            teams = {"unit": units.unit, "unit_note": words.unit_note(self.design), **members, "team_totals": values}
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
                "task_regret": strict(measured.task_regret.tolist()),
                "team_regret": strict(measured.team_regret.tolist()),
                "good": strict(measured.good.tolist()),
                "survey_items": list(measured.items),
                "survey": strict(measured.survey.tolist()),
                "survey_score": strict(measured.score.tolist()),
                "curve_rounds": measured.points.tolist(),
                "mean_curves": strict(measured.mean_curves.tolist()),
            },
            "methods": self.methods,
            "results_text": self.results_text,
        } | teams

    def save(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write the analysis into a folder and give the files; the page is `cobandit.report.write_study_report`.

        ``results.json`` holds everything, ``results.csv`` a row for each test, ``methods.md`` and ``results.md`` the
        words, ``plan.toml`` the plan that was followed. The folder is a new or an empty one, or that of an earlier
        analysis of the same study.
        """
        out = Path(folder)
        self._refuse_another_folder(out)
        make_folder(out)
        rows = ([row[name] for name in COLUMNS] for row in self.rows())
        return [
            save_json(out / RESULTS, self.to_dict()),
            save_csv(out / "results.csv", COLUMNS, rows),
            save_text(out / "methods.md", words.markdown("Methods", self.methods_parts)),
            save_text(out / "results.md", words.markdown("Results", self.results_parts)),
            save_text(out / "plan.toml", plan_toml(self.plan)),
        ]

    def _refuse_another_folder(self, folder: Path) -> None:
        """Raise an error if the folder contains anything but an earlier analysis of the same study."""
        if folder.exists() and not folder.is_dir():
            raise InvalidInput(f"{str(folder)!r} is a file; a folder is needed.")
        if not folder.exists() or not any(folder.iterdir()):
            return
        try:
            earlier = json.loads((folder / RESULTS).read_text(encoding="utf-8"))["study"]
        except (OSError, ValueError, TypeError, KeyError):
            earlier = None
        if earlier != self.design.name:
            raise InvalidInput(
                f"The folder {str(folder)!r} holds something else already; a new or an empty one is needed."
            )

    def __repr__(self) -> str:
        return f"<Analysis of {self.design.name}: {len(self.measures)} {self.kind}, {len(self.results)} results>"


def _flat(row: JsonObject) -> JsonObject:
    finding = row["finding"]
    flat: dict[str, Any] = dict.fromkeys(COLUMNS) | {key: row.get(key) for key in COLUMNS if key in row}
    flat["compares"] = " - ".join(row["compares"])
    for key in COLUMNS:
        if hasattr(finding, key) and key not in row:
            flat[key] = getattr(finding, key)
    flat["df"] = None if finding.df is None else " ".join(f"{value:.6g}" for value in finding.df)
    for place, group in enumerate(finding.groups[:2], start=1):
        flat |= {f"mean_{place}": group.mean, f"sd_{place}": group.sd, f"se_{place}": group.se, f"n_{place}": group.n}
    return flat


def about_data(data: StudyData) -> dict[str, Any]:
    """Return the facts about a study in memory that `analyse` needs, in the format of an export's ``study.json``."""
    return {
        "analysis_plan": data.plan,
        "analysis_plan_sha256": data.plan_digest,
        "about": dict(data.about),
        "versions": dict(data.versions),
    }


def analyse_data(data: StudyData, *, kind: str | None = None, plan: AnalysisPlan | None = None) -> Analysis:
    """Return the analysis of a study in memory."""
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
    """Analyse a study from its exported tables; ``about`` is the content of ``study.json``.

    ``kind`` selects real or simulated participants (by default real ones, if there are any). ``plan`` replaces the
    stored plan; its additions and changes are exploratory, and deviations.
    """
    require_extras(TESTING, stats=True)
    known = about or {}
    if plan is not None:
        plan.checked(design)
    stored = plan_state(design, tables, known, kind=kind)
    followed = plan or stored.plan or default_plan(design)
    if plan is not None and stored.plan is not None:
        followed = joined_plan(stored.plan, plan)
    measured = measures(design, tables, followed.exclusions, kind=kind)
    units = team_measures(measured)
    rows = tuple(_results(measured, units, followed, stored))
    notes = [*measured.notes, *_notes(measured, units, followed)]
    return Analysis(
        design=design,
        measures=measured,
        plan=followed,
        stored=stored,
        results=rows,
        grids=tuple(grids(units, followed.alpha, followed.regret_measure)),
        described=tuple(descriptions(units, followed.alpha, followed.regret_measure)),
        deviations=(*changed_files(known), *deviations_from(measured, followed, stored, plan, rows)),
        notes=tuple(notes),
        versions=dict(known.get("versions") or {}) | {"analysed_with": this_software()["cobandit"]},
    )


def _results(measured: Measures, units: Measures, plan: AnalysisPlan, stored: PlanState) -> list[StudyResult]:
    """Return all results. Tests have a row of ``units`` as their unit; reliability and the mixed model use people."""
    fixed = (
        [test_of(hypothesis) for hypothesis in stored.plan.hypotheses]
        if stored.counts and stored.plan is not None
        else []
    )
    asked = [(hypothesis, test_of(hypothesis) in fixed) for hypothesis in plan.hypotheses]
    known = {hypothesis.essential for hypothesis in plan.hypotheses}
    taken = {hypothesis.id for hypothesis in plan.hypotheses}
    usual = default_plan(measured.design, regret=plan.regret)
    for more in (*usual.hypotheses, *score_hypotheses(measured.design), *scale_hypotheses(measured.design)):
        if more.essential not in known:
            asked.append((replace(more, id=free_id(more.id, taken)), False))
    asked.sort(key=lambda entry: not entry[1])
    alpha, regret = plan.alpha, plan.regret_measure
    return [
        *hypothesis_results(units, asked, alpha, plan.marks),
        *population_results(units, alpha, regret),
        *reliability_results(measured, alpha),
        *scale_reliability(dict(measured.scales), measured.conditions, 1 - alpha),
        *order_results(units, alpha, regret),
        *robustness_results(measured, alpha, regret),
    ]


def _notes(measured: Measures, units: Measures, plan: AnalysisPlan) -> list[str]:
    """Return further notes for readers."""
    design, notes = measured.design, [words.regret_note(measured.design, plan)]
    if design.group is not None:
        notes.append(words.unit_note(design))
    if len(measured.conditions) == 1:
        notes.append("The design has one condition only, so there is nothing to compare.")
    failed = sum(measured.attention_failed)
    if design.attention:
        notes.append(f"{failed} of {len(measured)} analysed participants failed an attention check.")
    if len(measured) == 0:
        notes.append("No participant remains for the analysis, so there are no tests.")
    orders = {order: units.orders.count(order) for order in design.orders}
    if len(measured) and len(design.orders) > 1:
        counts = ", ".join(f"{count} of {' > '.join(order)}" for order, count in orders.items())
        notes.append(f"Orders: {counts}.")
    return notes
