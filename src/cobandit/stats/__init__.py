"""Pure functions on arrays."""

from cobandit.stats.bootstrap import Interval, mean_interval, ratio_interval
from cobandit.stats.summary import Summary, summarise

__all__ = ["Interval", "Summary", "mean_interval", "ratio_interval", "summarise"]
