"""What is known on paper: Theorem 1's bound, Fact 1, the proof's exploration counts, a lower bound."""

from cobandit.theory.bound import Bound, bound, bound_curve, exploration_counts, proof_covers
from cobandit.theory.fact_one import fact_one, potential_rewards, single_agent_ucb
from cobandit.theory.lower import lai_robbins

__all__ = [
    "Bound",
    "bound",
    "bound_curve",
    "exploration_counts",
    "fact_one",
    "lai_robbins",
    "potential_rewards",
    "proof_covers",
    "single_agent_ucb",
]
