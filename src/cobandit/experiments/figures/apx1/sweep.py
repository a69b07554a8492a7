"""What varies: W of a follower whose leader follows the knowledge gradient."""

from __future__ import annotations

from cobandit.agents import KnowledgeGradient, PartnerAwareUCB, Team
from cobandit.experiments.figures.common import FIXED, HORIZON
from cobandit.experiments.spec import Curve

TITLE = "A leader who follows the knowledge gradient"
VARIES = "W in {1, 5, 25} of the Partner-Aware follower"
FIXED_AT = "fixed means, knowledge-gradient leader"
ROUNDS = HORIZON
CURVES = tuple(
    Curve(f"w-{window}", f"W = {window}", FIXED, Team([KnowledgeGradient(), PartnerAwareUCB(window=window)]))
    for window in (1, 5, 25)
)
