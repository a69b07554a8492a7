"""Transitions between states and rewards of steps: fixed arrays, or drawn for each run."""

from __future__ import annotations

import math
import numbers
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from cobandit.base.checks import MOST, numeric, short_repr, whole
from cobandit.base.errors import InvalidInput, ModelError, TooLarge
from cobandit.mdp.planning import World
from cobandit.problem.means import Tensor, bad_mean, checked_arms

MOST_ENTRIES = 2**27
"""More transition probabilities, S x A x S', than this could not be held for one run."""

ROUNDING = 1e-9
"""Probabilities may differ from a sum of 1 by this much; they are then normalised."""


class Dynamics(ABC):
    """What describes the states of a problem; one of your own is best a frozen dataclass that subclasses this.

    ``arms`` holds |A_i| of every agent, ``states`` is S, ``steps`` is H, the steps of an episode; ``name`` is what
    tables call it. One object serves all runs, so it must not change.
    """

    name: ClassVar[str] = ""

    if TYPE_CHECKING:

        @property
        def arms(self) -> tuple[int, ...]:
            """|A_i| for each agent."""

        @property
        def states(self) -> int:
            """S."""

        @property
        def steps(self) -> int:
            """H."""

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> World:
        """Return the world of one run, with all random numbers drawn from ``rng``, the run's set-up stream."""

    def state_names(self) -> list[str]:
        """Return a readable name for each state."""
        return [str(state) for state in range(self.states)]

    def arm_names(self) -> list[list[str]]:
        """Return a readable name for each arm of each agent."""
        return [[str(arm) for arm in range(size)] for size in self.arms]


def checked_size(states: int, cells: int) -> None:
    """Refuse what no machine could hold."""
    if states * cells * states > MOST_ENTRIES:
        raise TooLarge(
            f"{states:,} states with {cells:,} team actions make {states * cells * states:,} transition "
            f"probabilities; at most {MOST_ENTRIES:,} can be held."
        )


@dataclass(frozen=True)
class GivenDynamics(Dynamics):
    """One world for all runs, as flat tuples in row-major order: transitions S x A x S', means S x A, start S."""

    arms: tuple[int, ...]
    states: int
    steps: int
    transitions: tuple[float, ...]
    means: tuple[float, ...]
    start: tuple[float, ...]

    name: ClassVar[str] = "given"

    def __post_init__(self) -> None:
        object.__setattr__(self, "arms", checked_arms(self.arms))
        object.__setattr__(self, "states", whole(1, MOST)("states", self.states))
        object.__setattr__(self, "steps", whole(1, MOST)("steps", self.steps))
        shapes = {
            "transitions": (self.states, self.cells, self.states),
            "means": (self.states, self.cells),
            "start": (self.states,),
        }
        for field, shape in shapes.items():
            values = numeric(field, getattr(self, field), "a list of numbers")
            if values.size != math.prod(shape):
                raise InvalidInput(f"{field} has {values.size} values; {' x '.join(map(str, shape))} are needed.")
            array = values.reshape(shape)
            array = checked_chances(field, array) if field != "means" else _checked_means(array)
            object.__setattr__(self, field, tuple(array.ravel().tolist()))

    @classmethod
    def of(cls, transitions: Any, means: Any, steps: int, start: Any = None) -> GivenDynamics:
        """Return the dynamics of arrays: ``transitions[s, a_1, .., a_N, z]``, ``means[s, a_1, .., a_N]``, ``start[s]``.

        ``start`` may also be the number of the state in which every episode begins; it is 0 by default.
        """
        mu = numeric("means", means, "an array of numbers, states x arms of agent 0 x arms of agent 1 ...,")
        if mu.ndim < 3 or mu.size == 0:
            raise InvalidInput(
                f"means has shape {mu.shape}; one axis for the states and one for each of at least 2 agents is needed."
            )
        states, arms = mu.shape[0], mu.shape[1:]
        checked_size(states, math.prod(arms))
        table = numeric("transitions", transitions, "an array of numbers, means' axes and one more for the next state,")
        if table.shape != (*mu.shape, states):
            raise InvalidInput(f"transitions has shape {table.shape}; {(*mu.shape, states)} is needed.")
        if start is None or (isinstance(start, numbers.Integral) and not isinstance(start, bool)):
            first = np.eye(states)[whole(0, states - 1)("start", 0 if start is None else start)]
        else:
            first = numeric("start", start, "a state or a list with a chance for each state")
        if first.shape != (states,):
            raise InvalidInput(f"start has shape {first.shape}; one chance for each of the {states} states is needed.")
        flat = (tuple(array.ravel().tolist()) for array in (table, mu, first))
        return cls(arms, states, steps, *flat)

    @property
    def cells(self) -> int:
        """The number of team actions."""
        return math.prod(self.arms)

    def draw(self, rng: np.random.Generator) -> World:
        """Return the same world for every run, without random draws."""
        shape = self.states, self.cells
        return World(
            np.reshape(self.transitions, (*shape, self.states)), np.reshape(self.means, shape), np.array(self.start)
        )


