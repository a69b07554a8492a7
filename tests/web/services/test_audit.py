"""Who did what: written down with what is done, never changed, and shown."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from cobandit.studies import StudyDesign
from cobandit.web.serving import prepare
from cobandit.web.storage.audit import all_entries, check_log, head_of_log, record
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.triggers import POSTGRESQL, SQLITE
from cobandit.web.storage.witness import read_witness, witness_file

PASSWORD = "correct horse"


@pytest.fixture(params=["sqlite", "postgresql"])
def stored(request: pytest.FixtureRequest) -> Iterator[Database]:
    """A database of either kind with three entries."""
    database = Database(str(request.getfixturevalue(request.param)))
    database.migrate()
    with database.write() as connection:
        record(connection, "owner", "study-opened", "a v1")
        record(connection, "owner", "participant-deleted", "a v1", participant="p-1")
    yield database
    database.close()


def _problems(database: Database) -> list[str]:
    with database.read() as connection:
        return [str(difference) for difference in check_log(connection)]


def _without_triggers(connection: Connection) -> None:
    if connection.dialect.name == "sqlite":
        for (name,) in connection.execute(text("SELECT name FROM sqlite_master WHERE type = 'trigger'")).all():
            connection.execute(text(f"DROP TRIGGER {name}"))
    else:
        for table in ("audit", "audit_head"):
            connection.execute(text(f"ALTER TABLE {table} DISABLE TRIGGER ALL"))


def _with_triggers(connection: Connection) -> None:
    if connection.dialect.name == "sqlite":
        for statement in SQLITE:
            connection.execute(text(statement))
    else:
        for table in ("audit", "audit_head"):
            connection.execute(text(f"ALTER TABLE {table} ENABLE TRIGGER ALL"))


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit SET details = '{}' WHERE number = 3",
        "UPDATE audit SET number = 9 WHERE number = 3",
        "DELETE FROM audit WHERE number = 3",
        "DELETE FROM audit",
        "INSERT INTO audit SELECT number + 5, at, by, action, study, details, previous, hash FROM audit",
        "UPDATE audit_head SET number = 2",
        "UPDATE audit_head SET hash = 'x'",
        "DELETE FROM audit_head",
        "INSERT INTO audit_head VALUES (2, 0, 'x')",
        "sqlite: REPLACE INTO audit SELECT number, at, 'me', action, study, details, previous, hash FROM audit",
        "sqlite: REPLACE INTO audit_head VALUES (1, 2, 'x')",
        "postgresql: TRUNCATE audit",
        "postgresql: TRUNCATE audit_head",
    ],
)
def test_the_database_itself_refuses_to_change_the_log(stored: Database, statement: str) -> None:
    kind, _, special = statement.partition(": ")
    if special and kind != stored.url.get_backend_name():
        return
    with pytest.raises(DBAPIError, match="only ever grows"), stored.writing.begin() as connection:
        connection.execute(text(special or statement))
    assert _problems(stored) == []


def test_what_is_done_without_the_triggers_is_found(stored: Database) -> None:
    with stored.writing.begin() as connection:
        if stored.sqlite:
            connection.execute(text("DROP TRIGGER audit_no_update"))
        else:
            connection.execute(text("ALTER TABLE audit DISABLE TRIGGER ALL"))
        connection.execute(text('UPDATE audit SET details = \'{"participant": "p-2"}\' WHERE number = 3'))
    triggers = "audit_no_update" if stored.sqlite else "audit_no_change"
    problems = _problems(stored)
    assert problems[-1] == "audit log, entry 3: it was changed"
    missing = f"the trigger {triggers}, which keeps the log from being changed, is missing or switched off"
    assert f"audit log: {missing}" in problems


@pytest.mark.parametrize("place", range(6))
def test_a_trigger_that_was_removed_or_replaced_is_named(stored: Database, place: int) -> None:
    assert _problems(stored) == []
    with stored.writing.begin() as connection:
        if stored.sqlite:
            name = SQLITE[place].split()[2]
            connection.execute(text(f"DROP TRIGGER {name}"))
        else:
            name, table = [sql.split() for sql in POSTGRESQL if "CREATE TRIGGER" in sql][place][2], "audit"
            table = "audit_head" if "head" in name else "audit"
            connection.execute(text(f"DROP TRIGGER {name} ON {table}"))
    [problem] = _problems(stored)
    assert (
        problem == f"audit log: the trigger {name}, which keeps the log from being changed, is missing or switched off"
    )
    with stored.writing.begin() as connection:
        if stored.sqlite:
            connection.execute(text(f"CREATE TRIGGER {name} BEFORE UPDATE ON audit BEGIN SELECT 1; END"))
        else:
            grows = "CREATE OR REPLACE FUNCTION cobandit_audit_grows() RETURNS trigger LANGUAGE plpgsql AS"
            connection.execute(text(f"{grows} $$ BEGIN RETURN NULL; END $$"))
    assert any("is another one now" in problem for problem in _problems(stored))


@pytest.mark.parametrize("left", [0, 1, 2])
def test_a_log_that_was_cut_at_its_end_is_noticed(stored: Database, left: int) -> None:
    """Whoever writes to the database removes the last entries, sets the head back and restores the triggers."""

    def cut(connection: Connection) -> None:
        _without_triggers(connection)
        connection.execute(text("DELETE FROM audit WHERE number > :left"), {"left": max(left, 1)})
        head = connection.scalar(text("SELECT hash FROM audit WHERE number = 1")) if left < 2 else None
        last = head or connection.scalar(text("SELECT hash FROM audit WHERE number = :n"), {"n": left})
        connection.execute(text("UPDATE audit_head SET number = :n, hash = :h"), {"n": max(left, 1), "h": last})
        _with_triggers(connection)

    with stored.writing.begin() as connection:
        kept = connection.scalar(text("SELECT hash FROM audit WHERE number = 3"))
        cut(connection)
    said = f"the log was cut: it had entry 3 with hash {str(kept)[:12]}..., which this machine has kept"
    assert _problems(stored) == [f"audit log, entry {max(left, 1)}: {said}"]
    with stored.write() as connection:  # further entries do not cover it up
        for _ in range(4):
            record(connection, "owner", "study-closed", "a v1")
    [problem] = _problems(stored)
    assert "entry 3: the log was rewritten: it had entry 3" in problem


def test_the_server_keeps_the_head_of_its_log(site: Any, admin: httpx.Client) -> None:
    admin.post("/api/admin/studies/1/close").raise_for_status()
    with site.database.read() as connection:
        assert read_witness(connection) == head_of_log(connection)
        path = witness_file(connection)
    assert path is not None
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with site.database.writing.begin() as connection:
        _without_triggers(connection)
        number, _ = head_of_log(connection)
        connection.execute(text("DELETE FROM audit WHERE number = :n"), {"n": number})
        previous = connection.scalar(text("SELECT hash FROM audit WHERE number = :n"), {"n": number - 1})
        connection.execute(text("UPDATE audit_head SET number = :n, hash = :h"), {"n": number - 1, "h": previous})
        _with_triggers(connection)
    [difference] = admin.get("/api/admin/log").json()["differences"]
    assert difference["problem"].startswith("the log was cut")


def test_where_the_head_cannot_be_kept_the_act_stands(
    stored: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with stored.write() as connection:
        record(connection, "owner", "study-closed", "a v1")
    assert "cannot be kept" in caplog.text
    assert _problems(stored) == []
    with stored.read() as connection:
        assert head_of_log(connection)[0] == 4


def test_an_act_that_fails_leaves_no_entry(stored: Database) -> None:
    with stored.writing.connect() as connection, connection.begin() as transaction:
        record(connection, "owner", "export")
        transaction.rollback()
    with pytest.raises(ValueError, match="knows no action 'tea'"), stored.writing.begin() as connection:
        record(connection, "owner", "tea")
    with stored.read() as connection:
        assert [entry.action for entry in all_entries(connection)] == [
            "log-begun",
            "study-opened",
            "participant-deleted",
        ]


def _entries(site: Any) -> list[tuple[Any, ...]]:
    query = "SELECT by, action, study, details FROM audit ORDER BY number"
    return [(by, action, study, json.loads(details)) for by, action, study, details in site.query(query)]


def test_what_a_researcher_does_is_written_down(site: Any, short: StudyDesign) -> None:
    person = site.person(recruiting={"PROLIFIC_PID": "5f1234567890abcdef123456"})
    name = site.public_id(person.token)
    client = site.client()
    before = len(_entries(site))
    assert client.post("/api/admin/login", json={"password": "wrong horse"}).status_code == 403
    login = client.post("/api/admin/login", json={"password": PASSWORD}).json()["token"]
    client.headers["authorization"] = f"Bearer {login}"
    for path in ("close", "open"):
        client.post(f"/api/admin/studies/1/{path}").raise_for_status()
    for path in ("/api/admin/studies/1/export?recruiting=true", "/api/admin/studies/1/links.csv"):
        client.get(path).raise_for_status()
    client.get("/admin/studies/1/payments.csv").raise_for_status()
    client.delete(f"/api/admin/studies/1/participants/{name}").raise_for_status()
    client.get("/api/admin/log/entries.jsonl").raise_for_status()
    client.post("/api/admin/logout").raise_for_status()
    entries = _entries(site)[before:]
    mark = entries[0][3]["network"]
    assert len(mark) == 4
    assert entries[0][:2] == ("unknown", "login-failed")
    assert entries[1] == ("owner", "login", None, {"via": "program", "network": mark})
    assert [(by, action, study) for by, action, study, _ in entries[2:]] == [
        ("owner", "study-closed", "short v1"),
        ("owner", "study-opened", "short v1"),
        ("owner", "export", "short v1"),
        ("owner", "export", "short v1"),
        ("owner", "export", "short v1"),
        ("owner", "participant-deleted", "short v1"),
        ("owner", "export", None),
        ("owner", "logout", None),
    ]
    assert entries[4][3] == {"tables": "all", "format": "csv", "kind": "real", "recruiting": True}
    assert re.fullmatch("[0-9a-f]{12}", entries[7][3]["participant"])
    # Nothing that deleting would have to remove: no link, no recruiting id, no address.
    whole = json.dumps(_entries(site))
    assert not any(secret in whole for secret in (person.token, "5f1234567890abcdef123456", "127.0.0.1", PASSWORD))


def test_guessing_fills_no_disk(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cobandit.web.access.FAILURES_LISTED", 3)
    before = len(_entries(site))
    client = site.client()
    for _ in range(8):
        client.post("/api/admin/login", json={"password": "wrong horse"})
    counts = [entry[3]["in_this_quarter_of_an_hour"] for entry in _entries(site)[before:]]
    assert counts == [1, 2, 3, 6]


def test_the_log_is_shown_page_by_page_and_exported(site: Any, admin: httpx.Client, browser_of: httpx.Client) -> None:
    with site.database.write() as connection:
        for number in range(60):
            record(connection, "<b>eve</b>", "export", "short v1", part=number)
    page = browser_of.get("/admin/log").text
    assert "<b>eve</b>" not in page
    assert "&lt;b&gt;eve" in page
    assert ">whole<" in page
    assert "before=" in page
    view = admin.get("/api/admin/log").json()
    assert view["differences"] == []
    older = admin.get("/api/admin/log", params={"before": view["older"]}).json()
    numbers = [entry["number"] for entry in view["entries"] + older["entries"]]
    assert numbers == list(range(view["count"], 0, -1))
    lines = admin.get("/api/admin/log/entries.jsonl").text.splitlines()
    assert [json.loads(line)["number"] for line in lines] == list(range(1, view["count"] + 2))
    site.change("DROP TRIGGER audit_no_delete")
    site.change("DELETE FROM audit WHERE number = 7")
    assert "Entry 7: it is missing" in browser_of.get("/admin/log").text


def test_what_is_done_at_the_start_is_written_down(short_sqlite: str, short: StudyDesign) -> None:
    prepare(short_sqlite, [short], password="another horse")
    database = Database(short_sqlite)
    with database.read() as connection:
        entries = list(all_entries(connection))
    database.close()
    assert [entry.action for entry in entries] == [
        "log-begun",
        "study-registered",
        "password-changed",
        "password-changed",
    ]
    assert entries[1].by.endswith("command line)")
