"""What is known on paper: Theorem 1's bound, Fact 1, the proof's exploration counts, a lower bound, exact limits."""

from cobandit.theory.bound import Bound, bound, bound_curve, exploration_counts, proof_covers
from cobandit.theory.exact import ExactLimits, blind_team, exact_limits, one_brain, steered_team
from cobandit.theory.fact_one import fact_one, potential_rewards, single_agent_ucb
from cobandit.theory.lower import lai_robbins

__all__ = [
    "Bound",
    "ExactLimits",
    "blind_team",
    "bound",
    "bound_curve",
    "exact_limits",
    "exploration_counts",
    "fact_one",
    "lai_robbins",
    "one_brain",
    "potential_rewards",
    "proof_covers",
    "single_agent_ucb",
    "steered_team",
]
