"""Knowledge gradient over team actions (Partner-Aware UCB with Knowledge Gradient; a model of people in bandits)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cobandit.agents.base import option
from cobandit.agents.beliefs import CountingAgent, Posterior, best
from cobandit.base.checks import real
from cobandit.problem.means import Tensor


def _discount(name: str, value: object) -> float | None:
    return None if value is None else float(real(0.0, 1.0, below=True)(name, value))


@dataclass
class KnowledgeGradient(Posterior, CountingAgent):
    """Acts as if one more look were free and the best arm were then kept for all that remains.

    Plays its coordinate of arg max of posterior mean + (T - t) v_a, where v_a is the expected rise of the
    best posterior mean after one more look at a. With ``discount`` gamma, gamma / (1 - gamma) stands for T - t.
    Where rewards are not 0 or 1 the posteriors are Gaussian.
    """

    name: ClassVar[str] = "knowledge-gradient"
    label: ClassVar[str] = "Knowledge Gradient"
    paper: ClassVar[str] = 'Partner-Aware UCB with Knowledge Gradient, Fig. "apx1"'
    compiled: ClassVar[str] = "cobandit.engine.fast.kinds.knowledge_gradient:knowledge_gradient"

    discount: float | None = option(None, "gamma of the discounted form; none: T - t rounds remain", _discount)

    def choose(self) -> int:
        """Return the own coordinate of the team action of the highest value."""
        return self.part_of(best(self.ratings(), self.ties, self.rng))

    def ratings(self) -> Tensor:
        """Return the value of every team action: its posterior mean, and what one more look at it would bring."""
        if self.discount is None:
            remaining = float(self.briefing.horizon - self.round)
        else:
            remaining = self.discount / (1.0 - self.discount)
        means, rises = self._means_and_rises()
        return means + remaining * rises

    def _means_and_rises(self) -> tuple[Tensor, Tensor]:
        counts, sums = self._memory.counts, self._memory.sums
        if self.briefing.binary:
            ones, total = 1.0 + sums, 2.0 + counts
            means = ones / total
            rival = best_of_others(means)
            after_one = np.maximum((ones + 1.0) / (total + 1.0), rival)
            after_zero = np.maximum(ones / (total + 1.0), rival)
            expected = means * after_one + (1.0 - means) * after_zero
            return means, expected - np.maximum(means, rival)
        means, precision = self.gaussian(counts, sums)
        noise_weight = 1.0 / (self.noise_sd * self.noise_sd)
        spread = np.sqrt(noise_weight / (precision * (precision + noise_weight)))
        distance = np.abs(means - best_of_others(means)) / spread
        rises = [s * normal_excess(d) for s, d in zip(spread.ravel().tolist(), distance.ravel().tolist(), strict=True)]
        return means, np.array(rises).reshape(means.shape)


def best_of_others(values: Tensor) -> Tensor:
    """Return for each cell the largest value among the other cells (minus infinity if there is no other)."""
    flat = values.ravel()
    top = int(flat.argmax())
    second = max(flat[:top].max(initial=-math.inf), flat[top + 1 :].max(initial=-math.inf))
    rivals = np.full(flat.shape, flat[top])
    rivals[top] = second
    return rivals.reshape(values.shape)


def normal_excess(distance: float) -> float:
    """E[(Z - distance)+] for a standard normal Z."""
    if math.isinf(distance):
        return 0.0
    density = math.exp(-0.5 * distance * distance) / math.sqrt(2.0 * math.pi)
    tail = 0.5 * math.erfc(distance / math.sqrt(2.0))
    return density - distance * tail
