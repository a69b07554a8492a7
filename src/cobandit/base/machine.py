"""What the machine has: cores and memory."""

from __future__ import annotations

import os


def available_cores() -> int:
    """Return the cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def physical_memory() -> int | None:
    """Return the machine's memory in bytes, where the system tells."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None
