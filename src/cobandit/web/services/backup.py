"""Backups: a verified copy under its own name, readable only by its owner; and restoring.

A copy is written under a name that begins with a dot and renamed only when it is completely on the disk, so that a
power cut leaves no partial backup that looks complete.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from cobandit.base.errors import InvalidInput
from cobandit.base.json_types import JsonObject
from cobandit.studies.audit import verify_log
from cobandit.studies.verify import verify_study
from cobandit.web.storage.audit import all_entries, command_line, head_of_log, record
from cobandit.web.storage.copies import (
    copy_from_file,
    copy_to_file,
    flush,
    integrity_problems,
    is_empty,
    leave_wal,
    others_connected,
    sqlite_url,
)
from cobandit.web.storage.database import Connection, Database, database_message
from cobandit.web.storage.logins import end_logins, forget_browsers, forget_networks
from cobandit.web.storage.participants import participants_of
from cobandit.web.storage.settings import read_setting, write_setting
from cobandit.web.storage.studies import all_studies
from cobandit.web.storage.study_data import study_data
from cobandit.web.storage.triggers import trigger_differences
from cobandit.web.storage.values import as_json, now_ms
from cobandit.web.storage.witness import keep_witness

NAME = re.compile(r"studies-(\d{8}T\d{6}Z)(?:-(\d+))?\.sqlite")
MOST_PROBLEMS = 20
_PART = re.compile(r"\.backup-(\d+)-[0-9a-f]+\.part(-journal|-wal|-shm)?")
_STATUS = "backup-status"


@dataclass(frozen=True)
class Checked:
    """What verifying a copy has found: how much there is, and every difference."""

    participants: int
    rounds: int
    entries: int
    problems: tuple[str, ...]

    def __str__(self) -> str:
        count = len(self.problems)
        verdict = f"{count} difference{'' if count == 1 else 's'}" if count else "no difference"
        return (
            f"{self.participants:,} participants, {self.rounds:,} rounds, {self.entries:,} entries of the audit log: "
            f"{verdict}."
        )


@dataclass(frozen=True)
class Backup:
    """A finished backup: the file, what was found in it, and the older ones that were deleted."""

    path: Path
    checked: Checked
    deleted: tuple[Path, ...]


def back_up(database: Database, folder: Path, keep: int | None = None, *, scheduled: bool = False) -> Backup:
    """Copy a database into a folder, verify the copy, and keep the newest ``keep`` of those that are there.

    Where the copy shows differences it is kept all the same, and no older one is deleted.
    """
    _make_folder(folder)
    _delete_leftovers(folder)
    if not scheduled:  # what goes by the clock would be most of the log
        with database.write() as connection:
            record(connection, command_line(), "backup", folder=folder.absolute().name)
    try:
        with _new_file(folder) as part:
            copy_to_file(database, part)
            if problems := integrity_problems(part):
                raise InvalidInput(f"The copy is not whole and was thrown away: {problems[0]}.")
            checked = verify_file(part)
            flush(part)
            path = _final_name(folder)
            os.rename(part, path)
            flush(folder)
    except OSError as error:
        problem = f"The backup could not be written to {str(folder)!r}: {database_message(error)}."
        _note(database, None, problem)
        raise InvalidInput(problem) from error
    except InvalidInput as error:
        _note(database, None, str(error))
        raise
    deleted = _delete_old(folder, path, keep) if not checked.problems else ()
    _note(database, path.name, checked.problems[0] if checked.problems else None)
    return Backup(path, checked, deleted)


def verify_file(path: Path) -> Checked:
    """Play everything in a copy again, person by person, so that memory does not grow with the study."""
    copy = Database(sqlite_url(path))
    participants = rounds = 0
    problems: list[str] = []
    try:
        with copy.read() as connection:
            for study in all_studies(connection):
                for person in participants_of(connection, study.id):
                    data = study_data(connection, study, participant=person.public_id)
                    participants += 1
                    rounds += sum(len(episode) for stored in data.participants for episode in stored.episodes.values())
                    problems += [f"{name}: {difference}" for name, difference in verify_study(data)]
            entries, head = list(all_entries(connection)), head_of_log(connection)
            log = trigger_differences(connection) + verify_log(entries, head)
            problems += [str(difference) for difference in log]
    finally:
        copy.close()
    leave_wal(path)
    return Checked(participants, rounds, len(entries), tuple(problems))


def restore(path: Path, database: Database, *, overwrite: bool = False, despite: bool = False) -> Checked:
    """Replace a database by a backup; an existing one is not overwritten unless requested.

    An older backup is migrated first. A backup with differences is not restored, unless ``despite`` is true.
    """
    if not path.is_file():
        raise InvalidInput(f"There is no backup {str(path)!r}.")
    _refuse_occupied(database, overwrite)
    folder = database.folder or Path(tempfile.gettempdir())
    try:
        with _new_file(folder) as part:
            shutil.copyfile(path, part)
            if problems := integrity_problems(part):
                raise InvalidInput(f"The backup {str(path)!r} cannot be used: {problems[0]}.")
            copy = Database(sqlite_url(part))
            try:
                copy.migrate()
            finally:
                copy.close()
            checked = verify_file(part)
            if checked.problems and not despite:
                raise InvalidInput(
                    f"The backup {str(path)!r} is not what was stored: {checked.problems[0]} "
                    f"({len(checked.problems)} in all). --despite-differences restores it all the same."
                )
            _settle(part, path)
            _put_in_place(part, database)
            with database.read() as connection:
                keep_witness(connection, restored=True)  # the entries after the backup are lost, as requested
    except OSError as error:
        raise InvalidInput(f"The backup could not be restored: {database_message(error)}.") from error
    return checked


def last_backup(connection: Connection) -> JsonObject | None:
    """Return time, file and error of the latest backup attempt."""
    stored = read_setting(connection, _STATUS)
    return None if stored is None else dict(json.loads(stored))


def _refuse_occupied(database: Database, overwrite: bool) -> None:
    if database.sqlite:
        target = Path(str(database.url.database))
        if not target.exists():
            return
        if not overwrite:
            raise InvalidInput(
                f"There is a database {str(target)!r} already. --overwrite puts the backup in its place."
            )
        leave_wal(target)
        return
    database.migrate()
    database.writing.dispose()  # what we have open ourselves is not in the way
    with database.read() as connection:
        if not overwrite and not is_empty(connection):
            raise InvalidInput(
                f"The database {database.name} is not empty. --overwrite replaces its whole content with the backup."
            )
    if others := _others(database):
        raise InvalidInput(
            f"The database {database.name} is in use by {others} other connection{'' if others == 1 else 's'}. "
            "Stop its server first."
        )


def _others(database: Database) -> int:
    """Return how many other connections the database has; PostgreSQL counts closed ones for another moment."""
    for _ in range(30):
        with database.read() as connection:
            others = others_connected(connection)
        if not others:
            break
        time.sleep(0.1)
    return others


def _settle(part: Path, path: Path) -> None:
    """End the logins of the time of the backup, and record the restore in the log."""
    copy = Database(sqlite_url(part))
    try:
        with copy.writing.begin() as connection:
            end_logins(connection)
            forget_networks(connection)
            forget_browsers(connection)
            record(connection, command_line(), "restored", file=path.name)
        copy.forget_deleted()
    finally:
        copy.close()
    leave_wal(part)


def _put_in_place(part: Path, database: Database) -> None:
    if not database.sqlite:
        copy_from_file(part, database)
        return
    target = Path(str(database.url.database))
    flush(part)
    if target.exists():
        leave_wal(target)  # again, for verifying takes its time
        os.rename(target, f"{target}.before-restore-{datetime.now(UTC):%Y%m%dT%H%M%SZ}")
    os.rename(part, target)
    flush(target.absolute().parent)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(
            f"The folder {str(folder)!r} for backups cannot be made: {database_message(error)}."
        ) from error


@contextlib.contextmanager
def _new_file(folder: Path) -> Iterator[Path]:
    """Create a file that only its owner can read, from its first byte on; it is deleted at the end unless renamed."""
    part = folder / f".backup-{os.getpid()}-{secrets.token_hex(4)}.part"
    os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    try:
        yield part
    finally:
        for end in ("", "-journal", "-wal", "-shm"):
            Path(f"{part}{end}").unlink(missing_ok=True)


def _delete_leftovers(folder: Path) -> None:
    """Delete the partial files of killed backups."""
    for file in folder.iterdir():
        match = _PART.fullmatch(file.name)
        if match and not _alive(int(match[1])):
            file.unlink(missing_ok=True)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return process != os.getpid()


def _final_name(folder: Path) -> Path:
    """Return a name by the time; a second one within a second gets a number."""
    now = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    taken = [number for when, number in map(_place, _backups(folder)) if when == now]
    return folder / f"studies-{now}{f'-{max(taken) + 1}' if taken else ''}.sqlite"


def _backups(folder: Path) -> list[Path]:
    """Return the files whose names are ours, the oldest first."""
    return sorted((file for file in folder.iterdir() if NAME.fullmatch(file.name)), key=_place)


def _place(file: Path) -> tuple[str, int]:
    """Return the time of a backup and its number within that second; sorting by name would put the second one first."""
    named = NAME.fullmatch(file.name)
    assert named is not None
    return named[1], int(named[2] or 1)


def _delete_old(folder: Path, newest: Path, keep: int | None) -> tuple[Path, ...]:
    """Return all but the newest of those whose names are ours; the one that was just made stays whatever the clock
    says.
    """
    if keep is None:
        return ()
    others = [file for file in _backups(folder) if file != newest]
    old = tuple(others[: max(0, len(others) - (keep - 1))])
    for file in old:
        file.unlink(missing_ok=True)
    return old


def _note(database: Database, name: str | None, problem: str | None) -> None:
    """Leave word for the researcher's first page; where that cannot be written, the server says so anyway."""
    with contextlib.suppress(InvalidInput), database.write() as connection:
        write_setting(connection, _STATUS, as_json({"at": now_ms(), "file": name, "problem": problem}))
