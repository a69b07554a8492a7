"""The audit log: who did what with a study's data, as a chain of hashes to which entries are only ever added.

Each entry's hash covers its contents and the hash before it, so that none can be changed, removed, moved or put in
between without another hash. Whoever keeps the last hash elsewhere sees a log that was cut or written anew as a whole.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

ACTIONS = {
    "log-begun": "the log begins",
    "login": "logged in",
    "login-failed": "a login was refused",
    "logout": "logged out",
    "login-ended": "ended a login",
    "export": "took data out",
    "participant-deleted": "deleted a participant",
    "rehearsals-deleted": "deleted simulated participants",
    "study-registered": "registered a study",
    "design-replaced": "replaced a design that nobody had begun",
    "study-opened": "opened a study",
    "study-closed": "closed a study",
    "study-invite-only": "let the invited alone begin a study",
    "study-quota": "set a quota for a study",
    "plan-stored": "stored an analysis plan",
    "setting-changed": "changed a setting",
    "unblinded": "looked at what was blinded",
    "password-changed": "changed a password",
    "account-added": "added an account",
    "account-changed": "changed an account",
    "account-removed": "removed an account",
    "backup": "made a backup",
    "restored": "restored a backup",
}
"""Everything that is written down, by its name in the log."""

GENESIS = "0" * 64
"""What the first entry hangs on."""


@dataclass(frozen=True)
class AuditEntry:
    """One entry: its number from 1, when (ms since 1970), who, what, in which study, and what else (JSON)."""

    number: int
    at: int
    by: str
    action: str
    study: str | None
    details: str
    previous: str
    hash: str

    @classmethod
    def after(
        cls, number: int, previous: str, *, at: int, by: str, action: str, study: str | None, details: dict[str, Any]
    ) -> AuditEntry:
        """The entry that follows on one of a hash."""
        text = json.dumps(details, sort_keys=True, ensure_ascii=False)
        return cls(number, at, by, action, study, text, previous, _hash(number, at, by, action, study, text, previous))

    def own_hash(self, number: int | None = None) -> str:
        """What its hash must be; with another number, what it would be in another place."""
        place = self.number if number is None else number
        return _hash(place, self.at, self.by, self.action, self.study, self.details, self.previous)

    def to_dict(self) -> dict[str, Any]:
        """As plain data, with the details taken apart."""
        return {
            "number": self.number,
            "at": self.at,
            "by": self.by,
            "action": self.action,
            "study": self.study,
            "details": json.loads(self.details),
            "previous": self.previous,
            "hash": self.hash,
        }


def _hash(*contents: Any) -> str:
    return hashlib.sha256(json.dumps(contents, separators=(",", ":")).encode()).hexdigest()


@dataclass(frozen=True)
class LogDifference:
    """Something in a log that cannot be as it was written; ``number`` is the entry it is about, 0 the whole log."""

    number: int
    problem: str

    def __str__(self) -> str:
        return f"audit log, entry {self.number}: {self.problem}" if self.number else f"audit log: {self.problem}"


def verify_log(
    entries: Iterable[AuditEntry],
    head: tuple[int, str] | None = None,
    known_hash: str | None = None,
    witness: tuple[int, str] | None = None,
) -> list[LogDifference]:
    """Return every entry that was changed, removed, moved, put in or cut off.

    ``head`` is number and hash of the last entry, as stored beside the log. ``known_hash`` is one that somebody has
    kept elsewhere and that must still be in it; ``witness`` is number and hash of an entry that this machine has kept.
    """
    differences: list[LogDifference] = []
    changed: list[AuditEntry] = []
    last, before = 0, GENESIS
    known_is_there = known_hash in (None, GENESIS)
    seen = witness is None or witness[0] == 0
    for entry in entries:
        if entry.number != last + 1:
            differences.append(LogDifference(last + 1, _missing(last + 1, entry.number - 1)))
        elif entry.previous != before:
            differences.append(LogDifference(entry.number, f"it does not follow on entry {last} as that stands here"))
        if entry.hash != entry.own_hash():
            changed.append(entry)
        known_is_there = known_is_there or entry.hash == known_hash
        if witness is not None and entry.number == witness[0]:
            seen = entry.hash == witness[1]
        last, before = entry.number, entry.hash
    differences += [LogDifference(entry.number, _change(entry, changed)) for entry in changed]
    if head is not None and head[0] > last:
        differences.append(LogDifference(last + 1, f"{_missing(last + 1, head[0])} at the end"))
    elif head is not None and head != (last, before):
        differences.append(LogDifference(last, f"the log should end with entry {head[0]} and hash {head[1][:12]}..."))
    if not seen and witness is not None:
        known = f"entry {witness[0]} with hash {witness[1][:12]}..., which this machine has kept"
        cut = f"the log was cut: it had {known}" if witness[0] > last else f"the log was written anew: it had {known}"
        differences.append(LogDifference(last if witness[0] > last else witness[0], cut))
    if not known_is_there:
        differences.append(LogDifference(last, f"the kept hash {str(known_hash)[:12]}... is not in the log any more"))
    return sorted(differences, key=lambda difference: difference.number)


def _missing(first: int, last: int) -> str:
    return "it is missing" if first == last else f"it and all up to entry {last} are missing"


def _change(entry: AuditEntry, changed: list[AuditEntry]) -> str:
    """Whether it was moved from the place of another entry, or changed."""
    places = (other.number for other in changed if other.number != entry.number)
    origin = next((place for place in places if entry.own_hash(place) == entry.hash), None)
    return "it was changed" if origin is None else f"it was moved here from the place of entry {origin}"
