"""The server as a whole: what is ready before its first request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pydantic
import pytest

from cobandit.web import WebConfig, create_app


@pytest.mark.parametrize("path", ["/", "/s/burger/", "/api/admin/login", "/admin", "/api/robot/scene"])
def test_routes_are_built_before_the_first_request(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = create_app(WebConfig(database=f"sqlite:///{tmp_path / 'studies.sqlite'}"))

    def late(*arguments: Any, **options: Any) -> None:
        raise AssertionError(f"a route was built at the request for {path}")

    monkeypatch.setattr(pydantic.TypeAdapter, "__init__", late)
    for route in app.routes:
        route.matches({"type": "http", "method": "POST", "path": path, "root_path": "", "headers": []})
