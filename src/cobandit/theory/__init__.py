"""Theoretical results: Theorem 1 and its correction, Fact 1, standoffs, a lower bound, exact limits."""

from cobandit.agents.heeding import heeding_threshold
from cobandit.theory.bound import Bound, bound, bound_curve, exploration_counts, proof_covers
from cobandit.theory.corrected import Constants, curious_bound, curious_constants, curious_enough, heeding_bound
from cobandit.theory.exact import ExactLimits, blind_team, exact_limits, one_brain, steered_team
from cobandit.theory.fact_one import fact_one, potential_rewards, single_agent_ucb
from cobandit.theory.lower import lai_robbins
from cobandit.theory.standoff import standoff_exponent, standoff_probability

__all__ = [
    "Bound",
    "Constants",
    "ExactLimits",
    "blind_team",
    "bound",
    "bound_curve",
    "curious_bound",
    "curious_constants",
    "curious_enough",
    "exact_limits",
    "exploration_counts",
    "fact_one",
    "heeding_bound",
    "heeding_threshold",
    "lai_robbins",
    "one_brain",
    "potential_rewards",
    "proof_covers",
    "single_agent_ucb",
    "standoff_exponent",
    "standoff_probability",
    "steered_team",
]
