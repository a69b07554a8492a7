"""Every agent of Markov decision processes by name: a literal one can read."""

from __future__ import annotations

from typing import Any

from cobandit.base.errors import UnknownName
from cobandit.mdp.agents.base import MarkovAgent, MarkovController
from cobandit.mdp.agents.centralised import CentralisedUCBVI
from cobandit.mdp.agents.naive import NaiveUCBVI, VeryNaiveUCBVI
from cobandit.mdp.agents.optimal import OptimalAgent
from cobandit.mdp.agents.partner_aware import JointMaxUCBVI, PartnerAwareUCBVI
from cobandit.mdp.agents.psrl import CentralisedPSRL, NaivePSRL
from cobandit.mdp.agents.steered import SteeredUCBVI

AGENTS: dict[str, type[MarkovAgent] | type[MarkovController]] = {
    "partner-aware-ucbvi": PartnerAwareUCBVI,
    "joint-max-ucbvi": JointMaxUCBVI,
    "steered-ucbvi": SteeredUCBVI,
    "naive-ucbvi": NaiveUCBVI,
    "naive-psrl": NaivePSRL,
    "very-naive-ucbvi": VeryNaiveUCBVI,
    "centralised-ucbvi": CentralisedUCBVI,
    "centralised-psrl": CentralisedPSRL,
    "optimal": OptimalAgent,
}


def agent_class(name: Any) -> type[MarkovAgent] | type[MarkovController]:
    """The class behind a name; an unknown one gets the nearest right one."""
    if not isinstance(name, str) or name not in AGENTS:
        raise UnknownName("agent of Markov problems called", name, AGENTS)
    return AGENTS[name]


def make_agent(name: str, **options: Any) -> MarkovAgent | MarkovController:
    """A registered agent (or joint controller) with the given options."""
    return agent_class(name).of(**options)
