"""Pure functions on arrays."""

from cobandit.stats.summary import Summary, summarise

__all__ = ["Summary", "summarise"]
