"""Every registered agent by name: a literal one can read."""

from __future__ import annotations

from typing import Any

from cobandit.agents.base import Agent, Controller
from cobandit.agents.centralised import CentralisedTS, CentralisedUCB
from cobandit.agents.epsilon_greedy import EpsilonGreedy
from cobandit.agents.knowledge_gradient import KnowledgeGradient
from cobandit.agents.mdsee import MDSEE
from cobandit.agents.mucb_intervals import MUCBIntervals
from cobandit.agents.naive import NaiveTS, NaiveUCB
from cobandit.agents.optimal import Optimal
from cobandit.agents.partner_aware_ts import PartnerAwareTS
from cobandit.agents.partner_aware_ucb import PartnerAwareUCB
from cobandit.agents.softmax import Softmax
from cobandit.agents.very_naive_ucb import VeryNaiveUCB
from cobandit.agents.win_stay_lose_shift import WinStayLoseShift
from cobandit.base.errors import UnknownName

AGENTS: dict[str, type[Agent] | type[Controller]] = {
    "partner-aware-ucb": PartnerAwareUCB,
    "partner-aware-ts": PartnerAwareTS,
    "naive-ucb": NaiveUCB,
    "naive-ts": NaiveTS,
    "very-naive-ucb": VeryNaiveUCB,
    "knowledge-gradient": KnowledgeGradient,
    "centralised-ucb": CentralisedUCB,
    "centralised-ts": CentralisedTS,
    "optimal": Optimal,
    "mucb-intervals": MUCBIntervals,
    "mdsee": MDSEE,
    "softmax": Softmax,
    "win-stay-lose-shift": WinStayLoseShift,
    "epsilon-greedy": EpsilonGreedy,
}


def agent_class(name: str) -> type[Agent] | type[Controller]:
    """The class behind a registry name; an unknown name gets the nearest right one."""
    if not isinstance(name, str) or name not in AGENTS:
        raise UnknownName("agent", name, AGENTS)
    return AGENTS[name]


def make_agent(name: str, **options: Any) -> Agent | Controller:
    """A registered agent (or joint controller) with the given options."""
    return agent_class(name).of(**options)
