"""The audit log: who did what with a study's data, as an append-only chain of hashes.

Each entry's hash covers its contents and the previous hash, so that no entry can be changed, removed, moved or inserted
without changing the hashes. A copy of the last hash in another place also reveals a log that was cut or rewritten as a
whole.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from cobandit.base.json_types import JsonObject

ACTIONS = {
    "log-begun": "the log begins",
    "login": "logged in",
    "login-failed": "a login was refused",
    "logout": "logged out",
    "login-ended": "ended a login",
    "export": "took data out",
    "participant-deleted": "deleted a participant",
    "participant-removed": "removed a participant, without deleting the data",
    "participant-restored": "took a removed participant back",
    "participant-withdrew": "withdrew from a study",
    "rehearsals-deleted": "deleted simulated participants",
    "study-registered": "registered a study",
    "design-replaced": "replaced a design without participants",
    "study-opened": "opened a study",
    "study-closed": "closed a study",
    "study-invite-only": "let the invited alone begin a study",
    "study-quota": "set a quota for a study",
    "team-ended": "ended a team",
    "member-replaced": "replaced a member of a team by an AI",
    "message-sent": "sent a message to participants",
    "plan-stored": "stored an analysis plan",
    "file-uploaded": "uploaded a picture or video for drafts",
    "files-deleted": "deleted pictures and videos that no design names any more",
    "draft-created": "created a draft of a design",
    "draft-saved": "saved a draft of a design",
    "draft-deleted": "deleted a draft of a design",
    "setting-changed": "changed a setting",
    "unblinded": "looked at what was blinded",
    "password-changed": "changed a password",
    "account-added": "added an account",
    "account-changed": "changed an account",
    "account-removed": "removed an account",
    "key-added": "added an API key",
    "key-revoked": "revoked an API key",
    "backup": "made a backup",
    "restored": "restored a backup",
}
"""Everything that is written down, by its name in the log."""

GENESIS = "0" * 64
"""The hash before the first entry."""


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
        cls, number: int, previous: str, *, at: int, by: str, action: str, study: str | None, details: JsonObject
    ) -> AuditEntry:
        """Return the entry that follows the one with the hash ``previous``."""
        text = json.dumps(details, sort_keys=True, ensure_ascii=False)
        return cls(number, at, by, action, study, text, previous, _hash(number, at, by, action, study, text, previous))

    def own_hash(self, number: int | None = None) -> str:
        """Return the hash that the entry must have; with another number, the hash it would have in another place."""
        place = self.number if number is None else number
        return _hash(place, self.at, self.by, self.action, self.study, self.details, self.previous)

    def to_dict(self) -> dict[str, Any]:
        """Return the entry as plain data, with the details parsed."""
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
    """Return every entry that was changed, removed, moved, inserted or cut off.

    ``head`` is number and hash of the last entry, as stored next to the log. ``known_hash`` was kept in another place
    and must still be in it; ``witness`` is number and hash of an entry that this machine has stored.
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
            differences.append(LogDifference(entry.number, f"it does not follow the stored entry {last}"))
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
        cut = f"the log was cut: it had {known}" if witness[0] > last else f"the log was rewritten: it had {known}"
        differences.append(LogDifference(last if witness[0] > last else witness[0], cut))
    if not known_is_there:
        differences.append(LogDifference(last, f"the kept hash {str(known_hash)[:12]}... is not in the log any more"))
    return sorted(differences, key=lambda difference: difference.number)


def _missing(first: int, last: int) -> str:
    return "it is missing" if first == last else f"it and all up to entry {last} are missing"


def _change(entry: AuditEntry, changed: list[AuditEntry]) -> str:
    """Return a description of the damage: whether the entry was moved, or changed."""
    places = (other.number for other in changed if other.number != entry.number)
    origin = next((place for place in places if entry.own_hash(place) == entry.hash), None)
    return "it was changed" if origin is None else f"it was moved here from the place of entry {origin}"
