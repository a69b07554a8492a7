"""Teams that elect their leader, compiled (`agents.elected`): the plain functions themselves, on arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cobandit.agents import elected as plain
from cobandit.agents.elected import Elected, elected_arm, elected_learn, foreseen_arm, make_election
from cobandit.engine.fast.kinds import election as _election  # noqa: F401 - whose functions are compiled, too
from cobandit.engine.fast.kinds import steered as _steered  # noqa: F401 - likewise
from cobandit.engine.fast.pipeline import compile_plain
from cobandit.engine.fast.players import Seat, table

compile_plain(
    plain.elected_arm,
    plain.aware_arm,
    plain.is_foreseen,
    plain.elected_learn,
    plain.take_places,
    plain.foreseen_arm,
)


class ElectedPlayer(NamedTuple):
    """The fields of `agents.elected.Election`."""

    seat: Any
    stream: Any
    index: Any
    stay: Any
    horizon: Any
    exploration: Any
    binary: Any
    prior: Any
    weight: Any
    noise_weight: Any
    cells: Any
    arms: Any
    strides: Any
    own: Any
    counts: Any
    sums: Any
    means: Any
    spans: Any
    kept: Any
    stamps: Any
    ahead: Any
    worth: Any
    movers: Any
    steps: Any
    notes: Any
    watch: Any
    aware: Any
    agents: Any
    sweep: Any
    sweep_rounds: Any
    evidence: Any
    order: Any
    votes: Any
    tally: Any

    def choose(self, world: Any, t: int) -> Any:
        """The own arm, and what is foreseen of the others."""
        for j in range(world.agents):
            if j != self.seat:
                world.predictions[self.seat * world.agents + j] = foreseen_arm(self, self.seat, j, t)
        return elected_arm(self, self.seat, t)

    def learn(self, world: Any, t: int, played: int, seen: float) -> None:
        """Remember the round."""
        elected_learn(self, self.seat, t, played, seen)


def elected(agent: Elected, seat: Seat) -> ElectedPlayer:
    """The compiled form."""
    election = make_election(agent, seat.briefing, np.array)
    fixed = {name: table(getattr(election, name)) for name in ("arms", "strides", "own")}
    return ElectedPlayer(seat.number, seat.stream, *election._replace(**fixed))
