"""A researcher's program: logging in, finding a study, taking the data home."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.studies import StudyDesign
from cobandit.web.clients.bots import play_study
from cobandit.web.clients.http import LoginRefused, ServerUnreachable
from cobandit.web.clients.researcher import Researcher


def test_the_login_is_good_for_bots(site: Any) -> None:
    with Researcher(site.url, "correct horse") as researcher:
        assert play_study(site.url, "short", 1, "softmax", login=researcher.token)[0].finished


def test_a_study_by_name(site: Any) -> None:
    with Researcher(site.url, "correct horse") as researcher:
        assert researcher.study("short")["id"] == researcher.study("short", 1)["id"] == 1
        with pytest.raises(UnknownName, match="Did you mean 'short'"):
            researcher.study("shirt")


def test_the_export_is_unpacked(site: Any, short: StudyDesign, tmp_path: Path) -> None:
    site.person().go_on(short)
    with Researcher(site.url, "correct horse") as researcher:
        files = researcher.export("short", tmp_path, format="csv", kind="real", recruiting=False)
    assert {file.name for file in files} == {
        "long.csv", "wide.csv", "survey.csv", "events.csv", "codebook.csv", "study.json"
    }  # fmt: skip
    assert len((tmp_path / "long.csv").read_text(encoding="utf-8-sig").splitlines()) == 1 + 22


@pytest.mark.parametrize(
    ("url", "password", "kind", "message"),
    [
        ("127.0.0.1:9", "x", InvalidInput, "an address such as http"),
        ("http://127.0.0.1:9", None, InvalidInput, "asks for the researcher's password"),
        ("http://127.0.0.1:9", "x", ServerUnreachable, "http://127.0.0.1:9 cannot be reached"),
    ],
)
def test_a_server_that_cannot_be(url: str, password: str | None, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        Researcher(url, password)


def test_a_wrong_password(site: Any) -> None:
    with pytest.raises(LoginRefused, match="The password is wrong"):
        Researcher(site.url, "wrong horse")
