"""What an agent remembers of its rewards, and what it makes of them: counts, estimates, indices, posteriors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from cobandit.agents.base import Agent, Briefing, TeamAction, option
from cobandit.agents.kl_ucb import kl_bound
from cobandit.base.checks import one_of, real
from cobandit.problem.means import Tensor

LINES = ("paper", "anytime", "companion")
"""Index variants of the form estimate + scale_t / sqrt(n_a)."""

INDICES = (*LINES, "kl-ucb")
"""Every index variant of the UCB family."""

TIES = ("first", "random")

COMPANION_FLOOR = 1e-6
"""The companion code's stand-in for a count of zero."""


FEW_CELLS = 16
"""Up to this many cells, plain numbers are faster than arrays."""


class Memory:
    """Counts and sums of the agent's own seen rewards per cell (n_a, and n_a times mu-hat_a of Alg. 1 and 2).

    The counts are the public n_a, except under *missed-known* observation: there a round in which the agent knows that
    it saw nothing changes no count.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.counts = np.zeros(shape, dtype=np.int64)
        self.sums = np.zeros(shape)

    def record(self, cell: tuple[int, ...] | int, reward: float | None) -> None:
        """Update with one seen reward; None is a round in which nothing was seen."""
        if reward is not None:
            self.counts[cell] += 1
            self.sums[cell] += reward


@dataclass
class CountingAgent(Agent):
    """The common part of agents that remember their seen rewards for each team action."""

    def reset(self, briefing: Briefing, rng: np.random.Generator) -> None:
        """Start with an empty memory of team actions."""
        super().reset(briefing, rng)
        self._memory = Memory(briefing.arms)

    def observe(self, team_action: TeamAction, reward: float | None) -> None:
        """Remember the round."""
        self._memory.record(team_action, reward)


def best(values: Tensor, ties: str, rng: np.random.Generator) -> tuple[int, ...]:
    """Return the position of the largest value: the first in row-major order, or a random one of the maxima.

    A random number is drawn only if there are several.
    """
    flat = values.ravel()
    pick = int(flat.argmax())
    if ties == "random":
        equals = np.flatnonzero(flat == flat[pick])
        if len(equals) > 1:
            pick = int(equals[int(rng.random() * len(equals))])
    place = []
    for size in reversed(values.shape):  # as in `cell_at`, without another call in every round
        pick, part = divmod(pick, size)
        place.append(part)
    return tuple(reversed(place))


def cell_at(number: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the cell with this number in row-major order: what np.unravel_index gives, at a fraction of its cost."""
    place = []
    for size in reversed(shape):
        number, part = divmod(number, size)
        place.append(part)
    return tuple(reversed(place))


def random_arm(arms: int, rng: np.random.Generator) -> int:
    """Return one of the arms, each with the same probability."""
    return int(rng.random() * arms)


def upper_bounds(counts: Any, sums: Tensor, scale: float) -> Tensor:
    """Mean plus scale / sqrt(n) of every cell, infinite where nothing was seen; counts need not be whole."""
    if counts.size <= FEW_CELLS:  # the same to the last bit, at less cost
        pairs = zip(counts.ravel().tolist(), sums.ravel().tolist(), strict=True)
        few = [total / n + scale * (1.0 / math.sqrt(n)) if n else math.inf for n, total in pairs]
        return np.array(few).reshape(counts.shape)
    values = np.full(counts.shape, math.inf)
    tried = counts > 0
    values[tried] = sums[tried] / counts[tried] + scale * (1.0 / np.sqrt(counts[tried]))
    return values


def kl_bounds(counts: Any, sums: Tensor, scale: float) -> Tensor:
    """Return the index of KL-UCB of every cell, infinite where nothing was seen."""
    pairs = zip(counts.ravel().tolist(), sums.ravel().tolist(), strict=True)
    values = [kl_bound(total / n, scale * (1.0 / math.sqrt(n))) if n else math.inf for n, total in pairs]
    return np.array(values).reshape(counts.shape)


