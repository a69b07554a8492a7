"""Models of people whose parameters can be fitted: each is an agent of the library, with its choice probabilities.

A model gives the probability of each choice that a person made, if the person played as the agent does with these
options. Each function follows the agent of the same name; tests compare it with the agent's own draws. What does not
depend on the parameters (counts, means, Thompson's probabilities) is computed once for each person.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.agents import Agent
from cobandit.agents.softmax import UNKNOWN
from cobandit.analysis.choices import Array, Choices, Ints
from cobandit.base.checks import is_list, one_of, short_repr
from cobandit.base.errors import InvalidInput
from cobandit.stats.best_sample import best_group_probabilities
from cobandit.studies.behaviours import make_behaviour

Likelihood = Callable[[Array], Array]
"""Log probability of each counted choice (points x choices), for parameters (points x parameters)."""

LONG_MEMORIES = (16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768)
"""Memories above 12 that are tried, as far as an episode reaches."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a model: an option of its agent with bounds, and the scale on which it is fitted.

    ``scale`` is "log", "logit", or "whole" for a whole number, whose likely values are tried one by one.
    """

    name: str
    low: float
    high: float
    scale: str

    def fitted(self, values: Any) -> Any:
        """Return values on the scale of the fit."""
        return np.log(values) - (np.log1p(-np.asarray(values)) if self.scale == "logit" else 0.0)

    def natural(self, values: Any) -> Any:
        """Return values of the scale of the fit as the option takes them."""
        return 0.5 * (1.0 + np.tanh(0.5 * values)) if self.scale == "logit" else np.exp(values)

    def slope(self, value: float) -> float:
        """Return the derivative of the option by the fitted value."""
        return value * (1.0 - value) if self.scale == "logit" else value


@dataclass(frozen=True)
class ChoiceModel:
    """A model of a person: an agent, its fixed options, and the parameters to fit."""

    name: str
    label: str
    agent: str
    parameters: tuple[Parameter, ...]
    prepare: Callable[[Choices], Likelihood] = field(repr=False, compare=False)
    fixed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def smooth(self) -> tuple[Parameter, ...]:
        """The parameters that are real numbers; they come first."""
        return tuple(parameter for parameter in self.parameters if parameter.scale != "whole")

    @property
    def whole(self) -> Parameter | None:
        """The parameter that is a whole number."""
        return next((parameter for parameter in self.parameters if parameter.scale == "whole"), None)

    @property
    def bounds(self) -> Array:
        """Bounds of the smooth parameters on the scale of the fit."""
        return np.array([[p.fitted(p.low), p.fitted(p.high)] for p in self.smooth]).reshape(-1, 2)

    def natural(self, points: Array) -> Array:
        """Return points of the scale of the fit as options."""
        columns = [parameter.natural(points[:, i]) for i, parameter in enumerate(self.smooth)]
        return np.stack(columns, axis=1) if columns else np.zeros((len(points), 0))

    def make(self, values: Sequence[float]) -> Agent:
        """Return the agent with these parameters."""
        options = {
            parameter.name: round(value) if parameter.scale == "whole" else float(value)
            for parameter, value in zip(self.parameters, values, strict=True)
        }
        return make_behaviour(self.agent, **{**self.fixed, **options})


def whole_values(parameter: Parameter, choices: Choices) -> list[int]:
    """Return the values of a whole number that are tried: the last one reaches back to the first round."""
    longest = max(1, choices.own.shape[1] - 1)
    return [value for value in (*range(1, 13), *LONG_MEMORIES) if value < longest] + [longest]


def model_named(name: object) -> ChoiceModel:
    """Return a model by its name."""
    return CHOICE_MODELS[str(one_of(tuple(CHOICE_MODELS), "model of choices called")("model", name))]


def chosen_models(names: object) -> tuple[ChoiceModel, ...]:
    """Return the models of these names, each once; all models for None."""
    if names is None:
        return tuple(CHOICE_MODELS.values())
    given = [names] if isinstance(names, str) else list(names) if is_list(names) else []
    if not given:
        raise InvalidInput(f"models must be names of models such as {CHANCE!r}, got {short_repr(names)}.")
    return tuple(model_named(name) for name in dict.fromkeys(given))


# What the models have in common


def _memory_of(choices: Choices, cells: Ints, actions: int) -> tuple[Array, Array]:
    """Return seen rounds and seen rewards of each cell before each round: episodes x rounds x cells."""
    marks = np.zeros((*cells.shape, actions))
    there = ~np.isnan(choices.seen) & (cells >= 0)
    episode, t = np.nonzero(there)
    marks[episode, t, cells[there]] = 1.0
    rewards = marks * np.nan_to_num(choices.seen)[..., np.newaxis]
    return np.cumsum(marks, axis=1) - marks, np.cumsum(rewards, axis=1) - rewards


def _by_own_arm(values: NDArray[Any], choices: Choices) -> NDArray[Any]:
    """Return values of cells (... x cells) as ... x own arms x others."""
    return values.reshape(*values.shape[:-1], choices.own_arms, values.shape[-1] // choices.own_arms)


def _of_chosen(values: NDArray[Any], choices: Choices) -> NDArray[Any]:
    """Return the values of the chosen arm of each counted choice; ``values`` is choices x own arms (x others)."""
    return values[np.arange(len(values)), choices.own[choices.counted]]


def _log_softmax(values: Array, own: Ints) -> Array:
    """Log probability that softmax over points x choices x own arms x others aims at a cell of the chosen arm."""
    chosen = np.take_along_axis(values, own[np.newaxis, :, np.newaxis, np.newaxis], axis=2)[:, :, 0]
    return _log_sum_exp(chosen) - _log_sum_exp(values.reshape(*values.shape[:2], -1))


def _log_sum_exp(values: Array) -> Array:
    top = values.max(axis=-1, keepdims=True)
    return np.asarray(np.log(np.exp(values - top).sum(axis=-1)) + top[..., 0])


def _mixed_with_random(certain: Array, arms: int) -> Likelihood:
    """Return the likelihood of ``certain`` except for a share of random arms, which is the only parameter."""
    return lambda points: np.asarray(np.log(points / arms + (1.0 - points) * certain))


# The models


def chance(choices: Choices) -> Likelihood:
    """Give every arm the same probability."""
    level = -math.log(choices.own_arms)
    return lambda points: np.full((len(points), len(choices)), level)


def epsilon_greedy(choices: Choices) -> Likelihood:
    """Follow `EpsilonGreedy`: the best mean so far, equals by a draw, except for a share of random arms."""
    counts, sums = _memory_of(choices, choices.cells, choices.actions)
    ratings = ((sums + UNKNOWN) / (counts + 1.0))[choices.counted]
    best = ratings == ratings.max(axis=1, keepdims=True)
    by_arm = _by_own_arm(best, choices).sum(axis=2) / best.sum(axis=1, keepdims=True)
    return _mixed_with_random(_of_chosen(by_arm, choices), choices.own_arms)


def win_stay_lose_shift(choices: Choices) -> Likelihood:
    """Follow `WinStayLoseShift`: the same arm after a good round, another one after a bad one, except for slips."""
    arms, (episodes, rounds) = choices.own_arms, choices.own.shape
    certain = np.full((episodes, rounds), 1.0 / arms)
    total, count, won = np.zeros(episodes), np.zeros(episodes), np.ones(episodes, dtype=bool)
    for t in range(1, rounds):
        seen = choices.seen[:, t - 1]
        there = ~np.isnan(seen)
        total, count = total + np.where(there, seen, 0.0), count + there
        won = np.where(there, (seen > 0.0) & (seen * count >= total), won)
        same = choices.own[:, t] == choices.own[:, t - 1]
        certain[:, t] = np.where(won | (arms == 1), same, ~same / max(arms - 1, 1))
    return _mixed_with_random(certain[choices.counted], arms)


def softmax(choices: Choices) -> Likelihood:
    """Follow `Softmax`: the mean of each cell over the last remembered rounds, and a softmax."""
    counts, sums = _memory_of(choices, choices.cells, choices.actions)
    seen = np.cumsum(~np.isnan(choices.seen), axis=1) - ~np.isnan(choices.seen)
    own, by_memory = choices.own[choices.counted], dict[int, Array]()

    def ratings(memory: int) -> Array:
        if memory not in by_memory:
            oldest = np.stack([np.searchsorted(row, row - memory) for row in seen])[..., np.newaxis]
            n, total = (part - np.take_along_axis(part, oldest, axis=1) for part in (counts, sums))
            by_memory[memory] = _by_own_arm(((UNKNOWN + total) / (1.0 + n))[choices.counted], choices)
        return by_memory[memory]

    def likelihood(points: Array) -> Array:
        result = np.empty((len(points), len(own)))
        for memory in np.unique(points[:, 1]):
            at = points[:, 1] == memory
            scaled = ratings(int(memory)) / points[at, 0].reshape(-1, 1, 1, 1)
            result[at] = _log_softmax(scaled, own)
        return result

    return likelihood


def recency_softmax(choices: Choices, *, own_arms: bool = False) -> Likelihood:
    """Follow `RecencySoftmax`: values that move towards each reward, and a softmax."""
    cells = choices.own if own_arms else choices.cells
    actions = choices.own_arms if own_arms else choices.actions
    (episodes, rounds), own = cells.shape, choices.own[choices.counted]
    every, there = np.arange(episodes), ~np.isnan(choices.seen)

    def likelihood(points: Array) -> Array:
        rate = points[:, :1]
        worth = np.full((len(points), episodes, actions), UNKNOWN)
        history = np.empty((len(points), episodes, rounds, actions))
        for t in range(rounds):
            history[:, :, t] = worth
            old = worth[:, every, cells[:, t]]
            moved = old + rate * (choices.seen[:, t] - old)
            worth[:, every, cells[:, t]] = np.where(there[:, t], moved, old)
        values = history[:, choices.counted] / points[:, 1].reshape(-1, 1, 1)
        return _log_softmax(_by_own_arm(values, choices), own)

    return likelihood


def recency_softmax_own_arms(choices: Choices) -> Likelihood:
    """Follow `RecencySoftmax` over own arms."""
    return recency_softmax(choices, own_arms=True)


def forgetful_knowledge_gradient(choices: Choices) -> Likelihood:
    """Follow `ForgetfulKnowledgeGradient` with a temperature: counts that fade, and a softmax over the values."""
    (episodes, rounds), own = choices.cells.shape, choices.own[choices.counted]
    every, there = np.arange(episodes), ~np.isnan(choices.seen)
    rewards = np.where(there, choices.seen, 0.0)
    left = choices.horizons[:, np.newaxis] - 1 - np.arange(rounds)
    remaining = left[choices.counted].astype(np.float64)

    def likelihood(points: Array) -> Array:
        recall = points[:, :1, np.newaxis]
        memory = np.zeros((2, len(points), episodes, choices.actions))
        history = np.empty((2, len(points), episodes, rounds, choices.actions))
        for t in range(rounds):
            history[:, :, :, t] = memory
            memory *= recall
            memory[0, :, every, choices.cells[:, t]] += there[:, t, np.newaxis]
            memory[1, :, every, choices.cells[:, t]] += rewards[:, t, np.newaxis]
        counts, sums = history[:, :, choices.counted]
        values = _gradient_values(1.0 + sums, 2.0 + counts, remaining[np.newaxis, :, np.newaxis])
        return _log_softmax(_by_own_arm(values / points[:, 1].reshape(-1, 1, 1), choices), own)

    return likelihood


def _gradient_values(ones: Array, total: Array, remaining: Array) -> Array:
    """Return posterior mean plus remaining rounds times the expected rise of the best mean after one more look."""
    means = ones / total
    at = means.argmax(axis=-1)[..., np.newaxis]
    top = np.take_along_axis(means, at, axis=-1)
    others = means.copy()
    np.put_along_axis(others, at, -np.inf, axis=-1)
    rival = np.broadcast_to(top, means.shape).copy()
    np.put_along_axis(rival, at, others.max(axis=-1, keepdims=True), axis=-1)
    after_one = np.maximum((ones + 1.0) / (total + 1.0), rival)
    after_zero = np.maximum(ones / (total + 1.0), rival)
    rises = means * after_one + (1.0 - means) * after_zero - np.maximum(means, rival)
    return np.asarray(means + remaining * rises)


def softmax_ucb(choices: Choices) -> Likelihood:
    """Follow `SoftmaxUCB`: a softmax over the index, untried team actions first, except for lapses."""
    counts, sums = (part[choices.counted] for part in _memory_of(choices, choices.cells, choices.actions))
    untried = counts == 0.0
    waiting = untried.any(axis=1)
    first = _by_own_arm(untried, choices).sum(axis=2) / np.maximum(untried.sum(axis=1, keepdims=True), 1)
    certain = _of_chosen(first, choices)
    counts, sums, own = counts[~waiting], sums[~waiting], choices.own[choices.counted][~waiting]
    means = _by_own_arm(sums / counts, choices)
    logarithms = np.log(np.broadcast_to(choices.horizons[:, np.newaxis], choices.own.shape)[choices.counted][~waiting])
    widths = _by_own_arm(np.sqrt(2.0 * logarithms)[:, np.newaxis] / np.sqrt(counts), choices)

    def likelihood(points: Array) -> Array:
        exploration, temperature, lapse = (points[:, i].reshape(-1, 1, 1, 1) for i in range(3))
        probabilities = np.broadcast_to(certain, (len(points), len(certain))).copy()
        if len(own):
            values = (means + np.sqrt(exploration) * widths) / temperature
            probabilities[:, ~waiting] = np.exp(_log_softmax(values, own))
        share = lapse[:, :, 0, 0]
        return np.asarray(np.log(share / choices.own_arms + (1.0 - share) * probabilities))

    return likelihood


def naive_ts(choices: Choices) -> Likelihood:
    """Follow `NaiveTS`: the probability that a cell of the chosen arm has the best posterior sample."""
    counts, sums = (part[choices.counted] for part in _memory_of(choices, choices.cells, choices.actions))
    ones, zeros = _by_own_arm(sums, choices), _by_own_arm(counts - sums, choices)
    levels = np.log(np.maximum(_of_chosen(best_group_probabilities(ones, zeros), choices), 1e-300))
    return lambda points: np.broadcast_to(levels, (len(points), len(levels)))


def _share(name: str) -> Parameter:
    return Parameter(name, 1e-4, 1.0 - 1e-4, "logit")


_TEMPERATURE = Parameter("temperature", 0.01, 10.0, "log")
_RATE = Parameter("rate", 1e-3, 0.999, "logit")

CHANCE = "chance"
"""The model in which every arm has the same probability: what the others are compared with."""

CHOICE_MODELS: dict[str, ChoiceModel] = {
    model.name: model
    for model in (
        ChoiceModel(CHANCE, "Chance", "epsilon-greedy", (), chance, {"epsilon": 1.0}),
        ChoiceModel(
            "win-stay-lose-shift",
            "Win-stay lose-shift",
            "win-stay-lose-shift",
            (_share("slip"),),
            win_stay_lose_shift,
        ),
        ChoiceModel("epsilon-greedy", "Epsilon-greedy", "epsilon-greedy", (_share("epsilon"),), epsilon_greedy),
        ChoiceModel("softmax", "Softmax", "softmax", (_TEMPERATURE, Parameter("memory", 1, 10**6, "whole")), softmax),
        ChoiceModel("recency-softmax", "Recency softmax", "recency-softmax", (_RATE, _TEMPERATURE), recency_softmax),
        ChoiceModel(
            "recency-softmax-own-arms",
            "Recency softmax, own arms",
            "recency-softmax",
            (_RATE, _TEMPERATURE),
            recency_softmax_own_arms,
            {"values": "own-arms"},
        ),
        ChoiceModel(
            "forgetful-knowledge-gradient",
            "Forgetful knowledge gradient",
            "forgetful-knowledge-gradient",
            (Parameter("recall", 0.01, 0.9999, "logit"), Parameter("temperature", 0.01, 100.0, "log")),
            forgetful_knowledge_gradient,
        ),
        ChoiceModel(
            "softmax-ucb",
            "Softmax UCB",
            "softmax-ucb",
            (Parameter("exploration", 1e-4, 10.0, "log"), _TEMPERATURE, _share("lapse")),
            softmax_ucb,
        ),
        ChoiceModel("naive-ts", "Thompson sampling", "naive-ts", (), naive_ts),
    )
}
"""Every model by name: the agents that are models of people, and chance."""
