"""Data of a study with teams that an earlier version wrote: verified, exported, analysed, and a member deleted."""

from __future__ import annotations

import csv
import gzip
import sqlite3
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cobandit.studies import load_design, read_export

FIXTURE = Path(__file__).parents[1] / "fixtures" / "teams-1"
Run = Callable[..., Any]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COBANDIT_DATABASE", raising=False)
    (tmp_path / "studies.sqlite").write_bytes(gzip.decompress((FIXTURE / "studies.sqlite.gz").read_bytes()))
    with tarfile.open(FIXTURE / "exports.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path


def test_the_log_verifies(here: Path, run: Run) -> None:
    done = run("study", "verify", "small-pair")
    assert done.exit_code == 0
    assert "6 participants, 108 rounds: no difference." in done.output
    assert "78 moves recomputed, 114 recorded." in done.output
    with sqlite3.connect(here / "studies.sqlite") as database:
        versions = {row[0][:2] for row in database.execute("SELECT hash FROM rounds")}
    assert versions == {"2:", "3:"}


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE moves SET by = 'takeover' WHERE by = 'person' AND seat = 0 AND t = 3",
        "UPDATE teams SET roster = 'x'",
        "UPDATE moves SET arm = 1 - arm WHERE t = 2",
    ],
)
def test_a_changed_log_does_not(here: Path, run: Run, change: str) -> None:
    with sqlite3.connect(here / "studies.sqlite") as database:
        assert database.execute(change).rowcount > 0
    assert run("study", "verify", "small-pair").exit_code != 0


def test_the_export_is_what_it_was(here: Path, run: Run) -> None:
    assert run("study", "export", "small-pair", "--kind", "rehearsal", "--out", "again").exit_code == 0
    for name in ("long", "wide", "survey", "events"):
        file = f"{name}.csv"
        assert (here / "again" / file).read_bytes() == (here / "small-pair-csv" / file).read_bytes(), name
    codebook = (here / "small-pair-csv" / "codebook.csv").read_text(encoding="utf-8")
    for before, after in (
        ("researcher | empty: stayed", "researcher | withdrew | empty: stayed"),  # people could not withdraw then
        ("dropped | finished\n", "dropped | finished | removed\n"),  # nor could researchers remove them
    ):
        assert codebook.count(before) == 1
        codebook = codebook.replace(before, after)
    assert (here / "again" / "codebook.csv").read_text(encoding="utf-8") == codebook
    for form in ("csv", "parquet"):
        design, read, _ = read_export(here / f"small-pair-{form}")
        assert design.digest == load_design(FIXTURE / "small-pair.toml").digest
        long = read["long"]
        assert set(long["by_0"]) | set(long["by_1"]) == {"person", "agent", "takeover"}
        np.testing.assert_array_equal(long["takeover_1"], (long["by_1"] == "takeover").astype(int))
        assert {team: int((read["wide"]["team"] == team).sum()) for team in set(read["wide"]["team"])}


def test_it_is_analysed_by_team(here: Path, run: Run) -> None:
    done = run("study", "analyse", "small-pair-csv", "--out", "csv")
    assert "4 simulated participants analysed, 2 of 6 excluded" in done.output
    assert run("study", "analyse", "small-pair-parquet", "--out", "parquet").exit_code == 0
    assert (here / "csv" / "results.csv").read_bytes() == (here / "parquet" / "results.csv").read_bytes()
    text = (here / "csv" / "results.md").read_text(encoding="utf-8")
    assert "4 simulated participants were analysed in 2 simulated teams, of 6 who began. Excluded: 2 in a team" in text
    page = (here / "csv" / "report.html").read_text(encoding="utf-8")
    assert "The unit of all tests is the team of 2 people" in page


def test_a_deleted_member_leaves_arms_alone(here: Path, run: Run) -> None:
    query = """SELECT p.public_id, m.team_id FROM members m JOIN participants p ON p.id = m.participant_id
               WHERE m.seat = 0 AND m.team_id IN (SELECT team_id FROM members GROUP BY team_id
               HAVING count(participant_id) = 2) ORDER BY m.team_id"""
    with sqlite3.connect(here / "studies.sqlite") as database:
        who, team = database.execute(query).fetchone()
    assert run("study", "delete-participant", "small-pair", who, "--yes").exit_code == 0
    with sqlite3.connect(here / "studies.sqlite") as database:
        moves = database.execute(
            "SELECT seat, arm, by, key, ms, at FROM moves "
            "WHERE episode_id IN (SELECT id FROM episodes WHERE team_id = ?)",
            [team],
        ).fetchall()
    assert {seat: {row[3:] == (None, None, None) for row in moves if row[0] == seat} for seat in (0, 1)} == {
        0: {True},
        1: {False},
    }
    assert {row[2] for row in moves} == {"person"}
    assert all(row[1] in (0, 1) for row in moves)
    assert "5 participants, 90 rounds: no difference." in run("study", "verify", "small-pair").output
    assert run("study", "export", "small-pair", "--kind", "rehearsal", "--out", "left").exit_code == 0
    with (here / "left" / "long.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["condition"] == "human"]
    mine = [row for row in rows if row["by_0"] == "person" and row["ms_0"] == "" and row["ms_1"] != ""]
    assert len(mine) == 6
    for name in ("wide", "survey", "events", "long"):
        assert who not in (here / "left" / f"{name}.csv").read_text(encoding="utf-8-sig")


def test_power_counts_people_and_teams(run: Run) -> None:
    words = ("study", "power", "burger-pair", "--participants", "8,16", "--simulations", "4", "--seed", "1")
    done = run(*words)
    assert done.exit_code == 0
    assert "16 in 8 teams" in done.output
    assert "every test has one value per team" in " ".join(done.output.split())
    assert "people leave" not in done.output
    done = run(*words, "--dropout", "0.2", "--alike", "1")
    assert "20 % of the people leave" in " ".join(done.output.split())
    assert "100 % of the teams are of one kind" in " ".join(done.output.split())


@pytest.mark.parametrize(("option", "value"), [("--dropout", "1"), ("--alike", "nan"), ("--participants", "9")])
def test_power_refuses(run: Run, option: str, value: str) -> None:
    done = run("study", "power", "burger-pair", "--simulations", "2", option, value)
    assert done.exit_code == 2
    assert "must be" in done.output + done.stderr


def test_check_and_plan_warn_about_people_of_one_team(here: Path, run: Run) -> None:
    checked = " ".join(run("study", "check", "burger-pair").output.split())
    assert "unit of the tests: the team" in checked
    assert "warning: P-regret-human" in checked
    done = run("study", "plan", "burger-pair", "--n", "9", "--out", "plan.toml", "--database", "sqlite:///none.sqlite")
    written = " ".join((done.output + done.stderr).split())
    assert "n is 9, and teams have 2 people" in written
    assert "takeover_share = 0.1" in (here / "plan.toml").read_text(encoding="utf-8")
