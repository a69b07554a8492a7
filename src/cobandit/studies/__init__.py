"""Human-AI studies as data and pure logic: design, plan, assignment, episodes, verification, rehearsal.

No web and no SQL: a server and a database are built on top. Paper: Experiments; Online Casino Study.
"""

from cobandit.studies.assignment import Places, next_order
from cobandit.studies.behaviours import BEHAVIOURS, PEOPLE, EpsilonGreedy, Softmax, WinStayLoseShift, make_behaviour
from cobandit.studies.design import StudyDesign, design_text, load_design, parse_design, shipped_designs
from cobandit.studies.episode import (
    AlreadyPlayed,
    BrokenLog,
    Episode,
    EpisodeOver,
    OutOfOrder,
    Round,
    participant_view,
)
from cobandit.studies.plan import EpisodePlan, ParticipantPlan
from cobandit.studies.rehearse import columns, rehearse
from cobandit.studies.verify import Difference, verify_episode, verify_participant

__all__ = [
    "BEHAVIOURS",
    "PEOPLE",
    "AlreadyPlayed",
    "BrokenLog",
    "Difference",
    "Episode",
    "EpisodeOver",
    "EpisodePlan",
    "EpsilonGreedy",
    "OutOfOrder",
    "ParticipantPlan",
    "Places",
    "Round",
    "Softmax",
    "StudyDesign",
    "WinStayLoseShift",
    "columns",
    "design_text",
    "load_design",
    "make_behaviour",
    "next_order",
    "parse_design",
    "participant_view",
    "rehearse",
    "shipped_designs",
    "verify_episode",
    "verify_participant",
]
