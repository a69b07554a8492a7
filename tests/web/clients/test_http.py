"""Clients speak HTTP only."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["bots", "researcher"])
def test_a_client_loads_no_server(module: str) -> None:
    code = (
        f"import sys, cobandit.web.clients.{module}\n"
        "print([name for name in ('fastapi', 'sqlalchemy', 'uvicorn', 'cobandit.web.app', 'cobandit.web.storage') "
        "if name in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout == "[]\n"
