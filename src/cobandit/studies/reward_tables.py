"""How an episode pays: the table ``[rewards]`` of a design, and the checks of it together with means and sight.

Without the table a reward is 1 or 0, as in the paper. All other models are those of the engine (`cobandit.problem`),
except that ``points`` is for studies: integers from 0 to a highest score, which a page can show.
"""
# ruff: noqa: RUF009 -- entry() makes the field itself, and the defaults it is given are frozen

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from cobandit.agents.team import require_visible_actions
from cobandit.base.checks import numeric, one_of, real, short_repr, whole, with_schema
from cobandit.base.errors import InvalidInput
from cobandit.base.records import Record, entry, listing, optional
from cobandit.problem import Bernoulli, CorrelatedGaussian, FixedMeans, Gaussian, Problem, Reward, StudentT
from cobandit.problem.means import Tensor

if TYPE_CHECKING:
    from cobandit.studies.agent_tables import AgentChoice
    from cobandit.studies.cells import ConditionsByCell
    from cobandit.studies.design import StudyDesign
    from cobandit.studies.design_tables import Condition, MeansRule

REWARD_KINDS = ("bernoulli", "points", "gaussian", "student-t", "correlated-gaussian")
"""The rewards of a study: good or bad, points from 0 to a highest score, or real numbers around the mean."""

DRIFTS = ("none", "random-walk", "piecewise")
"""How means change within an episode: never, a little in every round, or at given rounds."""

OBSERVATIONS = ("missed", "missed-known", "flipped", "noisy")
"""How seats see rewards: the observation models of the library."""

