"""The exact limit of small teams: the largest expected reward, by enumeration of all possible histories.

Every mean is uniform on [0, 1] and unknown, rewards are 0 or 1, and observation is *missed*. `one_brain` is the
Bayes-optimal controller, by dynamic programming over its observations; no team can do better. `steered_team` is the
best that a leader can do with followers that move as those of `cobandit.Steered`. `blind_team` is the best of all teams
of two whose follower sees no rewards: every such follower is tried.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.base.checks import MOST, real, short_repr, whole
from cobandit.base.errors import InvalidInput
from cobandit.problem import Bernoulli, Missed, Problem, RandomMeans

MOST_STATES = 600_000
"""What is computed in less than a minute."""

LONGEST_ENUMERATION = 4
"""Rounds for which all blind followers are tried: there are 2^(2^T - 1)."""

Looks = tuple[int, int]
"""How often a cell was seen to pay, and how often not."""


@dataclass(frozen=True)
class ExactLimits:
    """What can be expected at most from ``horizon`` rounds, as mean reward of the task; None where it does not fit.

    ``perfect`` is what a team that knows the means would get. Task regret is ``perfect`` less the reward.
    """

    horizon: int
    perfect: float
    one_brain: float | None
    steered_team: float | None
    blind_team: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return the results as plain data."""
        return asdict(self)


def exact_limits(problem: Problem, horizon: int) -> ExactLimits:
    """Return every limit of a problem that can be computed; one that does not fit is None.

    One brain sees what anybody sees. The leader of a steered or a blind team is the best observer.
    """
    sights, cells = _checked(problem), problem.cells
    rounds = whole(1, MOST)("horizon", horizon)
    everybody = 1.0 - math.prod(1.0 - p for p in sights)
    small = problem.arms == (2, 2)
    return ExactLimits(
        rounds,
        rounds * cells / (cells + 1.0),
        one_brain(cells, rounds, everybody) if one_brain_states(cells, rounds) <= MOST_STATES else None,
        steered_team(rounds, max(sights)) if small and steered_states(rounds) <= MOST_STATES else None,
        blind_team(rounds, max(sights)) if small and rounds <= LONGEST_ENUMERATION else None,
    )


def _checked(problem: Problem) -> tuple[float, ...]:
    """Return the observabilities of a problem that has exact limits."""
    if not isinstance(problem, Problem):
        raise InvalidInput(f"problem must be a Problem, got {short_repr(problem)}.")
    means: Any = problem.means
    if type(means) is not RandomMeans or (means.low, means.high) != (0.0, 1.0):
        raise InvalidInput("The exact limits are averages over random means, each uniform on [0, 1]; use random means.")
    observation = problem.observation
    if type(problem.reward) is not Bernoulli or type(observation) is not Missed:
        raise InvalidInput(
            f"problem has {problem.reward.name} rewards and {observation.name!r} observation; "
            "the exact limits are for Bernoulli rewards and 'missed' observation."
        )
    if problem.hides_actions:
        raise InvalidInput("problem has actions='hidden'; the exact limits are for observed actions.")
    if problem.delay:
        raise InvalidInput(f"problem has a delay of {problem.delay:,} rounds; the exact limits are for a delay of 0.")
    return observation.observability


def one_brain_states(cells: int, horizon: int) -> float:
    """Return roughly how many states `one_brain` examines."""
    return math.comb(horizon + 2 * cells, 2 * cells) / math.factorial(cells)


def steered_states(horizon: int) -> int:
    """Return roughly how many states `steered_team` examines."""
    return 4 * math.comb(horizon + 7, 8)


def _checked_setting(horizon: Any, sight: Any) -> tuple[int, float]:
    return whole(0, MOST)("horizon", horizon), real(0.0, 1.0)("sight", sight)


