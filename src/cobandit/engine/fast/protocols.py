"""Types of what compiled loops drive: any world, what players see of a reward, and the terms of numba's extensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from llvmlite import ir
from numba.core.typing import Signature

from cobandit.engine.fast.arrays import Cells, Floats, Ints

Squads = tuple[object, ...]
"""A squad of each kind, which `rows.player` takes apart."""

Sizes = tuple[int, ...]
"""The number of players of each squad."""

Code = Callable[..., object]
"""A function for numba to compile in place of another, or one that writes LLVM's instructions."""

Intrinsic = tuple[Signature, Code]
"""What the typing of an intrinsic returns."""

Values = Sequence[ir.Value]
"""The arguments of an intrinsic."""


class TeamWorld(Protocol):
    """What bandits and Markov decision processes have in common."""

    @property
    def agents(self) -> int:
        """The number of agents."""

    @property
    def cells(self) -> int:
        """The number of team actions."""

    @property
    def arms(self) -> Ints:
        """The number of arms of each agent."""

    @property
    def strides(self) -> Ints:
        """By how much a cell grows with each agent's arm."""

    @property
    def own(self) -> Cells:
        """Each agent's arm in each cell."""

    @property
    def arm(self) -> Ints:
        """The arms of the round under way."""

    @property
    def seen(self) -> Floats:
        """What each agent saw of the reward."""


class Sight(Protocol):
    """An observation model in compiled code."""

    def see(self, world: TeamWorld, agent: int, reward: float) -> float:
        """Return what an agent sees of a reward."""

    def fuse(self, world: TeamWorld) -> float:
        """Return what a joint controller makes of all that was seen."""


class Player(Protocol):
    """A player in compiled code (`players`)."""

    @property
    def seat(self) -> int:
        """The agent whose arm it chooses."""

    def choose(self, world: TeamWorld, t: int) -> int:
        """Return its arm of round t, or the cell if it chooses for the whole team."""


class Record(Protocol):
    """What keeps or counts the rounds."""

    def keep(self, world: TeamWorld, t: int, played: int, reward: float) -> None:
        """Keep one round."""
