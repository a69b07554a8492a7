"""What a figure of a study is, and the words that all of them share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cobandit.analysis import Analysis, Described, StudyResult
from cobandit.analysis.findings import measure_name
from cobandit.analysis.plan import has_ai
from cobandit.analysis.words import condition_label, p_value, unit_word
from cobandit.base.numbers import APA, DASH
from cobandit.report.kit.palette import algorithm_numbers
from cobandit.stats import Description

if TYPE_CHECKING:
    pass

STARS = "One asterisk: p < .05, two: p < .005"
HOLM = "Holm"


@dataclass(frozen=True)
class NotDrawn:
    """A figure that cannot be drawn, and the sentence that says why."""

    name: str
    title: str
    reason: str


@dataclass(frozen=True, eq=False)
class StudyFigure:
    """A figure that is ready to be drawn at any width (in inches), and the numbers behind it as a table of texts."""

    name: str
    title: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    draw: Callable[[float], Any]


def p_text(p: float | None) -> str:
    """Return a p-value for a table."""
    return DASH if p is None else p_value(p).removeprefix("p ").removeprefix("= ")


def interval_text(low: float | None, high: float | None) -> str:
    """Return limits in square brackets."""
    return DASH if low is None or high is None else f"[{APA.format(low)}, {APA.format(high)}]"


def verdict_text(analysis: Analysis, row: StudyResult | None) -> str:
    """Return the text above a bracket: asterisks with their p-value, and the corrected p-value if it is another one."""
    if row is None or row.p is None or row.finding.p is None:
        return "not tested"
    if analysis.plan.marks == "holm":
        return f"{row.mark} {p_value(row.p)}".strip()
    corrected = "" if row.finding.p_adjusted is None else f" ({HOLM} {p_text(row.finding.p_adjusted)})"
    return f"{row.mark} {p_value(row.finding.p)}{corrected}".strip()


def regret_name(analysis: Analysis) -> str:
    """Return the regret that the plan chooses, as a figure calls it."""
    return measure_name(analysis.design, analysis.plan.regret_measure)


def unit_count(analysis: Analysis, many: int) -> str:
    """Return the number of the units that a figure shows, teams or participants, and whether they are simulated."""
    return unit_word(analysis, many)


def about_line(analysis: Analysis) -> str:
    """Return the text below the heading of a figure: the study and its participants."""
    return f"{analysis.design.title}; {unit_count(analysis, len(analysis.units))}"


def condition_labels(analysis: Analysis) -> list[str]:
    """Return the conditions as a reader knows them."""
    return [condition_label(analysis.design, name) for name in analysis.units.conditions]


def condition_numbers(analysis: Analysis) -> list[int]:
    """Return the places of the conditions in the palette: each algorithm has its own, and so have people
    without an AI.
    """
    design = analysis.design
    return algorithm_numbers(
        [entry.agent if has_ai(design, entry.name) else "people alone" for entry in design.conditions]
    )


def level_text(analysis: Analysis) -> str:
    """Return the level of the intervals."""
    return f"{100 * (1 - analysis.plan.alpha):g} %"


def nobody(analysis: Analysis) -> str:
    """Return the reason why nothing can be drawn if there are no participants, else an empty text."""
    return "" if len(analysis.units) else "No participant remains for the analysis."


def described(analysis: Analysis, measure: str) -> dict[str, Description]:
    """Return mean and spread of a measure by condition, over all participants."""
    rows: Sequence[Described] = analysis.described
    return {row.condition: row.description for row in rows if row.measure == measure and not row.question}


def paired_result(analysis: Analysis, measure: str, pair: Sequence[str]) -> StudyResult | None:
    """Return the test that compares a measure between two conditions: the planned one, where there is one."""
    for row in analysis.section("hypothesis"):
        same = row.measure == measure and set(row.compares) == set(pair) and len(row.compares) == 2
        if same and not row.group and "ANOVA " not in row.finding.test:
            return row
    return None


def correction(analysis: Analysis, rows: Sequence[StudyResult | None]) -> str:
    """Return the addition to a caption about the asterisks if p-values are corrected."""
    some = any(row is not None and row.finding.p_adjusted is not None for row in rows)
    if not some:
        return ""
    return ", not corrected (as in the paper)" if analysis.plan.marks == "paper" else ", after Holm's correction"


def sample_cells(sample: Description) -> tuple[str, ...]:
    """Return a sample in the cells of a table: n, mean, standard deviation, interval."""
    return f"{sample.n}", APA.format(sample.mean), APA.format(sample.sd), interval_text(sample.low, sample.high)
