"""Every measure described, and the same paired test within each participant and within each episode (Fig. "casino")."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from cobandit import stats
from cobandit.analysis.findings import SIGNIFICANT, VERY_EASY, VERY_HARD, Described, Grid, GridRow, mark
from cobandit.analysis.measures import Measures
from cobandit.analysis.plan import (
    GOOD,
    SCALE,
    SCORE,
    SURVEY,
    TASK_REGRET,
    TEAM_REGRET,
    contrasts,
    episode_word,
    researcher_question,
)
from cobandit.analysis.teams import in_units
from cobandit.stats import Finding

UNITS = ("participant", "team")
"""What a grid by unit is called."""


def descriptions(measured: Measures, alpha: float, regret: str = TASK_REGRET) -> Iterator[Described]:
    """Yield every measure in every condition, of all who have it; and regret by population."""
    items = [f"{SURVEY}{item}" for item in measured.items]
    scales = [f"{SCALE}{name}" for name, scale in measured.scales.items() if scale.questionnaire.repeated]
    for measure in (TASK_REGRET, TEAM_REGRET, GOOD, SCORE, *items, *scales):
        values = measured.totals(measure)
        for c, condition in enumerate(measured.conditions):
            yield Described(measure, condition, stats.describe(values[:, c], name=condition, level=1 - alpha))
    for name, scale in measured.scales.items():
        if not scale.questionnaire.repeated:  # asked once, so the score belongs to no condition
            described = stats.describe(scale.scores[:, 0], name=scale.questionnaire.when, level=1 - alpha)
            yield Described(f"{SCALE}{name}", "", described)
    question = researcher_question(measured.design)
    if question is not None:
        values, given = measured.totals(regret), measured.group(question.id)
        for c, condition in enumerate(measured.conditions):
            for choice in question.choices:
                sample = values[[answer == choice for answer in given], c]
                described = stats.describe(sample, name=f"{question.id}: {choice}", level=1 - alpha)
                yield Described(regret, condition, described, question.id, choice)


def grids(everybody: Measures, alpha: float, measure: str = TASK_REGRET) -> Iterator[Grid]:
    """Yield the tests within each participant over the episodes, and within each episode over the participants."""
    design = everybody.design
    if design.episodes == 1:
        return
    word = episode_word(design)
    shared = all(rule.per == "study" or rule.draw == "fixed" for rule in design.means_rules.values())
    unit = everybody.unit
    note = "" if shared else f"The means differ between {unit}s: {word} k is the k-th one of each {unit}."
    for pair in contrasts(design):
        if not design.same_people(*pair):
            continue  # there is nothing to compare within a participant
        measured = everybody.playing(*pair)
        cells = measured.cells(measure)
        x, y = (cells[:, measured.column(condition)] for condition in pair)
        people = [
            (name, _renamed(stats.paired_t(x[i], y[i], name=name, labels=pair, level=1 - alpha), word))
            for i, name in enumerate(measured.participants)
        ]
        episodes = [
            (name, in_units(stats.paired_t(x[:, e], y[:, e], name=name, labels=pair, level=1 - alpha), measured.unit))
            for e, name in enumerate(f"{word} {e + 1}" for e in range(design.episodes))
        ]
        yield _grid(measured.unit, measure, pair, people, "")
        yield _grid(word, measure, pair, episodes, note)


def _grid(by: str, measure: str, pair: tuple[str, str], rows: list[tuple[str, Finding]], note: str) -> Grid:
    corrected = stats.adjusted([finding for _, finding in rows])
    shades = [""] * len(rows) if by in UNITS else shaded(corrected)
    marked = tuple(
        GridRow(label, row, mark(row.p), shade) for (label, _), row, shade in zip(rows, corrected, shades, strict=True)
    )
    return Grid(by=by, measure=measure, compares=pair, rows=marked, note=note)


def shaded(findings: Sequence[Finding]) -> list[str]:
    """Return which episodes were "very easy" or "very hard" for both conditions (Fig. "casinos"); all others: nothing.

    The paper shades a few casinos whose regrets are comparable and gives no rule; ours is: the paired t test is not
    significant (p >= .05, not corrected), and the mean regrets of both conditions lie at or below the lower quartile
    (very easy), or at or above the upper quartile (very hard), of the means of all episodes in both conditions.
    """
    means = [[group.mean for group in finding.groups] for finding in findings]
    known = [mean for pair in means for mean in pair if mean is not None]
    if not known:
        return [""] * len(findings)
    low, high = np.quantile(known, (0.25, 0.75))
    shades = []
    for finding, pair in zip(findings, means, strict=True):
        values = [mean for mean in pair if mean is not None]
        comparable = finding.p is not None and finding.p >= SIGNIFICANT and low < high
        easy, hard = comparable and max(values) <= low, comparable and min(values) >= high
        shades.append(VERY_EASY if easy else VERY_HARD if hard else "")
    return shades


def _renamed(finding: Finding, word: str) -> Finding:
    """Return a paired test over the episodes of one participant: its note is about episodes, not people."""
    note = finding.note.replace("participants left out", f"{word}s left out")
    note = note.replace("no participant has a value", f"no {word} has a value").replace(
        "for all participants", f"in every {word}"
    )
    note = note.replace("one participant has values", f"one {word} has values")
    return replace(finding, note=note)
