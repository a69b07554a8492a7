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
    SCORE,
    SURVEY,
    TASK_REGRET,
    TEAM_REGRET,
    contrasts,
    episode_word,
    researcher_question,
)
from cobandit.stats import Finding


def descriptions(measured: Measures, alpha: float, regret: str = TASK_REGRET) -> Iterator[Described]:
    """Every measure in every condition, of all who have it; and regret by population."""
    items = [f"{SURVEY}{item}" for item in measured.items]
    for measure in (TASK_REGRET, TEAM_REGRET, GOOD, SCORE, *items):
        values = measured.totals(measure)
        for c, condition in enumerate(measured.conditions):
            yield Described(measure, condition, stats.describe(values[:, c], name=condition, level=1 - alpha))
    question = researcher_question(measured.design)
    if question is not None:
        values, given = measured.totals(regret), measured.group(question.id)
        for c, condition in enumerate(measured.conditions):
            for choice in question.choices:
                sample = values[[answer == choice for answer in given], c]
                described = stats.describe(sample, name=f"{question.id}: {choice}", level=1 - alpha)
                yield Described(regret, condition, described, question.id, choice)


def grids(measured: Measures, alpha: float, measure: str = TASK_REGRET) -> Iterator[Grid]:
    """Within each participant over the episodes, and within each episode over the participants."""
    design = measured.design
    if design.episodes == 1:
        return
    word, cells = episode_word(design), measured.cells(measure)
    shared = design.means.per == "study" or design.means.draw == "fixed"
    note = "" if shared else f"The means differ between participants: {word} k is the k-th one of each participant."
    for pair in contrasts(design):
        x, y = (cells[:, measured.column(condition)] for condition in pair)
        people = [
            (name, _renamed(stats.paired_t(x[i], y[i], name=name, labels=pair, level=1 - alpha), word))
            for i, name in enumerate(measured.participants)
        ]
        episodes = [
            (f"{word} {e + 1}", stats.paired_t(x[:, e], y[:, e], name=f"{word} {e + 1}", labels=pair, level=1 - alpha))
            for e in range(design.episodes)
        ]
        yield _grid("participant", measure, pair, people, "")
        yield _grid(word, measure, pair, episodes, note)


def _grid(by: str, measure: str, pair: tuple[str, str], rows: list[tuple[str, Finding]], note: str) -> Grid:
    corrected = stats.adjusted([finding for _, finding in rows])
    shades = [""] * len(rows) if by == "participant" else shaded(corrected)
    marked = tuple(
        GridRow(label, row, mark(row.p), shade) for (label, _), row, shade in zip(rows, corrected, shades, strict=True)
    )
    return Grid(by=by, measure=measure, compares=pair, rows=marked, note=note)


def shaded(findings: Sequence[Finding]) -> list[str]:
    """Which episodes were "very easy" or "very hard" for both conditions (Fig. "casinos"); all others: nothing.

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
    """A paired test over the episodes of one participant: its note is about episodes, not people."""
    note = finding.note.replace("participants left out", f"{word}s left out")
    note = note.replace("nobody has a value", f"no {word} has a value").replace("for everybody", f"in every {word}")
    note = note.replace("one participant has values", f"one {word} has values")
    return replace(finding, note=note)
