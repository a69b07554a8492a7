"""What an analysis gives, as data: results with their verdicts, grids of the same test, descriptions.

Paper: Results of both studies, and the appendix on populations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cobandit.analysis.plan import GOOD, SCALE, SCORE, SURVEY, TASK_REGRET, TEAM_REGRET, good_total, good_word
from cobandit.stats import Description, Finding
from cobandit.studies.design import StudyDesign

SECTIONS = ("hypothesis", "companion", "anova", "population", "reliability", "order", "robustness")
"""The purpose of a result: to answer a hypothesis, to accompany such an answer, or to check an assumption."""

SUPPORTED, NOT_SUPPORTED, UNTESTABLE = "supported", "not supported", "cannot be tested"

SIGNIFICANT, STRONG = 0.05, 0.005
"""The paper's asterisks: one below the first, two below the second."""


@dataclass(frozen=True, kw_only=True)
class StudyResult:
    """One row of the results: a `Finding`, what it was asked for, and what it says.

    ``planned`` is true only for a test that a plan fixed before the data asks for. ``mark`` is the paper's: "*" for
    p < .05, "**" for p < .005, of the p-value that the plan chooses (``marks``). ``verdict`` stands where there is a
    hypothesis; ``reason`` says why it is not simply supported.
    """

    id: str
    section: str
    question: str
    finding: Finding
    measure: str
    compares: tuple[str, ...] = ()
    hypothesis: str = ""
    planned: bool = False
    family: str = ""
    group: str = ""
    mark: str = ""
    verdict: str = ""
    reason: str = ""

    @property
    def p(self) -> float | None:
        """The p-value that counts: corrected, where several tests answer one question."""
        return self.finding.p if self.finding.p_adjusted is None else self.finding.p_adjusted

    def to_dict(self) -> dict[str, Any]:
        """Plain values by name, ready for JSON."""
        about = {
            "id": self.id,
            "section": self.section,
            "question": self.question,
            "hypothesis": self.hypothesis or None,
            "planned": self.planned,
            "measure": self.measure,
            "compares": list(self.compares),
            "group": self.group or None,
            "family": self.family or None,
            "mark": self.mark,
            "verdict": self.verdict or None,
            "reason": self.reason,
        }
        return about | {"finding": self.finding.to_dict()}


VERY_EASY, VERY_HARD = "very easy", "very hard"
"""How a casino is shaded where the conditions hardly differ (`cobandit.analysis.grids.shaded` has the rule)."""


@dataclass(frozen=True)
class GridRow:
    """One participant over the casinos, or one casino over the participants; ``mark`` is of the plain p-value.

    ``shade`` is "very easy" or "very hard" for a casino in which the conditions hardly differ, else empty.
    """

    label: str
    finding: Finding
    mark: str = ""
    shade: str = ""

    @property
    def lower(self) -> bool | None:
        """Whether the first condition has the lower value; None: equal, or nothing to compare."""
        difference = self.finding.estimate
        return None if difference is None or difference == 0.0 else difference < 0.0


@dataclass(frozen=True, kw_only=True)
class Grid:
    """The same paired t test again and again: within each participant, or within each casino (Fig. "casino").

    The counts are about the first condition of ``compares``: for how many rows it has the ``lower`` regret, for how
    many of these p < .05 (``significant``), p < .005 (``strong``), and for how many Holm's correction over all rows
    leaves p < .05 (``corrected``); ``opposed`` counts rows with p < .05 the other way, ``untested`` those without test.
    """

    by: str
    measure: str
    compares: tuple[str, str]
    rows: tuple[GridRow, ...]
    note: str = ""

    @property
    def lower(self) -> int:
        """Rows in which the first condition has the lower value."""
        return sum(row.lower is True for row in self.rows)

    @property
    def higher(self) -> int:
        """Rows in which the first condition has the higher value."""
        return sum(row.lower is False for row in self.rows)

    def _below(self, limit: float, *, lower: bool = True) -> int:
        return sum(row.lower is lower and row.finding.p is not None and row.finding.p < limit for row in self.rows)

    @property
    def significant(self) -> int:
        """Rows with a lower value and p < .05."""
        return self._below(SIGNIFICANT)

    @property
    def strong(self) -> int:
        """Rows with a lower value and p < .005."""
        return self._below(STRONG)

    @property
    def opposed(self) -> int:
        """Rows with a higher value and p < .05."""
        return self._below(SIGNIFICANT, lower=False)

    @property
    def corrected(self) -> int:
        """Rows with a lower value and p < .05 after Holm's correction over all rows."""
        values = [row.finding.p_adjusted for row in self.rows if row.lower]
        return sum(value is not None and value < SIGNIFICANT for value in values)

    @property
    def untested(self) -> int:
        """Rows that could not be tested; each row's note says why."""
        return sum(row.finding.p is None for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Plain values by name, ready for JSON."""
        counts = ("lower", "higher", "significant", "strong", "opposed", "corrected", "untested")
        rows = [
            {"label": row.label, "mark": row.mark, "shade": row.shade or None, "finding": row.finding.to_dict()}
            for row in self.rows
        ]
        about = {"by": self.by, "measure": self.measure, "compares": list(self.compares), "note": self.note}
        return about | {name: getattr(self, name) for name in counts} | {"rows": rows}


@dataclass(frozen=True)
class Described:
    """A measure in one condition, for all participants or for those who gave one answer to a question."""

    measure: str
    condition: str
    description: Description
    question: str = ""
    answer: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values by name, ready for JSON."""
        about = {"measure": self.measure, "condition": self.condition}
        split = {"question": self.question or None, "answer": self.answer or None}
        return about | split | self.description.to_dict()


def mark(p: float | None) -> str:
    """Return the paper's asterisks."""
    return "" if p is None or p >= SIGNIFICANT else "*" if p >= STRONG else "**"


def measure_name(design: StudyDesign, measure: str) -> str:
    """Return a measure as it is called in a table or next to a figure."""
    if measure.startswith(SURVEY):
        return f"agreement with {measure.removeprefix(SURVEY)!r}"
    if measure.startswith(SCALE):
        return f"score of {measure.removeprefix(SCALE)!r}"
    good = "total score" if design.rewards.graded else good_word(design)
    known = {TASK_REGRET: "task regret", TEAM_REGRET: "team regret", SCORE: "survey score", GOOD: good}
    return known.get(measure, measure)


def measure_phrase(design: StudyDesign, measure: str) -> str:
    """Return a measure as it is called in a sentence, with its article."""
    if measure == GOOD:
        return good_total(design)
    name = measure_name(design, measure)
    return f"the {name}" if measure == SCORE or measure.startswith(SCALE) else name