def checked_chances(name: str, chances: Tensor) -> Tensor:
    """Return probabilities whose last axis sums to 1, normalised up to rounding."""
    if not ((chances >= 0.0) & (chances <= 1.0)).all():
        where = tuple(int(i) for i in np.argwhere(~((chances >= 0.0) & (chances <= 1.0)))[0])
        raise InvalidInput(f"{name}{list(where)} is {chances[where]}; a chance from 0 to 1 is needed.")
    sums = chances.sum(axis=-1)
    if not (np.abs(sums - 1.0) <= ROUNDING).all():
        where = tuple(int(i) for i in np.argwhere(np.abs(np.atleast_1d(sums) - 1.0) > ROUNDING)[0])
        total = float(np.atleast_1d(sums)[where])
        place = f"{name}{list(where)}" if chances.ndim > 1 else name
        raise InvalidInput(f"{place} sums to {total:g}; the chances of all next states must sum to 1.")
    return chances


def _checked_means(means: Tensor) -> Tensor:
    wrong = bad_mean(means)
    if wrong is not None:
        raise InvalidInput(f"means{wrong}")
    return means


def drawn_world(dynamics: Any, rng: np.random.Generator, low: float, high: float) -> World:
    """Return the world of one run after a check: a user-defined class may return anything."""
    world = dynamics.draw(rng)
    title = type(dynamics).__name__
    states, cells = dynamics.states, math.prod(dynamics.arms)
    if not isinstance(world, World):
        raise ModelError(f"{title}.draw gave {short_repr(world)}; a cobandit.mdp.World is needed.")
    shapes = {"transitions": (states, cells, states), "means": (states, cells), "start": (states,)}
    for field, shape in shapes.items():
        array = getattr(world, field)
        if not isinstance(array, np.ndarray) or array.shape != shape or array.dtype != np.float64:
            raise ModelError(f"{title}.draw gave {field} {short_repr(array)}; floats of shape {shape} are needed.")
    try:
        checked_chances("transitions", world.transitions)
        checked_chances("start", world.start)
    except InvalidInput as error:
        raise ModelError(f"{title}.draw gave a wrong world: {error}") from None
    wrong = bad_mean(world.means, low, high)
    if wrong is not None:
        raise ModelError(f"{title}.draw gave a wrong world: means{wrong}")
    return world


def plain_dynamics(dynamics: Any) -> dict[str, Any]:
    """Return the fields of dynamics as plain data."""
    ours = type(dynamics).__module__.startswith("cobandit.mdp.")
    known = {"name": dynamics.name} if ours else {"class": type(dynamics).__qualname__}
    values = {spec.name: getattr(dynamics, spec.name) for spec in fields(dynamics) if spec.init}
    return known | {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}
