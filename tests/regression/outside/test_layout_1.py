"""A database and exports of layout 1, as people have them: whatever comes later opens them, goes on, and reads them."""

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter

import httpx
import pytest

from tests.parameters import quick

from .commands import unpack
from .doors import PASSWORD, PATIENCE, command, serving, worked
from .people import Visitor
from .world import DATABASE, FIXTURES, STUDIES, export_kinds, export_name

pytestmark = pytest.mark.slow

EXPORTS = [export_name(*kind) for kind in export_kinds()]


@pytest.fixture
def folder(tmp_path):
    """A folder with a copy of the database in it."""
    (tmp_path / "studies.sqlite").write_bytes(gzip.decompress((FIXTURES / "studies.sqlite.gz").read_bytes()))
    return tmp_path


def verified(study, folder):
    done = command("study", "verify", study, "--database", DATABASE, "--json", folder=folder)
    assert done.code == 0, done.out + done.err


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def outcomes(path):
    """What everybody did and got, by names of columns that have been there from the first."""
    return Counter(
        (row["participant"], row["condition"], row["episode"], row["t"], row["reward"]) for row in rows(path)
    )


@pytest.mark.parametrize("study", quick(STUDIES, ["small-casino"]))
def test_an_old_study_is_verified_goes_on_and_is_analysed(study, folder) -> None:
    verified(study, folder)
    with (
        serving(folder, str(FIXTURES / f"{study}.toml"), database=DATABASE, more=("--consent-elsewhere",)) as address,
        httpx.Client(base_url=address, trust_env=False, timeout=PATIENCE) as client,
    ):
        login = client.post("/api/admin/login", json={"password": PASSWORD}).json()["token"]
        client.headers["authorization"] = f"Bearer {login}"
        stored = {one["name"]: one["id"] for one in client.get("/api/admin/studies").json()["studies"]}
        people = client.get(f"/api/admin/studies/{stored[study]}/live").json()["participants"]
        waiting = [one for one in people if one["step"]["kind"] == "episode" and one["rounds"]["played"]]
        assert waiting
        comes_back = Visitor(lambda *words: client.request(words[0], words[1], json=words[2]), study, "comes back")
        comes_back.come_back(waiting[-1]["url"].rsplit("/", 1)[-1])
        assert comes_back.state["episode"]["played"] > 0
        comes_back.go_on()
        newcomer = Visitor(comes_back.ask, study, "newcomer")
        newcomer.arrive()
        newcomer.go_on()
        after = client.get(f"/api/admin/studies/{stored[study]}/live").json()["participants"]
    assert sum(one["status"] == "finished" for one in after) == sum(one["status"] == "finished" for one in people) + 2
    verified(study, folder)
    for format in ("csv", "parquet"):
        words = ("--format", format, "--out", format, "--database", DATABASE)
        worked(command("study", "export", study, *words, folder=folder))
    before, now = outcomes(unpack(folder) / f"{study}-real-csv" / "long.csv"), outcomes(folder / "csv" / "long.csv")
    assert not before - now
    assert now.total() - before.total() == comes_back.played + newcomer.played
    for source in ((study, "--database", DATABASE), ("csv",), ("parquet",)):
        done = worked(command("study", "analyse", *source, "--out", "out", "--json", folder=folder, plots=False))
        assert json.loads(done.out)["study"] == study


@pytest.mark.parametrize("name", EXPORTS)
def test_an_old_export_is_read(name, tmp_path) -> None:
    unpack(tmp_path)
    done = worked(
        command("study", "analyse", f"exports/{name}", "--out", "out", "--json", folder=tmp_path, plots=False)
    )
    made = json.loads(done.out)
    assert name.startswith(f"{made['study']}-{made['kind']}-")
    assert (tmp_path / "out" / "results.md").read_text(encoding="utf-8")


def test_an_old_export_that_was_changed_is_refused(tmp_path) -> None:
    long = unpack(tmp_path) / EXPORTS[0] / "long.csv"
    long.write_text(long.read_text(encoding="utf-8").replace(",1,", ",0,", 1), encoding="utf-8")
    done = command("study", "analyse", f"exports/{EXPORTS[0]}", "--out", "out", folder=tmp_path, plots=False)
    assert done.code != 0
    assert "changed" in done.err
