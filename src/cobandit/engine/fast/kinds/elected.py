"""Teams that elect their leader, compiled (`agents.elected`): the plain functions themselves, on arrays."""

from __future__ import annotations

import numpy as np

from cobandit.agents import elected as plain
from cobandit.agents.elected import Elected, Election, elected_arm, elected_learn, foreseen_arm, make_election
from cobandit.base.tuples import joined_tuple
from cobandit.engine.fast.arrays import Arm
from cobandit.engine.fast.kinds import election as _election  # noqa: F401 - whose functions are compiled, too
from cobandit.engine.fast.kinds import steered as _steered  # noqa: F401 - as above
from cobandit.engine.fast.pipeline import compile_plain
from cobandit.engine.fast.players import SEATED, Seat, with_tables
from cobandit.engine.fast.world import World

compile_plain(
    plain.elected_arm,
    plain.aware_arm,
    plain.is_foreseen,
    plain.elected_learn,
    plain.take_places,
    plain.foreseen_arm,
)


class ElectedPlayer(joined_tuple(SEATED, Election)):  # type: ignore[misc]
    """The fields of `agents.elected.Election`."""

    def choose(self, world: World, t: int) -> Arm:
        """Return the own arm, and what is foreseen of the others."""
        for j in range(world.agents):
            if j != self.seat:
                world.predictions[self.seat * world.agents + j] = foreseen_arm(self, self.seat, j, t)
        return elected_arm(self, self.seat, t)

    def learn(self, world: World, t: int, played: int, seen: float) -> None:
        """Remember the round."""
        elected_learn(self, self.seat, t, played, seen)


def elected(agent: Elected, seat: Seat) -> ElectedPlayer:
    """Return the compiled form."""
    election = with_tables(make_election(agent, seat.briefing, np.array), "arms", "strides", "own")
    return ElectedPlayer(seat.number, seat.stream, *election)
