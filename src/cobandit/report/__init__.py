"""Results as figures and offline pages. Each name is loaded when it is first used: what draws takes seconds to load.

All of it needs the extra ``plot``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cobandit.base.lazy import lazy_names

if TYPE_CHECKING:
    from cobandit.report.arena.page import write_arena_report as write_arena_report
    from cobandit.report.markov.graph import write_state_graph as write_state_graph
    from cobandit.report.markov.page import write_markov_report as write_markov_report
    from cobandit.report.power.calibration import write_calibration_report as write_calibration_report
    from cobandit.report.power.power import write_power_report as write_power_report
    from cobandit.report.simulation.comparison import draw_comparison as draw_comparison
    from cobandit.report.simulation.diagnosis import draw_diagnosis as draw_diagnosis
    from cobandit.report.simulation.page import write_report as write_report
    from cobandit.report.simulation.result import plot_result as plot_result
    from cobandit.report.simulation.result import result_html as result_html
    from cobandit.report.simulation.watch import write_watch_page as write_watch_page
    from cobandit.report.study.page import write_study_report as write_study_report

__all__ = [
    "draw_comparison",
    "draw_diagnosis",
    "plot_result",
    "result_html",
    "write_arena_report",
    "write_calibration_report",
    "write_markov_report",
    "write_power_report",
    "write_report",
    "write_state_graph",
    "write_study_report",
    "write_watch_page",
]

_HOMES = {
    "draw_comparison": "cobandit.report.simulation.comparison",
    "draw_diagnosis": "cobandit.report.simulation.diagnosis",
    "plot_result": "cobandit.report.simulation.result",
    "result_html": "cobandit.report.simulation.result",
    "write_arena_report": "cobandit.report.arena.page",
    "write_calibration_report": "cobandit.report.power.calibration",
    "write_markov_report": "cobandit.report.markov.page",
    "write_power_report": "cobandit.report.power.power",
    "write_report": "cobandit.report.simulation.page",
    "write_state_graph": "cobandit.report.markov.graph",
    "write_study_report": "cobandit.report.study.page",
    "write_watch_page": "cobandit.report.simulation.watch",
}
"""Where each public name lives."""

__getattr__ = lazy_names(__name__, _HOMES)
