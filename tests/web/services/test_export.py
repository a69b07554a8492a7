"""The data as a zip file."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from cobandit.studies import StudyDesign
from cobandit.studies.export import EXPORT_FORMATS, read_export, write_export, write_psych_ds
from cobandit.studies.export.tables import tables
from cobandit.web.refusals import Refused
from cobandit.web.roles import Viewer
from cobandit.web.services.export import Exports
from cobandit.web.storage import study_data as stored
from cobandit.web.storage.studies import find_study
from cobandit.web.storage.study_data import study_data, study_parts

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


def test_formats_for_statistics_programs(
    site: Any, short: StudyDesign, admin: httpx.Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(stored, "MOST_PEOPLE_AT_ONCE", 1)  # one person in a part
    people = [site.person(recruiting={"PROLIFIC_PID": f"{i:024x}"}) for i in range(3)]
    for person in people:
        person.go_on(short)
    admin.post(f"{STUDY}/links", json={"count": 2})  # who never begins has a file of their own
    page = admin.get("/admin/studies/1", headers={"accept": "text/html"}).text
    for name in EXPORT_FORMATS:
        assert f'<option value="{name}">' in page
    with site.database.read() as connection:
        study = find_study(connection, "short")
        assert study is not None
        whole = study_data(connection, study)
    files = unpacked(admin.get(f"{STUDY}/export", params={"format": "psych-ds"}))
    expected = write_psych_ds(short, tables(whole), tmp_path / "psych-ds")
    assert {path.name: path.read_bytes() for path in expected} == files
    assert b"0000000000000001" not in b"".join(files.values())
    pyreadstat = pytest.importorskip("pyreadstat")
    answer = admin.get(f"{STUDY}/export", params={"format": "sav", "recruiting": "true"})
    assert 'filename="short-v1-real-sav.zip"' in answer.headers["content-disposition"]
    for name, contents in unpacked(answer).items():
        (tmp_path / name).write_bytes(contents)
    long, _ = pyreadstat.read_sav(str(tmp_path / "long.sav"))
    assert list(long["run"]) == list(tables(whole)["long"]["run"])
    wide, _ = pyreadstat.read_sav(str(tmp_path / "wide.sav"))
    assert sorted(wide["external_id"]) == [f"{i:024x}" for i in range(3)]
    assert len(pyreadstat.read_sav(str(tmp_path / "not_begun.sav"))[0]) == 2
    [last] = admin.get("/api/admin/log").json()["entries"][:1]
    assert (last["action"], last["details"]["format"]) == ("export", "sav")


@pytest.mark.parametrize("format", ["psych-ds", "sav"])
def test_a_study_without_people_has_empty_files_for_statistics_programs(
    site: Any, admin: httpx.Client, format: str
) -> None:
    files = unpacked(admin.get(f"{STUDY}/export", params={"format": format}))
    if format == "psych-ds":
        assert len(files["study-short_description-wide_data.csv"].splitlines()) == 1
    assert len(files) == {"psych-ds": 7, "sav": 5}[format]


def test_a_server_without_spss_says_so(site: Any, admin: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    answer = admin.get(f"{STUDY}/export", params={"format": "sav"})
    assert answer.status_code == 422
    assert answer.json()["message"].endswith("needs the extra 'spss': pip install 'cobandit[spss]'")
    page = admin.get("/admin/studies/1", headers={"accept": "text/html"}).text
    assert '<option value="sav" disabled>SPSS (the server lacks the extra "spss")</option>' in page
    assert '<option value="psych-ds">' in page


@pytest.mark.parametrize("backend", ["sqlite", "postgresql"])
@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_people_come_in_parts_and_no_warm_start_is_played(
    open_site: Callable[..., Any],
    short: StudyDesign,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    backend: str,
    format: str,
) -> None:
    warm = StudyDesign.from_dict(short.to_dict() | {"warm_start": {"agent": "very-naive-ucb", "rounds": 4}})
    site = open_site(request.getfixturevalue(backend), warm)
    for _ in range(5):
        site.person().go_on(warm, "episode-2")
    with site.database.read() as connection:
        study = find_study(connection, "short")
        assert study is not None
        whole = tables(study_data(connection, study))
    monkeypatch.setattr(stored, "MOST_PEOPLE_AT_ONCE", 2)
    monkeypatch.setattr(stored, "Episode", None)
    with site.database.read() as connection:
        write_export(study_parts(connection, study), tmp_path / "export", format)
    _, found, about = read_export(tmp_path / "export")
    assert (about["participants"], about["kinds"]) == (5, ["real"])
    assert about["files"][f"long.{format}"]["rows"] == 5 * (2 + 5)
    for name in ("long", "wide", "survey", "events"):
        for column, values in whole[name].items():
            np.testing.assert_array_equal(found[name][column], values, f"{name}.{column}")


def test_parts_are_cut_by_the_rounds_that_were_played(
    site: Any, short: StudyDesign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most people of a long study may have left early; one at a time they would take very long."""
    for until in ("episode-1", "episode-1", "episode-3", "episode-1"):  # 2, 2, 2 + 10 and 2 rounds
        site.person().go_on(short, until)
    monkeypatch.setattr(stored, "ROUNDS_AT_ONCE", 5)
    with site.database.read() as connection:
        study = find_study(connection, "short")
        assert study is not None
        sizes = [len(part.participants) for part in study_parts(connection, study).parts]
    assert sizes == [2, 1, 1]


def test_an_export_that_nobody_waits_for_ends(site: Any, short: StudyDesign, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(3):
        site.person().go_on(short, "episode-1")
    monkeypatch.setattr(stored, "MOST_PEOPLE_AT_ONCE", 1)
    monkeypatch.setattr("cobandit.web.services.export.LOOK_SECONDS", 0.01)
    read, real = [], stored._people

    def slowly(connection: Any, people: Any, *rest: Any, **more: Any) -> Any:
        time.sleep(0.5)
        read.append(people)
        return real(connection, people, *rest, **more)

    monkeypatch.setattr(stored, "_people", slowly)

    async def gone() -> bool:
        return True

    async def scene() -> None:
        exports, viewer = Exports(site.database), Viewer("owner", "owner")
        with pytest.raises(Refused, match="client has disconnected"):
            await exports.export(1, format="csv", kind="real", recruiting=False, gone=gone, viewer=viewer)

    asyncio.run(scene())
    assert len(read) == 1
