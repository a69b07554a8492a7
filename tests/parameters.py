"""Parameters of tests of which `make test` runs a few, and `make long` the others."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def quick(values: Iterable[Any], kept: Collection[Any]) -> list[Any]:
    """Return the values as parameters; all but those in ``kept`` are marked `long`."""
    return [pytest.param(value, marks=[pytest.mark.long] * (value not in kept)) for value in values]
