"""The head of the audit log, kept outside of the database, so that a log that was cut at its end is noticed.

Whoever may write to the database can remove the triggers, delete the last entries, set the head back and put the
triggers in again; the database alone cannot show that. So each machine that writes to a log keeps number and hash of
the last entry in a file of its own, by the name that the log was given when it began and by the address of the
database: a copy elsewhere is another one, which may go its own way.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import re
import threading
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, select
from sqlalchemy.exc import SQLAlchemyError

from cobandit.base.files import save_text
from cobandit.web.storage.schema import audit, audit_head

log = logging.getLogger("cobandit.web")

WRITTEN = "audit-log-written"
"""In the ``info`` of a connection: its transaction adds to the log, so the head is to be kept after the commit."""

FOLDER_VARIABLE = "XDG_STATE_HOME"
_NAME = re.compile(r"[0-9a-f]{32}")
_WRITING = threading.Lock()


def witness_file(connection: Connection) -> Path | None:
    """Return the file that belongs to the log of a database; None: the log has not begun, or its beginning is gone."""
    details = connection.scalar(select(audit.c.details).where(audit.c.number == 1))
    try:
        name = json.loads(details or "{}").get("log")
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            return None
        root = os.environ.get(FOLDER_VARIABLE) or Path.home() / ".local" / "state"
    except (ValueError, AttributeError, RuntimeError):  # details that are not as written; nobody's home
        return None
    return Path(root) / "cobandit" / "audit" / f"{name}-{_place(connection.engine)}.json"


def _place(engine: Engine) -> str:
    """Return a short name for the address of a database."""
    url = engine.url
    if url.get_backend_name() == "sqlite":
        url = url.set(database=str(Path(url.database or "").absolute()))
    return hashlib.sha256(url.render_as_string(hide_password=True).encode()).hexdigest()[:12]


def read_witness(connection: Connection) -> tuple[int, str] | None:
    """Return number and hash of the last entry that this machine has kept; None: it has kept none."""
    path = witness_file(connection)
    if path is None:
        return None
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        stored = json.loads(path.read_text(encoding="utf-8"))
        return int(stored["number"]), str(stored["hash"])
    return None


def keep_witness(connection: Connection, *, restored: bool = False) -> None:
    """Keep the head of the log, if the log still holds what was kept before.

    `studies.audit.verify_log` reports a difference.

    A backup that was ``restored`` by this software begins anew from its own head.
    """
    path = witness_file(connection)
    if path is None:
        return
    number, last = connection.execute(select(audit_head.c.number, audit_head.c.hash)).one()
    with _WRITING:
        before = read_witness(connection)
        if before is not None and not restored:
            present = connection.scalar(select(audit.c.hash).where(audit.c.number == before[0]))
            if present != before[1] or before[0] >= number:
                return
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            save_text(path, json.dumps({"number": number, "hash": last}) + "\n", private=True)
        except OSError as error:
            log.warning("The head of the audit log cannot be kept in %s: %s", path.parent, error.strerror or error)


def keep_head(reading: Engine, info: dict[Any, Any]) -> None:
    """Keep the head after a commit, where its transaction has added to the log; the commit stands in any case."""
    if not info.pop(WRITTEN, False):
        return
    try:
        with reading.connect() as connection:
            keep_witness(connection)
    except SQLAlchemyError as error:
        log.warning("The head of the audit log could not be read, so it is not kept: %s", type(error).__name__)
