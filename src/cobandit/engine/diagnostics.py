"""Why a team lost: events in all runs of a simulation, counted round by round (`engine.tally`)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.base.checks import short_repr
from cobandit.base.errors import InvalidInput
from cobandit.engine.tally import Counted, count_places, lock_rounds
from cobandit.stats import Moments

Numbers = NDArray[np.float64]
Counts = NDArray[np.int64]


def cause_names(agents: int) -> tuple[str, ...]:
    """Return the causes of regret, in their order: of two agents the first one's arms are rows, the second one's
    columns.
    """
    if agents == 2:
        return "exploring", "mismatch", "wrong row", "wrong column", "wrong row and column"
    alone = (f"wrong arm of agent {i}" for i in range(agents))
    return "exploring", "mismatch", *alone, "several wrong arms"


@dataclass(frozen=True, eq=False)
class Diagnostics:
    """Counts of the events in the rounds of all runs; every number is one over all runs, or a mean of them.

    Definitions: docs/reference/diagnostics.md. The engines count ``totals``, ``overall`` and ``moments``; the
    properties interpret them.
    """

    arms: tuple[int, ...]
    horizon: int
    checkpoints: Counts
    totals: Counts
    overall: Counts
    moments: Moments

    def __call__(self) -> Diagnostics:
        """Return these diagnostics, so that ``result.diagnostics`` and ``result.diagnostics()`` are the same."""
        return self

    @classmethod
    def empty(cls, arms: tuple[int, ...], horizon: int, checkpoints: Counts) -> Diagnostics:
        """Return the diagnostics of no run."""
        agents, points = len(arms), len(checkpoints)
        return cls(
            arms,
            horizon,
            checkpoints,
            np.zeros((points, count_places(agents, math.prod(arms)).width), dtype=np.int64),
            np.zeros(1 + agents, dtype=np.int64),
            Moments(points * (agents + 3)),
        )

    def add(self, first_run: int, counted: Counted) -> None:
        """Take in consecutive runs, of which the first has this number."""
        self.totals[:] += counted.totals
        self._add_overall(counted.overall)
        self.moments.add(first_run, counted.lost.reshape(len(counted.lost), -1))

    def _add_overall(self, overall: Counts) -> None:
        self.overall[0] += overall[0]
        np.maximum(self.overall[1:], overall[1:], out=self.overall[1:])

    @classmethod
    def joined(cls, parts: Iterable[Diagnostics]) -> Diagnostics:
        """Return the diagnostics of all runs of several parts of one job."""
        together: Diagnostics | None = None
        for part in parts:
            together = together or cls.empty(part.arms, part.horizon, part.checkpoints)
            together.totals[:] += part.totals
            together._add_overall(part.overall)
            together.moments.merge(part.moments)
        if together is None:
            raise InvalidInput("parts is empty; at least one is needed.")
        return together

    # What was counted

    @property
    def agents(self) -> int:
        """N."""
        return len(self.arms)

    @property
    def runs(self) -> int:
        """How many runs were counted."""
        return self.moments.count

    @property
    def lock_rounds(self) -> int:
        """For how many rounds on end a team has to play one team action to be locked on it."""
        return lock_rounds(self.horizon)

    @cached_property
    def _stretches(self) -> Counts:
        """The counts of the rounds between each checkpoint and the one before."""
        cells = math.prod(self.arms)
        return np.hstack((self.totals[:, :cells], np.diff(self.totals[:, cells:], axis=0, prepend=0)))

    @cached_property
    def _rounds(self) -> Numbers:
        """All runs' rounds between each checkpoint and the one before."""
        return self.runs * np.diff(self.checkpoints, prepend=0).astype(np.float64)

    def _part(self, counts: Counts, begin: str, *shape: int) -> Counts:
        start = getattr(count_places(self.agents, math.prod(self.arms)), begin)
        return counts[:, start : start + math.prod(shape)].reshape(-1, *shape)

    @property
    def share(self) -> Numbers:
        """The share of each team action in the rounds up to a checkpoint from the one before: points x arms."""
        plays = self._part(self._stretches, "plays", *self.arms)
        return np.asarray(plays / self._rounds.reshape(-1, *(1 for _ in self.arms)))

    @property
    def mismatch(self) -> Numbers:
        """The share of rounds of mismatch, for each agent and checkpoint."""
        return np.asarray(self._part(self._stretches, "mismatches", 1)[:, 0] / self._rounds)

    @property
    def hits(self) -> Numbers:
        """The share of correct ones among agent i's predictions of agent j; NaN if there were none."""
        return self._hit_share(self._stretches)

    @property
    def hit_rate(self) -> Numbers:
        """The same over all rounds: agents x agents."""
        return np.asarray(self._hit_share(self.totals)[-1])

    def _hit_share(self, counts: Counts) -> Numbers:
        predicted = self._part(counts, "predicted", self.agents, self.agents)
        right = self._part(counts, "hits", self.agents, self.agents)
        return _ratio(right, predicted)

    @property
    def mismatch_rounds(self) -> float:
        """Rounds of mismatch in a run, on average."""
        return float(self._part(self.totals, "mismatches", 1)[-1, 0] / self.runs)

    @property
    def insisted(self) -> Numbers:
        """In how many rounds of a run each agent insisted, on average."""
        return np.asarray(self._part(self.totals, "insisted", self.agents)[-1] / self.runs)

    @property
    def insisted_share(self) -> Numbers:
        """The share of rounds in which each agent insisted, up to a checkpoint from the one before: points x agents."""
        return np.asarray(self._part(self._stretches, "insisted", self.agents) / self._rounds[:, np.newaxis])

    @property
    def spell(self) -> Numbers:
        """For how many rounds on end each agent insisted, on average; NaN for one that never did."""
        rounds = self._part(self.totals, "insisted", self.agents)[-1]
        spells = self._part(self.totals, "spells", self.agents)[-1]
        return _ratio(rounds, spells)

    @property
    def longest_spell(self) -> Counts:
        """For how many rounds on end each agent insisted at most, in any run."""
        return self.overall[1:].copy()

    @property
    def locked(self) -> Numbers:
        """The share of runs that have locked by each checkpoint, on the best team action and on another: points x 2."""
        return np.asarray(self._part(self.totals, "locked", 2) / self.runs)

    @property
    def lock_round(self) -> float:
        """The round from which on a team was locked, on average over those that ever were; NaN if none was."""
        locked = int(self._part(self.totals, "locked", 2)[-1].sum())
        return float(self.overall[0] / locked) if locked else math.nan

    # Regret

    @property
    def causes(self) -> tuple[str, ...]:
        """The names of the causes, in the order of `regret`."""
        return cause_names(self.agents)

    @cached_property
    def _moments(self) -> tuple[Numbers, Numbers]:
        count, mean, squares = self.moments.total()
        shape = (len(self.checkpoints), len(self.causes))
        se = np.sqrt(squares / (count - 1) / count) if count > 1 else np.full(mean.shape, np.nan)
        return mean.reshape(shape), se.reshape(shape)

    @property
    def regret(self) -> Numbers:
        """Task regret by cause at each checkpoint, mean of the runs: points x causes. A row sums to the task regret."""
        return self._moments[0].copy()

    @property
    def regret_se(self) -> Numbers:
        """The standard errors of `regret`; NaN for a single run."""
        return self._moments[1].copy()

    @property
    def main_cause(self) -> str:
        """The cause of most of the regret; an empty word where nothing was lost."""
        last = self._moments[0][-1]
        return self.causes[int(last.argmax())] if last.max() > 0.0 else ""

    # As plain data

    def to_dict(self) -> dict[str, Any]:
        """Return the interpreted numbers as plain data, None for unknown ones."""
        return {
            "runs": self.runs,
            "checkpoints": self.checkpoints.tolist(),
            "share": self.share.tolist(),
            "mismatch": self.mismatch.tolist(),
            "mismatch_rounds": self.mismatch_rounds,
            "hits": _plain(self.hits.tolist()),
            "hit_rate": _plain(self.hit_rate.tolist()),
            "insisted": self.insisted.tolist(),
            "insisted_share": self.insisted_share.tolist(),
            "spell": _plain(self.spell.tolist()),
            "longest_spell": self.longest_spell.tolist(),
            "lock_rounds": self.lock_rounds,
            "locked": self.locked.tolist(),
            "lock_round": _plain(self.lock_round),
            "causes": list(self.causes),
            "regret": self.regret.tolist(),
            "regret_se": _plain(self.regret_se.tolist()),
            "main_cause": self.main_cause,
        }

    def describe(self) -> dict[str, Any]:
        """Return the counts as plain data, from which `from_dict` creates the same diagnostics."""
        arrays = {name: values.tolist() for name, values in self.moments.to_arrays().items()}
        return {
            "arms": list(self.arms),
            "horizon": self.horizon,
            "checkpoints": self.checkpoints.tolist(),
            "totals": self.totals.tolist(),
            "overall": self.overall.tolist(),
            "moments": arrays,
        }

    @classmethod
    def from_dict(cls, description: Any) -> Diagnostics:
        """Create the diagnostics from the result of `describe`, also after conversion to JSON and back."""
        try:
            arms = tuple(int(size) for size in description["arms"])
            checkpoints = np.array(description["checkpoints"], dtype=np.int64)
            blank = cls.empty(arms, int(description["horizon"]), checkpoints)
            totals = np.array(description["totals"], dtype=np.int64).reshape(blank.totals.shape)
            overall = np.array(description["overall"], dtype=np.int64).reshape(blank.overall.shape)
            packed = {name: np.array(description["moments"][name]) for name in ("branch", "mean", "squares")}
            moments = Moments.from_arrays(packed)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise InvalidInput(
                f"The description of diagnostics is {short_repr(description)}, which `Diagnostics.describe` did not "
                f"write ({type(error).__name__}: {error})."
            ) from None
        if moments.columns != blank.moments.columns:
            raise InvalidInput(f"The diagnostics have {moments.columns} columns; {blank.moments.columns} are needed.")
        return cls(arms, blank.horizon, checkpoints, totals, overall, moments)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Diagnostics) and self.describe() == other.describe()

    __hash__ = None  # type: ignore[assignment]

    def sentences(self) -> list[str]:
        """Return a summary of the rounds in a few sentences."""
        return _sentences(self)

    def __str__(self) -> str:
        return "\n".join([*_regret_lines(self), *self.sentences()])

    def __repr__(self) -> str:
        return f"<Diagnostics of {self.runs:,} runs x {self.horizon:,} rounds: mostly {self.main_cause or 'nothing'}>"


