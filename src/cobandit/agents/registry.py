"""Every registered agent by name: a literal one can read.

This is the only list of agents. Public names (``cobandit.NaiveUCB``), ``cobandit agents``, help texts, completions,
labels and the checks of the documentation are derived from it. All names of this module are public: the front door
imports them by ``*``, and ``import ... as ...`` tells type checkers so.
"""

from cobandit.agents.bank import Bank as Bank
from cobandit.agents.base import Agent as Agent
from cobandit.agents.base import Controller as Controller
from cobandit.agents.centralised import CentralisedTS as CentralisedTS
from cobandit.agents.centralised import CentralisedUCB as CentralisedUCB
from cobandit.agents.centralised_gittins import CentralisedGittins as CentralisedGittins
from cobandit.agents.elected import Elected as Elected
from cobandit.agents.epsilon_greedy import EpsilonGreedy as EpsilonGreedy
from cobandit.agents.forgetful_kg import ForgetfulKnowledgeGradient as ForgetfulKnowledgeGradient
from cobandit.agents.handshake import Handshake as Handshake
from cobandit.agents.knowledge_gradient import KnowledgeGradient as KnowledgeGradient
from cobandit.agents.language_model import LanguageModelAgent as LanguageModelAgent
from cobandit.agents.mdsee import MDSEE as MDSEE
from cobandit.agents.mucb import MUCB as MUCB
from cobandit.agents.mucb_intervals import MUCBIntervals as MUCBIntervals
from cobandit.agents.naive import NaiveTS as NaiveTS
from cobandit.agents.naive import NaiveUCB as NaiveUCB
from cobandit.agents.optimal import Optimal as Optimal
from cobandit.agents.partner_aware_discounted_ucb import PartnerAwareDiscountedUCB as PartnerAwareDiscountedUCB
from cobandit.agents.partner_aware_sliding_ucb import PartnerAwareSlidingUCB as PartnerAwareSlidingUCB
from cobandit.agents.partner_aware_ts import PartnerAwareTS as PartnerAwareTS
from cobandit.agents.partner_aware_ucb import PartnerAwareUCB as PartnerAwareUCB
from cobandit.agents.recency_softmax import RecencySoftmax as RecencySoftmax
from cobandit.agents.softmax import Softmax as Softmax
from cobandit.agents.softmax_ucb import SoftmaxUCB as SoftmaxUCB
from cobandit.agents.steered import Steered as Steered
from cobandit.agents.very_naive_ucb import VeryNaiveUCB as VeryNaiveUCB
from cobandit.agents.win_stay_lose_shift import WinStayLoseShift as WinStayLoseShift

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
    "mucb": MUCB,
    "softmax": Softmax,
    "win-stay-lose-shift": WinStayLoseShift,
    "epsilon-greedy": EpsilonGreedy,
    "recency-softmax": RecencySoftmax,
    "forgetful-knowledge-gradient": ForgetfulKnowledgeGradient,
    "softmax-ucb": SoftmaxUCB,
    "partner-aware-discounted-ucb": PartnerAwareDiscountedUCB,
    "partner-aware-sliding-ucb": PartnerAwareSlidingUCB,
    "language-model": LanguageModelAgent,
}
