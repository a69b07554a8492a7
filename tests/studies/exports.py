"""A study with everybody in it, for the tests of exports."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import numpy as np

from cobandit.studies import (
    Answer,
    EpisodeData,
    EventData,
    ParticipantData,
    StudyData,
    load_design,
    rehearse,
    rehearsed_data,
)
from cobandit.studies.design import Question

BURGER, CASINO, THREE = load_design("burger"), load_design("casino"), load_design("three-by-three")
assert CASINO.practice is not None
SHORT = replace(CASINO, rounds=12, episodes=3, practice=replace(CASINO.practice, rounds=5, episodes=2))
KNOWN = replace(BURGER, observation="missed-known", observability=(0.7, 0.4))
NOTE = Question(id="note", text="Anything else?", answer="text", required=False)
OPEN = replace(BURGER, demographics=(*BURGER.demographics, NOTE), survey=replace(BURGER.survey, shuffled=True))
START = datetime(2024, 5, 1, 12, tzinfo=UTC)
PEOPLE = (("softmax", 1, 0), ("knowledge-gradient", 2, 1), ("epsilon-greedy", 3, 0))
LONG = [
    "run", "participant", "kind", "order", "set", "condition", "episode", "number", "practice", "swapped", "t",
    "arm_0", "arm_1", "label_0", "label_1", "reward", "seen_0", "seen_1", "predicted_1_0",
    "round_regret", "task_regret", "team_regret", "answered_at", "reaction_ms",
]  # fmt: skip
NASTY = 'He said "no,\r\nthanks";\tÄ \N{SNOWMAN} \N{GRINNING FACE}'


@cache
def everybody(note=NASTY, external="=cmd|' /C calc'!A0"):
    """Somebody who has finished, somebody in the midst of it, somebody invited, and a rehearsal."""
    design = OPEN
    first, second = rehearse(design, "softmax", 5, 1)
    times: dict[str, Any] = {
        "answered_at": [START + timedelta(seconds=t) for t in range(20)],
        "reaction_ms": [None, *range(801, 820)],
    }
    answers = rehearsed_data(design, [("softmax", 5, 1)], answers="drawn").participants[0].answers
    answers = {step: replace(answer, at=START, ms=900) for step, answer in answers.items()}
    answers["demographics"] = Answer({"age": 33, "gender": 1, "ai_researcher": 0, "note": note}, START, 1000)
    finished = ParticipantData(
        id="p-aaaa",
        kind="real",
        status="finished",
        seed=5,
        order=1,
        language="en",
        recruiter="prolific",
        external_id=external,
        consented_at=START,
        started_at=START,
        finished_at=START + timedelta(seconds=90),
        answers=answers,
        quiz_attempts=2,
        episodes={
            1: EpisodeData.of_rounds(second.rounds),
            0: EpisodeData.of_rounds(first.rounds, **times),
        },
        events=(
            EventData(START, "hidden", {"why": note}),
            EventData(START + timedelta(milliseconds=1500), "visible"),
        ),
    )
    midst = ParticipantData(
        id="p-bbbb",
        kind="real",
        status="active",
        seed=6,
        order=0,
        language="en",
        answers={"demographics": Answer({"age": 18, "gender": 3, "ai_researcher": 1, "note": None})},
        episodes={
            0: EpisodeData.of_rounds(rehearse(design, "softmax", 6, 0)[0].rounds[:7]),
            1: EpisodeData.of_rounds([]),
        },
    )
    invited = ParticipantData(id="p-cccc", kind="real", status="invited", seed=None, order=None, language=None)
    rehearsal = rehearsed_data(design, [("naive-ucb", 7, 0)]).participants[0]
    return StudyData(
        design,
        (finished, midst, invited, rehearsal),
        versions={"cobandit": "0.1.0"},
        plan="alpha = 0.05\n",
        about={"opened": "ja, früh"},
    )


def same(one, two):
    assert list(one) == list(two)
    for name in one:
        assert list(one[name]) == list(two[name])
        for column, left in one[name].items():
            right = two[name][column]
            assert left.dtype == right.dtype, (name, column)
            if left.dtype.kind == "O":
                assert left.tolist() == right.tolist(), (name, column)
            else:
                np.testing.assert_array_equal(left, right, err_msg=f"{name}.{column}")
