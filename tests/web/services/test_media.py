"""Pictures of designs at a server, on both databases: stored with a study, sent with safe headers, uploaded."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cobandit.base.errors import InvalidInput
from cobandit.studies import StudyDesign, load_design
from cobandit.web import WebConfig, create_app
from cobandit.web.routes.media import CHUNK
from cobandit.web.services.media import MediaStore
from cobandit.web.serving import prepare
from cobandit.web.storage.database import HEAVY_READERS, Connection, Database
from cobandit.web.storage.media import add_media
from tests.clients import PATIENCE
from tests.studies.pictures import MP4, WEBM, illustrated, png


def test_files_are_stored_and_sent(open_site: Callable[..., Any], address: str, tmp_path: Path) -> None:
    design = load_design(illustrated(tmp_path))
    site = open_site(address, design)
    client = site.client()
    ward, video = (f"/media/{file.address}" for file in design.media)
    answer = client.get(ward)
    assert (answer.status_code, answer.content) == (200, png(side=200))
    headers = answer.headers
    assert headers["content-type"] == "image/png"
    assert headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in headers["content-security-policy"]
    assert headers["cache-control"].endswith("immutable")
    part = client.get(video, headers={"range": "bytes=4-9"})
    assert (part.status_code, part.content) == (206, WEBM[4:10])
    assert part.headers["content-range"] == f"bytes 4-9/{len(WEBM)}"
    assert client.get(video, headers={"range": "bytes=-5"}).content == WEBM[-5:]
    assert client.get(video, headers={"range": f"bytes={len(WEBM)}-"}).status_code == 416
    assert client.head(ward).status_code == 200
    for wrong in (ward.replace(".png", ".webm"), f"/media/{'0' * 64}/ward.png", "/media/x/ward.png"):
        assert client.get(wrong).status_code in (404, 422)
    # The design is stored by its data alone, and may be served again without the folder.
    prepare(address, [StudyDesign.from_dict(design.to_dict())])


def test_a_design_without_its_files_is_refused(address: str, tmp_path: Path) -> None:
    design = StudyDesign.from_dict(load_design(illustrated(tmp_path)).to_dict())
    with pytest.raises(InvalidInput, match=r"The files ward.png, button.webm of 'ward' are not stored"):
        prepare(address, [design])


def test_uploads_of_the_editor(open_site: Callable[..., Any], address: str, short: StudyDesign) -> None:
    site = open_site(address, short)
    client = site.client()
    path = "/api/admin/designs/files"
    assert client.post(path, params={"file": "bean.png"}, content=png()).status_code == 401
    client.headers["authorization"] = f"Bearer {site.login()}"
    for _ in range(2):
        answer = client.post(path, params={"file": "bean.png"}, content=png())
        assert answer.status_code == 201, answer.text
    entry = answer.json()
    assert (entry["type"], entry["size"]) == ("image/png", len(png()))
    assert client.get(f"/media/{entry['sha256']}/bean.png").content == png()
    assert client.post(path, params={"file": "bean.png"}, content=b"<svg>").status_code == 422
    assert client.post(path, params={"file": "bean.png"}, content=png() + bytes(10**6)).status_code == 413


def test_files_that_nothing_names_are_deleted(open_site: Callable[..., Any], address: str, tmp_path: Path) -> None:
    """A study, a draft and an upload of today keep their files; a draft that is deleted or published frees the rest."""
    site = open_site(address, load_design(illustrated(tmp_path)))
    client = site.client(headers={"authorization": f"Bearer {site.login()}"})

    def upload(side: int) -> str:
        answer = client.post("/api/admin/designs/files", params={"file": "bean.png"}, content=png(side=side))
        return str(answer.json()["sha256"])

    def draft(name: str, *hashes: str) -> int:
        text = "".join(f"# {sha256.upper()}\n" for sha256 in hashes)
        made = client.post("/api/admin/designs", json={"name": name, "text": f'name = "{name}"\n{text}'}).json()
        return int(made["id"])

    def stored() -> set[str]:
        return {sha256 for (sha256,) in site.query("SELECT sha256 FROM media")}

    of_study, kept, unused, renewed = stored(), upload(10), upload(11), upload(12)
    draft("one", kept)
    other = draft("other", kept, unused)
    third = draft("third", unused)
    site.change("UPDATE media SET added_at = 0")
    assert upload(12) == renewed
    client.delete(f"/api/admin/designs/{other}").raise_for_status()
    assert stored() == {*of_study, kept, unused, renewed}
    client.delete(f"/api/admin/designs/{third}").raise_for_status()
    assert stored() == {*of_study, kept, renewed}
    site.change("UPDATE media SET added_at = 0")
    plain = client.post("/api/admin/designs", json={"name": "plain", "template": "burger"}).json()
    published = client.post(f"/api/admin/designs/{plain['id']}/publish", json={"revision": plain["revision"]})
    assert published.status_code == 201, published.text
    assert stored() == {*of_study, kept}
    assert site.query("SELECT count(*) FROM audit WHERE action = 'files-deleted'")[0][0] == 2


def test_pictures_do_not_wait_for_lists_of_researchers(sqlite: str, tmp_path: Path) -> None:
    design, released, database = load_design(illustrated(tmp_path)), threading.Event(), Database(sqlite)
    prepare(sqlite, [design])

    def stuck(connection: Connection) -> bool:
        return released.wait(PATIENCE)

    async def scene() -> None:
        lists = [asyncio.ensure_future(database.ask(stuck, heavy=True)) for _ in range(HEAVY_READERS)]
        store, file = MediaStore(database), design.media[0]
        sent = await asyncio.gather(*(store.find(file.sha256) for _ in range(50)))
        assert sent[0].content == file.content
        assert len({id(stored) for stored in sent}) == 1  # it was read once
        assert not any(waiting.done() for waiting in lists)
        released.set()
        await asyncio.gather(*lists)

    try:
        asyncio.run(scene())
    finally:
        released.set()
        database.close()


@pytest.mark.parametrize("asked", [b"", b"bytes=1-"])
def test_a_video_is_sent_as_fast_as_a_client_reads(short_sqlite: str, asked: bytes) -> None:
    """Else each slow client would hold a copy of the whole video in memory."""
    database, video = Database(short_sqlite), MP4 + bytes(5 * CHUNK)
    with database.write() as connection:
        add_media(connection, "0" * 64, "video/mp4", video, 0)
    database.close()
    sent: list[Any] = []

    async def scene() -> None:
        app = create_app(WebConfig(database=short_sqlite))
        path = f"/media/{'0' * 64}/a.mp4"
        scope: dict[str, Any] = {
            "type": "http",
            "method": "GET",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
        }
        scope |= {"headers": [(b"range", asked)], "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80)}
        scope |= {"scheme": "http", "http_version": "1.1", "root_path": "", "asgi": {"version": "3.0"}}
        gone = asyncio.Event()

        async def receive() -> Any:
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message)

        await app(scope, receive, send)
        app.state.database.close()

    asyncio.run(scene())
    pieces = [bytes(message["body"]) for message in sent[1:]]
    assert b"".join(pieces) == video[1 if asked else 0 :]
    assert max(map(len, pieces)) <= CHUNK
    assert dict(sent[0]["headers"])[b"content-length"] == str(sum(map(len, pieces))).encode()
