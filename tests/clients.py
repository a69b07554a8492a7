"""HTTP clients for tests that ask a server on this machine."""

from __future__ import annotations

import re
from typing import Any

import httpx

PATIENCE = 300
"""Seconds after which a server, a page or a thread counts as stuck. A busy machine is no fault: no test waits less."""


def http_client(url: str = "", **options: Any) -> httpx.Client:
    """Return a client that waits long, goes through no proxy, and need not read all root certificates."""
    settings: dict[str, Any] = {"base_url": url, "timeout": PATIENCE, "trust_env": False, "verify": False}
    return httpx.Client(**settings | options)


def statuses(answers: bytes) -> list[int]:
    """Return the status of each raw answer; no body of these tests looks like a status line."""
    return [int(number) for number in re.findall(rb"HTTP/1\.[01] ([0-9]{3}) ", answers)]
