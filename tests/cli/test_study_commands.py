"""The commands about studies, from a new design to a server that is stopped."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from cobandit.studies import design_text, load_design
from cobandit.studies.export import read_export
from cobandit.web.storage import study_data as stored
from cobandit.web.storage.database import Database
from tests.clients import PATIENCE, http_client


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COBANDIT_DATABASE", raising=False)
    monkeypatch.delenv("COBANDIT_PASSWORD", raising=False)
    return tmp_path


@pytest.fixture(scope="module")
def rehearsed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with four simulated participants of a small study, made by the commands themselves."""
    from typer.testing import CliRunner

    from cobandit.cli import app

    folder = tmp_path_factory.mktemp("rehearsed")
    design = folder / "tea.toml"
    database = f"sqlite:///{folder / 'studies.sqlite'}"
    for words in (
        ["new", "tea", "--from", "three-by-three", "--out", str(design)],
        ["simulate", str(design), "--participants", "4", "--behaviour", "softmax,naive-ucb", "--database", database],
    ):
        done = CliRunner().invoke(app, ["study", *words], catch_exceptions=False)
        assert done.exit_code == 0, done.output
    return folder / "studies.sqlite"


class TestDesigns:
    def test_new_and_check(self, run: Any, here: Path) -> None:
        done = run("study", "new", "breakfast", "--from", "burger")
        assert done.exit_code == 0
        made, old = load_design("breakfast.toml"), load_design("burger")
        assert (made.name, made.version) == ("breakfast", 1)
        assert made.to_dict() | {"name": "burger", "version": old.version} == old.to_dict()
        done = run("study", "check", "breakfast.toml")
        assert done.exit_code == 0
        assert "The design is fine." in done.stdout
        assert json.loads(run("study", "check", "breakfast.toml", "--json").stdout)["digest"] == made.digest

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (("new", "Bad Name"), "Bad Name"),
            (("check", "none.toml"), "cannot be read"),
            (("list",), "There is no database"),
            (("verify", "burger", "--database", "nonsense"), "an address such as"),
            (("serve", "burger", "--backup", "b", "--every", "soon"), "a time such as 30s"),
            (("serve", "burger", "--backup", "b", "--keep", "0"), "keep must be"),
            (("serve", "burger", "--every", "2h"), "require --backup"),
            (("serve", "burger", "--port", "0", "--unlisted", "burgr"), "Did you mean 'burger'"),
            (("backup", "b"), "There is no database"),
            (("restore", "b.sqlite"), "There is no backup"),
            (("serve", "burger", "--workers", "2"), "SQLite has one writer"),
            (("serve", "burger", "burger"), "named twice"),
            (
                ("serve", "burger", "--robot", "null", "--workers", "2", "--database", "postgresql://nobody@nowhere/x"),
                "one process drives the arm",
            ),
            (("serve", "burger", "--robot", "simulated", "--robot-url", "ws://robot"), "requires --robot rosbridge"),
            (("serve", "burger", "--robot", "null", "--robot-speed", "2"), "robot-speed must be"),
            (("serve", "burger", "--robot", "simulated", "--robot-skin", "fetsh"), "Did you mean 'fetch'"),
            (("serve", "burger", "--robot", "simulated", "--robot-skin", "fetch"), "pip install gymnasium-robotics"),
            (("serve", "burger", "--password", "short"), "at least 8"),
            (("serve", "burger", "--password-file", "none"), "cannot be read"),
            (("simulate", "nothing"), "There is no study 'nothing'"),
            (("simulate", "burger", "--participants", "0"), "participants must be"),
            (("simulate", "burger", "--url", "http://127.0.0.1:1"), "asks for the researcher's password"),
            (("simulate", "burger", "--url", "http://127.0.0.1:1", "--password", "x"), "cannot be reached"),
            (("export", "burger", "--url", "ftp://x", "--password", "x"), "an address such as http"),
        ],
    )
    def test_mistakes(self, run: Any, here: Path, words: tuple[str, ...], said: str) -> None:
        done = run("study", *words)
        assert done.exit_code == 2, done.output
        assert said in " ".join(done.stderr.split())

    def test_a_file_is_not_overwritten(self, run: Any, here: Path) -> None:
        (here / "mine.toml").write_text("kept", encoding="utf-8")
        done = run("study", "new", "mine")
        assert done.exit_code == 2
        assert "not overwritten" in done.stderr
        assert (here / "mine.toml").read_text(encoding="utf-8") == "kept"


