"""Upper bounds on the team regret R(T) of Partner-Aware UCB (Thm 1 and its proof; L = 2, W = 1, delta = 1/T^2, c = 2).

What a reading of the proof found, in the order of its steps. The leader's arms are rows i, the follower's columns j;
K is the number of team actions, m of rows, k of columns, and every cell but the best has a count u_(i,j).

1. *p_max under the second sum.* The follower too has to tell the columns of a row apart, so u_(i,j) of a cell that
   is not the best of its row needs p_min^2. `Bound.printed` keeps the statement's p_max^2, `Bound.proved` has p_min^2.
2. *The constant 3K/2 is right.* There are K - 1 counts. Rounding each up adds at most 2 (K - 1) rounds to twice their
   sum, and the bad event adds T P(G^c) <= (K - 1) (1 + 1/T): together (3 + 1/T) (K - 1), which is at most 3K as soon
   as 3T >= K - 1. Below that the statement is true for want of rounds. `Bound.counted` skips the relaxation.
3. *P(G^c) is undercounted, harmlessly.* G consists of 2m events of the kind "never underestimated" and of 2mk - m - k
   of the kind "low after u plays", not of K - 1 of each; and a cell can be played beyond u in a round that the follower
   mispredicted, so the second kind must hold for every count from u on. Seen rewards are 0 or 1, for which
   Hoeffding's inequality has the fourth power of the tail that the proof uses, so all of this fits into 3K/2.
4. *Mispredicted rounds.* Each time the leader comes back to the best row, the follower may still play for the row
   before. Those rounds are missing: a stay in another row can cost three rounds, not two.
5. *The standoff.* Lemma 2 takes for granted that every cell of a row reaches its count while the leader stays there.
   But the leader may stay for a cell (i, j) whose index is high to the leader, while the follower has seen enough
   of it and declines; nothing about (i, j) changes any more, and the team is held in row i. This breaks the
   theorem and cannot be repaired without a further condition. If the *worse* observer leads, as happens in half of the
   runs under unknown observability, a standoff is the rule in some problems, and the regret grows as T (measured). If
   both see equally well, or the leader a little better, a share T^-kappa of the runs ends in a standoff and the regret
   is of the order of T^(1 - kappa) (`standoff`): with 2 x 31 arms, p = (.5, .5), kappa is .076, and 86 % of the runs
   lie above the theorem's bound after 10^8 rounds (`cobandit reproduce theorem-1-standoff`).

So neither ``printed`` nor ``proved`` is a theorem for every problem and horizon. `Bound.corrected` is one: Theorem A of
docs/discussion/theorem-1-proofs.md, which holds if the follower explores enough (condition (C)). `Bound.safe` is the
smallest of all bounds that are proved for the team: `Bound.linear` (every round lost), `Bound.corrected`, and for
c = 2 an argument about single problems, proved at `_repaired`, which is infinite if it cannot rule out a standoff.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.base.checks import short_repr, whole
from cobandit.base.errors import InvalidInput
from cobandit.problem import Problem
from cobandit.theory.corrected import (
    Constants,
    Setting,
    check_constants,
    cost,
    curious_enough,
    curious_rounds,
    heeding_rounds,
    least,
)
from cobandit.theory.standoff import cell_exponents
from cobandit.theory.table import Table, check_horizon, check_problem, leaders_of, per_gap

KINDS = ("printed", "proved", "counted", "unknown", "linear", "safe", "corrected", "curious", "heeding")
"""The bounds of a `Bound`."""

_SLACK = 1.0 / math.sqrt(2.0)
"""How far, in units of sqrt(log T / n), an estimate may stray in a comparison of a few counts only."""

FORBEARANCE = (2.0 - _SLACK) / (2.0 + _SLACK)
"""No standoff over cell (i, j) if the follower's row gap is below this share of the leader's gap (see `_repaired`)."""


@dataclass(frozen=True)
class Bound:
    """Upper bounds on R(T), all in team regret (the module's docstring says which of them can be trusted).

    ``leader`` is the leading agent, None where the roles are drawn at random: then every number is the larger of the
    two that either leader would give. ``largest_gap`` is Delta_max, and ``counts[a_0][a_1]`` is u of each team action.

    ``printed`` is Thm 1 as stated; ``proved`` has the p_min^2 that its proof needs; ``counted`` is the proof's sum with
    the rounded counts and without the final relaxation; ``unknown`` is the footnote's form for unknown observability,
    p_min throughout and whichever agent leads. These four are about c = 2. ``linear`` is what T rounds cost at most.

    ``corrected`` is Theorem A for the team's exploration constants, infinite where they do not satisfy condition (C),
    which ``condition`` tells. ``constants`` are the smallest ones (c_L, c_F) that do, None if an agent sees
    nothing, and ``curious`` is Theorem A for them. ``heeding`` is Theorem B, for the team with a heeding leader.
    ``safe`` is the smallest bound that is proved for the team; ``logarithmic`` says whether it grows as log T in the
    end. ``kappa`` is the exponent of a standoff (`standoff_exponent`).
    """

    horizon: int
    leader: int | None
    largest_gap: float
    counts: tuple[tuple[float, ...], ...]
    printed: float
    proved: float
    counted: float
    unknown: float
    linear: float
    safe: float
    logarithmic: bool
    corrected: float
    condition: bool
    curious: float
    constants: Constants | None
    heeding: float
    kappa: float

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; None stands for infinity, that is, for no bound."""
        plain = asdict(self)
        plain["counts"] = [[_finite(count) for count in row] for row in self.counts]
        plain["constants"] = None if self.constants is None else list(self.constants)
        for name in ("printed", "proved", "counted", "unknown", "safe", "corrected", "curious", "heeding", "kappa"):
            plain[name] = _finite(plain[name])
        return plain


def bound(problem: Problem, horizon: int, exploration: float = 2.0, follower_exploration: float | None = None) -> Bound:
    """Return bounds on the team regret of Partner-Aware UCB with W = 1, L = 2 and delta = 1/T^2: Theorem 1, corrected.

    ``exploration`` is c of the leader, and of the follower unless ``follower_exploration`` is given. Theorem 1 itself
    is always about c = 2.

    ``problem`` has two agents, Bernoulli rewards with fixed means and *missed* observation; its weights replace
    the plain mean. In the formulas p_max stands for the leader's observability, as in the theorem, so where
    the roles make the worse observer lead it becomes p_min.

    A sum is infinite, and with it the bound at any horizon, if two columns of a row are equally good, if the best cells
    of the best row and of another one are equally good, or if an agent in the sum sees nothing. If nothing can be
    lost (all means equal, or no agent sees anything and so no observed reward is lost) every bound is 0.
    """
    check_problem(problem)
    t = check_horizon("horizon", horizon)
    constants = check_constants(exploration, follower_exploration)
    leaders = leaders_of(problem)
    tables = [Table.of(problem, leader) for leader in leaders]

    def largest(rounds: Callable[[Table], float], among: Iterable[Table] = tables) -> float:
        return max(cost(problem, table, rounds(table)) for table in among)

    repaired = largest(lambda table: _repaired(table, t)) if constants == (2.0, 2.0) else math.inf
    corrected = largest(lambda table: curious_rounds(table, t, Setting(constants)))
    linear = largest(lambda table: t)
    smallest = least(tables)
    return Bound(
        horizon=t,
        leader=leaders[0] if len(leaders) == 1 else None,
        largest_gap=tables[0].largest_gap,
        counts=tuple(tuple(row) for row in _counts(problem, leaders, t).tolist()),
        printed=largest(lambda table: _closed(table, t, table.sees[0], table.sees[0])),
        proved=largest(lambda table: _closed(table, t, table.sees[0], min(table.sees))),
        counted=largest(lambda table: _counted(table, t)),
        unknown=largest(
            lambda table: _closed(table, t, min(table.sees), min(table.sees)),
            (Table.of(problem, leader) for leader in (0, 1)),
        ),
        linear=linear,
        safe=min(linear, repaired, corrected),
        logarithmic=math.isfinite(min(repaired, corrected)),
        corrected=corrected,
        condition=all(
            min(table.sees) > 0.0 and curious_enough(*table.sees, constants.leader, constants.follower)
            for table in tables
        ),
        curious=largest(lambda table: curious_rounds(table, t, Setting(smallest))),
        constants=smallest if math.isfinite(smallest.follower) else None,
        heeding=largest(lambda table: heeding_rounds(table, t, Setting(constants))),
        kappa=min(float(cell_exponents(table, constants).min()) for table in tables) if min(constants) else 0.0,
    )


def bound_curve(
    problem: Problem, horizons: Iterable[int], exploration: float = 2.0, follower_exploration: float | None = None
) -> dict[str, list[float]]:
    """Return the bounds for many horizons, one list for each kind, ready to be drawn.

    Entry n is about a team that knows horizon n (delta = 1/T^2 depends on it). A run of a longer horizon
    T is at any earlier round below ``bound(problem, T)``, not below the curve's value there.
    """
    if isinstance(horizons, (str, bytes)) or not isinstance(horizons, Iterable):
        raise InvalidInput(f"horizons must be a list of integers, got {short_repr(horizons)}.")
    checked = [check_horizon(f"horizons[{i}]", t) for i, t in enumerate(horizons)]
    points = [bound(problem, t, exploration, follower_exploration) for t in checked]
    return {kind: [getattr(point, kind) for point in points] for kind in ("horizon", *KINDS)}


def exploration_counts(problem: Problem, horizon: int) -> NDArray[np.float64]:
    """Return u_(i,j) of the proof: after that many plays a cell is hardly played again. Shaped like the means.

    16 log T / (p^2 gap^2), rounded up: for the best cell of a row the gap to the best of all and the leader's p, for
    any other cell the gap to the best of its row and p_min. 0 for the best cell of all (and everywhere at T = 1),
    infinite where the gap is 0 or the agent sees nothing. Where the roles are drawn at random: enough for either
    leader.
    """
    check_problem(problem)
    return _counts(problem, leaders_of(problem), check_horizon("horizon", horizon))


def proof_covers(window: int, repeat: int) -> bool:
    """Return whether the proof's way of counting predictions works for W and L: floor(W/2 + 1) < L (footnote to
    Thm 1).
    """
    return bool(whole(1)("window", window) // 2 + 1 < whole(1)("repeat", repeat))


def _raw_counts(table: Table, horizon: int, row_best_sees: float, other_sees: float) -> NDArray[np.float64]:
    """16 log T / (p gap)^2 of each cell, with one p for the best cells of the rows and one for all others."""
    amount = 16.0 * math.log(horizon)
    raw = np.where(
        table.row_best, per_gap(amount, row_best_sees, table.gaps), per_gap(amount, other_sees, table.row_gaps)
    )
    raw[table.best_row, table.best_columns[table.best_row]] = 0.0
    return raw


def _closed(table: Table, horizon: int, row_best_sees: float, other_sees: float) -> float:
    """Return the theorem's bracket, times two as the unit cost carries the half: rounds that are not the best cell."""
    return 2.0 * float(_raw_counts(table, horizon, row_best_sees, other_sees).sum()) + 3.0 * table.gaps.size


def _counted(table: Table, horizon: int) -> float:
    """2 sum of u + T P(G^c), the proof's sum before its last step."""
    counts = np.ceil(_raw_counts(table, horizon, table.sees[0], min(table.sees)))
    return 2.0 * float(counts.sum()) + (table.gaps.size - 1) * (1.0 + 1.0 / horizon)


def _counts(problem: Problem, leaders: tuple[int, ...], horizon: int) -> NDArray[np.float64]:
    """u of each team action, on the agents' own axes."""
    bounds = []
    for leader in leaders:
        table = Table.of(problem, leader)
        counts = np.ceil(_raw_counts(table, horizon, table.sees[0], min(table.sees)))
        bounds.append(counts.T if leader == 1 else counts)
    return np.asarray(np.maximum.reduce(bounds))


def _repaired(table: Table, horizon: int) -> float:
    """Return a bound on the expected number of rounds off the best cell, for any leader; infinite with standoffs.

    Let l = log T, so that the index of a cell played n times is its estimate plus 2 sqrt(l/n). Write p for the
    leader's and q for the follower's observability, D for Delta, D~ for Delta-tilde, h = 1/sqrt(2). Suppose that

    (a) for every n the leader's index of a_* exceeds p mu_*, and the follower's of each (i, j*(i)) exceeds q mu;
    (b) for every n no estimate is too high by sqrt(l/n): the follower's in all cells except a_*, the leader's outside
        the best row;
    (c) in the cells (i, j) outside the best row with j != j*(i), for each n < w (below), the leader's estimate is not
        too high and the follower's not too low by h sqrt(l/n).

    Hoeffding's inequality bounds the chance that (a) fails by (m + 1) T^-7; (b) by 1/T for each of the mk - 1 cells of
    the follower and the (m - 1)k of the leader; (c) by 2/T for each cell and n. So T P(failure) is at most
    (m + 1) + (mk - 1) + (m - 1)k + 2 sum of (w - 1). If nothing fails,

    - a follower that predicted row i plays (i, j), j != j*(i), only while n < v = 9 l / (q D~)^2;
    - a leader picks (i, j) outside the best row only while n < w = 9 l / (p D)^2, and for j != j*(i) only while
      (2 + h) sqrt(l/n) > p D. The follower's index of that cell is then above q mu(i, j) + F p D with
      F = (2 - h) / (2 + h), so the follower prefers j*(i) to it only while 3 sqrt(l / n(i, j*)) exceeds the margin
      F p D - q D~: while n(i, j*) < z = 9 l / margin^2. If every margin is positive there is no standoff.

    The second round of a stay (two rounds) in row i is rightly predicted. It plays a column other than j*(i), at most
    sum of v times; or j*(i) after the first round had played the cell (i, j), j != j*(i), that the leader picked, at
    most sum of w times; or j*(i) otherwise, at most max(w(i, j*), z) times. A stay costs its two rounds and perhaps one
    more, mispredicted, on return to the best row. There the rightly predicted rounds cost at most sum of v; the first
    round of all, and a stay that the end cuts, cost one each. Counts are rounded up and at least 1: the first try.
    """
    rows: int = table.gaps.shape[0]
    columns: int = table.gaps.shape[1]
    leader, follower = table.sees
    margins = _margins(table)
    if not bool((margins > 0.0).all()):
        return math.inf
    amount = 9.0 * math.log(horizon)

    def plays(sees: float, gaps: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.maximum(np.ceil(per_gap(amount, sees, gaps)), 1.0)

    rest = ~table.row_best
    declined = table.other_rows & rest
    v = np.where(rest, plays(follower, table.row_gaps), 0.0)
    w = plays(leader, table.gaps)
    z = np.zeros(table.gaps.shape)
    z[declined] = plays(1.0, margins)
    held = np.maximum(w[np.arange(rows), table.best_columns], z.max(axis=1))
    stays = v.sum(axis=1) + np.where(rest, w, 0.0).sum(axis=1) + held
    others = np.arange(rows) != table.best_row
    failures = (rows + 1) + (rows * columns - 1) + (rows - 1) * columns + 2.0 * float((w[declined] - 1.0).sum())
    return 3.0 * float(stays[others].sum()) + float(v[table.best_row].sum()) + 2.0 + failures


def _margins(table: Table) -> NDArray[np.float64]:
    """Return how far the follower is from declining each cell over which a standoff could arise; above 0: none can."""
    cells = table.other_rows & ~table.row_best
    leader, follower = table.sees
    return FORBEARANCE * leader * table.gaps[cells] - follower * table.row_gaps[cells]


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
