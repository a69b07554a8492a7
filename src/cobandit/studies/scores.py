"""Means that drift and rewards that are scores: what an episode of such a design consists of, round by round."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
from numpy.typing import NDArray

from cobandit.problem import Gaussian, RandomWalkMeans, StudentT
from cobandit.problem.rewards import CorrelatedGaussian
from cobandit.studies.design_tables import MeansRule
from cobandit.studies.reward_tables import Points, RewardRule

Path = NDArray[np.float64]


def means_by_round(
    rule: MeansRule, first: Path, rounds: tuple[int, int], rng: np.random.Generator, *, given: bool
) -> Path:
    """Return the means of every round, rounds x arms; ``rounds`` are those of the warm start, and all of them.

    Nothing drifts in the warm start, so that the first round has the means ``first``. ``given``: the matrices in
    ``phases`` are used, if there are any; practice draws its means.
    """
    warm, count = rounds
    path = np.broadcast_to(first, (count, *first.shape)).copy()
    if rule.drift == "random-walk":
        walk = RandomWalkMeans(first.shape, rule.step, rule.low, rule.high)
        for row in range(warm + 1, count):
            path[row] = walk.draw(row, path[row - 1], rng)
    elif rule.drift == "piecewise":
        drawn = rule.low + (rule.high - rule.low) * rng.random((len(rule.changes_at), *first.shape))
        if given and rule.phases:
            drawn = np.array([matrix.draw(1, None, rng) for matrix in rule.phases])
        for row in range(warm, count):
            phase = bisect_right(rule.changes_at, row - warm + 1)
            path[row] = first if phase == 0 else drawn[phase - 1]
    return path


def drawn_scores(rule: RewardRule, path: Path, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the reward of every round and team action; how much is drawn does not depend on the means."""
    model = rule.model()
    if isinstance(model, Points):
        chances = path[..., np.newaxis] / model.highest
        return np.asarray((rng.random((*path.shape, model.highest)) < chances).sum(axis=-1), dtype=np.float64)
    if isinstance(model, Gaussian):
        spread = model.low if model.values is None else np.reshape(model.values, path.shape[1:])
        return np.asarray(path + spread * rng.standard_normal(path.shape))
    if isinstance(model, StudentT):
        return np.asarray(path + model.scale * rng.standard_t(model.df, path.shape))
    assert isinstance(model, CorrelatedGaussian)
    shocks, shock = np.zeros(len(path)), 0.0
    for row in range(len(path)):
        shock = shocks[row] = model.shock(row + 1, shock, rng)
    return np.asarray(path + shocks.reshape(-1, *(1 for _ in path.shape[1:])))