LARGEST = 1_000_000.0
_OPTIONS = {
    "highest": ("points",),
    "sd": ("gaussian", "correlated-gaussian"),
    "spreads": ("gaussian",),
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


def _spreads(name: str, value: object) -> FixedMeans:
    array = numeric(name, value.nested() if isinstance(value, FixedMeans) else value, "a matrix of numbers")
    if array.ndim < 2 or array.size == 0 or not ((array >= 0.0) & (array <= LARGEST)).all():
        raise InvalidInput(f"{name} must be a matrix of numbers from 0 to {LARGEST:,.0f}, got {short_repr(value)}.")
    return FixedMeans.of(array)


with_schema(_spreads, {"type": "array", "items": {"type": ["array", "number"]}})


@dataclass(frozen=True)
class RewardRule(Record):
    """What a round pays, and how the rewards of the seats count for the team.

    ``spreads`` gives each team action a standard deviation of its own, in place of ``sd``. ``noise`` is the standard
    deviation of what each seat sees, with ``observation = "noisy"``; ``weights`` combine the observed rewards to the
    team reward. Each further key belongs to a kind of reward.
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
    spreads: FixedMeans | None = entry(optional(_spreads), None)

    def __post_init__(self) -> None:
        super().__post_init__()
        defaults = {spec.name: spec.default for spec in fields(self)}
        for name, kinds in _OPTIONS.items():
            if self.kind not in kinds and getattr(self, name) != defaults[name]:
                raise InvalidInput(
                    f"rewards.{name} requires rewards.kind = {' or '.join(map(repr, kinds))}, but rewards.kind is "
                    f"{self.kind!r}."
                )
        if self.spreads is not None and self.sd != defaults["sd"]:
            raise InvalidInput(f"rewards.sd must be left out where rewards.spreads is given, got {self.sd:g}.")
        self.model()

    @property
    def graded(self) -> bool:
        """Whether rewards are scores, and not good or bad."""
        return self.kind != "bernoulli"

    @property
    def said(self) -> str:
        """What a round pays, after "paid"."""
        spread = f"SD = {self.sd:g}"
        if self.spreads is not None:
            low, high = self.spreads.bounds
            spread = f"SD = {low:g} to {high:g}, given by the design for each combination"
        return {
            "bernoulli": "a good or a bad outcome",
            "points": f"from 0 to {self.highest} points",
            "gaussian": f"a score, normal around its mean ({spread})",
            "student-t": f"a score around its mean (t distribution, df = {self.df:g}, scale {self.scale:g})",
            "correlated-gaussian": f"a score, normal around its mean ({spread}), correlated from round to round "
            f"(r = {self.correlation:g})",
        }[self.kind]

    @property
    def shown_decimals(self) -> int:
        """The decimals of a score on the page."""
        return 0 if self.kind in ("bernoulli", "points") else self.decimals

    def model(self) -> Reward:
        """Return the model of the reward."""
        if self.kind == "points":
            return Points(self.highest)
        if self.kind == "gaussian":
            return Gaussian(self.sd, self.sd, None if self.spreads is None else self.spreads.values)
        if self.kind == "student-t":
            return StudentT(self.df, self.scale)
        return CorrelatedGaussian(self.sd, self.correlation) if self.kind == "correlated-gaussian" else Bernoulli()

    @property
    def mean_bounds(self) -> tuple[float, float]:
        """The lowest and the highest mean that the rewards can have."""
        low, high = getattr(self.model(), "mean_bounds", (-math.inf, math.inf))
        return low, high


def study_problem(design: ConditionsByCell, condition: Condition | None = None) -> Problem:
    """Return the problem of a condition as the library states it; its means only say how many arms there are.

    None: that of practice rounds, and of conditions without anything in place of the design's own.
    """

    def own(name: str) -> Any:
        value = getattr(condition, name, None)
        return getattr(design, name) if value in (None, ()) else value

    rewards, observation = own("rewards"), own("observation")
    noisy = observation == "noisy"
    noise = (condition.noise if condition is not None else ()) or design.rewards.noise
    roles = own("roles")
    return Problem.of(
        "random",
        rewards.model(),
        observation,
        observability=None if noisy else own("observability"),
        noise=noise if noisy else None,
        arms=design.arms,
        weights=rewards.weights,
        roles="random" if roles == "drawn" else roles or "observability",
        delay=own("delay"),
        actions=own("actions"),
    )


def check_rewards(design: StudyDesign) -> None:
    """Check that rewards, means, sight and the page of a design fit together."""
    seats = len(design.arms)
    lists: dict[str, Any] = {"rewards.noise": design.rewards.noise, "roles": design.roles}
    for condition in design.conditions:
        own = {name: getattr(condition, name) for name in ("noise", "roles")}
        lists |= {f"{name} of the condition {condition.name!r}": values for name, values in own.items()}
    for table, rewards in _reward_rules(design).items():
        lists[f"{table}.weights"] = rewards.weights
        _check_rule(design, table, rewards)
    for name, values in lists.items():
        if values == "drawn":
            continue
        if len(values) not in (0, seats):
            raise InvalidInput(f"{name} must have one number for each of the {seats} seats, got {len(values)}.")
        if "roles" in name and values and sorted(values) != list(range(seats)):
            raise InvalidInput(
                f"{name} must hold the rank of each seat, from 0 for the leader to {seats - 1}, got {list(values)}."
            )
    for name, rule in {"means": design.means, **design.means_rules}.items():
        _check_means(design, name, rule)
    if (design.observation == "noisy") != bool(design.rewards.noise):
        raise InvalidInput("rewards.noise and observation = 'noisy' require each other.")
    for condition_or_none in (None, *design.conditions):
        _check_sight(design, condition_or_none)
    if design.rewards.graded:
        _check_scores(design)


def _reward_rules(design: StudyDesign) -> dict[str, RewardRule]:
    """Return every rule for rewards, by the name of its table in a design file."""
    own = {f"conditions.{entry.name}.rewards": entry.rewards for entry in design.conditions}
    return {"rewards": design.rewards} | {table: rule for table, rule in own.items() if rule is not None}


def _check_rule(design: StudyDesign, table: str, rewards: RewardRule) -> None:
    if rewards.spreads is not None and rewards.spreads.arms != design.arms:
        raise InvalidInput(
            f"{table}.spreads must be a matrix of shape {design.arms}, one number for each team action, got "
            f"{rewards.spreads.arms}."
        )
    if rewards.weights and not sum(rewards.weights) > 0.0:
        raise InvalidInput(f"{table}.weights must have a weight above 0, got {short_repr(rewards.weights)}.")
    if rewards.graded != design.rewards.graded:
        raise InvalidInput(
            f"{table}.kind must be a score where rewards.kind is one, and only then, got {rewards.kind!r} and "
            f"{design.rewards.kind!r}: good outcomes cannot be compared with scores."
        )
    if rewards is not design.rewards and rewards.noise:
        raise InvalidInput(f"{table}.noise must be left out: a condition has a key noise of its own.")


def _check_sight(design: StudyDesign, condition: Condition | None) -> None:
    """Check that observation, noise and observability of the design, or of a condition, fit together."""
    name = "" if condition is None else condition.name
    of = "" if condition is None else f" of the condition {name!r}"
    observation, noise = design.observation_of(name), () if condition is None else condition.noise
    if observation != "noisy":
        if noise:
            raise InvalidInput(f"noise{of} goes with observation = 'noisy', and observation is {observation!r}.")
    elif not (noise or design.rewards.noise):
        raise InvalidInput(f"noise{of} must have one number for each seat with observation = 'noisy', got none.")
    elif any(level != 1.0 for level in design.observability_of(name)):
        raise InvalidInput(
            f"observability{of} must be 1 for every seat with observation = 'noisy', got "
            f"{short_repr(design.observability_of(name))}: rewards.noise says how well each seat sees."
        )
    elif not design.rewards.graded:
        raise InvalidInput(
            "observation is 'noisy', which needs a score: set rewards.kind to another kind than bernoulli."
        )
    if design.rewards.graded and observation not in ("missed-known", "noisy"):
        raise InvalidInput(
            f"observation{of} must be 'missed-known' or 'noisy' with rewards.kind = {design.rewards.kind!r}, got "
            f"{observation!r}: a score that is not seen must not look like a score."
        )


def _check_scores(design: StudyDesign) -> None:
    rewards = design.rewards
    if design.task.kind != "grid":
        raise InvalidInput(
            f"task.kind must be 'grid' with rewards.kind = {rewards.kind!r}, got {design.task.kind!r}, which shows "
            "good and bad outcomes only."
        )
    if design.payment is not None and any(rule.per == "success" for rule in design.payment.bonuses):
        raise InvalidInput(f"A bonus per success needs rewards.kind = 'bernoulli', got {rewards.kind!r}.")


def check_delays(design: StudyDesign) -> None:
    """Check that page and AIs can wait for outcomes, where the design or a condition has a feedback delay."""
    delays = {"delay": design.delay}
    delays |= {f"delay of the condition {c.name!r}": c.delay for c in design.conditions if c.delay is not None}
    name, delay = max(delays.items(), key=lambda pair: pair[1])
    if not delay:
        return
    if design.task.kind != "grid":
        raise InvalidInput(f"{name} must be 0 unless task.kind is 'grid', got {delay}: other pages show each outcome.")
    if design.has_recorded_seats:
        raise InvalidInput(f"{name} must be 0 where several people or services play, got {delay}.")
    choices: list[tuple[AgentChoice | None, int]] = [
        (choice, design.problem_of(condition.name).delay)
        for condition in design.conditions
        for choice in (condition, *condition.agents)
    ]
    choices += [(design.practice, design.delay), (design.warm_start, delay)]
    for choice, own in choices:
        if choice is not None and own and choice.make().needs_each_round:
            raise InvalidInput(
                f"{name} must be 0 with {choice.agent!r}, got {delay}: it needs feedback on each round before the next."
            )


def check_hidden_choices(design: StudyDesign) -> None:
    """Check that page and AIs can do without the choices of others, where a condition hides them."""
    if not (design.hides_choices or design.problem.hides_actions):
        return
    if design.task.kind != "grid" or design.has_recorded_seats:
        raise InvalidInput(
            "actions must be 'observed' unless task.kind is 'grid' and one person plays with AIs, got 'hidden'."
        )
    for condition in design.conditions:
        players = [choice.make() for choice in (condition, *condition.agents)]
        require_visible_actions(design.problem_of(condition.name), players)
    for choice in (design.practice, design.warm_start):
        if choice is not None and (choice is design.warm_start or design.problem.hides_actions):
            problems = (design.problem, *(design.problem_of(entry.name) for entry in design.conditions))
            hidden = next(problem for problem in problems if problem.hides_actions)
            require_visible_actions(hidden, [choice.make()])


def _check_means(design: StudyDesign, table: str, means: MeansRule) -> None:
    """Check that the means of the design, or of a condition, fit arms, episodes, rounds and rewards."""
    if means.values and len(means.values) not in (1, design.episodes):
        raise InvalidInput(
            f"{table}.values must hold one matrix, or one for each of the {design.episodes} episodes, got "
            f"{len(means.values)}."
        )
    lengths = [design.rounds_of(name) for name in (c.name for c in design.conditions) if design.means_of(name) is means]
    if means.changes_at and means.changes_at[-1] > min(lengths, default=design.rounds):
        raise InvalidInput(
            f"{table}.changes_at must be rounds up to {min(lengths, default=design.rounds)}, got "
            f"{means.changes_at[-1]}."
        )
    payers = [design.rewards] if means is design.means else []
    payers += [design.rewards_of(c.name) for c in design.conditions if design.means_of(c.name) is means]
    for rewards in dict.fromkeys(payers):
        _check_bounds(table, means, rewards)
    for name in ("values", "phases"):
        for matrix in getattr(means, name):
            if matrix.arms != design.arms:
                raise InvalidInput(f"{table}.{name} must hold matrices of shape {design.arms}, got {matrix.arms}.")


def _check_bounds(table: str, means: MeansRule, rewards: RewardRule) -> None:
    low, high = rewards.mean_bounds
    span = f"from {low:g} to {high:g} with rewards.kind = {rewards.kind!r}"
    for name in ("low", "high"):
        if not low <= getattr(means, name) <= high:
            raise InvalidInput(f"{table}.{name} must be {span}, got {getattr(means, name):g}.")
    for name in ("values", "phases"):
        for matrix in getattr(means, name):
            if not all(low <= value <= high for value in matrix.values):
                raise InvalidInput(f"{table}.{name} must hold means {span}, got {short_repr(matrix.values)}.")
