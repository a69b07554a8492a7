"""Static files: those of the server, and the chart library that it shares with the reports."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest

from cobandit.report.kit.assets import library_folder, static_text
from cobandit.web import WebConfig, create_app, pages
from cobandit.web.services.robot.show import three_address


def fetched(app: httpx.ASGITransport, address: str) -> httpx.Response:
    async def ask() -> httpx.Response:
        async with httpx.AsyncClient(transport=app, base_url="http://localhost") as client:
            return await client.get(address)

    return asyncio.run(ask())


LIBRARIES = {"uplot": "uPlot.iife.min.js", "three": "three.module.min.js"}


@pytest.mark.usefixtures("third_party_scripts")
@pytest.mark.parametrize("name", ["base.css", "admin/admin.css", *LIBRARIES])
def test_files_are_served_under_the_hash_of_their_contents(tmp_path: Path, name: str) -> None:
    if name in LIBRARIES:
        name = f"vendor/{library_folder(name)}/{LIBRARIES[name]}"
    app = create_app(WebConfig(database=f"sqlite:///{tmp_path / 'studies.sqlite'}"))
    answer = fetched(httpx.ASGITransport(app), pages.static(name))
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    if name.startswith("vendor/"):
        assert answer.text == static_text(name)


@pytest.mark.usefixtures("third_party_scripts")
def test_texts_are_sent_gzipped_to_whoever_can_read_that(tmp_path: Path) -> None:
    app = httpx.ASGITransport(create_app(WebConfig(database=f"sqlite:///{tmp_path / 'studies.sqlite'}")))
    address = three_address()
    assert address is not None

    async def ask(**headers: str) -> httpx.Response:
        async with httpx.AsyncClient(transport=app, base_url="http://localhost", headers=headers) as client:
            return await client.get(address)

    packed = asyncio.run(ask())
    assert packed.headers["content-encoding"] == "gzip"
    assert int(packed.headers["content-length"]) < 100_000
    plain = asyncio.run(ask(**{"accept-encoding": "identity"}))
    assert "content-encoding" not in plain.headers
    assert plain.text == packed.text == static_text(address.removeprefix("/static/"))
    for answer in (packed, plain):
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable", "its version is in its address"
        assert answer.headers["content-type"].startswith("text/javascript")
        assert answer.headers["vary"] == "accept-encoding"
        kept = asyncio.run(ask(**{"if-none-match": answer.headers["etag"]}))
        assert kept.status_code == 304


def test_missing_libraries_are_not_linked(without_scripts: Path, tmp_path: Path) -> None:
    assert three_address() is None
    app = httpx.ASGITransport(create_app(WebConfig(database=f"sqlite:///{tmp_path / 'studies.sqlite'}")))
    assert fetched(app, "/static/vendor/three-0.185.1/three.module.min.js").status_code == 404
    assert fetched(app, "/static/base.css").status_code == 200
