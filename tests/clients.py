"""HTTP clients for tests that ask a server on this machine."""

from __future__ import annotations

from typing import Any

import httpx

PATIENCE = 300
"""Seconds after which a server, a page or a thread counts as stuck. A busy machine is no fault: no test waits less."""


def http_client(url: str = "", **options: Any) -> httpx.Client:
    """Return a client that waits long and goes through no proxy."""
    return httpx.Client(base_url=url, timeout=PATIENCE, trust_env=False, **options)
