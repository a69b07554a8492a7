"""Problems by name: small Markov decision processes in which a team must coordinate over several steps.

Each is drawn for every run from the run's set-up stream, so that no team can know the meaning of its arms.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cobandit.base.checks import real, whole
from cobandit.mdp.dynamics import Dynamics, checked_size
from cobandit.mdp.planning import World
from cobandit.problem.means import Tensor, checked_arms, two_corners

FORWARD, SLIP = 0.9, 0.1
MOST_AGENTS = 7
FILLINGS = (("patty", "cheese"), ("tomato", "lettuce"))


def _check(record: Any, **checks: Any) -> None:
    for field, check in checks.items():
        object.__setattr__(record, field, check(field, getattr(record, field)))


def _coordination_games(states: int, agents: int, rng: np.random.Generator) -> Tensor:
    """Return one game of two local optima (.8 and .6) for each state, with all arms renamed at random: states x
    cells.
    """
    games = np.empty((states, 2**agents))
    plain = two_corners(agents, leader=0)
    for state in range(states):
        flips = tuple(axis for axis in range(agents) if rng.random() < 0.5)
        games[state] = np.flip(plain, flips).ravel()
    return games


def _starting_in(state: int, states: int) -> Tensor:
    return np.asarray(np.eye(states)[state])


@dataclass(frozen=True)
class Chain(Dynamics):
    """A ring of states, each a game of its own with two local optima; who plays one of them moves on with chance .9.

    In every state all agents must match: .8 at one corner, .6 at the opposite one, .2 to .4 elsewhere, where the team
    moves on with chance .1 only.
    """

    states: int = 4
    steps: int = 4
    agents: int = 2

    name: ClassVar[str] = "chain"

    def __post_init__(self) -> None:
        _check(self, states=whole(1, 1000), steps=whole(1, 1000), agents=whole(2, MOST_AGENTS))

    @property
    def arms(self) -> tuple[int, ...]:
        """Two for each agent."""
        return (2,) * self.agents

    def draw(self, rng: np.random.Generator) -> World:
        """Return the games of one run."""
        means = _coordination_games(self.states, self.agents, rng)
        transitions = np.zeros((*means.shape, self.states))
        for state, cell in np.ndindex(means.shape):
            onwards = FORWARD if means[state, cell] >= 0.6 else SLIP
            transitions[state, cell, (state + 1) % self.states] += onwards
            transitions[state, cell, state] += 1.0 - onwards
        return World(transitions, means, _starting_in(0, self.states))


@dataclass(frozen=True)
class DelayedChain(Chain):
    """A chain that pays at its end alone: the better corner of each game leads on, the other one pays .15 to stay.

    A follower that looks no further than the next reward never gets there.
    """

    steps: int = 6

    name: ClassVar[str] = "delayed-chain"

    def draw(self, rng: np.random.Generator) -> World:
        """Return the games of one run."""
        games = _coordination_games(self.states, self.agents, rng)
        last = self.states - 1
        means = np.where(games == 0.6, 0.15, 0.0)
        means[last] = games[last]
        transitions = np.zeros((*means.shape, self.states))
        for state, cell in np.ndindex(means.shape):
            onwards = (FORWARD if games[state, cell] == 0.8 else 0.05) if state < last else 0.0
            transitions[state, cell, min(state + 1, last)] += onwards
            transitions[state, cell, state] += 1.0 - onwards
        return World(transitions, means, _starting_in(0, self.states))


@dataclass(frozen=True)
class BurgerLine(Dynamics):
    """Two cooks stack a burger, a pair of fillings a step; only the finished burger is tasted.

    The state is what lies on the plate. Every one of the 4^H burgers has a mean of its own from Unif[0, 1].
    """

    steps: int = 2

    name: ClassVar[str] = "burger-line"

    def __post_init__(self) -> None:
        _check(self, steps=whole(1, 4))

    @property
    def arms(self) -> tuple[int, ...]:
        """Two fillings for each cook."""
        return (2, 2)

    @property
    def states(self) -> int:
        """Every beginning of a burger."""
        return sum(4**layer for layer in range(self.steps))

    def stacks(self) -> Iterator[tuple[int, ...]]:
        """Yield the team actions that lie on the plate, state by state."""
        for layers in range(self.steps):
            yield from itertools.product(range(4), repeat=layers)

    def draw(self, rng: np.random.Generator) -> World:
        """Return the tastes of one run."""
        states, first_of_last = self.states, sum(4**layer for layer in range(self.steps - 1))
        transitions, means = np.zeros((states, 4, states)), np.zeros((states, 4))
        below = 0
        for layers in range(self.steps):
            for stack in range(4**layers):
                above = below + 4**layers + 4 * stack
                for cell in range(4):
                    transitions[below + stack, cell, above + cell if layers < self.steps - 1 else 0] = 1.0
            below += 4**layers
        means[first_of_last:] = rng.random((4 ** (self.steps - 1), 4))
        return World(transitions, means, _starting_in(0, states))

    def arm_names(self) -> list[list[str]]:
        """Return the fillings, as in the paper's burger study."""
        return [list(names) for names in FILLINGS]

    def state_names(self) -> list[str]:
        """Return the items on the plate for each state, from below."""
        pairs = ["+".join(pair) for pair in itertools.product(*FILLINGS)]
        return [", ".join(["bun", *(pairs[cell] for cell in stack)]) for stack in self.stacks()]


