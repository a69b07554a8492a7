"""The problem: rewards, observation, roles and regret of a decentralised cooperative bandit team."""

from cobandit.problem.drifting import PiecewiseMeans, RandomWalkMeans
from cobandit.problem.means import FixedMeans, Means, RandomMeans
from cobandit.problem.observation import Flipped, Missed, MissedKnown, Noisy, Observation
from cobandit.problem.problem import Instance, Problem
from cobandit.problem.rewards import Bernoulli, CorrelatedGaussian, Gaussian, Reward, StudentT

__all__ = [
    "Bernoulli",
    "CorrelatedGaussian",
    "FixedMeans",
    "Flipped",
    "Gaussian",
    "Instance",
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
]
