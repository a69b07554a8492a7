"""NumPy's own random bits inside compiled code: the SFC64 generator and its distributions, word for word.

A run's streams are rows of four 64-bit words, one behind the other, and every draw is, bit for bit, what
`numpy.random` itself would have given: the same algorithms in the same order of operations. The ziggurat's tables are
Numba's copy of NumPy's. The rows are seeded by `seeds`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit, uint64
from numba.np.random import _constants as ziggurat
from numpy.typing import NDArray

from cobandit.engine.fast.arrays import Floats, Words
from cobandit.engine.fast.intrinsics import constants
from cobandit.engine.fast.pipeline import PART_OPTIONS

compiled: Any = njit(**PART_OPTIONS)
"""For functions that other compiled ones call: only what is called is ever compiled."""
inlined: Any = njit(forceinline=True, **PART_OPTIONS)
"""Inlined, where a call would cost more than the work."""

normal_limits = constants(ziggurat.ki_double.astype(np.int64))
exponential_limits = constants(ziggurat.ke_double.astype(np.int64))
normal_widths, exponential_widths = constants(ziggurat.wi_double), constants(ziggurat.we_double)
normal_heights, exponential_heights = constants(ziggurat.fi_double), constants(ziggurat.fe_double)
NORMAL_EDGE, NORMAL_EDGE_INVERSE = float(ziggurat.ziggurat_nor_r), float(ziggurat.ziggurat_nor_inv_r)
EXPONENTIAL_EDGE = float(ziggurat.ziggurat_exp_r)
TO_UNIT = 1.0 / 9007199254740992.0


def gamma_steps(most: int) -> NDArray[np.float64]:
    """1 / sqrt(9 (k - 1/3)) for k = 1 .. most, which a gamma draw of shape k takes from here; entry 0 is unused."""
    shapes = np.maximum(np.arange(most + 1), 1)
    return np.asarray(1.0 / np.sqrt(9.0 * (shapes - 1.0 / 3.0)))


@inlined
def next_word(streams: Words, row: int) -> np.uint64:
    """Return the next 64 bits of a stream (SFC64)."""
    at = 4 * row
    a, b, c, d = streams[at], streams[at + 1], streams[at + 2], streams[at + 3]
    word = a + b + d
    streams[at + 3] = d + uint64(1)
    streams[at] = b ^ (b >> uint64(11))
    streams[at + 1] = c + (c << uint64(3))
    streams[at + 2] = ((c << uint64(24)) | (c >> uint64(40))) + word
    return word


@inlined
def uniform(streams: Words, row: int) -> float:
    """``Generator.random()``."""
    return np.int64(next_word(streams, row) >> uint64(11)) * TO_UNIT


@compiled
def normal(streams: Words, row: int) -> float:
    """``Generator.standard_normal()``: a ziggurat of 256 layers."""
    while True:
        word = next_word(streams, row)
        layer = np.int64(word & uint64(0xFF))
        size = np.int64((word >> uint64(9)) & uint64(0x000FFFFFFFFFFFFF))
        # By product, not by branch: half of all signs would be mispredicted.
        value = size * normal_widths(layer) * (1.0 - 2.0 * np.int64((word >> uint64(8)) & uint64(1)))
        if size < normal_limits(layer):
            return value
        if layer == 0:
            return normal_tail(streams, row, size)
        step = normal_heights(layer - 1) - normal_heights(layer)
        if step * uniform(streams, row) + normal_heights(layer) < math.exp(-0.5 * value * value):
            return value


@compiled
def normal_tail(streams: Words, row: int, size: int) -> float:
    """Return a normal draw beyond the ziggurat's lowest layer."""
    while True:
        x = -NORMAL_EDGE_INVERSE * math.log1p(-uniform(streams, row))
        y = -math.log1p(-uniform(streams, row))
        if y + y > x * x:
            return -(NORMAL_EDGE + x) if (size >> 8) & 1 else NORMAL_EDGE + x


@compiled
def exponential(streams: Words, row: int) -> float:
    """Draw ``Generator.standard_exponential()``."""
    while True:
        word = next_word(streams, row) >> uint64(3)
        layer = np.int64(word & uint64(0xFF))
        size = np.int64(word >> uint64(8))
        value = size * exponential_widths(layer)
        if size < exponential_limits(layer):
            return value
        if layer == 0:
            return EXPONENTIAL_EDGE - math.log1p(-uniform(streams, row))
        step = exponential_heights(layer - 1) - exponential_heights(layer)
        if step * uniform(streams, row) + exponential_heights(layer) < math.exp(-value):
            return value


@compiled
def gamma(streams: Words, row: int, shape: float, c: float) -> float:
    """``Generator.standard_gamma(shape)`` for shape >= 1 (Marsaglia and Tsang, in NumPy's order of operations).

    ``c`` is `gamma_steps` of the shape.
    """
    if shape == 1.0:
        return exponential(streams, row)
    b = shape - 1.0 / 3.0
    while True:
        x = normal(streams, row)
        v = 1.0 + c * x
        while v <= 0.0:
            x = normal(streams, row)
            v = 1.0 + c * x
        v = v * v * v
        u = uniform(streams, row)
        if u < 1.0 - 0.0331 * (x * x) * (x * x):
            return b * v
        if math.log(u) < 0.5 * x * x + b * (1.0 - v + math.log(v)):
            return b * v


@compiled
def small_gamma(streams: Words, row: int, shape: float) -> float:
    """``Generator.standard_gamma(shape)`` for 0 < shape < 1 (NumPy's rejection from an exponential)."""
    while True:
        u = uniform(streams, row)
        v = exponential(streams, row)
        if u <= 1.0 - shape:
            x = math.pow(u, 1.0 / shape)
            if x <= v:
                return x
        else:
            y = -math.log((1.0 - u) / shape)
            x = math.pow(1.0 - shape + shape * y, 1.0 / shape)
            if x <= v + y:
                return x


@compiled
def beta(streams: Words, row: int, a: float, b: float, steps: Floats) -> float:
    """``Generator.beta(a, b)`` for integers a, b >= 1, with the table of `gamma_steps`."""
    if a == 1.0 and b == 1.0:
        while True:
            x, y = uniform(streams, row), uniform(streams, row)
            if 0.0 < x + y <= 1.0:
                return x / (x + y)
    first = gamma(streams, row, a, steps[np.int64(a)])
    return first / (first + gamma(streams, row, b, steps[np.int64(b)]))