def _ratio(part: Counts, whole: Counts) -> Numbers:
    """Return a share; NaN where there is nothing to share."""
    return np.asarray(np.divide(part, whole, out=np.full(whole.shape, np.nan), where=whole > 0))


def _plain(value: Any) -> Any:
    """NaN as None, in lists of any depth."""
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def _regret_lines(diagnostics: Diagnostics) -> list[str]:
    last = diagnostics.regret[-1]
    total = float(last.sum())
    if total <= 0.0:
        return ["Nothing was lost."]
    lines = [f"Task regret {total:.2f} after {diagnostics.horizon:,} rounds, by cause:"]
    for name, value in zip(diagnostics.causes, last.tolist(), strict=True):
        lines.append(f"  {name:<22}{value:>10.2f}{value / total:>8.0%}")
    return lines


def _sentences(diagnostics: Diagnostics) -> list[str]:
    rounds = diagnostics.horizon
    lines = [f"Mismatch: {diagnostics.mismatch_rounds:,.1f} of {rounds:,} rounds of a run."]
    for i, (share, spell, longest) in enumerate(
        zip(diagnostics.insisted, diagnostics.spell, diagnostics.longest_spell, strict=True)
    ):
        if share > 0.0:
            lines.append(
                f"Agent {i} insisted in {share:,.1f} rounds of a run, {spell:,.1f} on end on average, "
                f"{longest:,} at most."
            )
    rate = diagnostics.hit_rate
    for i, j in zip(*np.nonzero(~np.isnan(rate)), strict=True):
        lines.append(f"Agent {i} foresaw agent {j}'s arm in {rate[i, j]:.1%} of its predictions.")
    best, other = diagnostics.locked[-1].tolist()
    when = "" if math.isnan(diagnostics.lock_round) else f", from round {diagnostics.lock_round:,.1f} on average"
    lines.append(
        f"Locked ({diagnostics.lock_rounds} rounds on end): {best:.1%} of the runs first on the best team action, "
        f"{other:.1%} on another{when}."
    )
    return lines
