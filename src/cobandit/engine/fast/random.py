"""NumPy's own random bits inside compiled code: SeedSequence hashing and the SFC64 generator, word for word.

A run's streams are rows of four 64-bit words. Uniform draws are made right here, in registers; normal and
beta draws borrow a real NumPy `Generator` (the *lens*) whose state is overwritten with the stream's words, so that
every draw is what `numpy.random` itself would have given.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numba import njit, uint32, uint64
from numpy.typing import NDArray

POOL = 4
WARM_UP = 12
INIT_A, MULT_A = 0x43B0D7E5, 0x931E8875
INIT_B, MULT_B = 0x8B51F9DD, 0x58F38DED
MIX_L, MIX_R = 0xCA01F9DD, 0x4973F715
compiled: Any = njit(cache=True, nogil=True)
TO_UNIT = 1.0 / 9007199254740992.0


def seed_words(seed: int) -> NDArray[np.uint32]:
    """The seed as SeedSequence lays it out before the spawn key: little-endian 32-bit words, at least four."""
    words = [seed >> shift & 0xFFFFFFFF for shift in range(0, max(seed.bit_length(), 1), 32)]
    return np.array(words + [0] * (POOL - len(words)), dtype=np.uint32)


class Lens:
    """A NumPy generator together with a view of its state, four 64-bit words."""

    def __init__(self) -> None:
        bits = np.random.SFC64(0)
        self.generator = np.random.Generator(bits)
        address = bits.ctypes.state_address
        self.state = np.ctypeslib.as_array((ctypes.c_uint64 * 4).from_address(address))


@compiled
def seed_streams(words: Any, run: int, streams: Any) -> None:
    """Fill the rows of ``streams`` with the SFC64 states of ``SeedSequence(seed, spawn_key=(run, row))``."""
    pool = np.empty(POOL, dtype=np.uint32)
    for row in range(streams.shape[0]):
        hash_const = uint32(INIT_A)
        for i in range(POOL):
            value = uint32(words[i] ^ hash_const)
            hash_const = uint32(hash_const * uint32(MULT_A))
            value = uint32(value * hash_const)
            pool[i] = uint32(value ^ uint32(value >> uint32(16)))
        for source in range(POOL):
            for target in range(POOL):
                if source != target:
                    value = uint32(pool[source] ^ hash_const)
                    hash_const = uint32(hash_const * uint32(MULT_A))
                    value = uint32(value * hash_const)
                    value = uint32(value ^ uint32(value >> uint32(16)))
                    mixed = uint32(uint32(pool[target] * uint32(MIX_L)) - uint32(value * uint32(MIX_R)))
                    pool[target] = uint32(mixed ^ uint32(mixed >> uint32(16)))
        extra = words.shape[0] - POOL
        for source in range(extra + 2):
            word = words[POOL + source] if source < extra else uint32(run) if source == extra else uint32(row)
            for target in range(POOL):
                value = uint32(word ^ hash_const)
                hash_const = uint32(hash_const * uint32(MULT_A))
                value = uint32(value * hash_const)
                value = uint32(value ^ uint32(value >> uint32(16)))
                mixed = uint32(uint32(pool[target] * uint32(MIX_L)) - uint32(value * uint32(MIX_R)))
                pool[target] = uint32(mixed ^ uint32(mixed >> uint32(16)))
        hash_const = uint32(INIT_B)
        for half in range(6):
            value = uint32(pool[half % POOL] ^ hash_const)
            hash_const = uint32(hash_const * uint32(MULT_B))
            value = uint32(value * hash_const)
            value = uint32(value ^ uint32(value >> uint32(16)))
            if half % 2 == 0:
                streams[row, half // 2] = uint64(value)
            else:
                streams[row, half // 2] |= uint64(value) << uint64(32)
        streams[row, 3] = uint64(1)
        for _ in range(WARM_UP):
            next_word(streams, row)


@compiled
def next_word(streams: Any, row: int) -> Any:
    """The next 64 bits of a stream (SFC64)."""
    a, b, c, d = streams[row, 0], streams[row, 1], streams[row, 2], streams[row, 3]
    word = a + b + d
    streams[row, 3] = d + uint64(1)
    streams[row, 0] = b ^ (b >> uint64(11))
    streams[row, 1] = c + (c << uint64(3))
    streams[row, 2] = ((c << uint64(24)) | (c >> uint64(40))) + word
    return word


@compiled
def uniform(streams: Any, row: int) -> Any:
    """``Generator.random()``."""
    return (next_word(streams, row) >> uint64(11)) * TO_UNIT


@compiled
def normal(streams: Any, row: int, lens: Any, lens_state: Any) -> Any:
    """``Generator.standard_normal()``."""
    for i in range(4):
        lens_state[i] = streams[row, i]
    value = lens.standard_normal()
    for i in range(4):
        streams[row, i] = lens_state[i]
    return value


@compiled
def beta(streams: Any, row: int, lens: Any, lens_state: Any, a: float, b: float) -> Any:
    """``Generator.beta(a, b)``."""
    for i in range(4):
        lens_state[i] = streams[row, i]
    value = lens.beta(a, b)
    for i in range(4):
        streams[row, i] = lens_state[i]
    return value