@dataclass
class UpperConfidence:
    """The options of the UCB family, and its index f_a(t, delta) = estimate + sqrt(c log(1/delta) / n_a).

    ``paper``: empirical mean, delta = 1/T^2, infinite for a cell never tried. ``anytime``: the same with
    delta_t = 1/t^2. ``companion``: Beta(1, 1) posterior mean and sqrt(2 c log(t - 1) / max(n, 1e-6)).
    All three are estimate + scale_t / sqrt(n_a) with scale_t = sqrt(2 c log x), x = T, t or t - 1. ``kl-ucb`` (see
    `kl_bound`) tightens ``anytime`` where seen rewards are 0 or 1, and is ``anytime`` where they are not.
    """

    exploration: float = option(0.025, "exploration constant c of the index", real(0.0))
    index: str = option("paper", "index variant: " + ", ".join(INDICES), one_of(INDICES))
    ties: str = option("first", "which of equal indices wins: " + ", ".join(TIES), one_of(TIES, "tie rule"))

    def scale(self, t: int, horizon: int) -> float:
        """sqrt(c log(1/delta)) at round t."""
        x = {"paper": horizon, "companion": t - 1}.get(self.index, t)
        return math.sqrt(2.0 * self.constant * math.log(x))

    @property
    def constant(self) -> float:
        """The exploration constant c of this agent's index."""
        return self.exploration

    def indices_now(self, memory: Memory, t: int, horizon: int) -> Tensor | None:
        """Return the index of every cell; None in the companion code's first round, which has none."""
        return None if self.index == "companion" and t == 1 else self.indices(memory, t, horizon)

    def indices(self: Any, memory: Memory, t: int, horizon: int, block: Any = ...) -> Tensor:
        """Return the index of every cell of a block of the memory."""
        counts, sums = memory.counts[block], memory.sums[block]
        scale = self.scale(t, horizon)
        if self.index == "companion":
            roots = np.sqrt(np.maximum(counts, COMPANION_FLOOR))
            return np.asarray((1.0 + sums) / (2.0 + counts) + scale * (1.0 / roots))
        if self.index == "kl-ucb" and self.briefing.binary:
            return kl_bounds(counts, sums, scale)
        return upper_bounds(counts, sums, scale)


@dataclass
class Posterior:
    """The options of the Bayesian agents, and their posterior over each mean.

    Where all seen rewards are 0 or 1: Beta(1 + ones, 1 + zeros). Otherwise Gaussian, with prior
    N(prior_mean, prior_sd^2) and a reward noise of standard deviation ``noise_sd``.
    """

    ties: str = option("first", "which of equal values wins: " + ", ".join(TIES), one_of(TIES, "tie rule"))
    prior_mean: float = option(0.5, "mean of the prior (Gaussian settings only)", real(-1e6, 1e6))
    prior_sd: float = option(0.5, "standard deviation of the prior (Gaussian settings only)", real(1e-6, 1e6))
    noise_sd: float = option(0.5, "assumed noise of a seen reward (Gaussian settings only)", real(1e-6, 1e6))

    def gaussian(self, counts: Any, sums: Any) -> tuple[Any, Any]:
        """Mean and precision of the Gaussian posterior."""
        prior_weight = 1.0 / (self.prior_sd * self.prior_sd)
        noise_weight = 1.0 / (self.noise_sd * self.noise_sd)
        precision = prior_weight + counts * noise_weight
        return (self.prior_mean * prior_weight + sums * noise_weight) / precision, precision

    def expected(self, memory: Memory, binary: bool) -> Tensor:
        """Return the posterior mean of every cell."""
        if binary:
            return np.asarray((1.0 + memory.sums) / (2.0 + memory.counts))
        return np.asarray(self.gaussian(memory.counts, memory.sums)[0])

    def sample(self, memory: Memory, binary: bool, rng: np.random.Generator, block: Any = ...) -> Tensor:
        """Draw from the posterior of every cell of a block, in row-major order."""
        counts, sums = memory.counts[block], memory.sums[block]
        if binary:
            return np.asarray(rng.beta(1.0 + sums, 1.0 + counts - sums))
        mean, precision = self.gaussian(counts, sums)
        return np.asarray(mean + np.sqrt(1.0 / precision) * rng.standard_normal(counts.shape))
