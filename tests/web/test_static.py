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


THREE = "vendor/three-0.185.1/three.module.min.js"


@pytest.mark.parametrize("name", ["base.css", "admin/admin.css", "vendor/uplot/uPlot.iife.min.js", THREE])
def test_files_are_served_under_the_hash_of_their_contents(tmp_path: Path, name: str) -> None:
    app = create_app(WebConfig(database=f"sqlite:///{tmp_path / 'studies.sqlite'}"))
    answer = fetched(httpx.ASGITransport(app), pages.static(name))
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    if name.startswith("vendor/"):
        assert answer.text == static_text(name)


def test_texts_are_sent_gzipped_to_whoever_can_read_that(tmp_path: Path) -> None:
    app = httpx.ASGITransport(create_app(WebConfig(database=f"sqlite:///{tmp_path / 'studies.sqlite'}")))
    address = f"/static/{THREE}"

    async def ask(**headers: str) -> httpx.Response:
        async with httpx.AsyncClient(transport=app, base_url="http://localhost", headers=headers) as client:
            return await client.get(address)

    packed = asyncio.run(ask())
    assert packed.headers["content-encoding"] == "gzip"
    assert int(packed.headers["content-length"]) < 100_000
    plain = asyncio.run(ask(**{"accept-encoding": "identity"}))
    assert "content-encoding" not in plain.headers
    assert plain.text == packed.text == static_text(THREE)
    for answer in (packed, plain):
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable", "its version is in its address"
        assert answer.headers["content-type"].startswith("text/javascript")
        assert answer.headers["vary"] == "accept-encoding"
        kept = asyncio.run(ask(**{"if-none-match": answer.headers["etag"]}))
        assert kept.status_code == 304


def test_three_comes_with_its_licence() -> None:
    assert "MIT License" in static_text("vendor/three-0.185.1/LICENSE")
    for name in (THREE, THREE.replace("module", "core")):
        assert "SPDX-License-Identifier: MIT" in static_text(name)[:400]
