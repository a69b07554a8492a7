"""Simulated participants whose answers differ between the partners."""

from __future__ import annotations

from typing import Any

import numpy as np

from cobandit.studies import StudyData, StudyDesign, rehearsed_data

AGAINST = ("insisting", "annoying", "alone")


def simulated_people(
    design: StudyDesign, count: int, answers: Any = "drawn", behaviour: str = "epsilon-greedy"
) -> StudyData:
    orders = len(design.orders)
    return rehearsed_data(design, [(behaviour, i, i % orders) for i in range(count)], answers=answers)


def opinion(rng: np.random.Generator, plan: Any, place: int, item: str) -> int:
    """The partner-aware robot is liked better; everybody says 3 to one of the items."""
    if item == "easy":
        return 3
    aware = plan.design.orders[plan.order][place].startswith("partner")
    return int(np.clip(round((4.0 if aware != (item in AGAINST) else 2.0) + rng.normal()), 1, 5))