@dataclass(frozen=True)
class BoxPush(Dynamics):
    """A box on a line moves, with chance .9, if all push the same way; one end pays .8 a step, the other .5."""

    states: int = 5
    steps: int = 6
    agents: int = 2

    name: ClassVar[str] = "box-push"

    def __post_init__(self) -> None:
        _check(self, states=whole(2, 1000), steps=whole(1, 1000), agents=whole(2, MOST_AGENTS))

    @property
    def arms(self) -> tuple[int, ...]:
        """Left and right, in an unknown order."""
        return (2,) * self.agents

    def draw(self, rng: np.random.Generator) -> World:
        """Return which arm pushes where, and which end pays more."""
        flips = [int(rng.random() < 0.5) for _ in range(self.agents)]
        left, right = (0.5, 0.8) if rng.random() < 0.5 else (0.8, 0.5)
        shape = self.states, 2**self.agents
        transitions, means = np.zeros((*shape, self.states)), np.zeros(shape)
        means[0], means[-1] = left, right
        for state in range(self.states):
            for cell, arms in enumerate(itertools.product((0, 1), repeat=self.agents)):
                ways = {arm ^ flip for arm, flip in zip(arms, flips, strict=True)}
                target = state
                if len(ways) == 1:
                    target = min(max(state + (1 if ways == {1} else -1), 0), self.states - 1)
                transitions[state, cell, target] += FORWARD
                transitions[state, cell, state] += 1.0 - FORWARD
        return World(transitions, means, _starting_in(self.states // 2, self.states))


@dataclass(frozen=True)
class SameDoor(Dynamics):
    """Two walkers on a corridor (left, stay, right) get rewards while both are at the same end: .8 at one, .5 at the
    other.

    A step succeeds with probability .9. The state is the pair of positions.
    """

    corridor: int = 4
    steps: int = 5

    name: ClassVar[str] = "same-door"

    def __post_init__(self) -> None:
        _check(self, corridor=whole(2, 60), steps=whole(1, 1000))

    @property
    def arms(self) -> tuple[int, ...]:
        """Left, stay and right, in an unknown order."""
        return (3, 3)

    @property
    def states(self) -> int:
        """Every pair of places."""
        return self.corridor**2

    def draw(self, rng: np.random.Generator) -> World:
        """Return which arm walks where, and which end pays more."""
        better_left = rng.random() < 0.5
        ways = [rng.permutation(3) - 1 for _ in range(2)]
        size, states = self.corridor, self.states
        walks = np.zeros((2, size, 3, size))
        for walker, place, arm in np.ndindex(2, size, 3):
            walks[walker, place, arm, min(max(place + ways[walker][arm], 0), size - 1)] += FORWARD
            walks[walker, place, arm, place] += 1.0 - FORWARD
        transitions = np.einsum("xiu,yjv->xyijuv", walks[0], walks[1]).reshape(states, 9, states)
        means = np.zeros((states, 9))
        means[0], means[-1] = (0.8, 0.5) if better_left else (0.5, 0.8)
        return World(transitions, means, _starting_in(size // 4 * size + size // 2, states))

    def state_names(self) -> list[str]:
        """Return the positions of both walkers for each state."""
        return [f"{x},{y}" for x, y in itertools.product(range(self.corridor), repeat=2)]


@dataclass(frozen=True)
class RandomDynamics(Dynamics):
    """Transitions from a Dirichlet distribution, means and start at random, all drawn for each run.

    The smaller ``concentration``, the fewer successors a state has. With one state only the means are drawn, in
    row-major order: the random means of the bandit.
    """

    states: int = 5
    steps: int = 5
    arms: tuple[int, ...] = (2, 2)
    concentration: float = 0.3

    name: ClassVar[str] = "random"

    def __post_init__(self) -> None:
        _check(self, states=whole(1, 10_000), steps=whole(1, 1000), concentration=real(0.0, 1e6, above=True))
        object.__setattr__(self, "arms", checked_arms(self.arms))
        checked_size(self.states, math.prod(self.arms))

    def draw(self, rng: np.random.Generator) -> World:
        """Return the world of one run."""
        shape = self.states, math.prod(self.arms)
        if self.states == 1:
            return World(np.ones((*shape, 1)), rng.random(shape), np.ones(1))
        transitions = rng.dirichlet(np.full(self.states, self.concentration), size=shape)
        means = rng.random(shape)
        return World(transitions, means, rng.dirichlet(np.ones(self.states)))


DYNAMICS: dict[str, type[Any]] = {
    kind.name: kind for kind in (Chain, DelayedChain, BurgerLine, BoxPush, SameDoor, RandomDynamics)
}
"""Every kind of problem by its name."""
