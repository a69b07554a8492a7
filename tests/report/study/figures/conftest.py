"""Two analysed studies of simulated participants, whose figures are looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from cobandit.analysis import Analysis, analyse_data
from cobandit.studies import StudyData, load_design
from tests.report.study.people import opinion, simulated_people


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
