"""The data as a zip file."""

from __future__ import annotations

import csv
import io
import json
import sys
import zipfile
from typing import Any

import httpx
import pytest

from cobandit.studies import StudyDesign

STUDY = "/api/admin/studies/1"


def unpacked(answer: httpx.Response) -> dict[str, bytes]:
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        return {name.rpartition("/")[2]: archive.read(name) for name in archive.namelist()}


def test_the_export_is_a_zip_of_tables(site: Any, short: StudyDesign, admin: httpx.Client) -> None:
    person = site.person(recruiting={"PROLIFIC_PID": "5f0c1e2d3b4a59687a6b5c4d"})
    person.go_on(short)
    bearer = {"authorization": admin.headers["authorization"]}
    site.arrive(client=site.client(headers=bearer), rehearsal=True)
    answer = admin.get(f"{STUDY}/export")
    assert 'filename="short-v1-real-csv.zip"' in answer.headers["content-disposition"]
    files = unpacked(answer)
    assert set(files) == {"long.csv", "wide.csv", "survey.csv", "events.csv", "codebook.csv", "study.json"}
    rows = list(csv.DictReader(io.StringIO(files["long.csv"].decode("utf-8-sig"))))
    assert len(rows) == 22
    assert {row["participant"] for row in rows} == {site.public_id(person.token)}
    everything = b"".join(files.values())
    assert b"5f0c1e2d3b4a59687a6b5c4d" not in everything  # personal data only on request
    assert person.token.encode() not in everything
    assert b"5f0c1e2d3b4a59687a6b5c4d" in unpacked(admin.get(f"{STUDY}/export?recruiting=true"))["wide.csv"]
    assert json.loads(files["study.json"])["design"]["name"] == "short"
    pretend = unpacked(admin.get(f"{STUDY}/export", params={"kind": "rehearsal", "format": "parquet"}))
    assert "long.parquet" in pretend
    assert admin.get(f"{STUDY}/export", params={"format": "xlsx"}).status_code == 422


def test_a_study_without_people_can_be_exported(site: Any, admin: httpx.Client) -> None:
    files = unpacked(admin.get(f"{STUDY}/export"))
    assert len(files["wide.csv"].splitlines()) == 1


def test_a_server_without_parquet_says_so(site: Any, admin: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    answer = admin.get(f"{STUDY}/export", params={"format": "parquet"})
    assert answer.status_code == 422
    assert answer.json()["message"].endswith("needs the extra 'parquet': pip install 'cobandit[parquet]'")
