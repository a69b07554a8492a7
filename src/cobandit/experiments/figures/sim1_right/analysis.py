"""What it must show: the same as with fixed means."""

from cobandit.experiments.figures.sim1_left.analysis import CLAIMS

__all__ = ["CLAIMS"]
