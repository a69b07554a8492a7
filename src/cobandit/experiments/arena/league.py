"""What the arena found: every team's standing in every setting, as ratios with intervals, and leagues over settings.

All teams of a setting meet the same luck, run by run. So every interval is made of the same draws of runs for both
sides of a ratio.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.experiments.arena.entries import yardsticks
from cobandit.experiments.arena.settings import Setting
from cobandit.experiments.run import PanelResult
from cobandit.problem import Problem
from cobandit.stats import Interval, Resamples
from cobandit.theory import ExactLimits, exact_limits

Numbers = NDArray[np.float64]
Pairing = tuple[str, str]
"""A leader and its followers, by name."""

LEVEL = 0.95
TEAM, PAIR = "team", "pair"
"""How the names of the arena's curves begin."""


@dataclass(frozen=True)
class Standing:
    """How a team did in a setting: final task regret, and its ratios to the teams that all are measured by.

    Ratios of means and of medians, each with a 95 % interval, to partner-aware UCB and to centralised UCB (to
    partner-aware and centralised UCBVI where the problem has states); and that of the mean to the exact limit, where
    there is one.
    """

    team: str
    label: str
    mean: float
    se: float
    median: float
    to_aware: Interval
    to_aware_median: Interval
    to_central: Interval
    to_central_median: Interval
    to_limit: Interval | None
    engine: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {key: _plain(value) for key, value in asdict(self).items()}


def _plain(value: object) -> Any:
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


class SettingResult:
    """All teams and pairs of one setting.

    ``finals`` holds the task regret of every run after the last round, by the name of the curve: ``team.NAME`` or
    ``pair.LEADER.FOLLOWER``. With drawn roles a pair has played every run once for each agent that may lead, and its
    regret is the mean of these: what the draw lets expect.
    """

    def __init__(self, setting: Setting, played: PanelResult, resamples: Resamples) -> None:
        self.setting = setting
        self.runs = played.settings.runs
        self.resamples = resamples
        self.seconds = played.seconds
        self.labels: dict[str, str] = {}
        self.engines: dict[str, str] = {}
        parts: dict[str, list[Numbers]] = {}
        for curve in played.curves:
            name = ".".join(curve.curve.name.split(".")[:3])  # a fourth part tells who leads, where roles are drawn
            parts.setdefault(name, []).append(curve.task_regret[:, -1])
            self.labels[name], self.engines[name] = curve.curve.label, curve.engine
        self.finals: dict[str, Numbers] = {name: np.mean(finals, axis=0) for name, finals in parts.items()}

    @cached_property
    def limits(self) -> ExactLimits | None:
        """The exact limits of the problem, where they were asked for."""
        setting, problem = self.setting, self.setting.problem
        if setting.family != "exact" or not isinstance(problem, Problem):
            return None
        return exact_limits(problem, setting.horizon)

    @cached_property
    def limit_regret(self) -> float | None:
        """The least task regret that anybody can expect: that of the Bayes-optimal single brain."""
        limits = self.limits
        return None if limits is None or limits.one_brain is None else limits.perfect - limits.one_brain

    def team(self, name: str) -> Numbers:
        """Return the final regrets of a whole team."""
        return self.finals[f"{TEAM}.{name}"]

    def pair(self, leader: str, follower: str) -> Numbers:
        """Return the final regrets of a leader with followers."""
        return self.finals[f"{PAIR}.{leader}.{follower}"]

    @property
    def teams(self) -> list[str]:
        """The names of the whole teams."""
        return [name.split(".")[1] for name in self.finals if name.startswith(f"{TEAM}.")]

    @property
    def pairs(self) -> list[Pairing]:
        """Every leader with its followers."""
        parts = [name.split(".") for name in self.finals if name.startswith(f"{PAIR}.")]
        return [(leader, follower) for _, leader, follower in parts]

    @cached_property
    def _drawn_means(self) -> dict[str, Numbers]:
        drawn = self.resamples.means(np.column_stack(list(self.finals.values())))
        return dict(zip(self.finals, drawn.T, strict=True))

    @cached_property
    def _drawn_medians(self) -> dict[str, Numbers]:
        return {name: self.resamples.medians(sample) for name, sample in self.finals.items()}

    @cached_property
    def standings(self) -> Mapping[str, Standing]:
        """Every curve's standing by the curve's name, the lowest mean first."""
        order = sorted(self.finals, key=lambda name: float(self.finals[name].mean()))
        return {name: self._standing(name) for name in order}

    def _standing(self, name: str) -> Standing:
        sample = self.finals[name]
        aware, central = (f"{TEAM}.{team}" for team in yardsticks(self.setting))
        limit = self.limit_regret
        to_limit = None
        if limit is not None:
            drawn = self._drawn_means[name] / limit
            to_limit = self.resamples.interval(float(sample.mean()) / limit, drawn, LEVEL)
        return Standing(
            name,
            self.labels[name],
            float(sample.mean()),
            float(sample.std(ddof=1) / math.sqrt(len(sample))) if len(sample) > 1 else math.nan,
            float(np.median(sample)),
            self.mean_ratio(name, aware),
            self.median_ratio(name, aware),
            self.mean_ratio(name, central),
            self.median_ratio(name, central),
            to_limit,
            self.engines[name],
        )

    def mean_ratio(self, above: str, below: str, level: float = LEVEL) -> Interval:
        """Return the ratio of two curves' means, paired over common luck."""
        value = _quotient(float(self.finals[above].mean()), float(self.finals[below].mean()))
        drawn = _quotients(self._drawn_means[above], self._drawn_means[below])
        return self.resamples.interval(value, drawn, level)

    def median_ratio(self, above: str, below: str, level: float = LEVEL) -> Interval:
        """Return the ratio of two curves' medians, paired over common luck."""
        value = _quotient(float(np.median(self.finals[above])), float(np.median(self.finals[below])))
        drawn = _quotients(self._drawn_medians[above], self._drawn_medians[below])
        return self.resamples.interval(value, drawn, level)

    def difference(self, first: str, second: str, level: float = LEVEL) -> Interval:
        """Return the first curve's mean minus the second's, paired over common luck."""
        value = float((self.finals[first] - self.finals[second]).mean())
        return self.resamples.interval(value, self._drawn_means[first] - self._drawn_means[second], level)

    def average_difference(self, firsts: Sequence[str], seconds: Sequence[str], level: float = LEVEL) -> Interval:
        """Return the same, averaged over several pairs of curves."""
        gap = np.mean([self.finals[a] - self.finals[b] for a, b in zip(firsts, seconds, strict=True)], axis=0)
        return self.resamples.interval(float(gap.mean()), self.resamples.means(gap), level)

    def average(self, names: Sequence[str]) -> float:
        """Return the mean regret over several curves."""
        return float(np.mean([self.finals[name].mean() for name in names]))

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        setting = self.setting
        return {
            "setting": setting.name,
            "title": setting.title,
            "family": setting.family,
            "horizon": setting.horizon,
            "runs": self.runs,
            "problem": setting.problem.describe(),
            "limits": None if self.limits is None else self.limits.to_dict(),
            "standings": [standing.to_dict() for standing in self.standings.values()],
        }


