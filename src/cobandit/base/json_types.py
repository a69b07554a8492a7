"""Types of values that are written as JSON."""

from __future__ import annotations

from typing import Any

JsonObject = dict[str, Any]
"""A table of values for JSON, such as the body of a request or of an answer."""
