"""The results of a study in the browser."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import httpx
import pytest

from cobandit.studies import StudyDesign
from tests.web.servers import until

STUDY = "/api/admin/studies/1"
RESULTS = "/admin/studies/1/results"


@pytest.fixture
def finished(site: Any, short: StudyDesign) -> Any:
    """Two people who have finished."""
    for _ in range(2):
        site.person().go_on(short)
    return site


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def _looks(site: Any) -> int:
    return len(site.query("SELECT by FROM audit WHERE action = 'export' AND details LIKE '%results%'"))


def test_results_of_the_current_data(finished: Any, short: StudyDesign, admin: httpx.Client, temporary: Path) -> None:
    assert admin.post(f"{STUDY}/unblind").status_code == 200
    answer = admin.get(f"{STUDY}/results")
    assert answer.status_code == 200, answer.text
    assert answer.json()["flow"]["analysed"] == 2
    assert _looks(finished) == 1
    with zipfile.ZipFile(io.BytesIO(admin.get(f"{STUDY}/results.zip").content)) as archive:
        names = {name.rpartition("/")[2] for name in archive.namelist()}
    assert {"report.html", "results.json", "results.csv", "methods.md", "results.md", "plan.toml"} <= names
    assert _looks(finished) == 1
    page = admin.get(f"{RESULTS}/summary")
    assert "<strong>2</strong> of 2 who began are analysed" in page.text
    assert "p (Holm)" in page.text
    assert "Asterisks" in page.text
    assert admin.get(f"{RESULTS}/real/report.html").headers["content-security-policy"].startswith("default-src 'none'")
    assert admin.get(f"{RESULTS}/real/figures/regret.svg").headers["content-type"].startswith("image/svg+xml")
    for file in ("results.csv", "methods.md", "results.md"):
        assert "attachment" in admin.get(f"{RESULTS}/real/{file}").headers["content-disposition"]
    assert [admin.get(f"{RESULTS}/real/{name}").status_code for name in ("secret.txt", "figures/no.svg")] == [404, 404]
    third = finished.person()
    third.go_on(short)
    assert admin.get(f"{STUDY}/results").json()["flow"]["analysed"] == 3
    assert _looks(finished) == 2
    assert list(temporary.rglob("results.json"))
    name = finished.public_id(third.token)
    assert admin.delete(f"{STUDY}/participants/{name}").status_code == 200
    until(lambda: not [path for path in temporary.rglob("*") if path.is_file()], "the files are deleted")
    assert admin.get(f"{STUDY}/results").json()["flow"]["analysed"] == 2


def test_a_blind_account_sees_no_results(site: Any, admin: httpx.Client) -> None:
    assert admin.post(f"{STUDY}/blind").status_code == 200
    for address in (f"{STUDY}/results", f"{STUDY}/results.zip", f"{RESULTS}/real/report.html"):
        answer = admin.get(address)
        assert answer.status_code == 403, address
    assert "The results are hidden" in admin.get(f"{RESULTS}/summary").text
    assert _looks(site) == 0
    simulated = admin.get(f"{STUDY}/results", params={"kind": "rehearsal"})
    assert simulated.json()["flow"]["analysed"] == 0
