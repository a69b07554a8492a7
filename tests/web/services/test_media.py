"""Pictures of designs at a server, on both databases: stored with a study, sent with safe headers, uploaded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cobandit.base.errors import InvalidInput
from cobandit.studies import StudyDesign, load_design
from cobandit.web.serving import prepare
from tests.studies.pictures import WEBM, illustrated, png


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
