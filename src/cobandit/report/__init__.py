"""Results as figures and offline pages. Plotting libraries are imported here only, and only when something is drawn.

Each name is loaded when it is first used: whoever draws one comparison does not wait for the pages of studies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cobandit.base.lazy import lazy_names

if TYPE_CHECKING:
    from cobandit.report.comparison import draw_comparison as draw_comparison
    from cobandit.report.reports import write_calibration_report as write_calibration_report
    from cobandit.report.reports import write_power_report as write_power_report
    from cobandit.report.reports import write_report as write_report
    from cobandit.report.reports import write_study_report as write_study_report

__all__ = [
    "draw_comparison",
    "write_calibration_report",
    "write_power_report",
    "write_report",
    "write_study_report",
]

__getattr__ = lazy_names(
    __name__,
    {
        "draw_comparison": "cobandit.report.comparison",
        "write_calibration_report": "cobandit.report.reports",
        "write_power_report": "cobandit.report.reports",
        "write_report": "cobandit.report.reports",
        "write_study_report": "cobandit.report.reports",
    },
)
