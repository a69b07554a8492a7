"""The tables of a study's report: results of tests, and the numbers behind means and figures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cobandit.analysis import Analysis, StudyResult
from cobandit.analysis.findings import mark, measure_name
from cobandit.analysis.words import condition_label, effect, p_value, question_text, statistic
from cobandit.base.numbers import APA, DASH
from cobandit.report.kit.text import apa, true_minus
from cobandit.report.study.figures.base import interval_text, level_text
from cobandit.stats import Finding

RESULT_HEADS = ("Result", "Test", "n", "Statistic", "df", "p", "p, corrected", "Difference", "Effect")


@dataclass(frozen=True)
class Cell:
    """A number of a result, its limits in brackets, and what it is a difference of."""

    text: str
    limits: str = ""
    what: str = ""


@dataclass(frozen=True)
class ResultRow:
    """A result as a row of a table; ``beside``: it accompanies the answer to a hypothesis."""

    anchor: str
    beside: bool
    id: str
    family: str
    question: str
    note: str
    test: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class ResultTable:
    """Results under their headings; an empty heading is none."""

    caption: str
    groups: tuple[tuple[str, tuple[ResultRow, ...]], ...]
    heads: tuple[str, ...] = RESULT_HEADS


@dataclass(frozen=True)
class DataTable:
    """A table of texts; each column with its class, and only those that hold anything."""

    caption: str
    heads: tuple[str, ...]
    kinds: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def result_anchor(result: StudyResult) -> str:
    """Return the id of a result on the page."""
    return "result-" + re.sub(r"[^A-Za-z0-9_-]+", "-", result.id)


def result_table(caption: str, groups: Sequence[tuple[str, Sequence[StudyResult]]], marks: str = "holm") -> ResultTable:
    """Return results as a table; among planned results, those that were not planned are marked.

    ``marks`` "paper": both p-values, the uncorrected and the corrected one, have their own asterisks.
    """
    rows = tuple(
        (title, tuple(_result_row(result, any(other.planned for other in results), marks) for result in results))
        for title, results in groups
    )
    return ResultTable(caption, rows)


def _result_row(result: StudyResult, among_planned: bool, marks: str) -> ResultRow:
    finding = result.finding
    plain = mark(finding.p) if marks == "paper" else "" if finding.p_adjusted is not None else result.mark
    sided = "" if finding.alternative == "two-sided" else f", one-sided ({finding.alternative})"
    apart = " (not planned)" if among_planned and not result.planned else ""
    return ResultRow(
        anchor=result_anchor(result),
        beside=result.section in ("companion", "anova"),
        id=result.id,
        family=f" (family {result.family})" if result.family else "",
        question=result.question + apart,
        note=finding.note,
        test=finding.test + sided,
        cells=(
            Cell(f"{finding.n}"),
            _statistic(finding),
            _freedom(finding),
            _p_value(finding.p, plain),
            _p_value(finding.p_adjusted, mark(finding.p_adjusted)),
            _difference(finding),
            _effect(finding),
        ),
    )


def _statistic(finding: Finding) -> Cell:
    text = statistic(replace(finding, df=None))
    return Cell(apa(text) if text else DASH)


def _freedom(finding: Finding) -> Cell:
    if finding.df is None:
        return Cell(DASH)
    return Cell(", ".join(f"{df:.0f}" if abs(df - round(df)) < 1e-9 else f"{df:.2f}" for df in finding.df))


def _p_value(p: float | None, mark: str) -> Cell:
    if p is None:
        return Cell(DASH)
    return Cell(p_value(p).removeprefix("p ").removeprefix("= ") + f" {mark}".rstrip())


def _difference(finding: Finding) -> Cell:
    if finding.estimate is None:
        return Cell(DASH)
    return Cell(
        true_minus(APA.format(finding.estimate)),
        _limits(interval_text(finding.estimate_low, finding.estimate_high)),
        finding.estimate_name if " minus " in finding.estimate_name else "",
    )


def _limits(text: str) -> str:
    return "" if text == DASH else true_minus(text)


def _effect(finding: Finding) -> Cell:
    name, _, limits = effect(finding).partition(", ")
    if not name:
        return Cell(DASH)
    name = name.replace("generalised eta squared", "\N{GREEK SMALL LETTER ETA}²").replace("Cronbach alpha", "alpha")
    return Cell(apa(name), _limits(limits.partition("CI ")[2]))


def data_table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> DataTable:
    """Return a table of texts; columns that hold words stand to the left, and a column without content is left out."""
    columns = [k for k in range(len(heads)) if k == 0 or any(row[k] for row in rows)]
    wordy = {k for k in columns if any(re.search(r"[A-Za-z]{2}", row[k]) and "=" not in row[k] for row in rows)}
    long = {k for k in wordy if any(len(row[k]) > 40 for row in rows)}
    return DataTable(
        caption,
        tuple(heads[k] for k in columns),
        tuple("words long" if k in long else "words" if k in wordy else "number" for k in columns),
        tuple(tuple(row[k] if k == 0 or k in wordy else true_minus(row[k]) for k in columns) for row in rows),
    )


def description_table(analysis: Analysis) -> DataTable:
    """Mean, spread and median of every measure in every condition."""
    design = analysis.design
    rows = []
    for described in analysis.described:
        sample = described.description
        who = f" ({question_text(design, described.question)}: {described.answer!r})" if described.question else ""
        rows.append(
            (
                f"{measure_name(design, described.measure)}{who}",
                condition_label(design, described.condition),
                f"{sample.n}",
                APA.format(sample.mean),
                APA.format(sample.sd),
                APA.format(sample.se),
                APA.format(sample.median),
                interval_text(sample.low, sample.high),
                sample.note,
            )
        )
    heads = ("Measure", "Condition", "n", "M", "SD", "s.e.", "Median", f"{level_text(analysis)} interval", "Note")
    return data_table("Means and spreads of every measure", heads, rows)
