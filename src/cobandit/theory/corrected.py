"""Corrected bounds on the team regret of Partner-Aware UCB: curious follower (Theorem A), heeding leader (Theorem B).

The statements and their proofs are in docs/discussion/theorem-1-proofs.md. The leader sees rewards with
probability p and explores with c_L, the follower with q and c_F; alpha = sqrt(2 c_L) and beta = sqrt(2 c_F).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobandit.agents.heeding import LEAST_EXPLORATION, heeding_threshold
from cobandit.base.checks import one_of, real, whole
from cobandit.problem import Problem
from cobandit.theory.table import Table, check_horizon, check_problem, leaders_of, per_gap

INDICES = ("paper", "anytime")
"""The index variants that Theorem A covers."""

_ROUNDING = 1e-12
"""(C) may hold with equality, which floating-point numbers miss by a little."""


_unlimited = np.errstate(over="ignore", under="ignore", invalid="ignore")
"""Gaps next to 0 make counts overflow to infinity, which is what the bound is then."""


class Constants(NamedTuple):
    """The exploration constants of leader and follower."""

    leader: float
    follower: float


@dataclass(frozen=True)
class Setting:
    """What Theorem A is asked about: exploration constants, window W, repeat L and index variant."""

    constants: Constants
    window: int = 1
    repeat: int = 2
    index: str = "paper"


def noise_width(p: float, q: float) -> float:
    """Return w, the length of the range of X^F - (q/p) X^L, what both see of one reward (event E3 of the proof).

    The four values are 0, 1 - q/p, -q/p and 1. Who sees everything misses nothing that the other sees, which
    excludes the value 1 if p = 1 and the value -q/p if q = 1.
    """
    if p == 1.0:
        return 0.0 if q == 1.0 else 1.0
    return q / p if q == 1.0 else 1.0 + q / p


def curious_constants(p: float, q: float, exploration: float = LEAST_EXPLORATION) -> Constants:
    """Return the smallest exploration constants that satisfy (C), for a leader with observability p, a follower with q.

    (C) is sqrt(2 c_F) >= w + (q/p) sqrt(2 c_L) with c_L >= 1/2; see `noise_width` for w. Both constants are smallest
    for c_L = 1/2. With a larger ``exploration`` c_L the follower needs more, too.
    """
    p, q = _observability(p, q)
    leader = real(LEAST_EXPLORATION)("exploration", exploration)
    root = noise_width(p, q) + q / p * math.sqrt(2.0 * leader)
    return Constants(leader, root * root / 2.0)  # infinite, not an error, for a p next to 0


def curious_enough(p: float, q: float, exploration: float, follower_exploration: float | None = None) -> bool:
    """Return whether exploration constants satisfy (C); ``follower_exploration`` is the leader's if not given."""
    p, q = _observability(p, q)
    constants = check_constants(exploration, follower_exploration)
    return constants.leader >= LEAST_EXPLORATION and _surplus(p, q, constants) >= 0.0


def curious_bound(
    problem: Problem,
    horizon: int,
    exploration: float | None = None,
    follower_exploration: float | None = None,
    *,
    window: int = 1,
    repeat: int = 2,
    index: str = "paper",
) -> float:
    """Return Theorem A's bound on R(T); infinite where (C) fails or the theorem does not cover the setting.

    Without ``exploration`` the team has the smallest constants that satisfy (C) (`curious_constants`, Corollary A4).
    Covered are W = 1 with any L, L = 1 with any W (A6), and the anytime index with L = 2, W = 1 (A7). With L = 1 ties
    must go to the first.
    """
    check_problem(problem)
    t = check_horizon("horizon", horizon)
    window, repeat = whole(1)("window", window), whole(1)("repeat", repeat)
    one_of(INDICES, "index")("index", index)
    constants = None
    if exploration is not None or follower_exploration is not None:
        leader = LEAST_EXPLORATION if exploration is None else exploration
        constants = check_constants(leader, follower_exploration)
    tables = [Table.of(problem, leader) for leader in leaders_of(problem)]
    setting = Setting(constants or least(tables), window, repeat, index)
    return max(cost(problem, table, curious_rounds(table, t, setting)) for table in tables)


def heeding_bound(
    problem: Problem,
    horizon: int,
    exploration: float = 2.0,
    follower_exploration: float | None = None,
    *,
    window: int = 1,
    repeat: int = 2,
) -> float:
    """Return Theorem B's bound on R(T) for a heeding leader; infinite where the theorem does not cover the setting.

    Covered are c_L >= 1/2 and c_F > 1/2 with L = 2, W = 1 or with L = 1 (ties to the first) and any W, for every
    p, q > 0.
    """
    check_problem(problem)
    t = check_horizon("horizon", horizon)
    constants = check_constants(exploration, follower_exploration)
    window, repeat = whole(1)("window", window), whole(1)("repeat", repeat)
    tables = [Table.of(problem, leader) for leader in leaders_of(problem)]
    setting = Setting(constants, window, repeat)
    return max(cost(problem, table, heeding_rounds(table, t, setting)) for table in tables)


