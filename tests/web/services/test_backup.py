"""Backups while people play, and the way back; whatever happens on the way, nothing half looks whole."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from cobandit.base.errors import InvalidInput
from cobandit.studies import StudyDesign, verify_study
from cobandit.web.schedule import BackupSchedule
from cobandit.web.services.backup import back_up, last_backup, restore
from cobandit.web.serving import durability_warnings, prepare
from cobandit.web.storage.audit import check_log, head_of_log, record
from cobandit.web.storage.database import Database
from cobandit.web.storage.studies import find_study
from cobandit.web.storage.study_data import study_data
from cobandit.web.storage.witness import read_witness

TABLES = ("studies", "participants", "answers", "episodes", "rounds", "events", "audit", "settings")


def _rows(database: Database) -> dict[str, list[tuple[Any, ...]]]:
    with database.read() as connection:
        return {
            table: [tuple(row) for row in connection.execute(text(f"SELECT * FROM {table} ORDER BY 1, 2"))]
            for table in TABLES
            if table not in ("audit", "settings")
        }


def _actions(database: Database) -> list[str]:
    with database.read() as connection:
        return list(connection.execute(text("SELECT action FROM audit ORDER BY number")).scalars())


@pytest.fixture
def played(site: Any, short: StudyDesign) -> Any:
    """A running server with somebody who has played."""
    site.person().go_on(short, until="survey-1")
    site.login()
    return site


def test_a_backup_of_a_running_study_and_the_way_back(played: Any, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    backup = back_up(played.database, folder)
    assert (backup.checked.participants, backup.checked.problems) == (1, ())
    assert backup.checked.rounds > 0
    assert stat.S_IMODE(backup.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [file.name for file in folder.iterdir()] == [backup.path.name]  # one file, nothing beside it
    assert played.client().get("/api/health").status_code == 200
    before = _rows(played.database)
    again = Database(f"sqlite:///{tmp_path / 'again.sqlite'}")
    assert restore(backup.path, again).problems == ()
    assert _rows(again) == before
    assert _actions(again)[-2:] == ["backup", "restored"]
    with again.read() as connection:
        assert connection.execute(text("SELECT count(*) FROM admin_logins")).scalar() == 0
    assert stat.S_IMODE((tmp_path / "again.sqlite").stat().st_mode) == 0o600
    again.close()
    page = played.client(headers={"authorization": f"Bearer {played.login()}"}).get("/admin").text
    assert backup.path.name in page


def test_a_restored_log_ends_earlier_and_is_whole(database: Database, tmp_path: Path) -> None:
    """What this machine has kept of the log goes back with the database; a copy elsewhere is another log."""
    backup = back_up(database, tmp_path / "backups").path
    with database.write() as connection:
        record(connection, "owner", "study-closed", "short v1")
    copy = Database(f"sqlite:///{tmp_path / 'copy.sqlite'}")
    restore(backup, copy)
    for opened in (copy, database):
        with opened.write() as connection:
            record(connection, "owner", "study-opened", "short v1")
        with opened.read() as connection:
            assert check_log(connection) == []
            assert read_witness(connection) == head_of_log(connection)
    copy.close()
    database.writing.dispose()
    database.reading.dispose()
    restore(backup, database, overwrite=True)
    with database.read() as connection:
        assert check_log(connection) == []
        assert read_witness(connection) == head_of_log(connection)


def test_a_database_is_not_written_over_by_mistake_nor_under_its_server(played: Any, tmp_path: Path) -> None:
    backup = back_up(played.database, tmp_path / "backups").path
    before = _rows(played.database)
    with pytest.raises(InvalidInput, match="--overwrite puts"):
        restore(backup, played.database)
    with pytest.raises(InvalidInput, match="is in use"):
        restore(backup, played.database, overwrite=True)
    assert _rows(played.database) == before
    other = tmp_path / "other.sqlite"
    shutil.copy(backup, other)
    database = Database(f"sqlite:///{other}")
    restore(backup, database, overwrite=True)
    assert _rows(database) == before
    database.close()
    [old] = tmp_path.glob("other.sqlite.before-restore-*")
    assert old.stat().st_size > 0


@pytest.mark.parametrize("backend", ["sqlite", "postgresql"])
def test_restoring_while_people_play_is_refused_and_loses_nothing(
    backend: str, short: StudyDesign, open_site: Any, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    site = open_site(request.getfixturevalue(backend), short)
    site.person().go_on(short, until="episode-1")
    backup = back_up(site.database, tmp_path / "backups").path
    site.database.close()  # the server alone uses it, as in a command of its own
    people = [site.person() for _ in range(4)]
    refused = list[str]()
    with ThreadPoolExecutor(len(people)) as pool:
        playing = [pool.submit(person.go_on, short) for person in people]
        while len(refused) < 3 or not all(work.done() for work in playing):
            database = Database(site.config.database)
            with pytest.raises(InvalidInput, match=r"in use.*Stop its server first") as error:
                restore(backup, database, overwrite=True)
            refused.append(str(error.value))
            database.close()
    assert [work.result()["step"]["kind"] for work in playing] == ["thanks"] * len(people)
    rounds = "SELECT count(*) FROM rounds r JOIN episodes e ON e.id = r.episode_id WHERE e.participant_id > 1"
    assert site.query(rounds) == [(len(people) * (2 + 4 * 5),)]
    with site.database.read() as connection:
        stored = find_study(connection, "short")
        assert stored is not None
        assert list(verify_study(study_data(connection, stored))) == []


def test_old_backups_go_unless_the_newest_shows_differences(played: Any, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    (folder).mkdir()
    (folder / "notes.txt").write_text("mine")
    paths = [back_up(played.database, folder, 2).path for _ in range(3)]
    assert not paths[0].exists()
    assert (paths[1].exists(), paths[2].exists(), (folder / "notes.txt").exists()) == (True, True, True)
    played.change("UPDATE rounds SET reward = 1 - reward WHERE t = 1")
    differing = back_up(played.database, folder, 1)
    assert differing.checked.problems
    assert differing.deleted == ()
    assert paths[1].exists()
    with played.database.read() as connection:
        status = last_backup(connection)
    assert status is not None
    assert status["problem"]
    with pytest.raises(InvalidInput, match="is not what was stored"):
        restore(differing.path, Database(f"sqlite:///{tmp_path / 'again.sqlite'}"))
    assert not (tmp_path / "again.sqlite").exists()
    assert restore(differing.path, Database(f"sqlite:///{tmp_path / 'again.sqlite'}"), despite=True).problems


def _program(code: str, database: Database, folder: Path) -> subprocess.CompletedProcess[str]:
    begin = (
        "import os, signal, sys, resource\nfrom pathlib import Path\n"
        "from cobandit.web.services import backup\nfrom cobandit.web.storage.database import Database\n"
    )
    end = "\nbackup.back_up(Database(sys.argv[1]), Path(sys.argv[2]))\n"
    address = database.url.render_as_string(hide_password=False)
    command = [sys.executable, "-c", begin + code + end, address, str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_backup_that_is_killed_leaves_nothing_that_looks_like_one(played: Any, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    killed = _program("backup.verify_file = lambda path: os.kill(os.getpid(), signal.SIGKILL)", played.database, folder)
    assert killed.returncode == -signal.SIGKILL
    assert [file.name for file in folder.glob("*.sqlite")] == []
    [part] = folder.glob(".backup-*")
    assert stat.S_IMODE(part.stat().st_mode) == 0o600
    whole = back_up(played.database, folder).path
    assert [file.name for file in folder.iterdir()] == [whole.name]  # the leftover is gone


def test_a_full_disk_is_told_and_leaves_nothing(played: Any, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    # No file may grow beyond this: the nearest thing to a full disk without one.
    limit = "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\nresource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))"
    copying = (
        "\nreal = backup.copy_to_file\n"
        f"def limited(*words):\n    {limit.replace(chr(10), chr(10) + '    ')}\n    real(*words)\n"
        "backup.copy_to_file = limited"
    )
    done = _program(copying, played.database, folder)
    assert done.returncode == 1
    assert "could not be copied" in done.stderr
    assert list(folder.iterdir()) == []


def test_a_file_that_is_no_backup_is_refused(tmp_path: Path, played: Any) -> None:
    backup = back_up(played.database, tmp_path / "backups").path
    torn = tmp_path / "torn.sqlite"
    torn.write_bytes(backup.read_bytes()[: backup.stat().st_size // 2])
    target = Database(f"sqlite:///{tmp_path / 'again.sqlite'}")
    with pytest.raises(InvalidInput, match="cannot be used"):
        restore(torn, target)
    with pytest.raises(InvalidInput, match="There is no backup"):
        restore(tmp_path / "nothing.sqlite", target)
    assert sorted(file.name for file in tmp_path.iterdir() if file.name.startswith((".", "again"))) == []


def test_postgresql_into_a_file_and_back(postgresql: str, short: StudyDesign, open_site: Any, tmp_path: Path) -> None:
    site = open_site(postgresql, short)
    site.person().go_on(short, until="survey-1")
    backup = back_up(site.database, tmp_path / "backups")
    assert backup.checked.problems == ()
    before = _rows(site.database)
    with sqlite3.connect(backup.path) as file:
        assert file.execute("SELECT count(*) FROM rounds").fetchone()[0] == len(before["rounds"])
        assert len(list(file.execute("SELECT 1 FROM sqlite_master WHERE type = 'trigger'"))) == 6
    file.close()
    with pytest.raises(InvalidInput, match="is not empty"):
        restore(backup.path, site.database)
    with pytest.raises(InvalidInput, match="is in use"):
        restore(backup.path, site.database, overwrite=True)
    assert any("fsync" in warning for warning in durability_warnings(postgresql))


def test_a_file_into_postgresql(
    postgresql: str, played: Any, short: StudyDesign, open_site: Any, tmp_path: Path
) -> None:
    backup = back_up(played.database, tmp_path / "backups").path
    target = Database(postgresql)
    assert restore(backup, target).problems == ()
    restore(backup, target, overwrite=True)
    assert _rows(target) == _rows(played.database)
    with pytest.raises(InvalidInput, match="only ever grows"), target.write() as connection:
        connection.execute(text("DELETE FROM audit"))
    target.close()
    site = open_site(postgresql)
    site.person().go_on(short, until="episode")  # numbers go on after those that were copied
    assert len(site.query("SELECT 1 FROM participants")) == 2
    assert durability_warnings(played.config.database) == []


def test_backups_by_the_clock(played: Any, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    schedule = BackupSchedule(played.config.database, folder, 3600, 2)
    assert schedule._run() is None
    assert len(list(folder.glob("studies-*.sqlite"))) == 1
    assert "backup" not in _actions(played.database)  # what goes by the clock would be most of the log
    broken = BackupSchedule(f"sqlite:///{tmp_path / 'nothing.sqlite'}", folder, 3600, 2)
    assert "There is no database" in str(broken._run())
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInput, match="cannot be made"):
        BackupSchedule(played.config.database, tmp_path / "file" / "x", 3600, 2)


def test_the_clock_stops_with_the_server(short_sqlite: str, short: StudyDesign, tmp_path: Path) -> None:
    prepare(short_sqlite, [short])
    schedule = BackupSchedule(short_sqlite, tmp_path / "backups", 3600, 2)
    with schedule:
        assert schedule._thread.is_alive()
    assert not schedule._thread.is_alive()
    assert schedule._child is None
