"""Human-AI studies as data and pure logic: design, plan, assignment, journey, episodes, data.

No web and no SQL: a server and a database are built on top. Paper: Experiments; Online Casino Study.
"""

from cobandit.agents import EpsilonGreedy, Softmax, WinStayLoseShift
from cobandit.studies.assignment import Places, next_order
from cobandit.studies.behaviours import BEHAVIOURS, PEOPLE, make_behaviour
from cobandit.studies.burger import Layer, burger_layers
from cobandit.studies.crowd import Crowd, simulate_participants
from cobandit.studies.data import Answer, EpisodeData, EventData, ParticipantData, StudyData, moment, rehearsed_data
from cobandit.studies.design import StudyDesign, design_text, load_design, parse_design, shipped_designs
from cobandit.studies.drafts import new_design
from cobandit.studies.episode import (
    AlreadyPlayed,
    BrokenLog,
    Episode,
    EpisodeOver,
    OutOfOrder,
    participant_view,
)
from cobandit.studies.export import Column, read_export, schema, tables, write_export, write_psych_ds, write_sav
from cobandit.studies.journey import (
    Journey,
    Step,
    attention_passed,
    attention_results,
    check_answers,
    completion_code,
    journey,
    step_payload,
    steps,
    task_payload,
    wrong_quiz_answers,
)
from cobandit.studies.plan import EpisodePlan, ParticipantPlan
from cobandit.studies.rehearse import columns, rehearse
from cobandit.studies.rounds import Round
from cobandit.studies.verify import Difference, verify_episode, verify_participant, verify_study

__all__ = [
    "BEHAVIOURS",
    "PEOPLE",
    "AlreadyPlayed",
    "Answer",
    "BrokenLog",
    "Column",
    "Crowd",
    "Difference",
    "Episode",
    "EpisodeData",
    "EpisodeOver",
    "EpisodePlan",
    "EpsilonGreedy",
    "EventData",
    "Journey",
    "Layer",
    "OutOfOrder",
    "ParticipantData",
    "ParticipantPlan",
    "Places",
    "Round",
    "Softmax",
    "Step",
    "StudyData",
    "StudyDesign",
    "WinStayLoseShift",
    "attention_passed",
    "attention_results",
    "burger_layers",
    "check_answers",
    "columns",
    "completion_code",
    "design_text",
    "journey",
    "load_design",
    "make_behaviour",
    "moment",
    "new_design",
    "next_order",
    "parse_design",
    "participant_view",
    "read_export",
    "rehearse",
    "rehearsed_data",
    "schema",
    "shipped_designs",
    "simulate_participants",
    "step_payload",
    "steps",
    "tables",
    "task_payload",
    "verify_episode",
    "verify_participant",
    "verify_study",
    "write_export",
    "write_psych_ds",
    "write_sav",
    "wrong_quiz_answers",
]
