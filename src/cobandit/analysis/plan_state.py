"""What a stored plan is worth: whether it came before the data, and whether it is the text that was stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cobandit.analysis.plan import AnalysisPlan, parse_plan, text_digest
from cobandit.analysis.tables import Tables, analysed_kind
from cobandit.base.errors import InvalidInput
from cobandit.base.numbers import count
from cobandit.studies.design import StudyDesign

PLANNED, OPEN, LATE, CHANGED, UNPLANNED = "planned", "open", "late", "changed", "none"

STATUSES = (PLANNED, OPEN, LATE, CHANGED, UNPLANNED)
"""The states of a plan: fixed before the first participant; stored while no participant has begun; stored later;
changed or unreadable, so that its digest does not match; absent.
"""


@dataclass(frozen=True)
class PlanState:
    """The plan that was stored with the study, and whether it was stored before the data.

    ``counts``: the tests of the plan may be called planned. ``sentence`` describes the state for the report.
    """

    status: str
    counts: bool
    sentence: str
    plan: AnalysisPlan | None = None
    digest: str | None = None
    fixed_at: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values by name, ready for JSON."""
        plan = None if self.plan is None else self.plan.to_dict()
        return {
            "status": self.status,
            "counts": self.counts,
            "sentence": self.sentence,
            "sha256": self.digest,
            "fixed_at": self.fixed_at,
            "plan": plan,
        }


def plan_state(design: StudyDesign, tables: Tables, about: Mapping[str, Any], *, kind: str | None = None) -> PlanState:
    """Return the state of the stored plan: whether there is one, and whether it was stored before the data.

    ``kind`` is the kind of participants to analyse; a plan may be stored before people and after simulated
    participants.
    """
    text, digest = about.get("analysis_plan"), about.get("analysis_plan_sha256")
    beside = about.get("about")
    times = beside if isinstance(beside, Mapping) else {}
    fixed, stored = times.get("plan_fixed_at"), times.get("plan_stored_at")
    if not isinstance(text, str):
        return PlanState(
            UNPLANNED, False, "No analysis plan was stored with the study, so every result is exploratory."
        )
    own = text_digest(text)
    if digest is not None and digest != own:
        why = f"its SHA-256 is {own[:12]}..., and {str(digest)[:12]}... was stored"
        return _unusable(CHANGED, f"The stored plan does not match its stored digest ({why})", digest, fixed)
    try:
        plan = parse_plan(text, "the stored plan").checked(design)
    except InvalidInput as error:
        return _unusable(CHANGED, f"The stored plan cannot be followed: {str(error).rstrip('.')}", own, fixed)
    real = plan.late or _began_before(tables, "real", fixed)
    if stored is not None and not real:
        real = _began_before(tables, "real", stored)
    analysed = analysed_kind([str(value) for value in tables.get("wide", {}).get("kind", [])], kind)
    simulated = _began_before(tables, analysed, stored) if stored is not None and analysed != "real" else 0
    if real or simulated:
        many = count(real, "participant") if real else count(simulated, "simulated participant")
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
    sha256 = None if digest is None else str(digest)
    return PlanState(status, False, f"{why}. Every result is exploratory.", None, sha256, fixed)


def _began_before(tables: Tables, kind: str, at: Any) -> int:
    """Return how many participants of a kind had consented before a time (all, where it is no time)."""
    wide = tables.get("wide", {})
    if "consented_at" not in wide or "kind" not in wide:
        return 0
    mine = np.array([value == kind for value in wide["kind"].tolist()], dtype=bool)
    times = np.asarray(wide["consented_at"], dtype="datetime64[ms]")[mine]
    times = times[~np.isnat(times)]
    if not isinstance(at, str):
        return len(times)
    try:
        moment = np.datetime64(at.removesuffix("Z").removesuffix("+00:00"), "ms")
    except ValueError:
        return len(times)
    return int((times < moment).sum())