def cost(problem: Problem, table: Table, rounds: float) -> float:
    """Return the largest possible cost of ``rounds`` rounds off the best cell."""
    unit = problem.team_factor * table.largest_gap
    return unit * rounds if unit > 0.0 else 0.0


def least(tables: Sequence[Table]) -> Constants:
    """Return the smallest constants that satisfy (C) for every table; infinite if an agent sees nothing."""
    if any(min(table.sees) == 0.0 for table in tables):
        return Constants(LEAST_EXPLORATION, math.inf)
    return Constants(LEAST_EXPLORATION, max(curious_constants(*table.sees).follower for table in tables))


@_unlimited
def curious_rounds(table: Table, horizon: int, setting: Setting) -> float:
    """Return Theorem A's bound on the expected number of rounds off the best cell."""
    p, q = table.sees
    constants = setting.constants
    if p == 0.0 or q == 0.0 or constants.leader < LEAST_EXPLORATION or _surplus(p, q, constants) < 0.0:
        return math.inf
    alpha, beta = _roots(constants)
    row_best_gaps = table.gaps.min(axis=1, keepdims=True)  # Delta_i, which is 0 in the best row
    gaps = q * table.gaps + _surplus(p, q, constants) * p * row_best_gaps / (alpha + 1.0)
    plays = per_gap((beta + 1.0) ** 2 * math.log(horizon), 1.0, gaps) + 1.0
    others = _sum(plays[table.other_rows])
    own = _sum(plays[~table.other_rows & ~table.row_best])
    cells, window, repeat = table.gaps.size, setting.window, setting.repeat
    if setting.index == "anytime":
        extra = 9.0 * cells * (1.0 + math.log(horizon))
        return 3.0 * others + own + 3.0 * cells + 2.0 + extra if (window, repeat) == (1, 2) else math.inf
    if window == 1:
        stays = max(repeat, 2)
        return (stays + 1.0) * others + own + 3.0 * cells + stays
    if repeat == 1:
        return 4.0 * window * (others + 3.0 * cells) + own + 3.0 * cells + window + 2.0
    return math.inf


@_unlimited
def heeding_rounds(table: Table, horizon: int, setting: Setting) -> float:
    """Return Theorem B's bound on the expected number of rounds off the best cell."""
    p, q = table.sees
    constants, window, repeat = setting.constants, setting.window, setting.repeat
    covered = repeat == 1 or (window, repeat) == (1, 2)
    if constants.leader < LEAST_EXPLORATION or constants.follower <= LEAST_EXPLORATION or not covered:
        return math.inf
    alpha, beta = _roots(constants)
    logarithm = math.log(horizon)
    v = np.where(table.row_best, math.inf, per_gap((beta + 1.0) ** 2 * logarithm, q, table.row_gaps))
    w = per_gap((alpha + 1.0) ** 2 * logarithm, p, table.gaps)
    x = np.maximum(w, heeding_threshold(constants.follower) * _largest_other(w))
    trusted = 1.0 + (np.minimum(v, x) + 1.0).sum(axis=1)
    rows = np.arange(len(trusted)) != table.best_row
    own = _sum(v[~table.other_rows & ~table.row_best] + 1.0)
    failures = 2.0 * table.gaps.size
    if repeat == 2:
        return 3.0 * _sum(trusted[rows]) + own + failures + 2.0
    visits = trusted + (w + 1.0).sum(axis=1) + 1.0
    elsewhere = _sum((trusted + window * visits)[rows]) + failures
    return 2.0 * elsewhere + window + own + failures


def check_constants(exploration: float, follower_exploration: float | None) -> Constants:
    """Return both exploration constants, checked."""
    leader = real(0.0)("exploration", exploration)
    if follower_exploration is None:
        return Constants(leader, leader)
    return Constants(leader, real(0.0)("follower_exploration", follower_exploration))


def _largest_other(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each cell the largest value of the other cells of its row, 0 where there are none."""
    result = np.zeros(values.shape)
    for column in range(values.shape[1]):
        rest = np.delete(values, column, axis=1)
        result[:, column] = rest.max(axis=1, initial=0.0)
    return result


def _roots(constants: Constants) -> tuple[float, float]:
    return math.sqrt(2.0 * constants.leader), math.sqrt(2.0 * constants.follower)


def _surplus(p: float, q: float, constants: Constants) -> float:
    """Return g = beta - w - alpha q/p of Theorem A, 0 where only rounding separates it from 0."""
    alpha, beta = _roots(constants)
    if math.isinf(beta) or math.isinf(q / p):
        return -math.inf
    surplus = beta - noise_width(p, q) - alpha * q / p
    return 0.0 if abs(surplus) <= _ROUNDING * (1.0 + beta) else surplus


def _sum(values: NDArray[np.float64]) -> float:
    return float(values.sum())


def _observability(p: float, q: float) -> tuple[float, float]:
    check = real(0.0, 1.0, above=True)
    return check("p", p), check("q", q)
