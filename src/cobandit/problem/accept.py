"""Checks of user-defined models, when a problem is created and whenever a model returns a value.

Our own classes, recognised by their exact type, keep the contract of `Means`, `Reward` and `Observation`. All others
are checked: an error names the class, the method and the requirement.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass
from typing import Any

import numpy as np

from cobandit.base.checks import is_list, numeric, real, short_repr
from cobandit.base.errors import InvalidInput, ModelError
from cobandit.problem.drifting import PiecewiseMeans, RandomWalkMeans
from cobandit.problem.means import FixedMeans, Means, RandomMeans, Tensor, bad_mean, checked_arms
from cobandit.problem.observation import Flipped, Missed, MissedKnown, Noisy, Observation
from cobandit.problem.rewards import Bernoulli, CorrelatedGaussian, Gaussian, Reward, StudentT

SHIPPED = (
    *(FixedMeans, RandomMeans, PiecewiseMeans, RandomWalkMeans),
    *(Bernoulli, Gaussian, StudentT, CorrelatedGaussian),
    *(Missed, MissedKnown, Flipped, Noisy),
)

ARMS = "the number of arms of each agent, such as (2, 2)"
CHANGES = "True if the means change from round to round, else False"
NAME = "a word for tables"
BINARY = "True if all that it gives is 0 or 1, else False"
LEVELS = "a list with one number per agent"

Members = Mapping[str, str]
"""What a model must have: its data with what they are, its methods with their arguments."""

MEANS: Members = {"arms": ARMS, "changes": CHANGES, "draw": "(t, previous, rng)"}
REWARD: Members = {"name": NAME, "binary": BINARY, "spreads": "(arms, rng)", "draw": "(t, mean, spread, rng)"}
OBSERVATION: Members = {
    "name": NAME,
    "binary": BINARY,
    "levels": LEVELS,
    "quality": "(agent)",
    "slope": "(t, agent)",
    "see": "(t, agent, reward, rng)",
}


def is_shipped(model: object) -> bool:
    """Return whether it is one of ours; a subclass is not, since it may do something else."""
    return type(model) in SHIPPED


def looks_like(model: object, members: Members) -> bool:
    """Return whether the object is meant as such a model: it has at least one of the methods."""
    return any(callable(getattr(model, name, None)) for name, needed in members.items() if needed.startswith("("))


def accept_means(means: Any) -> Means:
    """Return the means, or an error that says what they lack."""
    if not is_shipped(means):
        _require("means", means, MEANS)
        _flag(means, "changes", CHANGES)
        try:
            checked_arms(means.arms)
        except InvalidInput as error:
            raise type(error)(f"{_name(means)}.{error}") from None
        if not isinstance(means.arms, tuple):
            raise InvalidInput(f"{_name(means)}.arms must be a tuple, such as (2, 2), got {short_repr(means.arms)}.")
    model: Means = means
    return model


def accept_reward(reward: Any) -> Reward:
    """Return the reward model, or an error that says what it lacks."""
    if not is_shipped(reward):
        _require("reward", reward, REWARD)
        _word(reward)
        _flag(reward, "binary", BINARY)
        if hasattr(reward, "shock"):
            _takes(reward, "shock", "(t, previous, rng)")
    model: Reward = reward
    return model


def accept_observation(observation: Any, agents: int | None = None) -> Observation:
    """Return the observation model for ``agents`` agents, or raise an error that names the missing member."""
    shipped = is_shipped(observation)
    if not shipped:
        _require("observation", observation, OBSERVATION)
        _word(observation)
        _flag(observation, "binary", BINARY)
        who = _name(observation)
        if not is_list(observation.levels) or not hasattr(observation.levels, "__len__"):
            raise InvalidInput(f"{who}.levels must be {LEVELS}, got {short_repr(observation.levels)}.")
    levels = observation.levels
    if agents is not None and len(levels) != agents:
        ours = "noise" if isinstance(observation, Noisy) else "observability"
        raise InvalidInput(
            f"{ours if shipped else f'{_name(observation)}.levels'} has {len(levels)} entries ({short_repr(levels)}); "
            f"the means have {agents} axes, one per agent, so {agents} are needed."
        )
    if not shipped:
        for agent, level in enumerate(levels):
            real(-math.inf)(f"{who}.levels[{agent}]", level)
            real(-math.inf)(f"{who}.quality({agent})", observation.quality(agent))
            real(-math.inf)(f"{who}.slope(1, {agent})", observation.slope(1, agent))
    model: Observation = observation
    return model


def accept_bounds(means: Means, reward: Reward) -> None:
    """Raise an error if the declared bounds of the means exceed those that the rewards allow."""
    low, high = mean_bounds(reward)
    if not hasattr(means, "bounds"):
        return
    for value in stated_bounds(means):
        if not low <= value <= high:
            span = f"must lie in [{low:g}, {high:g}]" if math.isfinite(high - low) else _half(low, high)
            raise InvalidInput(f"means holds {value:g}; the means of {reward.name.capitalize()} rewards {span}.")


def stated_bounds(means: Means) -> tuple[float, float]:
    """Return the lowest and the highest possible mean, as the model tells; anything, where it does not."""
    return _pair(f"{_name(means)}.bounds", getattr(means, "bounds", (-math.inf, math.inf)))


def mean_bounds(reward: Reward) -> tuple[float, float]:
    """Return the lowest and the highest mean that the rewards can have."""
    return _pair(f"{_name(reward)}.mean_bounds", getattr(reward, "mean_bounds", (-math.inf, math.inf)))


def drawn_means(means: Means, reward: Reward, t: int, drawn: object) -> Tensor:
    """Return the result of ``means.draw`` for round t, or raise an error."""
    if is_shipped(means):  # its bounds were looked at beforehand
        return np.asarray(drawn)
    return checked_tensor(means, t, drawn, *mean_bounds(reward))


def checked_tensor(means: Means, t: int, drawn: object, low: float = -math.inf, high: float = math.inf) -> Tensor:
    """Return the result of ``means.draw`` for round t: the right shape, finite, within the bounds; or raise an
    error.
    """
    tensor = _tensor(f"{_name(means)}.draw", f" in round {t}", drawn, means.arms)
    wrong = bad_mean(tensor, low, high)
    if wrong is not None:
        raise ModelError(f"{_name(means)}.draw gave means in round {t} of which mean{wrong}")
    return tensor


def drawn_spreads(reward: Reward, arms: tuple[int, ...], drawn: object) -> Tensor | None:
    """Return the result of ``reward.spreads`` for a run, or raise an error."""
    if drawn is None or is_shipped(reward):
        return None if drawn is None else np.asarray(drawn)
    tensor = _tensor(f"{_name(reward)}.spreads", "", drawn, arms)
    wrong = bad_mean(tensor)
    if wrong is not None:
        raise ModelError(f"{_name(reward)}.spreads gave spreads of which spread{wrong}")
    return tensor


def drawn_number(model: Reward | Observation, method: str, t: int, drawn: object, binary: bool) -> float:
    """Return a reward, or what was seen of it, as a float; or an error."""
    if type(drawn) is float and (drawn in (0.0, 1.0) if binary else math.isfinite(drawn)):
        return drawn
    try:
        number = float(real(-math.inf)("", drawn))
    except InvalidInput:
        or_none = " or None" if method == "see" else ""
        raise ModelError(
            f"{_name(model)}.{method} gave {short_repr(drawn)} in round {t}; a finite number{or_none} is needed."
        ) from None
    if binary and number not in (0.0, 1.0):
        raise ModelError(
            f"{_name(model)}.{method} gave {number:g} in round {t}, but {_name(model)}.binary is True; "
            "0 or 1 is needed, or binary = False."
        )
    return number


def plain_fields(model: Any) -> dict[str, Any]:
    """Return the fields of a model as plain data, with the name of a class that is not ours."""
    if is_shipped(model):
        return asdict(model)
    own = {spec.name: _plain(getattr(model, spec.name)) for spec in fields(model)} if is_dataclass(model) else {}
    return {"class": type(model).__qualname__, **own}


def _plain(value: object) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(part) for part in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    return plain_fields(value) if is_dataclass(value) and not isinstance(value, type) else short_repr(value)


def _require(what: str, model: object, members: Members) -> None:
    """Check that every member exists and that every method takes the arguments it will get."""
    if isinstance(model, type):
        raise InvalidInput(
            f"{what} is the class {model.__name__}; an object is needed. Call it: {model.__name__}(...)."
        )
    if not looks_like(model, members):
        wanted = ", ".join(name + (needed if needed.startswith("(") else "") for name, needed in members.items())
        raise InvalidInput(f"{what} must be an object with {wanted}, got {short_repr(model)}.")
    for name, needed in members.items():
        method = needed.startswith("(")
        if not hasattr(model, name):
            wanted = f"a method {name}{needed}" if method else needed
            raise InvalidInput(f"{_name(model)} has no {name}; {wanted} is needed.")
        if method:
            _takes(model, name, needed)


def _takes(model: object, name: str, needed: str) -> None:
    method = getattr(model, name)
    if not callable(method):
        raise InvalidInput(f"{_name(model)}.{name} must be a method {name}{needed}, got {short_repr(method)}.")
    try:
        signature = inspect.signature(method)
    except (TypeError, ValueError):  # a method that is not written in Python need not tell
        return
    try:
        signature.bind(*needed.strip("()").split(", "))
    except TypeError:
        taken = ", ".join(signature.parameters)
        raise InvalidInput(f"{_name(model)}.{name} takes ({taken}); {name}{needed} is needed.") from None


def _flag(model: object, name: str, needed: str) -> None:
    if not isinstance(getattr(model, name), bool):
        raise InvalidInput(f"{_name(model)}.{name} must be {needed}, got {short_repr(getattr(model, name))}.")


def _word(model: Any) -> None:
    if not isinstance(model.name, str) or not model.name.strip():
        raise InvalidInput(f"{_name(model)}.name must be {NAME}, got {short_repr(model.name)}.")


def _pair(name: str, bounds: Any) -> tuple[float, float]:
    try:
        low, high = (float(end) for end in bounds)
    except (TypeError, ValueError):
        low, high = math.nan, math.nan
    if not low <= high:
        raise InvalidInput(
            f"{name} must be the lowest and the highest mean, such as (0.0, 1.0), got {short_repr(bounds)}."
        )
    return low, high


def _half(low: float, high: float) -> str:
    return f"must be at least {low:g}" if math.isfinite(low) else f"must be at most {high:g}"


def _tensor(method: str, when: str, drawn: object, arms: tuple[int, ...]) -> Tensor:
    needed = f"an array of numbers of shape {arms}"
    try:
        tensor = numeric("", drawn, needed)
    except InvalidInput:
        raise ModelError(f"{method} gave {short_repr(drawn)}{when}; {needed} is needed.") from None
    if tensor.shape != tuple(arms):
        raise ModelError(f"{method} gave an array of shape {tensor.shape}{when}; {needed} is needed.")
    return tensor


def _name(model: object) -> str:
    return type(model).__name__