def one_brain(cells: int, horizon: int, sight: float = 1.0) -> float:
    """Return the mean reward of a Bayes-optimal controller of ``cells`` cells that sees a reward with probability
    ``sight``.

    Cells are exchangeable, so a state is the sorted list of the counts of each cell.
    """
    cells = whole(1, MOST)("cells", cells)
    horizon, sight = _checked_setting(horizon, sight)
    means = _posterior_means(horizon, sight)

    @cache
    def value(state: tuple[Looks, ...], left: int) -> float:
        if left == 0:
            return 0.0
        top = 0.0
        for k, (good, bad) in enumerate(state):
            if k and state[k - 1] == state[k]:
                continue
            mean = float(means[good, bad])
            rest = state[:k] + state[k + 1 :]
            seen = value(tuple(sorted(((good + 1, bad), *rest))), left - 1)
            missed = value(tuple(sorted(((good, bad + 1), *rest))), left - 1)
            top = max(top, mean + sight * mean * seen + (1.0 - sight * mean) * missed)
        return top

    return value(((0, 0),) * cells, horizon)


def steered_team(horizon: int, sight: float = 1.0) -> float:
    """Return the mean reward of the best leader of a steered team of two with two arms each, who sees by ``sight``."""
    horizon, sight = _checked_setting(horizon, sight)
    means = _posterior_means(horizon, sight)

    @cache
    def value(state: tuple[Looks, ...], last: int, column: int, t: int) -> float:
        if t == horizon:
            return 0.0
        top = 0.0
        for row in range(2):
            cell = 2 * row + column
            good, bad = state[cell]
            after = (column + row - last) % 2 if t % 2 else column
            mean = float(means[good, bad])
            seen = value((*state[:cell], (good + 1, bad), *state[cell + 1 :]), row, after, t + 1)
            missed = value((*state[:cell], (good, bad + 1), *state[cell + 1 :]), row, after, t + 1)
            top = max(top, mean + sight * mean * seen + (1.0 - sight * mean) * missed)
        return top

    return value(((0, 0),) * 4, 0, 0, 0)


def blind_team(horizon: int, sight: float = 1.0) -> float:
    """Return the mean reward of the best team of two with two arms each whose follower sees no rewards.

    A follower is a tree: an arm for every history of the leader's arms. Bit 2^t - 1 + history of its number is its arm
    in round t. By symmetry the first arm can be fixed to 0. All trees are evaluated together.
    """
    horizon, sight = _checked_setting(horizon, sight)
    if horizon > LONGEST_ENUMERATION:
        raise InvalidInput(
            f"horizon is {horizon}; all blind followers can be tried up to {LONGEST_ENUMERATION} rounds."
        )
    means = _posterior_means(horizon, sight)
    trees = np.arange(0, 1 << ((1 << horizon) - 1), 2, dtype=np.int64)

    def value(state: tuple[Looks, ...], history: int, t: int) -> NDArray[np.float64] | float:
        if t == horizon:
            return 0.0
        plays_second = (trees >> ((1 << t) - 1 + history)) & 1 == 1
        worth = []
        for row in range(2):
            by_column = []
            for cell in (2 * row, 2 * row + 1):
                good, bad = state[cell]
                mean = float(means[good, bad])
                seen = value((*state[:cell], (good + 1, bad), *state[cell + 1 :]), 2 * history + row, t + 1)
                missed = value((*state[:cell], (good, bad + 1), *state[cell + 1 :]), 2 * history + row, t + 1)
                by_column.append(mean + sight * mean * seen + (1.0 - sight * mean) * missed)
            worth.append(np.where(plays_second, by_column[1], by_column[0]))
        return np.maximum(worth[0], worth[1])

    return float(np.max(value(((0, 0),) * 4, 0, 0)))


def _posterior_means(most: int, sight: float) -> NDArray[np.float64]:
    """Return E[mu] of a cell after ``row`` seen successes and ``column`` seen failures, from a uniform prior.

    With p for ``sight`` the likelihood is (p mu)^good (1 - p mu)^bad. This is a polynomial, which quadrature integrates
    exactly; with p = 1 the result is (1 + good) / (2 + good + bad).
    """
    good, bad = np.ogrid[: most + 1, : most + 1]
    if sight == 1.0:
        return np.asarray((1.0 + good) / (2.0 + good + bad))
    nodes, weights = np.polynomial.legendre.leggauss(most + 1)
    mu, weights = (nodes + 1.0) / 2.0, weights / 2.0
    likelihood = mu ** good[..., np.newaxis] * (1.0 - sight * mu) ** bad[..., np.newaxis] * weights
    return np.asarray((likelihood * mu).sum(axis=2) / likelihood.sum(axis=2))
