"""What plans, measures and analyses refuse, and how they say so."""

from __future__ import annotations

from pathlib import Path

import pytest

from cobandit import InvalidInput, UnknownName
from cobandit.analysis import Analysis, analyse_data, calibrate
from cobandit.studies import load_design, rehearsed_data

BURGER = load_design("burger")


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    people = [("softmax", seed, seed % 2) for seed in range(6)]
    return analyse_data(rehearsed_data(BURGER, people, answers="drawn"))


def test_a_result_that_there_is_not(analysis: Analysis) -> None:
    with pytest.raises(InvalidInput, match="The analysis has no result 'nothing'"):
        analysis.result("nothing")
    assert analysis.result(analysis.results[0].id) is analysis.results[0]


def test_an_analysis_is_not_saved_into_a_file(analysis: Analysis, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InvalidInput, match="is a file; a folder is needed"):
        analysis.save(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


def test_measures_that_there_are_not(analysis: Analysis) -> None:
    measures = analysis.measures
    with pytest.raises(UnknownName, match="no condition 'nobody'"):
        measures.column("nobody")
    with pytest.raises(UnknownName, match="no measure of episodes 'tips'"):
        measures.cells("tips")
    with pytest.raises(UnknownName, match="no question of the demographics 'shoe size'"):
        measures.group("shoe size")


def test_a_calibration_of_no_study() -> None:
    with pytest.raises(InvalidInput, match="No study was named; burger, casino or casino-bank is needed"):
        calibrate([], simulations=1)
