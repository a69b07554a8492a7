"""Types of what kinds have as fields: numbers and flat arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Words = NDArray[np.uint64]
"""Bits: the states of random streams, or one bit for each lane."""
Cells = NDArray[np.int32]
"""Team actions or arms, where there are many of them."""
Arm = int | np.int64
"""An arm or a team action, by its number: Python's or NumPy's."""
