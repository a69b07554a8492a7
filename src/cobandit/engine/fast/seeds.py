"""The initial states of many streams, computed together: NumPy's SeedSequence and SFC64, on arrays.

Stream s of run r of a seed starts as ``SFC64(SeedSequence(seed, spawn_key=(r, s)))``; creating all these objects one by
one would take longer than playing the runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.base.streams import label_stream, stream_count
from cobandit.problem import Problem

_POOL = 4
_WARM_UP = 12
_INIT_A, _MULT_A = 0x43B0D7E5, 0x931E8875
_INIT_B, _MULT_B = 0x8B51F9DD, 0x58F38DED
_MIX_L, _MIX_R = np.uint32(0xCA01F9DD), np.uint32(0x4973F715)
_MASK = 0xFFFFFFFF
_HALF = np.uint32(16)

Word = NDArray[np.uint32] | np.uint32


def seed_words(seed: int) -> tuple[np.uint32, ...]:
    """Return the seed as SeedSequence lays it out before a spawn key: little-endian 32-bit words, at least four."""
    words = [seed >> shift & _MASK for shift in range(0, max(seed.bit_length(), 1), 32)]
    return tuple(np.uint32(word) for word in words + [0] * (_POOL - len(words)))


def stream_states(words: Sequence[Word], *spawn_key: Word) -> NDArray[np.uint64]:
    """Return the states of one stream for each entry of the words: an array of entries x 4.

    Words are numbers, or arrays with one number for each entry. ``words`` is the seed's (`seed_words`), then come those
    of the spawn key.
    """
    hasher = _Hasher(_INIT_A, _MULT_A)
    with np.errstate(over="ignore"):
        pool = [hasher(word) for word in words[:_POOL]]
        for source in range(_POOL):
            for target in range(_POOL):
                if source != target:
                    pool[target] = _mixed(pool[target], hasher(pool[source]))
        for word in (*words[_POOL:], *spawn_key):
            for target in range(_POOL):
                pool[target] = _mixed(pool[target], hasher(word))
        hasher = _Hasher(_INIT_B, _MULT_B)
        halves = [np.asarray(hasher(pool[half % _POOL]), dtype=np.uint64) for half in range(6)]
        a, b, c = (halves[2 * i] | halves[2 * i + 1] << np.uint64(32) for i in range(3))
        state = _Sfc64(a, b, c, np.ones_like(a))
        for _ in range(_WARM_UP):
            state.step()
    return np.stack([np.asarray(word) for word in (state.a, state.b, state.c, state.d)], axis=-1).reshape(-1, 4)


def streams_of(problem: Problem) -> tuple[int, list[int] | None]:
    """Return the number of streams of a run of a problem, and those that it draws from (None: all of them)."""
    count, labels = stream_count(problem.agents), label_stream(problem.agents)
    return (labels + 1, [*range(count), labels]) if problem.relabel else (count, None)


def run_states(
    seed: int, first_run: int, runs: int, streams: int, needed: Sequence[int] | None = None
) -> NDArray[np.uint64]:
    """Return the states of all streams of ``runs`` runs: an array of runs x (4 streams), with zeros for those not
    needed.
    """
    wanted = np.arange(streams) if needed is None else np.array(needed)
    run = np.repeat(np.arange(first_run, first_run + runs, dtype=np.uint32), len(wanted))
    stream = np.tile(wanted.astype(np.uint32), runs)
    states = stream_states(seed_words(seed), run, stream).reshape(runs, len(wanted), 4)
    if len(wanted) < streams:
        every = np.zeros((runs, streams, 4), dtype=np.uint64)
        every[:, wanted] = states
        states = every
    return states.reshape(runs, 4 * streams)


def draw_uniforms(states: NDArray[np.uint64], count: int) -> NDArray[np.float64]:
    """Return the first ``count`` uniform draws of streams in these states (rows of 4): an array of streams x count."""
    generator = _Sfc64(*(states[:, k] for k in range(4)))
    drawn = np.empty((len(states), count))
    with np.errstate(over="ignore"):
        for k in range(count):
            drawn[:, k] = (generator.step() >> np.uint64(11)) * (1.0 / 2.0**53)
    return drawn


class _Hasher:
    """SeedSequence's hash: its constant changes with every word."""

    def __init__(self, constant: int, factor: int) -> None:
        self._constant, self._factor = constant, factor

    def __call__(self, word: Word) -> Any:
        value = word ^ np.uint32(self._constant)
        self._constant = self._constant * self._factor & _MASK
        value = value * np.uint32(self._constant)
        return value ^ (value >> _HALF)


def _mixed(x: Word, y: Word) -> Any:
    value = x * _MIX_L - y * _MIX_R
    return value ^ (value >> _HALF)


class _Sfc64:
    """The generator on arrays."""

    def __init__(self, a: Any, b: Any, c: Any, d: Any) -> None:
        self.a, self.b, self.c, self.d = a, b, c, d

    def step(self) -> Any:
        """Return the next word of every stream."""
        word = self.a + self.b + self.d
        self.d = self.d + np.uint64(1)
        self.a = self.b ^ (self.b >> np.uint64(11))
        self.b = self.c + (self.c << np.uint64(3))
        self.c = ((self.c << np.uint64(24)) | (self.c >> np.uint64(40))) + word
        return word
