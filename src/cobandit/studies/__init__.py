"""Human-AI studies as data and pure logic: design, plan, assignment, journey, episodes, data.

No web and no SQL: a server and a database are built on top. Paper: Experiments; Online Casino Study.
"""

from cobandit.agents import EpsilonGreedy, Softmax, WinStayLoseShift
from cobandit.studies.assignment import Places, next_order
from cobandit.studies.behaviours import BEHAVIOURS, PEOPLE, make_behaviour
from cobandit.studies.burger import Layer, burger_layers
from cobandit.studies.codes import completion_code
from cobandit.studies.crowd import Crowd, simulate_participants
from cobandit.studies.data import Answer, EpisodeData, EventData, ParticipantData, StudyData, TeamMember, moment
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
    journey,
    step_payload,
    steps,
    task_payload,
    wrong_quiz_answers,
)
from cobandit.studies.plan import EpisodePlan, ParticipantPlan, TeamPlace
from cobandit.studies.rehearse import columns, rehearse, rehearse_team
from cobandit.studies.rehearsed_data import rehearsed_data
from cobandit.studies.rounds import Choice, Round
from cobandit.studies.seats import NoMove, SeatRound, SeatView, ServiceMove, make_player
from cobandit.studies.verify import (
    Difference,
    MoveCounts,
    count_moves,
    verify_episode,
    verify_participant,
    verify_study,
)

__all__ = [
    "BEHAVIOURS",
    "PEOPLE",
    "AlreadyPlayed",
    "Answer",
    "BrokenLog",
    "Choice",
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
    "MoveCounts",
    "NoMove",
    "OutOfOrder",
    "ParticipantData",
    "ParticipantPlan",
    "Places",
    "Round",
    "SeatRound",
    "SeatView",
    "ServiceMove",
    "Softmax",
    "Step",
    "StudyData",
    "StudyDesign",
    "TeamMember",
    "TeamPlace",
    "WinStayLoseShift",
    "attention_passed",
    "attention_results",
    "burger_layers",
    "check_answers",
    "columns",
    "completion_code",
    "count_moves",
    "design_text",
    "journey",
    "load_design",
    "make_behaviour",
    "make_player",
    "moment",
    "new_design",
    "next_order",
    "parse_design",
    "participant_view",
    "read_export",
    "rehearse",
    "rehearse_team",
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
