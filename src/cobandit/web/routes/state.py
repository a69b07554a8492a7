"""Objects of the app that routes take as parameters."""

from __future__ import annotations

from typing import Any

from fastapi import Depends, Request


def of_app(name: str) -> Any:
    """Return the dependency that gives a route ``app.state.NAME``."""

    async def state(request: Request) -> Any:
        return getattr(request.app.state, name)

    return Depends(state)
