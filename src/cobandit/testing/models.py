"""The contracts of `Means`, `Reward` and `Observation`, as checks for the authors of their own.

One call::

    from cobandit.testing import check_reward

    check_reward(Poisson())

What a `Problem` would refuse is refused here in the same words, as `InvalidInput`; a rule that only shows in the draws
raises `ModelError`. The statistical rules allow for six standard errors, and all is drawn from one seed, so a check
that passes once passes always.
"""

from __future__ import annotations

import math
import pickle
import random
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.base.checks import real, short_repr, whole
from cobandit.base.errors import InvalidInput, ModelError
from cobandit.base.streams import checked_seed, generator
from cobandit.problem import Means, Observation, Reward, accept
from cobandit.problem.means import Tensor, checked_arms
from cobandit.testing.agents import global_state

ROUNDS = (1, 30, 1000)
"""The rounds in which rewards and sight are looked at."""

_STARTS = 20  # generator states from which the number of draws is compared


def check_means(means: Means, *, rounds: int = 50, seed: int = 0) -> None:
    """Check means against every rule of their contract; stop at the first broken one.

    The tensors of ``rounds`` rounds have the right shape and finite entries within the ``bounds``, if there are any;
    they follow from the round, the tensor before and the generator alone; and the model travels between processes.
    """
    accept.accept_means(means)
    count, start = whole(2)("rounds", rounds), checked_seed(seed)
    name = type(means).__name__
    limits = accept.stated_bounds(means)

    def run(key: int) -> Iterator[bytes]:
        rng, previous = generator(start, key), None
        for t in range(1, count + 1 if means.changes else 2):
            try:
                drawn: Any = means.draw(t, None if previous is None else previous.copy(), rng)
            except Exception as error:
                raise _crash(means, "draw", f"round {t}", error) from error
            previous = accept.checked_tensor(means, t, drawn, *limits)
            yield previous.tobytes()

    _travels(means)
    _repeatable(means, "draw", lambda: list(run(0)), lambda: list(run(1)))
    alone = list(run(0))
    ours, theirs = run(0), run(1)
    together = [(tensor, next(theirs))[0] for tensor in ours]
    if alone != together:
        raise ModelError(
            f"{name}.draw gives other means while another run is under way; all it may remember is previous."
        )


def check_reward(
    reward: Reward,
    *,
    means: Sequence[float] | None = None,
    arms: Sequence[int] = (2, 3),
    draws: int = 4_000,
    seed: int = 0,
) -> None:
    """Check a reward model against every rule of its contract; stop at the first broken one.

    For each of ``means`` (by default some within its ``mean_bounds``): rewards are finite numbers, of 0 and 1 where
    it is binary, with that mean on average; and how much is drawn does not depend on mean and spread. They follow from
    the arguments and the generator alone; and the model travels between processes.
    """
    accept.accept_reward(reward)
    count, start, sizes = whole(100)("draws", draws), checked_seed(seed), checked_arms(arms)
    tried = _means_within(*accept.mean_bounds(reward)) if means is None else _numbers("means", means)
    name = type(reward).__name__
    _travels(reward)

    def spreads() -> Tensor:
        try:
            drawn: Any = reward.spreads(sizes, generator(start, 0))
        except Exception as error:
            raise _crash(reward, "spreads", f"a problem with arms {sizes}", error) from error
        checked = accept.drawn_spreads(reward, sizes, drawn)
        return np.zeros(sizes) if checked is None else checked

    known = sorted(set(spreads().ravel().tolist()))
    cases = list(product(tried, {known[0], known[-1]}))

    def draw(t: int, mean: float, spread: float, rng: np.random.Generator) -> float:
        try:
            drawn: Any = reward.draw(t, mean, spread, rng)
        except Exception as error:
            raise _crash(reward, "draw", f"round {t} with mean {mean:g}", error) from error
        return accept.drawn_number(reward, "draw", t, drawn, reward.binary)

    def run(key: int) -> list[Any]:
        rng = generator(start, key)
        return [spreads().tobytes(), *(draw(t, *case, rng) for t, case in product(ROUNDS, cases))]

    _repeatable(reward, "draw", lambda: run(1), lambda: run(2))
    for t, key in product(ROUNDS, range(_STARTS)):
        states = {}
        for mean, spread in cases:
            rng = generator(start, 10 + key)
            draw(t, mean, spread, rng)
            states[f"mean {mean:g} and spread {spread:g}"] = _state(rng)
        _same_draws(reward, "draw", t, states)
    for t, (mean, spread) in product((ROUNDS[0], ROUNDS[-1]), cases):
        rng = generator(start, 3)
        values = np.array([draw(t, mean, spread, rng) for _ in range(count)])
        average, slack = _average(values, mean)
        if abs(average - mean) > slack:
            raise ModelError(
                f"{name}.draw gave {average:.3g} on average over {count:,} draws in round {t} where mean is {mean:g}; "
                f"rewards that have this mean, up to chance ({slack:.2g}), are needed."
            )


