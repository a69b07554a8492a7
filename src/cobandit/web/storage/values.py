"""Representation of times and plain data in a column."""

from __future__ import annotations

import json
import time
from typing import Any

from cobandit.studies.data import moment


def as_json(data: Any) -> str:
    """Plain data as it is kept in a text column."""
    return json.dumps(data, ensure_ascii=False)


def now_ms() -> int:
    """Return the time: milliseconds since 1970, UTC."""
    return time.time_ns() // 1_000_000


def iso_time(milliseconds: int | None, timespec: str = "seconds") -> str:
    """Return a stored time as ISO 8601 text in UTC; empty where there is none."""
    time = moment(milliseconds)
    return "" if time is None else time.isoformat(timespec=timespec).replace("+00:00", "Z")