def _quotient(above: float, below: float) -> float:
    return above / below if below > 0.0 else math.nan


def _quotients(above: Numbers, below: Numbers) -> Numbers:
    fine = below > 0.0
    return np.where(fine, above / np.where(fine, below, 1.0), math.nan)


@dataclass(frozen=True)
class LeagueRow:
    """A team's place over several settings: geometric means of its ratios, and in how many its mean is the lowest.

    One brain knows everything that any member sees; it takes part, and wins no setting from a team.
    """

    team: str
    label: str
    settings: int
    to_aware: float
    to_aware_median: float
    to_central: float
    won: int

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {key: _plain(value) for key, value in asdict(self).items()}


def team_league(results: Iterable[SettingResult], brains: Iterable[str]) -> list[LeagueRow]:
    """Rank whole teams over settings, the lowest ratio to partner-aware UCB first; ``brains`` win no setting."""
    rows: dict[str, list[Standing]] = {}
    won: dict[str, int] = {}
    labels: dict[str, str] = {}
    joint = set(brains)
    for result in results:
        by_mean = [name for name in result.standings if name.startswith(f"{TEAM}.")]
        winner = next((name for name in by_mean if name.split(".")[1] not in joint), None)
        for curve in by_mean:
            name = curve.split(".")[1]
            rows.setdefault(name, []).append(result.standings[curve])
            labels[name] = result.labels[curve]
            won[name] = won.get(name, 0) + (curve == winner)
    league = [
        LeagueRow(
            name,
            labels[name],
            len(standings),
            _geometric_mean([standing.to_aware.value for standing in standings]),
            _geometric_mean([standing.to_aware_median.value for standing in standings]),
            _geometric_mean([standing.to_central.value for standing in standings]),
            won[name],
        )
        for name, standings in rows.items()
    ]
    return sorted(league, key=lambda row: (math.isnan(row.to_aware), row.to_aware))


def _geometric_mean(ratios: Sequence[float]) -> float:
    fine = [ratio for ratio in ratios if math.isfinite(ratio) and ratio > 0.0]
    return math.exp(sum(map(math.log, fine)) / len(fine)) if fine else math.nan


@dataclass(frozen=True)
class FollowerRow:
    """A follower's rank with human-like leaders in one setting.

    ``mean`` is its regret averaged over the leaders, ``difference`` the paired difference to window 5; ``worst`` its
    highest ratio to the best window over the leaders.
    """

    follower: str
    label: str
    mean: float
    difference: Interval
    worst: float
    worst_leader: str


def follower_league(
    result: SettingResult, leaders: Sequence[str], labels: Mapping[str, str], windows: Sequence[str], study: str
) -> list[FollowerRow]:
    """Rank the followers of these leaders, the lowest average regret first; ``study`` is the follower to compare
    with.
    """
    followers = list(dict.fromkeys(follower for leader, follower in result.pairs if leader in leaders))
    rows = []
    for follower in followers:
        curves = [f"{PAIR}.{leader}.{follower}" for leader in leaders]
        compared = [f"{PAIR}.{leader}.{study}" for leader in leaders]
        ratios = {leader: best_window_ratio(result, leader, follower, windows) for leader in leaders}
        worst = max(ratios, key=lambda leader: ratios[leader].value)
        rows.append(
            FollowerRow(
                follower,
                labels[follower],
                result.average(curves),
                result.average_difference(curves, compared),
                ratios[worst].value,
                worst,
            )
        )
    return sorted(rows, key=lambda row: row.mean)


def best_window_ratio(
    result: SettingResult, leader: str, follower: str, windows: Sequence[str], level: float = LEVEL
) -> Interval:
    """Return a follower's mean regret with a leader, as a ratio to that of the best window for this leader."""
    curves = [f"{PAIR}.{leader}.{window}" for window in windows]
    best = min(curves, key=lambda curve: float(result.finals[curve].mean()))
    return result.mean_ratio(f"{PAIR}.{leader}.{follower}", best, level)
