"""Teams in Markov decision processes: the paper's future work, with the bandit as its one-state case.

>>> from cobandit import mdp
>>> problem = mdp.make_problem("burger-line", steps=2)
>>> result = mdp.simulate(problem, mdp.Team.of("partner-aware-ucbvi"), episodes=50, runs=4, seed=0, engine="reference")
>>> result.horizon
100
"""

from __future__ import annotations

from cobandit.mdp.agents.base import MarkovAgent, MarkovBriefing, MarkovController
from cobandit.mdp.agents.centralised import CentralisedUCBVI
from cobandit.mdp.agents.naive import NaiveUCBVI, VeryNaiveUCBVI
from cobandit.mdp.agents.optimal import OptimalAgent
from cobandit.mdp.agents.partner_aware import JointMaxUCBVI, PartnerAwareUCBVI
from cobandit.mdp.agents.psrl import CentralisedPSRL, NaivePSRL
from cobandit.mdp.agents.registry import AGENTS, agent_class, make_agent
from cobandit.mdp.agents.steered import SteeredUCBVI
from cobandit.mdp.dynamics import Dynamics, GivenDynamics
from cobandit.mdp.files import load_problem, parse_problem
from cobandit.mdp.library import DYNAMICS, BoxPush, BurgerLine, Chain, DelayedChain, RandomDynamics, SameDoor
from cobandit.mdp.model import MarkovProblem, make_problem
from cobandit.mdp.planning import Values, World, optimal_values, policy_value
from cobandit.mdp.result import MarkovResult
from cobandit.mdp.simulation import run_trajectory, simulate
from cobandit.mdp.team import Team
from cobandit.mdp.trajectory import MarkovTrajectory

__all__ = [
    "AGENTS",
    "DYNAMICS",
    "BoxPush",
    "BurgerLine",
    "CentralisedPSRL",
    "CentralisedUCBVI",
    "Chain",
    "DelayedChain",
    "Dynamics",
    "GivenDynamics",
    "JointMaxUCBVI",
    "MarkovAgent",
    "MarkovBriefing",
    "MarkovController",
    "MarkovProblem",
    "MarkovResult",
    "MarkovTrajectory",
    "NaivePSRL",
    "NaiveUCBVI",
    "OptimalAgent",
    "PartnerAwareUCBVI",
    "RandomDynamics",
    "SameDoor",
    "SteeredUCBVI",
    "Team",
    "Values",
    "VeryNaiveUCBVI",
    "World",
    "agent_class",
    "load_problem",
    "make_agent",
    "make_problem",
    "optimal_values",
    "parse_problem",
    "policy_value",
    "run_trajectory",
    "simulate",
]
