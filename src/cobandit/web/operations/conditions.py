"""Conditions of a server that lead to alerts and metrics: database, disks, backups, studies."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from cobandit.web.operations.exposition import Sample
from cobandit.web.schedule import BackupSchedule
from cobandit.web.services.admission import availability
from cobandit.web.services.health import Disk
from cobandit.web.storage.database import Database
from cobandit.web.storage.participants import active_by_kind
from cobandit.web.storage.studies import all_studies
from cobandit.web.storage.values import now_ms

ACTIVE_MS = 5 * 60 * 1000
"""Participants count as active for so long after their last request."""

DISK, DATABASE, BACKUP, FULL = "disk-low", "database-unreachable", "backup-failed", "study-full"


class Condition(NamedTuple):
    """One thing that may go wrong; ``problem`` is None while all is well."""

    alert: str
    subject: str
    problem: str | None


class Conditions:
    """Looks after one database and its backups. Asked by two threads, one question at a time."""

    def __init__(self, url: str, backups: BackupSchedule | None = None, *, consent_elsewhere: bool = False) -> None:
        self._database = Database(url)
        self._backups = backups
        self._consent_elsewhere = consent_elsewhere
        self._lock = threading.Lock()

    def close(self) -> None:
        """Close the connections to the database."""
        with self._lock:
            self._database.close()

    def look(self) -> list[Condition]:
        """Return every condition as it is now. Without a database, conditions of studies are left out."""
        with self._lock:
            conditions = [Condition(DISK, name, _low(disk)) for name, disk in self._disks()]
            trouble = self._database.trouble()
            conditions.append(Condition(DATABASE, "database", trouble))
            if self._backups is not None:
                conditions.append(Condition(BACKUP, "backups", self._backups.problem))
            return conditions if trouble else [*conditions, *self._studies()]

    def gauges(self) -> Iterable[tuple[str, str, Sequence[Sample]]]:
        """Return the metrics that are read for each request."""
        with self._lock:
            trouble = self._database.trouble()
            disks = self._disks()
            active: dict[str, int] = {}
            if trouble is None:
                with self._database.read() as connection:
                    active = active_by_kind(connection, now_ms() - ACTIVE_MS)
        yield "cobandit_database_up", "1 if the database can be reached.", [({}, int(trouble is None))]
        if trouble is None:
            kinds = [({"kind": kind}, active.get(kind, 0)) for kind in sorted({"real", *active})]
            yield "cobandit_active_participants", "Participants seen in the last five minutes.", kinds
        free = [({"disk": name}, disk.free) for name, disk in disks]
        yield "cobandit_disk_free_bytes", "Free space where the database and the backups are.", free
        size = [({"disk": name}, disk.total) for name, disk in disks]
        yield "cobandit_disk_size_bytes", "Size of these disks.", size
        if self._backups is not None:
            failed = int(self._backups.problem is not None)
            yield "cobandit_backup_failed", "1 if the last backup failed.", [({}, failed)]

    def _disks(self) -> list[tuple[str, Disk]]:
        folders = {"database": self._database.folder, "backups": self._backups.folder if self._backups else None}
        disks = ((name, _disk(folder)) for name, folder in folders.items() if folder is not None)
        return [(name, disk) for name, disk in disks if disk is not None]

    def _studies(self) -> list[Condition]:
        with self._database.read() as connection:
            states = [
                (study, availability(connection, study, consent_elsewhere=self._consent_elsewhere))
                for study in all_studies(connection)
            ]
        return [
            Condition(FULL, study.label, f"{study.label} has all its {study.quota} participants." if full else None)
            for study, state in states
            for full in [state.code == "full"]
        ]


def _disk(folder: Path) -> Disk | None:
    try:
        usage = shutil.disk_usage(folder)
    except OSError:
        return None
    return Disk(usage.free, usage.total)


def _low(disk: Disk) -> str | None:
    return f"{disk} are free." if disk.full else None
