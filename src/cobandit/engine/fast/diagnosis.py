"""Diagnostics in compiled loops: `engine.tally`, compiled as it stands, in the place of a record."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobandit.engine import tally as plain
from cobandit.engine.fast.caching import make_ready
from cobandit.engine.fast.game import Game
from cobandit.engine.fast.labels import origin_of
from cobandit.engine.fast.loop import play
from cobandit.engine.fast.pipeline import compile_plain
from cobandit.engine.fast.players import Stage
from cobandit.engine.tally import RUN, make_tally, note_round

compile_plain(plain.begin_tally, plain.cause_of, plain.wrong_arms, plain.keep_checkpoint)
compile_plain(plain.note_round, forceinline=True)


class _Fields(NamedTuple):
    """Those of `engine.tally.Tally`."""

    agents: Any
    cells: Any
    by_cell: Any
    lock_rounds: Any
    points: Any
    last_point: Any
    own: Any
    counts: Any
    odd: Any
    notes: Any
    lost: Any
    totals: Any
    lost_at: Any
    overall: Any


class Diagnosis(_Fields):
    """Counts what goes on in every round, in the place of a record."""

    busy = True

    def keep(self, world: Any, t: int, played: int, reward: float) -> None:
        """One round."""
        original = origin_of(world, played)
        note_round(self, t, played, original, world.best[0], world.means, world.aim, world.predictions)


class DiagnosedLoop:
    """The general loop with notes of every round, for pieces of up to ``rows`` runs."""

    def __init__(self, game: Game, checkpoints: NDArray[np.int64], rows: int, label: str) -> None:
        self._game, self._points, self._rows = game, checkpoints.tolist(), rows
        self._diagnoses: list[Diagnosis] = []
        self._free = [self._stage()]
        empty = game.arguments(self._free[0][0], 0, range(0), np.zeros(1, dtype=np.int64), np.zeros((0, 1)))
        make_ready(play, empty, f"{label}, diagnosed")

    def play(
        self,
        seed: int,
        runs: range,
        checkpoints: NDArray[np.int64],
        out: NDArray[np.float64],
        lost: NDArray[np.float64],
    ) -> None:
        """Play the runs into the rows of ``out`` and ``lost`` (runs x checkpoints x causes)."""
        try:
            stage, diagnosis = self._free.pop()
        except IndexError:
            stage, diagnosis = self._stage()
        diagnosis.notes[RUN] = 0
        play(*self._game.arguments(stage, seed, runs, checkpoints, out))
        lost[:] = diagnosis.lost_at[: lost.size].reshape(lost.shape)
        self._free.append((stage, diagnosis))

    def counted(self, runs: int, checkpoints: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The totals and the overall counts of all runs (`tally.Counted`)."""
        totals = np.sum([diagnosis.totals for diagnosis in self._diagnoses], axis=0)
        overall = np.array([diagnosis.overall for diagnosis in self._diagnoses])
        return totals.reshape(len(checkpoints), -1), np.concatenate(([overall[:, 0].sum()], overall[:, 1:].max(axis=0)))

    def _stage(self) -> tuple[Stage, Diagnosis]:
        """Room for one thread."""
        game, problem = self._game, self._game.problem
        diagnosis = Diagnosis(
            *make_tally(problem.arms, game.horizon, self._points, self._rows, problem.means.changes, np.array)
        )
        self._diagnoses.append(diagnosis)
        return game.stage(diagnosis), diagnosis
