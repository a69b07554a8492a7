from cobandit.report.arena.page import write_arena_report as write_arena_report
from cobandit.report.fitting.page import write_fit_report as write_fit_report
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

__all__: list[str]
