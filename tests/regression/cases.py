"""Every recorded case.

Each is a literal or follows from literals by counting, so that it is the same on any machine.
"""

from __future__ import annotations

from tests.regression.games import games
from tests.regression.kinds import SHIPPED, Case, Designs
from tests.regression.study_cases import study_cases

__all__ = ["SHIPPED", "all_cases"]


def all_cases(designs: Designs) -> list[Case]:
    """Every case, with the shipped designs as they were recorded."""
    return [*games(), *study_cases(designs)]
