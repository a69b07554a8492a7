"""One game, ready for the general loop, which plays one run after another."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobandit.engine.fast.blocks import Pool
from cobandit.engine.fast.caching import make_ready
from cobandit.engine.fast.diagnosis import Diagnosis
from cobandit.engine.fast.game import Game
from cobandit.engine.fast.loop import NO_RECORD, play
from cobandit.engine.fast.players import Stage
from cobandit.engine.tally import RUN, make_tally


class _Workspace(NamedTuple):
    """The arrays of one thread: the stage of its game, and its counts; None if nothing is counted."""

    stage: Stage
    diagnosis: Diagnosis | None


class GeneralLoop:
    """The general loop; with ``points``, the checkpoints, it counts every round of blocks of up to ``rows`` runs."""

    def __init__(self, game: Game, points: NDArray[np.int64] | None = None, rows: int = 0) -> None:
        self._game, self._points, self._rows = game, points, rows
        self._pool = Pool(self._workspace)
        empty = game.arguments(self._pool.first.stage, 0, range(0), np.zeros(1, dtype=np.int64), np.zeros((0, 1)))
        make_ready(play, empty, game.label if points is None else f"{game.label}, diagnosed")

    def play(
        self,
        seed: int,
        runs: range,
        checkpoints: NDArray[np.int64],
        out: NDArray[np.float64],
        lost: NDArray[np.float64] | None = None,
    ) -> None:
        """Play the runs into the rows of ``out`` and, where rounds are counted, of ``lost``, the regret by cause."""
        with self._pool.one() as (stage, diagnosis):
            if diagnosis is not None:
                diagnosis.notes[RUN] = 0
            play(*self._game.arguments(stage, seed, runs, checkpoints, out))
            if diagnosis is not None and lost is not None:
                lost[:] = np.asarray(diagnosis.lost_at)[: lost.size].reshape(lost.shape)

    def counted(self, runs: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the totals and the overall counts of all runs (`tally.Counted`)."""
        diagnoses = [workspace.diagnosis for workspace in self._pool.every if workspace.diagnosis is not None]
        totals = np.sum([np.asarray(diagnosis.totals) for diagnosis in diagnoses], axis=0)
        overall = np.array([diagnosis.overall for diagnosis in diagnoses])
        points = 0 if self._points is None else len(self._points)
        return totals.reshape(points, -1), np.concatenate(([overall[:, 0].sum()], overall[:, 1:].max(axis=0)))

    def _workspace(self) -> _Workspace:
        game, problem = self._game, self._game.problem
        if self._points is None:
            return _Workspace(game.stage(NO_RECORD), None)
        points, changes = self._points.tolist(), problem.means.changes
        diagnosis = Diagnosis(*make_tally(problem.arms, game.horizon, points, self._rows, changes, np.array))
        return _Workspace(game.stage(diagnosis), diagnosis)
