"""What the parts of a study refuse, and how they say so."""

from __future__ import annotations

import pytest

from cobandit import InvalidInput, UnknownName
from cobandit.studies import EpisodeData, ParticipantPlan, load_design
from cobandit.studies.journey import step_payload, steps
from cobandit.studies.verify import verify_participant

BURGER = load_design("burger")


def test_a_column_of_rounds_that_there_is_not() -> None:
    with pytest.raises(UnknownName, match="no column of rounds called 'rewards'"):
        EpisodeData.of_columns({"t": [1], "rewards": [1.0]})
    with pytest.raises(InvalidInput, match="The columns leave out"):
        EpisodeData.of_columns({"t": [1]})


def test_a_survey_without_the_participants_plan() -> None:
    survey = next(step for step in steps(ParticipantPlan(BURGER, 1, 0)) if step.kind == "survey")
    with pytest.raises(InvalidInput, match="the participant's plan is needed to order its items"):
        step_payload(BURGER, None, survey)


@pytest.mark.parametrize("index", [-1, 99])
def test_the_log_of_an_episode_that_there_is_not(index: int) -> None:
    plan = ParticipantPlan(BURGER, 1, 0)
    with pytest.raises(InvalidInput, match=f"logs holds episode {index}; the participant has episodes 0 to"):
        verify_participant(plan, {index: ()})
