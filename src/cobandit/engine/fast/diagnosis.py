"""Diagnostics in compiled loops: the plain functions of `engine.tally` count in the place of a record."""

from __future__ import annotations

from cobandit.engine import tally as plain
from cobandit.engine.fast.labels import origin_of
from cobandit.engine.fast.pipeline import compile_plain
from cobandit.engine.fast.world import World
from cobandit.engine.tally import Tally, note_round

compile_plain(plain.begin_tally, plain.cause_of, plain.wrong_arms, plain.keep_checkpoint)
compile_plain(plain.note_round, forceinline=True)


class Diagnosis(Tally):
    """Counts what happens in every round, in the place of a record."""

    busy = True

    def keep(self, world: World, t: int, played: int, reward: float) -> None:
        """Count one round."""
        original = origin_of(world, played)
        note_round(self, t, played, original, world.best[0], world.means, world.aim, world.predictions)
