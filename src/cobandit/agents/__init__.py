"""The agents: one algorithm per file, in the order of the paper's pseudocode, and a literal registry."""

from cobandit.agents.bank import Bank
from cobandit.agents.base import Agent, Briefing, Controller, TeamAction
from cobandit.agents.centralised import CentralisedTS, CentralisedUCB
from cobandit.agents.centralised_gittins import CentralisedGittins
from cobandit.agents.elected import Elected
from cobandit.agents.epsilon_greedy import EpsilonGreedy
from cobandit.agents.forgetful_kg import ForgetfulKnowledgeGradient
from cobandit.agents.handshake import Handshake
from cobandit.agents.human import Human
from cobandit.agents.knowledge_gradient import KnowledgeGradient
from cobandit.agents.mdsee import MDSEE
from cobandit.agents.mucb_intervals import MUCBIntervals
from cobandit.agents.naive import NaiveTS, NaiveUCB
from cobandit.agents.optimal import Optimal
from cobandit.agents.partner_aware_discounted_ucb import PartnerAwareDiscountedUCB
from cobandit.agents.partner_aware_sliding_ucb import PartnerAwareSlidingUCB
from cobandit.agents.partner_aware_ts import PartnerAwareTS
from cobandit.agents.partner_aware_ucb import PartnerAwareUCB
from cobandit.agents.recency_softmax import RecencySoftmax
from cobandit.agents.registry import AGENTS, agent_class, known_agents, make_agent, plugin_agents, plugin_class
from cobandit.agents.softmax import Softmax
from cobandit.agents.steered import Steered
from cobandit.agents.team import Team, TeamLike
from cobandit.agents.very_naive_ucb import VeryNaiveUCB
from cobandit.agents.win_stay_lose_shift import WinStayLoseShift
from cobandit.base.lazy import lazy_names

__all__ = [
    "AGENTS",
    "MDSEE",
    "Agent",
    "Bank",
    "Briefing",
    "CentralisedGittins",
    "CentralisedTS",
    "CentralisedUCB",
    "Controller",
    "Elected",
    "EpsilonGreedy",
    "ForgetfulKnowledgeGradient",
    "Handshake",
    "Human",
    "KnowledgeGradient",
    "MUCBIntervals",
    "NaiveTS",
    "NaiveUCB",
    "Optimal",
    "PartnerAwareDiscountedUCB",
    "PartnerAwareSlidingUCB",
    "PartnerAwareTS",
    "PartnerAwareUCB",
    "RecencySoftmax",
    "Softmax",
    "Steered",
    "Team",
    "TeamAction",
    "TeamLike",
    "VeryNaiveUCB",
    "WinStayLoseShift",
    "agent_class",
    "known_agents",
    "make_agent",
    "plugin_agents",
    "plugin_class",
]

__getattr__ = lazy_names(__name__, {}, renamed={"BankFollower": "Bank"})
