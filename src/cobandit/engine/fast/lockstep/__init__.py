"""Lock-step runs: many runs advance together, one lane each, in loops the compiler turns into vector code.

For small Bernoulli problems in which every player is of the UCB family over team actions with first-index ties (the
teams of most of the paper's figures). The trajectories are those of `loop.play`, bit for bit.

An index that changes with every round is kept as estimate + scale * span: a cell never tried has an infinite estimate
and no span, or, in the companion's variant, a half and the stand-in for its root. The paper's, which changes by being
played alone, is kept whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.agents.beliefs import INDICES, LINES
from cobandit.base.streams import FIRST_OBSERVATION, REWARDS, SETUP, stream_count
from cobandit.engine.fast.blocks import Pool
from cobandit.engine.fast.caching import make_ready
from cobandit.engine.fast.game import Game
from cobandit.engine.fast.kinds.tournament import TournamentUCB, padded_cells
from cobandit.engine.fast.kinds.ucb import COMPANION, FreshUCB, KeptUCB
from cobandit.engine.fast.labels import run_origins
from cobandit.engine.fast.lockstep.loop import Agents, Lanes, play_lanes
from cobandit.engine.fast.lockstep.notes import LaneNotes, make_notes
from cobandit.engine.fast.lockstep.steps import LANES
from cobandit.engine.fast.rows import Tag, memory_of
from cobandit.engine.fast.seeds import draw_uniforms, run_states
from cobandit.problem import Bernoulli, FixedMeans, Flipped, Missed, RandomMeans

__all__ = ["FEWEST_RUNS", "LANES", "Lockstep", "can_play"]

MOST_CELLS = 16
"""The largest number of (padded) team actions; the code is generated for each number."""

FEWEST_RUNS = LANES // 2
"""With fewer runs most lanes would be unused."""

UNIT = 2.0**53

WORD_BITS = 64

GAP = 8
"""Words between arrays: a processor takes places that are 4,096 bytes apart for the same, for a while."""


def can_play(game: Game) -> bool:
    """Return whether these runs can be played in lock-step."""
    problem, players = game.problem, game.players
    indices = [index_of(player) for player in players]
    return (
        type(problem.reward) is Bernoulli
        and type(problem.means) in (FixedMeans, RandomMeans)
        and type(problem.observation) in (Missed, Flipped)
        and problem.delay == 0
        and not problem.draws_roles
        and padded_cells(problem.arms) <= MOST_CELLS
        and all(type(player) in (KeptUCB, FreshUCB, TournamentUCB) for player in players)
        and not any(getattr(player, "random_ties", 0) for player in players)
        and all(index < len(LINES) for index in indices)
        and len({index == COMPANION for index in indices}) == 1
    )


def index_of(player: Any) -> int:
    """Return the place of a player's index variant in `INDICES`; the other kinds have the paper's."""
    return int(player.index) if isinstance(player, FreshUCB) else INDICES.index("paper")


class Lockstep:
    """One game, ready for lock-step; with ``points``, the checkpoints, it counts rounds of up to ``rows`` runs."""

    def __init__(self, game: Game, points: NDArray[np.int64] | None = None, rows: int = 0) -> None:
        self._game = game
        self._points, self._rows = points, rows
        self._companion = int(index_of(game.players[0]) == COMPANION)
        arms = game.problem.arms
        self._cells = padded_cells(arms)
        widths = [(size - 1).bit_length() for size in arms]
        shifts = [sum(widths[i + 1 :]) for i in range(len(arms))]
        cell = np.arange(self._cells)
        coordinates = [(cell >> shift) & ((1 << width) - 1) for shift, width in zip(shifts, widths, strict=True)]
        self._real = np.all([own < size for own, size in zip(coordinates, arms, strict=True)], axis=0)
        self._agents = Tag(self._described(widths, shifts))
        self._each, self._team = (0,) * self._cells, (0,) * len(arms)
        self._streams = self._drawn_from()
        self._changing = 0 if self._agents.value.changes else None
        self._pool = Pool(self._stage)
        empty = self.arguments(self._pool.first, 0, range(0), np.array([game.horizon]), np.zeros((0, 1)))
        make_ready(play_lanes, empty, f"lock-step runs over {self._cells} team actions")

    def play(
        self,
        seed: int,
        runs: range,
        checkpoints: NDArray[np.int64],
        out: NDArray[np.float64],
        lost: NDArray[np.float64] | None = None,
    ) -> None:
        """Play the runs into the rows of ``out`` and, where rounds are counted, of ``lost``, the regret by cause."""
        with self._pool.one() as stage:
            play_lanes(*self.arguments(stage, seed, runs, checkpoints, out))
            if lost is not None:
                lost[:] = stage[1].value.lost_at[: lost.size].reshape(lost.shape)

    def counted(self, runs: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the totals and the overall counts of all runs (`tally.Counted`)."""
        agents, checkpoints = self._game.problem.agents, np.zeros(0) if self._points is None else self._points
        every_notes = [notes.value for _, notes in self._pool.every]
        totals = sum((notes.totals for notes in every_notes), start=np.zeros(1, dtype=np.int64))
        totals = totals.reshape(len(checkpoints), -1)
        predicted = np.zeros((len(checkpoints), agents, agents), dtype=np.int64)
        own = self._agents.value
        for i in range(agents):
            # In the companion code the first arms are random, and no agent predicts anything.
            predicted[:, i, own.order[: own.higher[i]]] = runs * (checkpoints - self._companion)[:, np.newaxis]
        real = np.diff(totals[:, : self._cells][:, self._real], axis=0, prepend=0)
        every = np.hstack((real, totals[:, self._cells :], predicted.reshape(len(checkpoints), -1)))
        overall = np.array([notes.overall for notes in every_notes])
        return every, np.concatenate((overall[:, :1].sum(axis=0), overall[:, 1:].max(axis=0)))

    def _stage(self) -> tuple[Tag, Any]:
        """Return the lanes of one thread, and the tag of its notes or None."""
        if self._points is None:
            return Tag(self._lanes()), None
        higher, points = self._agents.value.higher.tolist(), len(self._points)
        notes = make_notes(higher, self._cells, self._game.horizon, points, self._rows)
        return Tag(self._lanes()), Tag(notes)

    def arguments(
        self, stage: tuple[Tag, Any], seed: int, runs: range, checkpoints: NDArray[np.int64], out: NDArray[np.float64]
    ) -> tuple[Any, ...]:
        """Return the arguments of `loop.play_lanes`, in its order."""
        game = self._game
        agents, cells = game.problem.agents, self._cells
        seeds = run_states(seed, runs.start, len(runs), stream_count(agents), self._streams)
        means = np.full((len(runs), cells), -1.0)  # a mean that is never best, for cells that are mere padding
        given = game.problem.means
        if isinstance(given, FixedMeans):
            means[:, self._real] = given.values
        elif isinstance(given, RandomMeans):
            drawn = draw_uniforms(seeds[:, 4 * SETUP : 4 * SETUP + 4], game.problem.cells)
            means[:, self._real] = given.low + (given.high - given.low) * drawn
        if game.problem.relabel:
            origins = run_origins(game.problem, seed, runs)
            means[:, self._real] = np.take_along_axis(means[:, self._real], origins, axis=1)
            if stage[1] is not None:
                self._note_origins(stage[1].value, origins)
        limits = np.ceil(means * UNIT).astype(np.int64)
        gaps = means.max(axis=1, keepdims=True, initial=-1.0) - means
        first = 4 * REWARDS
        lanes, notes = stage
        tags = self._agents, lanes
        return (
            self._each,
            self._team,
            self._changing,
            tags,
            memory_of(tags if notes is None else (*tags, notes)),
            np.ascontiguousarray(seeds[:, first:]),
            limits,
            gaps,
            self._real,
            notes,
            self._companion,
            game.world.roots[0],
            game.horizon,
            checkpoints,
            out,
        )

    def _note_origins(self, notes: LaneNotes, origins: NDArray[np.int64]) -> None:
        """Put the problem's cells behind the agents' cells into the notes, both with padding."""
        padded = notes.origins[: len(origins) * self._cells].reshape(-1, self._cells)
        padded[:, self._real] = np.flatnonzero(self._real)[origins]

    def _drawn_from(self) -> list[int]:
        """Return the streams that are ever used: no agent predicts for a leader, and given means need no draw."""
        agents = self._game.problem.agents
        own = [i for i in range(agents) if self._companion == 1 or self._agents.value.higher[i] > 0]
        drawn = [] if isinstance(self._game.problem.means, FixedMeans) else [SETUP]
        sight = range(FIRST_OBSERVATION, FIRST_OBSERVATION + agents)
        return [*drawn, REWARDS, *sight, *(FIRST_OBSERVATION + agents + i for i in own)]

    def _described(self, widths: list[int], shifts: list[int]) -> Agents:
        """Return the agents' options, one number each."""
        game = self._game
        ranks = game.world.ranks
        masks = [
            sum(((1 << widths[j]) - 1) << shifts[j] for j in range(len(widths)) if ranks[j] < ranks[i])
            for i in range(len(widths))
        ]
        sight = game.problem.observation
        players = game.players
        changing = max(len(getattr(player, "scales", ())) for player in players)
        scales = np.zeros((len(players), max(changing, 1)))
        for row, player in zip(scales, players, strict=True):
            row[:] = player.scales if isinstance(player, FreshUCB) else player.scale
        foresees = np.array([player.foresees for player in players], dtype=np.int64)
        higher = np.where(foresees == 1, ranks, 0)
        seers = np.cumsum(higher > 0) * (higher > 0)
        packed = max(widths) * game.world.ring_size <= WORD_BITS
        return Agents(
            arms=np.array(game.problem.arms, dtype=np.int64),
            shift=np.array(shifts, dtype=np.int64),
            low=np.array([(1 << width) - 1 for width in widths], dtype=np.int64),
            mask=np.where(foresees == 1, masks, 0),
            order=game.world.order,
            higher=higher,
            width=np.array(widths, dtype=np.int64),
            foreseer=np.array([_first(i for i in range(len(widths)) if higher[i] > rank) for rank in ranks]),
            window=np.array([player.window for player in players], dtype=np.int64),
            repeat=np.array([player.repeat if r == 0 else 1 for player, r in zip(players, ranks, strict=True)]),
            scales=scales.ravel(),
            limit=np.array([math.ceil(level * UNIT) for level in sight.levels], dtype=np.int64),
            aim_at=np.array([(1 + i) * sum(widths) for i in range(len(widths))], dtype=np.int64),
            code_at=np.where(seers > 0, (len(widths) + seers) * sum(widths), 0),
            ring_size=game.world.ring_size,
            count=len(players),
            packed=int(packed),
            scale_step=len(scales[0]),
            changes=int(changing > 0),
            otherwise=1.0 if isinstance(sight, Flipped) else 0.0,
        )

    def _lanes(self) -> Lanes:
        """Return the state of all lanes."""
        agents, cells = self._game.problem.agents, self._cells
        sizes = {
            "bits": 4 * (1 + 2 * agents),
            "ring": agents * self._game.world.ring_size,
            "limits": cells,
            "counts": cells,
            "spans": cells,
            "sums": agents * cells,
            "estimates": agents * cells,
            "gaps": cells,
            "foreseen": agents,
            "chosen": agents,
            "decides": 1,
        }
        words = {"bits", "ring"}
        whole = {"limits", "foreseen", "chosen", "decides"}
        block = _aligned(sum(sizes.values()) * LANES + GAP * len(sizes))
        views: dict[str, Any] = {}
        start = 0
        for name, size in sizes.items():
            view = block[start : start + size * LANES]
            views[name] = view if name in words else view.view(np.int64 if name in whole else np.float64)
            start += size * LANES + GAP
        return Lanes(**views)


def _first(numbers: Iterable[int]) -> int:
    """Return the first of them, or -1."""
    return next(iter(numbers), -1)


def _aligned(words: int) -> NDArray[np.uint64]:
    """Return ``words`` words that start at a cache line."""
    line = 8
    block = np.zeros(words + line, dtype=np.uint64)
    start = -(block.ctypes.data // 8) % line
    return block[start : start + words]
