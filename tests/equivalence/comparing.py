"""Compare what two engines return for the same runs."""

from __future__ import annotations

from typing import Any

import numpy as np


def assert_same_counts(plain: tuple[Any, Any], quick: tuple[Any, Any]) -> None:
    """Require the same regrets and the same diagnostic counts, to the last bit."""
    (regrets, counted), (quick_regrets, quick_counted) = plain, quick
    np.testing.assert_array_equal(regrets, quick_regrets)
    assert counted is not None
    assert quick_counted is not None
    for ours, theirs in zip(counted, quick_counted, strict=True):
        np.testing.assert_array_equal(ours, theirs)
