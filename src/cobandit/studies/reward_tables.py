"""How an episode pays: the table ``[rewards]`` of a design, and the checks of it together with means and sight.

Without the table a reward is 1 or 0, as in the paper. All other models are those of the engine (`cobandit.problem`),
except that ``points`` is for studies: integers from 0 to a highest score, which a page can show.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from cobandit.base.checks import one_of, real, short_repr, whole
from cobandit.base.errors import InvalidInput
from cobandit.base.records import Record, entry, listing
from cobandit.problem import Bernoulli, CorrelatedGaussian, Gaussian, Problem, Reward, StudentT
from cobandit.problem.means import Tensor

if TYPE_CHECKING:
    from cobandit.studies.cells import ConditionsByCell
    from cobandit.studies.design import StudyDesign
    from cobandit.studies.design_tables import MeansRule

REWARD_KINDS = ("bernoulli", "points", "gaussian", "student-t", "correlated-gaussian")
"""The rewards of a study: good or bad, points from 0 to a highest score, or real numbers around the mean."""

DRIFTS = ("none", "random-walk", "piecewise")
"""How means change within an episode: never, a little in every round, or at given rounds."""

LARGEST = 1_000_000.0
_OPTIONS = {
    "highest": ("points",),
    "sd": ("gaussian", "correlated-gaussian"),
    "df": ("student-t",),
    "scale": ("student-t",),
    "correlation": ("correlated-gaussian",),
    "decimals": ("gaussian", "student-t", "correlated-gaussian"),
}


@dataclass(frozen=True)
class Points:
    """r*_t(a) is an integer from 0 to ``highest``: the number of successes in as many trials, each with mu_a / highest.

    Its mean is mu_a, so regret is exact, which a rounded or clipped normal reward would not give.
    """

    highest: int = 10

    name: ClassVar[str] = "points"
    binary: ClassVar[bool] = False

    @property
    def mean_bounds(self) -> tuple[float, float]:
        """The lowest and the highest mean."""
        return 0.0, float(self.highest)

    def spreads(self, arms: tuple[int, ...], rng: np.random.Generator) -> Tensor | None:
        """Return None: the mean describes the reward completely."""
        return None

    def draw(self, t: int, mean: float, spread: float, rng: np.random.Generator) -> float:
        """Return the reward of one round; one draw for each point, whatever the mean."""
        return float((rng.random(self.highest) < mean / self.highest).sum())


@dataclass(frozen=True)
class RewardRule(Record):
    """What a round pays, and how the rewards of the seats count for the team.

    ``noise`` is the standard deviation of what each seat sees, with ``observation = "noisy"``; ``weights`` combine the
    observed rewards to the team reward. Each further key belongs to a kind of reward.
    """

    kind: str = entry(one_of(REWARD_KINDS, "kind of reward"), "bernoulli")
    highest: int = entry(whole(1, 100), 10)
    sd: float = entry(real(0.0, LARGEST), 0.25)
    df: float = entry(real(1.0, LARGEST), 3.0)
    scale: float = entry(real(0.0, LARGEST), 0.25)
    correlation: float = entry(real(-1.0, 1.0), 0.9)
    decimals: int = entry(whole(0, 3), 1)
    noise: tuple[float, ...] = entry(listing(real(0.0, LARGEST), 0, 6), ())
    weights: tuple[float, ...] = entry(listing(real(0.0, LARGEST), 0, 6), ())

    def __post_init__(self) -> None:
        super().__post_init__()
        defaults = {spec.name: spec.default for spec in fields(self)}
        for name, kinds in _OPTIONS.items():
            if self.kind not in kinds and getattr(self, name) != defaults[name]:
                raise InvalidInput(
                    f"rewards.{name} goes with rewards.kind = {' or '.join(map(repr, kinds))}, and rewards.kind is "
                    f"{self.kind!r}."
                )
        self.model()

    @property
    def graded(self) -> bool:
        """Whether rewards are scores, and not good or bad."""
        return self.kind != "bernoulli"

    @property
    def shown_decimals(self) -> int:
        """The decimals of a score on the page."""
        return 0 if self.kind in ("bernoulli", "points") else self.decimals

    def model(self) -> Reward:
        """Return the model of the reward."""
        if self.kind == "points":
            return Points(self.highest)
        if self.kind == "gaussian":
            return Gaussian(self.sd, self.sd)
        if self.kind == "student-t":
            return StudentT(self.df, self.scale)
        return CorrelatedGaussian(self.sd, self.correlation) if self.kind == "correlated-gaussian" else Bernoulli()

    @property
    def mean_bounds(self) -> tuple[float, float]:
        """The lowest and the highest mean that the rewards can have."""
        low, high = getattr(self.model(), "mean_bounds", (-math.inf, math.inf))
        return low, high


def study_problem(design: ConditionsByCell, observability: tuple[float, ...]) -> Problem:
    """Return the problem of a condition as the library states it; its means only say how many arms there are."""
    noisy = design.observation == "noisy"
    return Problem.of(
        "random",
        design.rewards.model(),
        design.observation,
        observability=None if noisy else observability,
        noise=design.rewards.noise if noisy else None,
        arms=design.arms,
        weights=design.rewards.weights,
    )


def check_rewards(design: StudyDesign) -> None:
    """Check that rewards, means, sight and the page of a design fit together."""
    rewards, seats = design.rewards, len(design.arms)
    for name, count in (("weights", len(rewards.weights)), ("noise", len(rewards.noise))):
        if count not in (0, seats):
            raise InvalidInput(f"rewards.{name} must have one number for each of the {seats} seats, got {count}.")
    if rewards.weights and not sum(rewards.weights) > 0.0:
        raise InvalidInput(f"rewards.weights must have a weight above 0, got {short_repr(rewards.weights)}.")
    for name, rule in {"means": design.means, **design.means_rules}.items():
        _check_means(design, name, rule)
    noisy = design.observation == "noisy"
    if noisy != bool(rewards.noise):
        raise InvalidInput("rewards.noise goes with observation = 'noisy', and only with it.")
    levels = (*design.observability, *(level for condition in design.conditions for level in condition.observability))
    if noisy and any(level != 1.0 for level in levels):
        raise InvalidInput(
            "observability must be 1 for every seat with observation = 'noisy', got "
            f"{short_repr(levels)}: rewards.noise says how well each seat sees."
        )
    if noisy and not rewards.graded:
        raise InvalidInput(
            "observation is 'noisy', which needs a score: set rewards.kind to another kind than bernoulli."
        )
    if rewards.graded:
        _check_scores(design)


def _check_scores(design: StudyDesign) -> None:
    rewards = design.rewards
    if design.observation not in ("missed-known", "noisy"):
        raise InvalidInput(
            f"observation must be 'missed-known' or 'noisy' with rewards.kind = {rewards.kind!r}, got "
            f"{design.observation!r}: a score that is not seen must not look like a score."
        )
    if design.task.kind != "grid":
        raise InvalidInput(
            f"task.kind must be 'grid' with rewards.kind = {rewards.kind!r}, got {design.task.kind!r}, which shows "
            "good and bad outcomes only."
        )
    if design.payment is not None and any(rule.per == "success" for rule in design.payment.bonuses):
        raise InvalidInput(f"A bonus per success needs rewards.kind = 'bernoulli', got {rewards.kind!r}.")


def _check_means(design: StudyDesign, table: str, means: MeansRule) -> None:
    """Check that the means of the design, or of a condition, fit arms, episodes, rounds and rewards."""
    if means.values and len(means.values) not in (1, design.episodes):
        raise InvalidInput(
            f"{table}.values must hold one matrix, or one for each of the {design.episodes} episodes, got "
            f"{len(means.values)}."
        )
    if means.changes_at and means.changes_at[-1] > design.rounds:
        raise InvalidInput(f"{table}.changes_at must be rounds up to {design.rounds}, got {means.changes_at[-1]}.")
    low, high = design.rewards.mean_bounds
    span = f"from {low:g} to {high:g} with rewards.kind = {design.rewards.kind!r}"
    for name in ("low", "high"):
        if not low <= getattr(means, name) <= high:
            raise InvalidInput(f"{table}.{name} must be {span}, got {getattr(means, name):g}.")
    for name in ("values", "phases"):
        for matrix in getattr(means, name):
            if matrix.arms != design.arms:
                raise InvalidInput(f"{table}.{name} must hold matrices of shape {design.arms}, got {matrix.arms}.")
            if not all(low <= value <= high for value in matrix.values):
                raise InvalidInput(f"{table}.{name} must hold means {span}, got {short_repr(matrix.values)}.")