class TestData:
    @pytest.fixture
    def database(self, rehearsed: Path, here: Path) -> str:
        """A copy of its own."""
        copy = here / "studies.sqlite"
        with contextlib.closing(sqlite3.connect(rehearsed)) as old, contextlib.closing(sqlite3.connect(copy)) as new:
            old.backup(new)
        return f"sqlite:///{copy}"

    def test_list(self, run: Any, database: str) -> None:
        [row] = json.loads(run("study", "list", "--json").stdout)["studies"]
        assert (row["name"], row["rehearsals"], row["finished"]) == ("tea", 4, 0)
        assert "tea" in run("study", "list").stdout

    @pytest.mark.parametrize("format", ["csv", "parquet"])
    def test_export(self, run: Any, database: str, here: Path, format: str) -> None:
        assert run("study", "export", "tea", "--kind", "rehearsal", "--format", format).exit_code == 0
        design, tables, _ = read_export(here / "out" / "tea-rehearsal")
        assert design.name == "tea"
        assert len(tables["long"]["t"]) == 4 * 2 * 40
        assert set(tables["wide"]["status"]) == {"finished"}
        assert "recruiter" not in tables["wide"]

    def test_an_export_never_holds_everybody_at_once(
        self, run: Any, database: str, here: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sizes = []
        people = stored._people

        def counted(connection: Any, part: Any, *rest: Any, **more: Any) -> Any:
            sizes.append(len(part))
            return people(connection, part, *rest, **more)

        monkeypatch.setattr(stored, "_people", counted)
        monkeypatch.setattr(stored, "ROUNDS_AT_ONCE", 80)
        assert run("study", "export", "tea", "--kind", "rehearsal").exit_code == 0
        assert sizes == [1, 1, 1, 1]
        assert len(read_export(here / "out" / "tea-rehearsal")[1]["long"]["t"]) == 4 * 2 * 40

    def test_rehearsals_are_not_among_real_data(self, run: Any, database: str, here: Path) -> None:
        done = run("study", "export", "tea")
        assert done.exit_code == 0
        assert "has no participants yet" in done.stderr
        assert len(read_export(here / "out" / "tea")[1]["wide"]["participant"]) == 0

    def test_verify_finds_what_was_changed(self, run: Any, database: str) -> None:
        assert "4 participants, 320 rounds: no difference." in run("study", "verify", "tea").stdout
        opened = Database(database)
        with opened.write() as connection:
            connection.execute(text("UPDATE rounds SET reward = 1 - reward WHERE episode_id = 1 AND t = 7"))
        opened.close()
        done = run("study", "verify", "tea", "--json")
        assert done.exit_code == 1
        found = json.loads(done.stdout)["differences"]
        assert {(one["t"], one["field"]) for one in found} == {(7, "reward"), (7, "hash")}
        assert run("study", "verify", "tea").exit_code == 1

    def test_the_audit_log_is_shown_written_and_verified(self, run: Any, database: str, here: Path) -> None:
        run("study", "export", "tea", "--kind", "rehearsal")
        done = run("study", "log")
        assert done.exit_code == 0
        assert "(command line): took data out tea v1" in done.stdout
        last = done.stdout.split()[-1].strip(".")
        assert run("study", "verify", "tea", "--log-hash", last).exit_code == 0
        assert run("study", "log", "--out", str(here / "log.jsonl")).exit_code == 0
        assert json.loads((here / "log.jsonl").read_text().splitlines()[-1])["hash"] == last
        opened = Database(database)
        with opened.write() as connection:
            connection.execute(text("DROP TRIGGER audit_no_delete"))
            connection.execute(text("DELETE FROM audit WHERE number = 2"))
        opened.close()
        done = run("study", "verify", "tea")
        assert done.exit_code == 1
        assert "audit log, entry 2: it is missing" in done.stdout
        assert json.loads(run("study", "verify", "tea", "--json").stdout)["audit_log"]["differences"] == [
            {
                "entry": 0,
                "problem": "the trigger audit_no_delete, which keeps the log from being changed, "
                "is missing or switched off",
            },
            {"entry": 2, "problem": "it is missing"},
        ]
        assert run("study", "log").exit_code == 1

    def test_delete(self, run: Any, database: str, here: Path) -> None:
        run("study", "export", "tea", "--kind", "rehearsal")
        who = read_export(here / "out" / "tea-rehearsal")[1]["wide"]["participant"][0]
        done = run("study", "delete-participant", "tea", who, stdin="n\n")
        assert "Nothing was deleted." in done.stderr
        done = run("study", "delete-participant", "tea", who, stdin="y\n")
        assert done.exit_code == 0
        assert "80 rounds" in done.stderr
        assert run("study", "delete-participant", "tea", who, "--yes").exit_code == 2
        assert run("study", "verify", "tea", "--participant", who).exit_code == 2
        assert "3 participants, 240 rounds" in run("study", "verify", "tea").stdout
        assert run("study", "delete-participant", "tea").exit_code == 2
        done = run("study", "delete-participant", "tea", "--rehearsals", "--yes")
        assert "Deleted 3 simulated participants." in done.stderr
        opened = Database(database)
        with opened.read() as connection:
            for table in ("participants", "episodes", "rounds", "answers", "events"):
                assert connection.execute(text(f"SELECT count(*) FROM {table}")).scalar() == 0
        opened.close()

    def test_the_same_ones_again(self, run: Any, database: str) -> None:
        words = ("study", "simulate", "tea", "--participants", "4", "--behaviour", "softmax,naive-ucb", "--json")
        rows = json.loads(run(*words).stdout)["participants"]
        assert [(row["finished"], row["rounds"]) for row in rows] == [(True, 0)] * 4

    def test_unknown_names(self, run: Any, database: str) -> None:
        assert "Did you mean 'tea'" in run("study", "verify", "teas").stderr
        assert "version" in run("study", "verify", "tea", "--version", "7").stderr


class TestServer:
    """The program itself, at a free port."""

    @pytest.fixture
    def server(self, here: Path) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
        words = [sys.executable, "-m", "cobandit", "study", "serve", "burger", "--port", "0", "--demo"]
        with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=os.environ | {"NO_COLOR": "1"}) as process:
            assert process.stderr is not None
            address = printed = ""
            for line in process.stderr:
                if line.startswith("cobandit studies at "):
                    address = line.split()[-1]
                printed += line
                if line.startswith("Stop with"):
                    break
            # Nobody sits there: what is printed ends in a log, so the password is in a file of its owner alone.
            kept = here / "admin-password.txt"
            password = kept.read_text(encoding="utf-8").strip()
            assert str(kept) in printed
            assert "burger takes no participants yet: its consent (" in printed
            assert password not in printed
            assert stat.S_IMODE(kept.stat().st_mode) == 0o600
            try:
                yield process, address, password
            finally:
                process.kill()

    def test_serve_simulate_export_and_stop(self, run: Any, here: Path, server: Any) -> None:
        process, address, password = server
        client = http_client(address)
        assert client.get("/api/health").json() == {"status": "ok"}
        assert "/s/burger?demo=1" in client.get("/").text
        (here / "word").write_text(password + "\n", encoding="utf-8")
        login = ("--url", address, "--password-file", "word")
        done = run("study", "simulate", "burger", "--participants", "2", "--behaviour", "epsilon-greedy", *login)
        assert done.exit_code == 0, done.output
        assert "2 of 2" in done.stdout
        done = run("study", "export", "burger", "--kind", "rehearsal", "--out", "got", *login)
        assert done.exit_code == 0, done.output
        assert len(read_export(here / "got")[1]["long"]["t"]) == 2 * 2 * 20
        done = run("study", "export", "burger", "--url", address, "--password", "not-this-one")
        assert done.exit_code == 2
        assert "The password is wrong." in done.stderr
        done = run("study", "export", "burgr", *login)
        assert "Did you mean 'burger'" in done.stderr
        client.close()
        process.send_signal(signal.SIGINT)
        _, rest = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        assert "everything is stored" in rest
        assert "2 participants, 80 rounds: no difference." in run("study", "verify", "burger").stdout


