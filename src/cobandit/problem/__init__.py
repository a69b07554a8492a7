"""The problem: rewards, observation, roles and regret of a decentralised cooperative bandit team."""

from cobandit.problem.means import FixedMeans, Means, RandomMeans
from cobandit.problem.observation import Flipped, Missed, MissedKnown, Noisy, Observation
from cobandit.problem.problem import Instance, Problem
from cobandit.problem.rewards import Bernoulli, Gaussian, Reward

__all__ = [
    "Bernoulli",
    "FixedMeans",
    "Flipped",
    "Gaussian",
    "Instance",
    "Means",
    "Missed",
    "MissedKnown",
    "Noisy",
    "Observation",
    "Problem",
    "RandomMeans",
    "Reward",
]
