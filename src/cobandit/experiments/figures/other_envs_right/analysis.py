"""What it must show: the same as with flipped rewards."""

from cobandit.experiments.figures.other_envs_left.analysis import CLAIMS

__all__ = ["CLAIMS"]