def check_observation(observation: Observation, *, draws: int = 4_000, seed: int = 0) -> None:
    """Check an observation model against every rule of its contract; stop at the first broken one.

    For each agent, in early and in late rounds: observations of rewards of 0 and 1 are finite numbers or None, 0 or 1
    if the model is binary; the number of draws does not depend on the reward; and ``slope`` is the mean observation of
    a reward of 1 minus that of a reward of 0, None counting as 0. Results depend only on the arguments and the
    generator, and the model can be pickled.
    """
    accept.accept_observation(observation)
    count, start = whole(100)("draws", draws), checked_seed(seed)
    name, agents = type(observation).__name__, range(len(observation.levels))
    _travels(observation)

    def see(t: int, agent: int, reward: float, rng: np.random.Generator) -> float | None:
        try:
            seen: Any = observation.see(t, agent, reward, rng)
        except Exception as error:
            raise _crash(observation, "see", f"round {t} for agent {agent}", error) from error
        binary = observation.binary and reward in (0.0, 1.0)
        return None if seen is None else accept.drawn_number(observation, "see", t, seen, binary)

    def run(key: int) -> list[Any]:
        rng = generator(start, key)
        return [see(t, agent, reward, rng) for t, agent, reward in product(ROUNDS, agents, (0.0, 1.0))]

    _repeatable(observation, "see", lambda: run(1), lambda: run(2))
    for t, agent, key in product(ROUNDS, agents, range(_STARTS)):
        states = {}
        for reward in (0.0, 1.0, 0.25, -2.0):
            rng = generator(start, 10 + key)
            see(t, agent, reward, rng)
            states[f"a reward of {reward:g}"] = _state(rng)
        _same_draws(observation, "see", t, states)
    for t, agent in product(ROUNDS, agents):
        try:
            slope = accept.drawn_number(observation, "slope", t, observation.slope(t, agent), False)
        except ModelError:
            raise
        except Exception as error:
            raise _crash(observation, "slope", f"round {t} for agent {agent}", error) from error
        shown_one, shown_nil = (
            np.array([see(t, agent, reward, rng) or 0.0 for _ in range(count)])
            for reward, rng in ((1.0, generator(start, 3)), (0.0, generator(start, 3)))
        )
        difference, slack = _average(shown_one - shown_nil, slope)
        if abs(difference - slope) > slack:
            raise ModelError(
                f"{name}.slope gave {slope:.3g} for agent {agent} in round {t}, but a reward of 1 looks "
                f"{difference:.3g} larger on average than one of 0; d E[seen] / d mu is needed, "
                f"up to chance ({slack:.2g})."
            )


def _state(rng: np.random.Generator) -> tuple[Any, ...]:
    """Return the state of a stream: equal states mean equal numbers of draws."""
    state: Any = rng.bit_generator.state
    return state["state"]["state"].tobytes(), state["has_uint32"], state["has_uint32"] and state["uinteger"]


def _same_draws(model: Any, method: str, t: int, states: dict[str, tuple[Any, ...]]) -> None:
    first, *others = states
    for other in others:
        if states[other] != states[first]:
            raise ModelError(
                f"{type(model).__name__}.{method} does not draw as much from rng in round {t} for {other} "
                f"as for {first}; the same draws whatever the team does are needed."
            )


def _repeatable(model: Any, method: str, play: Callable[[], list[Any]], other: Callable[[], list[Any]]) -> None:
    """Check that the same generator gives the same numbers, regardless of other draws in between."""
    name = type(model).__name__
    states = random.getstate(), np.random.get_state()
    try:
        runs = []
        for global_seed in (1, 2):
            random.seed(global_seed)
            np.random.seed(global_seed)
            before = global_state()
            runs.append(play())
            if global_state() != before:
                raise ModelError(
                    f"{name}.{method} draws from the global random or numpy.random; "
                    "all random numbers must come from rng."
                )
            other()
        if runs[0] != runs[1]:
            raise ModelError(
                f"{name}.{method} does not give the same twice from the same generator state; "
                "all random numbers must come from rng, and nothing may be remembered."
            )
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])


def _travels(model: Any) -> None:
    """Check that the model can be compared, hashed and sent to other processes."""
    name = type(model).__name__
    try:
        copied = pickle.loads(pickle.dumps(model))
    except Exception as error:
        raise ModelError(
            f"{name} cannot be pickled: {type(error).__name__} ({error}); everything it holds must pickle."
        ) from error
    try:
        same = bool(copied == model) and hash(copied) == hash(model)
    except Exception as error:
        raise ModelError(
            f"{name} cannot be compared and hashed: {type(error).__name__} ({error}); a frozen dataclass of numbers "
            "and tuples can."
        ) from error
    if not same:
        raise ModelError(f"{name} is not equal to its own copy; a frozen dataclass is.")


def _average(values: NDArray[np.float64], claimed: float) -> tuple[float, float]:
    """Return the mean, and how far it may lie from the claimed one: six standard errors, and a little for rare
    values.
    """
    rare = 20.0 * max(1.0, abs(claimed)) / len(values)
    return float(values.mean()), 6.0 * float(values.std()) / math.sqrt(len(values)) + rare


def _means_within(low: float, high: float) -> list[float]:
    if math.isfinite(low) and math.isfinite(high):
        return [low + part * (high - low) for part in (0.0, 0.2, 0.5, 0.9, 1.0)]
    steps = (0.0, 0.5, 1.0, 3.0)
    if math.isfinite(low):
        return [low + step for step in steps]
    return [(high if math.isfinite(high) else 1.0) - step for step in steps]


def _numbers(name: str, values: Sequence[float]) -> list[float]:
    numbers = [float(real(-math.inf)(f"{name}[{i}]", value)) for i, value in enumerate(values)]
    if not numbers:
        raise InvalidInput(f"{name} must be at least one number, got {short_repr(values)}.")
    return numbers


def _crash(model: Any, method: str, where: str, error: Exception) -> ModelError:
    return ModelError(
        f"{type(model).__name__}.{method} raised {type(error).__name__} ({error}) in {where}; a value is needed."
    )
