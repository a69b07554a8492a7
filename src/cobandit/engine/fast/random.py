"""NumPy's own random bits inside compiled code: SeedSequence hashing and the SFC64 generator, word for word.

A run's streams are rows of four 64-bit words. Uniform draws, and the common cases of all others, are made right here,
in registers; the rare ones borrow a real NumPy `Generator` (the *lens*) whose state is overwritten with the stream's
words, so that every draw is what `numpy.random` itself would have given. The ziggurat's tables are Numba's copy.
"""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np
from numba import njit, uint32, uint64
from numba.np.random import _constants as ziggurat
from numpy.typing import NDArray

POOL = 4
WARM_UP = 12
INIT_A, MULT_A = 0x43B0D7E5, 0x931E8875
INIT_B, MULT_B = 0x8B51F9DD, 0x58F38DED
MIX_L, MIX_R = 0xCA01F9DD, 0x4973F715
compiled: Any = njit(cache=True, nogil=True)
NORMAL_LIMITS, NORMAL_WIDTHS = ziggurat.ki_double, ziggurat.wi_double
EXPONENTIAL_LIMITS, EXPONENTIAL_WIDTHS = ziggurat.ke_double, ziggurat.we_double
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
def peek_word(streams: Any, row: int) -> Any:
    """The next 64 bits of a stream, without taking them."""
    return streams[row, 0] + streams[row, 1] + streams[row, 3]


@compiled
def through_lens(streams: Any, row: int, lens: Any, lens_state: Any, kind: int) -> Any:
    """A whole draw by NumPy's own generator: 0 normal, 1 exponential, 2 Beta(1, 1)."""
    for i in range(4):
        lens_state[i] = streams[row, i]
    if kind == 0:
        value = lens.standard_normal()
    elif kind == 1:
        value = lens.standard_exponential()
    else:
        value = lens.beta(1.0, 1.0)
    for i in range(4):
        streams[row, i] = lens_state[i]
    return value


@compiled
def normal(streams: Any, row: int, lens: Any, lens_state: Any) -> Any:
    """``Generator.standard_normal()``: the ziggurat's first test, passed 99 times in 100, is made right here."""
    word = peek_word(streams, row)
    layer = word & uint64(0xFF)
    size = (word >> uint64(9)) & uint64(0x000FFFFFFFFFFFFF)
    if size < NORMAL_LIMITS[layer]:
        next_word(streams, row)
        value = size * NORMAL_WIDTHS[layer]
        return -value if (word >> uint64(8)) & uint64(1) else value
    return through_lens(streams, row, lens, lens_state, 0)


@compiled
def exponential(streams: Any, row: int, lens: Any, lens_state: Any) -> Any:
    """``Generator.standard_exponential()``, likewise."""
    word = peek_word(streams, row) >> uint64(3)
    layer = word & uint64(0xFF)
    size = word >> uint64(8)
    if size < EXPONENTIAL_LIMITS[layer]:
        next_word(streams, row)
        return size * EXPONENTIAL_WIDTHS[layer]
    return through_lens(streams, row, lens, lens_state, 1)


@compiled
def gamma(streams: Any, row: int, lens: Any, lens_state: Any, shape: float) -> Any:
    """``Generator.standard_gamma(shape)`` for shape >= 1 (Marsaglia and Tsang, in NumPy's order of operations)."""
    if shape == 1.0:
        return exponential(streams, row, lens, lens_state)
    b = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * b)
    while True:
        x = normal(streams, row, lens, lens_state)
        v = 1.0 + c * x
        while v <= 0.0:
            x = normal(streams, row, lens, lens_state)
            v = 1.0 + c * x
        v = v * v * v
        u = uniform(streams, row)
        if u < 1.0 - 0.0331 * (x * x) * (x * x):
            return b * v
        if math.log(u) < 0.5 * x * x + b * (1.0 - v + math.log(v)):
            return b * v


@compiled
def beta(streams: Any, row: int, lens: Any, lens_state: Any, a: float, b: float) -> Any:
    """``Generator.beta(a, b)`` for a, b >= 1."""
    if a == 1.0 and b == 1.0:
        return through_lens(streams, row, lens, lens_state, 2)
    first = gamma(streams, row, lens, lens_state, a)
    return first / (first + gamma(streams, row, lens, lens_state, b))
