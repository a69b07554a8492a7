"""Bandit teams: agents, or a person and an AI, who choose together, see different rewards and cannot talk.

>>> import cobandit as cb
>>> problem = cb.Problem.bernoulli([[.8, .4], [.2, .6]], observability=[1.0, 0.5])
>>> team = cb.Team.of("partner-aware-ucb", window=25)
>>> result = cb.simulate(problem, team, horizon=200, runs=20, seed=0)
>>> result.task_regret.shape
(20, 100)

Every name below is loaded when it is first used, so importing the package costs next to nothing. So are the public
modules: ``cb.studies.load_design("burger")`` needs no further import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cobandit.base.lazy import lazy_names, provide

if TYPE_CHECKING:
    from cobandit import analysis as analysis
    from cobandit import compiled as compiled
    from cobandit import experiments as experiments
    from cobandit import interop as interop
    from cobandit import mdp as mdp
    from cobandit import report as report
    from cobandit import robot as robot
    from cobandit import studies as studies
    from cobandit import testing as testing
    from cobandit import theory as theory
    from cobandit.agents import AGENTS as AGENTS
    from cobandit.agents import MDSEE as MDSEE
    from cobandit.agents import Agent as Agent
    from cobandit.agents import Bank as Bank
    from cobandit.agents import Briefing as Briefing
    from cobandit.agents import CentralisedGittins as CentralisedGittins
    from cobandit.agents import CentralisedTS as CentralisedTS
    from cobandit.agents import CentralisedUCB as CentralisedUCB
    from cobandit.agents import Controller as Controller
    from cobandit.agents import Elected as Elected
    from cobandit.agents import EpsilonGreedy as EpsilonGreedy
    from cobandit.agents import ForgetfulKnowledgeGradient as ForgetfulKnowledgeGradient
    from cobandit.agents import Handshake as Handshake
    from cobandit.agents import Human as Human
    from cobandit.agents import KnowledgeGradient as KnowledgeGradient
    from cobandit.agents import MUCBIntervals as MUCBIntervals
    from cobandit.agents import NaiveTS as NaiveTS
    from cobandit.agents import NaiveUCB as NaiveUCB
    from cobandit.agents import Optimal as Optimal
    from cobandit.agents import PartnerAwareDiscountedUCB as PartnerAwareDiscountedUCB
    from cobandit.agents import PartnerAwareSlidingUCB as PartnerAwareSlidingUCB
    from cobandit.agents import PartnerAwareTS as PartnerAwareTS
    from cobandit.agents import PartnerAwareUCB as PartnerAwareUCB
    from cobandit.agents import RecencySoftmax as RecencySoftmax
    from cobandit.agents import Softmax as Softmax
    from cobandit.agents import Steered as Steered
    from cobandit.agents import Team as Team
    from cobandit.agents import VeryNaiveUCB as VeryNaiveUCB
    from cobandit.agents import WinStayLoseShift as WinStayLoseShift
    from cobandit.agents import make_agent as make_agent
    from cobandit.base.errors import AgentError as AgentError
    from cobandit.base.errors import CobanditError as CobanditError
    from cobandit.base.errors import InvalidInput as InvalidInput
    from cobandit.base.errors import MissingExtra as MissingExtra
    from cobandit.base.errors import ModelError as ModelError
    from cobandit.base.errors import PluginError as PluginError
    from cobandit.base.errors import RunsNotKept as RunsNotKept
    from cobandit.base.errors import TooLarge as TooLarge
    from cobandit.base.errors import UnknownName as UnknownName
    from cobandit.engine import Diagnostics as Diagnostics
    from cobandit.engine import Partner as Partner
    from cobandit.engine import Result as Result
    from cobandit.engine import Trajectory as Trajectory
    from cobandit.engine import simulate as simulate
    from cobandit.problem import Bernoulli as Bernoulli
    from cobandit.problem import CorrelatedGaussian as CorrelatedGaussian
    from cobandit.problem import FixedMeans as FixedMeans
    from cobandit.problem import Flipped as Flipped
    from cobandit.problem import Gaussian as Gaussian
    from cobandit.problem import Means as Means
    from cobandit.problem import Missed as Missed
    from cobandit.problem import MissedKnown as MissedKnown
    from cobandit.problem import Noisy as Noisy
    from cobandit.problem import Observation as Observation
    from cobandit.problem import PiecewiseMeans as PiecewiseMeans
    from cobandit.problem import Problem as Problem
    from cobandit.problem import RandomMeans as RandomMeans
    from cobandit.problem import RandomWalkMeans as RandomWalkMeans
    from cobandit.problem import Reward as Reward
    from cobandit.problem import StudentT as StudentT
    from cobandit.problem.means import local_optima as local_optima
    from cobandit.problem.means import two_corners as two_corners

__version__ = "0.1.0"

_HOME = {
    "cobandit.agents": [
        "AGENTS",
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
        "MDSEE",
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
        "VeryNaiveUCB",
        "WinStayLoseShift",
        "make_agent",
    ],
    "cobandit.engine": ["Diagnostics", "Partner", "Result", "Trajectory", "simulate"],
    "cobandit.base.errors": [
        "AgentError",
        "CobanditError",
        "InvalidInput",
        "MissingExtra",
        "ModelError",
        "PluginError",
        "RunsNotKept",
        "TooLarge",
        "UnknownName",
    ],
    "cobandit.problem": [
        "Bernoulli",
        "CorrelatedGaussian",
        "FixedMeans",
        "Flipped",
        "Gaussian",
        "Means",
        "Missed",
        "MissedKnown",
        "Noisy",
        "Observation",
        "PiecewiseMeans",
        "Problem",
        "RandomMeans",
        "RandomWalkMeans",
        "Reward",
        "StudentT",
    ],
    "cobandit.problem.means": ["local_optima", "two_corners"],
}
_MODULES = ("analysis", "experiments", "interop", "mdp", "report", "robot", "studies", "testing", "theory")
_NEEDS_AN_EXTRA = {"compiled": "fast"}  # a public module, but ``from cobandit import *`` must work without numba
_RENAMED = {"BankFollower": "Bank"}
_WHERE = {name: module for module, names in _HOME.items() for name in names}

__all__ = sorted([*_WHERE, *_MODULES])

__getattr__ = lazy_names(__name__, _WHERE, (*_MODULES, *_NEEDS_AN_EXTRA), _NEEDS_AN_EXTRA, _RENAMED)

provide(__getattr__, ("mdp", "report"))  # for results, which are drawn and stored alike in the layers above


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_NEEDS_AN_EXTRA})
