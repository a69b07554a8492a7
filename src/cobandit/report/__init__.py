"""Results as figures. Plotting libraries are imported here only, and only when something is drawn."""

from cobandit.report.comparison import draw_comparison

__all__ = ["draw_comparison"]
