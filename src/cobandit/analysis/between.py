"""Which tests fit a design: conditions that the same people play, or different people."""

from __future__ import annotations

from collections.abc import Sequence

from cobandit.base.errors import InvalidInput
from cobandit.studies.design import StudyDesign

PAIRED = ("paired-t", "wilcoxon", "rm-anova")
"""The tests that need the same people in all conditions."""

EFFECTS = ("within", "between", "interaction")
"""The effects of a mixed analysis of variance, in the order of `cobandit.stats.mixed_anova`."""


def pair_test(design: StudyDesign, pair: tuple[str, str]) -> str:
    """Return the usual test of two conditions: paired for the same people, else Welch's."""
    return "paired-t" if design.same_people(*pair) else "welch"


def variance_test(design: StudyDesign) -> str:
    """Return the analysis of variance over all conditions of a design."""
    if len(design.cells) == 1:
        return "rm-anova"
    return "anova" if design.sets == 1 else "mixed-anova"


def anova_factors(design: StudyDesign) -> tuple[str, str]:
    """Return the names of the factors within and between people, for use in a sentence; empty where there is none."""
    named = [
        " and ".join(factor.name for factor in design.factors if factor.assignment == kind)
        for kind in ("within", "between")
    ]
    return named[0], named[1]


def within_columns(design: StudyDesign, conditions: Sequence[str]) -> list[list[str]]:
    """Return the conditions by level within people, each with the condition of every cell."""
    within = [factor.name for factor in design.factors if factor.assignment == "within"]
    columns: dict[tuple[str, ...], list[str]] = {}
    for name in conditions:
        columns.setdefault(tuple(design.levels[name][factor] for factor in within), []).append(name)
    return list(columns.values())


def check_people(design: StudyDesign, id: str, test: str, compares: Sequence[str]) -> None:
    """Check that a test of conditions fits who plays them."""
    of_cells = {cell: [name for name in names if name in compares] for cell, names in design.cells.items()}
    counts = [len(names) for names in of_cells.values() if names]
    said = "; ".join(f"{cell or 'everyone'}: {', '.join(names)}" for cell, names in of_cells.items() if names)
    if test in PAIRED:
        if len(counts) > 1:
            raise InvalidInput(
                f"The hypothesis {id!r} must compare conditions that the same people play for {test}, got {said}. Use "
                "welch, anova or mixed-anova."
            )
        return
    if test == "mixed-anova":
        levels = {len(column) for column in within_columns(design, compares)}
        if len(counts) < 2 or counts[0] < 2 or levels != {len(counts)}:
            raise InvalidInput(
                f"The hypothesis {id!r} must compare the same two or more levels within two or more cells for {test}, "
                f"got {said}."
            )
    elif len(counts) < 2 or max(counts) > 1:
        raise InvalidInput(
            f"The hypothesis {id!r} must compare conditions of different people for {test} without a group, got {said}."
        )
