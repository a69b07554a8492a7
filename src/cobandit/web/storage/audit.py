"""The audit log in the database: entries are added, and the database itself refuses anything else."""

from __future__ import annotations

import getpass
import hashlib
import hmac
import json
import secrets
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from cobandit.studies.audit import ACTIONS, AuditEntry, LogDifference, verify_log
from cobandit.web.storage.schema import audit, audit_head
from cobandit.web.storage.settings import claim_setting, read_setting
from cobandit.web.storage.triggers import trigger_differences
from cobandit.web.storage.values import now_ms
from cobandit.web.storage.witness import WRITTEN, read_witness

OWNER = "owner"
"""Who the one password belongs to."""

SERVER = "server"
"""The actor of automatic actions, such as scheduled ones."""

_KEY = "audit-key"
_AT_ONCE = 1000


def command_line() -> str:
    """Return the actor at the command line: the user account of the machine."""
    try:
        return f"{getpass.getuser()} (command line)"
    except (OSError, KeyError):  # a number without a name, as in a container
        return "command line"


def record(connection: Connection, by: str, action: str, study: str | None = None, **details: Any) -> AuditEntry:
    """Write down who does what, in the transaction in which it is done: both happen, or neither.

    ``study`` is its name and version (`storage.studies.Study.label`), ``details`` says more. An entry stays when a
    participant is deleted, so it may hold their pseudonym and nothing else of them.
    """
    if action not in ACTIONS:
        raise ValueError(f"The audit log knows no action {action!r}; ACTIONS in cobandit.studies.audit lists them.")
    # Simultaneous writers wait here, so that the chain has one end.
    number, previous = connection.execute(select(audit_head.c.number, audit_head.c.hash).with_for_update()).one()
    if number == 0 and action != "log-begun":
        begun = record(connection, SERVER, "log-begun", log=secrets.token_hex(16))
        number, previous = begun.number, begun.hash
    entry = AuditEntry.after(
        number + 1, previous, at=now_ms(), by=by, action=action, study=study, details=dict(details)
    )
    connection.execute(insert(audit).values(**{column: getattr(entry, column) for column in _COLUMNS}))
    connection.execute(update(audit_head).values(number=entry.number, hash=entry.hash))
    connection.info[WRITTEN] = True
    return entry


_COLUMNS = ("number", "at", "by", "action", "study", "details", "previous", "hash")


def _entry(row: Row[Any]) -> AuditEntry:
    return AuditEntry(*(getattr(row, column) for column in _COLUMNS))


def head_of_log(connection: Connection) -> tuple[int, str]:
    """Return number and hash of the last entry, as stored next to the log."""
    number, last = connection.execute(select(audit_head.c.number, audit_head.c.hash)).one()
    return int(number), str(last)


def check_log(
    connection: Connection, entries: Iterable[AuditEntry] | None = None, known_hash: str | None = None
) -> list[LogDifference]:
    """Return what in the log is not as it was written: triggers, chain, head, and what this machine has kept."""
    stored = all_entries(connection) if entries is None else entries
    chain = verify_log(stored, head_of_log(connection), known_hash, read_witness(connection))
    return trigger_differences(connection) + chain


def count_entries(connection: Connection) -> int:
    """Return how many entries there are."""
    return connection.scalar(select(func.count()).select_from(audit)) or 0


def newest_entries(connection: Connection, before: int | None, limit: int) -> list[AuditEntry]:
    """Return the newest entries first, those with numbers below ``before`` alone."""
    query = select(audit).order_by(audit.c.number.desc()).limit(limit)
    return [
        _entry(row) for row in connection.execute(query if before is None else query.where(audit.c.number < before))
    ]


def all_entries(connection: Connection) -> Iterator[AuditEntry]:
    """Yield the whole log, the first entry first, some at a time."""
    last: int | None = None
    while True:
        query = select(audit).order_by(audit.c.number).limit(_AT_ONCE)
        entries = [
            _entry(row) for row in connection.execute(query if last is None else query.where(audit.c.number > last))
        ]
        yield from entries
        if len(entries) < _AT_ONCE:
            return
        last = entries[-1].number


def happened_since(connection: Connection, study: str, actions: Sequence[str], since: int) -> bool:
    """Return whether one of these actions on a study is among the latest entries, and not before a time."""
    latest = select(audit.c.action, audit.c.study, audit.c.at).order_by(audit.c.number.desc()).limit(50).subquery()
    query = select(func.count()).select_from(latest)
    query = query.where(latest.c.action.in_(actions), latest.c.study == study, latest.c.at >= since)
    return bool(connection.scalar(query))


def plan_stored_at(connection: Connection, study: str, sha256: str) -> int | None:
    """Return when a study's plan with this hash was last stored (ms), or None if the log does not tell."""
    query = select(audit.c.at, audit.c.details).where(audit.c.action == "plan-stored", audit.c.study == study)
    times = [row.at for row in connection.execute(query) if json.loads(row.details).get("sha256") == sha256]
    return max(times, default=None)


def network_mark(connection: Connection, network: str) -> str:
    """Return four digits that distinguish one network from most others without identifying it.

    Addresses are personal data, also those of participants who open the login page by mistake, and an entry is never
    deleted. Therefore sixteen bits of a keyed hash replace them, which some 65,000 addresses share.
    """
    return _keyed_hash(connection, network)[:4]


def participant_mark(connection: Connection, public_id: str) -> str:
    """Return twelve digits that replace a participant's pseudonym, so that deleting a participant leaves no trace of
    it.

    Only a person with both the pseudonym and the database can check whether it was this participant.
    """
    return _keyed_hash(connection, public_id)[:12]


def _keyed_hash(connection: Connection, text: str) -> str:
    key = read_setting(connection, _KEY)
    if key is None:
        key = claim_setting(connection, _KEY, secrets.token_hex(32))  # another process may have made one meanwhile
    return hmac.new(key.encode(), text.encode(), hashlib.sha256).hexdigest()
