"""Every registered agent by name: a literal one can read."""

from __future__ import annotations

from typing import Any

from cobandit.agents.bank import Bank
from cobandit.agents.base import Agent, Controller
from cobandit.agents.centralised import CentralisedTS, CentralisedUCB
from cobandit.agents.centralised_gittins import CentralisedGittins
from cobandit.agents.elected import Elected
from cobandit.agents.epsilon_greedy import EpsilonGreedy
from cobandit.agents.forgetful_kg import ForgetfulKnowledgeGradient
from cobandit.agents.handshake import Handshake
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
from cobandit.agents.softmax import Softmax
from cobandit.agents.steered import Steered
from cobandit.agents.very_naive_ucb import VeryNaiveUCB
from cobandit.agents.win_stay_lose_shift import WinStayLoseShift
from cobandit.base import plugins
from cobandit.base.checks import short_repr
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
    "steered": Steered,
    "elected": Elected,
    "bank": Bank,
    "handshake": Handshake,
    "centralised-gittins": CentralisedGittins,
    "optimal": Optimal,
    "mucb-intervals": MUCBIntervals,
    "mdsee": MDSEE,
    "softmax": Softmax,
    "win-stay-lose-shift": WinStayLoseShift,
    "epsilon-greedy": EpsilonGreedy,
    "recency-softmax": RecencySoftmax,
    "forgetful-knowledge-gradient": ForgetfulKnowledgeGradient,
    "partner-aware-discounted-ucb": PartnerAwareDiscountedUCB,
    "partner-aware-sliding-ucb": PartnerAwareSlidingUCB,
}


def agent_class(name: str) -> type[Agent] | type[Controller]:
    """The class behind a name, ours or of another package; an unknown name gets the nearest right one."""
    if isinstance(name, str) and name in AGENTS:
        return AGENTS[name]
    plugin = plugins.find_plugin(plugins.AGENTS, name)
    if plugin is None:
        raise UnknownName("agent", name, known_agents())
    return plugin_class(plugin)


def known_class(name: str) -> type[Agent] | type[Controller] | None:
    """Return the class that is registered under a name, ours or of another package, or None."""
    if name in AGENTS:
        return AGENTS[name]
    plugin = plugins.find_plugin(plugins.AGENTS, name)
    return None if plugin is None else plugin_class(plugin)


def known_agents() -> list[str]:
    """Every name that `agent_class` knows, ours first."""
    return [*AGENTS, *(plugin.name for plugin in plugin_agents())]


def plugin_agents() -> list[plugins.Plugin]:
    """The agents that other packages bring; one that is called as one of ours is never reached."""
    return [plugin for plugin in plugins.plugins(plugins.AGENTS) if plugin.name not in AGENTS]


def plugin_class(plugin: plugins.Plugin) -> type[Agent] | type[Controller]:
    """The class that another package brings: an agent that goes by the name of its entry point."""
    kind = plugin.load()
    if not isinstance(kind, type) or not issubclass(kind, (Agent, Controller)):
        raise plugin.error(f"is {short_repr(kind)}; a subclass of cobandit.Agent or cobandit.Controller is needed")
    if vars(kind).get("name") != plugin.name:
        raise plugin.error(f"has the name {vars(kind).get('name')!r} in its class; both names must be the same")
    return kind


def make_agent(name: str, **options: Any) -> Agent | Controller:
    """A registered agent (or joint controller) with the given options."""
    return agent_class(name).of(**options)
