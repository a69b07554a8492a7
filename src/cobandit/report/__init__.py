"""Results as figures and offline pages. What draws is imported when it is asked for: it takes seconds to load.

All of it needs the extra ``plot``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cobandit.report.power.calibration import write_calibration_report
    from cobandit.report.power.power import write_power_report
    from cobandit.report.simulation.comparison import draw_comparison
    from cobandit.report.simulation.page import write_report
    from cobandit.report.study.page import write_study_report

__all__ = [
    "draw_comparison",
    "write_calibration_report",
    "write_power_report",
    "write_report",
    "write_study_report",
]

_HOMES = {
    "draw_comparison": "cobandit.report.simulation.comparison",
    "write_calibration_report": "cobandit.report.power.calibration",
    "write_power_report": "cobandit.report.power.power",
    "write_report": "cobandit.report.simulation.page",
    "write_study_report": "cobandit.report.study.page",
}
"""Where each public name lives."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
