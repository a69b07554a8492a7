"""What the parts of a study refuse, and how they say so."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from cobandit import InvalidInput, UnknownName
from cobandit.studies import EpisodeData, ParticipantPlan, load_design, rehearse, rehearsed_data, write_export
from cobandit.studies.data import utc
from cobandit.studies.design import design_text
from cobandit.studies.journey import check_answers, step_payload, steps
from cobandit.studies.verify import verify_participant

BURGER = load_design("burger")


@pytest.mark.parametrize("value", [datetime(2024, 5, 1), "2024-05-01", 0])
def test_a_time_without_its_zone(value: Any) -> None:
    with pytest.raises(InvalidInput, match=r"opened_at must be a datetime with a time zone, or None, got .*"):
        utc("opened_at", value)


def test_columns_of_different_lengths() -> None:
    data = EpisodeData.of_rounds(rehearse(BURGER, "softmax", 1, 0)[0].rounds[:4])
    with pytest.raises(InvalidInput, match="reward has 3 rounds, but t has 4; as many are needed"):
        replace(data, reward=data.reward[:3])


def test_a_column_of_rounds_that_there_is_not() -> None:
    with pytest.raises(UnknownName, match="no column of rounds called 'rewards'"):
        EpisodeData.of_columns({"t": [1], "rewards": [1.0]})
    with pytest.raises(InvalidInput, match="The columns leave out"):
        EpisodeData.of_columns({"t": [1]})


def test_a_language_that_the_design_has_not() -> None:
    with pytest.raises(UnknownName, match="no language of this design called 'xx'"):
        BURGER.texts("xx")


def test_the_text_of_a_design_that_is_not_shipped() -> None:
    with pytest.raises(UnknownName, match=r"no study design 'burgers'\. Did you mean 'burger'"):
        design_text("burgers")


def test_an_export_into_a_file(tmp_path: Any) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InvalidInput, match="is a file; a folder is needed"):
        write_export(rehearsed_data(BURGER, [("softmax", 1, 0)]), tmp_path / "file", "csv")
    assert (tmp_path / "file").read_text() == "mine"


def test_steps_that_take_no_answers() -> None:
    way = steps(ParticipantPlan(BURGER, 1, 0))
    for step in way:
        if step.kind in ("episode", "thanks"):
            with pytest.raises(InvalidInput, match=f"The step '{step.id}' takes no answers"):
                check_answers(BURGER, step, {})


def test_a_survey_without_the_participants_plan() -> None:
    survey = next(step for step in steps(ParticipantPlan(BURGER, 1, 0)) if step.kind == "survey")
    with pytest.raises(InvalidInput, match="the participant's plan is needed to order its items"):
        step_payload(BURGER, None, survey)


@pytest.mark.parametrize("index", [-1, 99])
def test_the_log_of_an_episode_that_there_is_not(index: int) -> None:
    plan = ParticipantPlan(BURGER, 1, 0)
    with pytest.raises(InvalidInput, match=f"logs holds episode {index}; the participant has episodes 0 to"):
        verify_participant(plan, {index: ()})
