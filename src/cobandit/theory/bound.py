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
   theorem and cannot be mended without a further condition. If the *worse* observer leads, as happens in half of the
   runs under unknown observability, a standoff is the rule in some problems (the tests hold one). It is no matter of
   bad luck there, nor where both see equally well or the better one leads: with 2 x 31 arms, p = (.5, .5), 86 % of the
   runs lie above the theorem's bound after 10^8 rounds, and their regret grows in proportion to the rounds
   (`cobandit reproduce theorem-1-standoff`; docs/discussion/theorem-1.md has the numbers).

So neither ``printed`` nor ``proved`` is a theorem for every problem and horizon. `Bound.safe` is: it is the smaller of
the bound that needs no argument (every round lost, `Bound.linear`) and of a repaired one, proved at `_repaired`,
which is logarithmic wherever a standoff can be ruled out and infinite elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.base.checks import short_repr, whole
from cobandit.base.errors import InvalidInput
from cobandit.problem import Bernoulli, FixedMeans, Missed, Problem

LONGEST = 2**63 - 1

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
    p_min throughout and whichever agent leads. ``linear`` is what T rounds can cost at most, and ``safe`` the only
    other one that holds in every problem; ``logarithmic`` says whether ``safe`` is of the order of log T in the end.
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

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; None stands for infinity, that is, for no bound."""
        plain = asdict(self)
        plain["counts"] = [[_finite(count) for count in row] for row in self.counts]
        for name in ("printed", "proved", "counted", "unknown", "safe"):
            plain[name] = _finite(plain[name])
        return plain


def bound(problem: Problem, horizon: int) -> Bound:
    """Theorem 1's bound on the team regret of Partner-Aware UCB with W = 1, L = 2, c = 2, told the horizon T.

    ``problem`` has two agents, Bernoulli rewards with fixed means and *missed* observation; its weights take the
    place of the plain mean. In the formulas p_max stands for the leader's observability, as in the theorem, so where
    the roles make the worse observer lead it becomes p_min.

    A sum is infinite, and with it the bound at any horizon, if two columns of a row are equally good, if the best cells
    of the best row and of another one are equally good, or if an agent it speaks of sees nothing. Where nothing can be
    lost (all means equal, or nobody sees anything and so no observed reward is lost) every bound is 0.
    """
    _check_problem(problem)
    t = _check_horizon("horizon", horizon)
    leaders = _leaders(problem)
    tables = [_Table.of(problem, leader) for leader in leaders]
    unit = problem.team_factor * tables[0].largest_gap  # the most that one round can cost

    def cost(rounds: float) -> float:
        return unit * rounds if unit > 0.0 else 0.0

    repaired = max(cost(_repaired(table, t)) for table in tables)
    linear = cost(t)
    return Bound(
        horizon=t,
        leader=leaders[0] if len(leaders) == 1 else None,
        largest_gap=tables[0].largest_gap,
        counts=tuple(tuple(row) for row in _counts(problem, leaders, t).tolist()),
        printed=max(cost(_closed(table, t, table.sees[0], table.sees[0])) for table in tables),
        proved=max(cost(_closed(table, t, table.sees[0], min(table.sees))) for table in tables),
        counted=max(cost(_counted(table, t)) for table in tables),
        unknown=max(
            cost(_closed(table, t, min(table.sees), min(table.sees)))
            for table in (_Table.of(problem, leader) for leader in (0, 1))
        ),
        linear=linear,
        safe=min(linear, repaired),
        logarithmic=math.isfinite(repaired),
    )


def bound_curve(problem: Problem, horizons: Iterable[int]) -> dict[str, list[float]]:
    """The bounds for many horizons, one list for each kind, ready to be drawn.

    Entry n is about a team that was told horizon n (delta = 1/T^2 depends on it). A run of a longer horizon
    T is at any earlier round below ``bound(problem, T)``, not below the curve's value there.
    """
    if isinstance(horizons, (str, bytes)) or not isinstance(horizons, Iterable):
        raise InvalidInput(f"horizons is {short_repr(horizons)}; a list of whole numbers is needed.")
    points = [bound(problem, _check_horizon(f"horizons[{i}]", t)) for i, t in enumerate(horizons)]
    kinds = ("horizon", "printed", "proved", "counted", "unknown", "linear", "safe")
    return {kind: [getattr(point, kind) for point in points] for kind in kinds}


def exploration_counts(problem: Problem, horizon: int) -> NDArray[np.float64]:
    """u_(i,j) of the proof: after so many plays the cell is, most likely, done with. Shaped like the means.

    16 log T / (p^2 gap^2), rounded up: for the best cell of a row the gap to the best of all and the leader's p, for
    any other cell the gap to the best of its row and p_min. 0 for the best cell of all (and everywhere at T = 1),
    infinite where the gap is 0 or the agent sees nothing. Where the roles are drawn at random: enough for either
    leader.
    """
    _check_problem(problem)
    return _counts(problem, _leaders(problem), _check_horizon("horizon", horizon))


def proof_covers(window: int, repeat: int) -> bool:
    """Whether the proof's way of counting predictions works for W and L: floor(W/2 + 1) < L (footnote to Thm 1)."""
    return bool(whole(1)("window", window) // 2 + 1 < whole(1)("repeat", repeat))


@dataclass(frozen=True, eq=False)
class _Table:
    """A problem as the proof sees it: rows are the leader's arms, columns the follower's.

    ``row_gaps`` is Delta-tilde, ``gaps`` is Delta; ``best_columns`` is j*(i) and ``best_row`` the leader's part of a_*.
    ``sees`` holds the observability of leader and follower.
    """

    gaps: NDArray[np.float64]
    row_gaps: NDArray[np.float64]
    best_columns: NDArray[np.int64]
    best_row: int
    sees: tuple[float, float]

    @classmethod
    def of(cls, problem: Problem, leader: int) -> _Table:
        """From a checked problem, with the given agent in the lead."""
        assert isinstance(problem.means, FixedMeans)
        means = np.array(problem.means.values).reshape(problem.arms)
        if leader == 1:
            means = means.T
        tops = means.max(axis=1)
        p = problem.observation.levels
        return cls(
            gaps=tops.max() - means,
            row_gaps=tops[:, np.newaxis] - means,
            best_columns=means.argmax(axis=1),
            best_row=int(tops.argmax()),
            sees=(p[leader], p[1 - leader]),
        )

    @property
    def largest_gap(self) -> float:
        """Delta_max."""
        return float(self.gaps.max())

    @property
    def row_best(self) -> NDArray[np.bool_]:
        """Where the best cell of each row stands; the first one where several are best."""
        mask = np.zeros(self.gaps.shape, dtype=np.bool_)
        mask[np.arange(len(mask)), self.best_columns] = True
        return mask

    @property
    def other_rows(self) -> NDArray[np.bool_]:
        """The cells outside the best row."""
        mask = np.ones(self.gaps.shape, dtype=np.bool_)
        mask[self.best_row] = False
        return mask

    @property
    def margins(self) -> NDArray[np.float64]:
        """How far the follower is from declining each cell over which a standoff could arise; all above 0: none can."""
        cells = self.other_rows & ~self.row_best
        leader, follower = self.sees
        return FORBEARANCE * leader * self.gaps[cells] - follower * self.row_gaps[cells]


def _per_gap(amount: float, sees: float, gaps: NDArray[np.float64]) -> NDArray[np.float64]:
    """amount / (p gap)^2; infinite where p gap is 0, even for an amount of 0, so that no sum turns finite at T = 1."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore", under="ignore"):
        inverse = 1.0 / np.square(sees * gaps)
        return np.where(np.isinf(inverse), math.inf, amount * inverse)


def _raw_counts(table: _Table, horizon: int, row_best_sees: float, other_sees: float) -> NDArray[np.float64]:
    """16 log T / (p gap)^2 of each cell, with one p for the best cells of the rows and one for all others."""
    amount = 16.0 * math.log(horizon)
    raw = np.where(
        table.row_best, _per_gap(amount, row_best_sees, table.gaps), _per_gap(amount, other_sees, table.row_gaps)
    )
    raw[table.best_row, table.best_columns[table.best_row]] = 0.0
    return raw


def _closed(table: _Table, horizon: int, row_best_sees: float, other_sees: float) -> float:
    """The theorem's bracket, times two as the unit cost carries the half: rounds that are not the best cell."""
    return 2.0 * float(_raw_counts(table, horizon, row_best_sees, other_sees).sum()) + 3.0 * table.gaps.size


def _counted(table: _Table, horizon: int) -> float:
    """2 sum of u + T P(G^c), the proof's sum before its last step."""
    counts = np.ceil(_raw_counts(table, horizon, table.sees[0], min(table.sees)))
    return 2.0 * float(counts.sum()) + (table.gaps.size - 1) * (1.0 + 1.0 / horizon)


def _counts(problem: Problem, leaders: tuple[int, ...], horizon: int) -> NDArray[np.float64]:
    """u of each team action, on the agents' own axes."""
    bounds = []
    for leader in leaders:
        table = _Table.of(problem, leader)
        counts = np.ceil(_raw_counts(table, horizon, table.sees[0], min(table.sees)))
        bounds.append(counts.T if leader == 1 else counts)
    return np.asarray(np.maximum.reduce(bounds))


def _repaired(table: _Table, horizon: int) -> float:
    """A bound on the expected number of rounds off the best cell, whoever leads; infinite if a standoff may occur.

    Let l = log T, so that the index of a cell played n times is its estimate plus 2 sqrt(l/n). Write p for the
    leader's and q for the follower's observability, D for Delta, D~ for Delta-tilde, h = 1/sqrt(2). Suppose that

    (a) for every n the leader's index of a_* exceeds p mu_*, and the follower's of each (i, j*(i)) exceeds q mu;
    (b) for every n no estimate is too high by sqrt(l/n): the follower's in all cells but a_*, the leader's outside
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
    round of all, and a stay cut short by the end, cost one each. Counts are rounded up and at least 1: the first try.
    """
    rows: int = table.gaps.shape[0]
    columns: int = table.gaps.shape[1]
    leader, follower = table.sees
    if not bool((table.margins > 0.0).all()):
        return math.inf
    amount = 9.0 * math.log(horizon)

    def plays(sees: float, gaps: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.maximum(np.ceil(_per_gap(amount, sees, gaps)), 1.0)

    rest = ~table.row_best
    declined = table.other_rows & rest
    v = np.where(rest, plays(follower, table.row_gaps), 0.0)
    w = plays(leader, table.gaps)
    z = np.zeros(table.gaps.shape)
    z[declined] = plays(1.0, table.margins)
    held = np.maximum(w[np.arange(rows), table.best_columns], z.max(axis=1))
    stays = v.sum(axis=1) + np.where(rest, w, 0.0).sum(axis=1) + held
    others = np.arange(rows) != table.best_row
    failures = (rows + 1) + (rows * columns - 1) + (rows - 1) * columns + 2.0 * float((w[declined] - 1.0).sum())
    return 3.0 * float(stays[others].sum()) + float(v[table.best_row].sum()) + 2.0 + failures


def _leaders(problem: Problem) -> tuple[int, ...]:
    """The agents that may lead: one, or both where the roles are drawn at random."""
    return (0, 1) if problem.roles == "random" else (problem.known_ranks().index(0),)


def _check_problem(problem: Any) -> None:
    if not isinstance(problem, Problem):
        raise InvalidInput(f"problem is {short_repr(problem)}; a Problem is needed.")
    if problem.roles == "elected":
        raise InvalidInput("roles is 'elected'; Theorem 1 is about leaders that are known, or drawn ('random').")
    if problem.agents != 2:
        raise InvalidInput(f"problem has {problem.agents} agents; Theorem 1 is about 2, a leader and a follower.")
    if problem.custom_models:
        raise InvalidInput(
            f"problem has a model of its own, {problem.custom_models[0]}; Theorem 1 is about shipped ones."
        )
    if not isinstance(problem.means, FixedMeans):
        raise InvalidInput("problem has random or drifting means; Theorem 1 needs the means themselves: give them.")
    if not isinstance(problem.reward, Bernoulli):
        raise InvalidInput(f"problem has {problem.reward.name} rewards; Theorem 1 is about Bernoulli rewards.")
    if not isinstance(problem.observation, Missed):
        raise InvalidInput(
            f"problem has {problem.observation.name!r} observation; Theorem 1 is about 'missed' observation."
        )
    if problem.delay:
        raise InvalidInput(f"problem has a delay of {problem.delay:,} rounds; Theorem 1 is about a delay of 0.")


def _check_horizon(name: str, horizon: Any) -> int:
    return int(whole(1, LONGEST)(name, horizon))


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
