"""The head of the audit log, stored outside of the database, so that a log that was cut at its end is noticed.

With write access to the database it is possible to remove the triggers, delete the last entries, set the head back and
restore the triggers; the database alone cannot show that. So each machine that writes to a log stores number and hash
of the last entry in a file, under the id of the log and the address of the database: a copy at another address has its
own file and may diverge.
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
    except (ValueError, AttributeError, RuntimeError):  # the stored details were changed, or there is no home directory
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
    """Store the head of the log, if the log still contains the one that was stored before.

    `studies.audit.verify_log` reports a difference.

    A backup that was ``restored`` by this software starts from its own head.
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
    """Store the head after a commit whose transaction has added to the log; a failure here does not undo the commit."""
    if not info.pop(WRITTEN, False):
        return
    try:
        with reading.connect() as connection:
            keep_witness(connection)
    except SQLAlchemyError as error:
        log.warning("The head of the audit log could not be read, so it is not kept: %s", type(error).__name__)
