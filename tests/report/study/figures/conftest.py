"""Two analysed studies of simulated participants, whose figures are looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cobandit.analysis import Analysis, analyse_data
from cobandit.studies import StudyData, StudyDesign, load_design, rehearsed_data

AGAINST = ("insisting", "annoying", "alone")


def simulated_people(design: StudyDesign, count: int, answers: Any = "drawn") -> StudyData:
    orders = len(design.orders)
    return rehearsed_data(design, [("epsilon-greedy", i, i % orders) for i in range(count)], answers=answers)


def opinion(rng: np.random.Generator, plan: Any, place: int, item: str) -> int:
    """The partner-aware robot is liked better; everybody says 3 to one of the items."""
    if item == "easy":
        return 3
    aware = plan.design.orders[plan.order][place].startswith("partner")
    return int(np.clip(round((4.0 if aware != (item in AGAINST) else 2.0) + rng.normal()), 1, 5))


@pytest.fixture(scope="session")
def people() -> Callable[..., StudyData]:
    """Data of so many simulated participants of a design."""
    return simulated_people


@pytest.fixture(scope="session")
def burger() -> Analysis:
    return analyse_data(simulated_people(load_design("burger"), 12, opinion))


@pytest.fixture(scope="session")
def casinos() -> Analysis:
    design = replace(load_design("casino"), rounds=15, episodes=3, practice=None)
    return analyse_data(simulated_people(design, 5))
