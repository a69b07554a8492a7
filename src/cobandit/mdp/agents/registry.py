"""Every agent of Markov decision processes by name: the only list of them (see `cobandit.agents.registry`)."""

from cobandit.mdp.agents.base import MarkovAgent as MarkovAgent
from cobandit.mdp.agents.base import MarkovController as MarkovController
from cobandit.mdp.agents.centralised import CentralisedUCBVI as CentralisedUCBVI
from cobandit.mdp.agents.naive import NaiveUCBVI as NaiveUCBVI
from cobandit.mdp.agents.naive import VeryNaiveUCBVI as VeryNaiveUCBVI
from cobandit.mdp.agents.optimal import OptimalAgent as OptimalAgent
from cobandit.mdp.agents.partner_aware import JointMaxUCBVI as JointMaxUCBVI
from cobandit.mdp.agents.partner_aware import PartnerAwareUCBVI as PartnerAwareUCBVI
from cobandit.mdp.agents.psrl import CentralisedPSRL as CentralisedPSRL
from cobandit.mdp.agents.psrl import NaivePSRL as NaivePSRL
from cobandit.mdp.agents.steered import SteeredUCBVI as SteeredUCBVI

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
