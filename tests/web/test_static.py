"""Static files: those of the server, and the chart library that it shares with the reports."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest

from cobandit.report.kit.assets import static_text
from cobandit.web import WebConfig, create_app, pages


def fetched(app: httpx.ASGITransport, address: str) -> httpx.Response:
    async def ask() -> httpx.Response:
        async with httpx.AsyncClient(transport=app, base_url="http://localhost") as client:
            return await client.get(address)

    return asyncio.run(ask())


@pytest.mark.parametrize("name", ["base.css", "admin/admin.css", "vendor/uplot/uPlot.iife.min.js"])
def test_files_are_served_under_the_hash_of_their_contents(tmp_path: Path, name: str) -> None:
    app = create_app(WebConfig(database=f"sqlite:///{tmp_path / 'studies.sqlite'}"))
    answer = fetched(httpx.ASGITransport(app), pages.static(name))
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    if name.startswith("vendor/"):
        assert answer.text == static_text(name)