def test_accounts_are_added_listed_reset_and_removed(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    opened = Database("sqlite:///studies.sqlite")
    opened.migrate()
    opened.close()
    added = run("study", "accounts", "add", "anna", "--role", "researcher")
    assert added.exit_code == 0
    assert len(added.stdout.strip()) == 16
    assert run("study", "accounts", "add", "anna").exit_code == 2
    assert "Did you mean 'owner'" in run("study", "accounts", "add", "ben", "--role", "owne").stderr
    listed = run("study", "accounts", "list").stdout
    assert [word in listed for word in ("owner", "anna", "researcher", "off")] == [True] * 4
    assert run("study", "accounts", "reset", "anna").stdout != added.stdout
    assert run("study", "accounts", "reset", "owner").exit_code == 0
    assert run("study", "accounts", "remove", "anna").exit_code == 0
    assert run("study", "accounts", "remove", "owner").exit_code == 2


def test_services_of_a_design_are_asked(run, here, monkeypatch):
    english = design_text("three-seats").partition("[translations")[0]
    text = re.sub(r"^(seats|languages) = .*\n", "", english, flags=re.MULTILINE)
    model = 'player = "service"\nservice = { kind = "language-model" }'
    (here / "model.toml").write_text(text.replace('player = "agent"', model, 1), encoding="utf-8")
    shown = run("study", "check", "model.toml", "--services")
    assert shown.exit_code == 0, shown.output
    assert "service language-model in the seat" in shown.stdout
    assert "moves, up to some" in shown.stdout
    assert shown.stdout.count("asked language-model in the seat") == len(load_design("three-seats").conditions)
    monkeypatch.delenv("COBANDIT_LLM_URL")
    silent = run("study", "check", "model.toml", "--services")
    assert silent.exit_code == 1
    assert "no move: COBANDIT_LLM_URL must be the address" in silent.stdout


def test_schema_is_printed_and_written(run: Any, here: Path) -> None:
    printed = json.loads(run("study", "schema").stdout)
    assert printed["title"] == "cobandit study design"
    done = run("study", "schema", "--out", "design.schema.json")
    assert "#:schema ./design.schema.json" in done.output
    assert json.loads((here / "design.schema.json").read_text(encoding="utf-8")) == printed
