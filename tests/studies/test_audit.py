"""The audit log's chain: whatever is done to it afterwards is named."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cobandit.studies.audit import GENESIS, AuditEntry, verify_log


def _log(count: int) -> list[AuditEntry]:
    entries: list[AuditEntry] = []
    for number in range(1, count + 1):
        before = entries[-1].hash if entries else GENESIS
        details = {"participant": f"p-{number}", "words": "Ü"}
        entries.append(
            AuditEntry.after(number, before, at=number, by="owner", action="export", study="a v1", details=details)
        )
    return entries


LOG = _log(5)
HEAD = (5, LOG[-1].hash)


def _problems(entries: list[AuditEntry], kept: str | None = None) -> list[str]:
    return [str(difference) for difference in verify_log(entries, HEAD, kept)]


def test_a_log_as_it_was_written() -> None:
    assert verify_log([], (0, GENESIS)) == []
    assert _problems(LOG) == _problems(LOG, LOG[2].hash) == []
    assert LOG[0].to_dict()["details"] == {"participant": "p-1", "words": "Ü"}


@pytest.mark.parametrize(
    "change", [{"by": "me"}, {"at": 9}, {"action": "login"}, {"study": None}, {"details": "{}"}, {"hash": "1" * 64}]
)
def test_a_changed_entry_is_named(change: dict[str, Any]) -> None:
    entries = [*LOG[:2], replace(LOG[2], **change), *LOG[3:]]
    assert _problems(entries)[0] == "audit log, entry 3: it was changed"


def test_a_changed_entry_with_a_hash_that_fits_is_named_by_the_next() -> None:
    other = replace(LOG[2], by="me")
    entries = [*LOG[:2], replace(other, hash=other.own_hash()), *LOG[3:]]
    assert _problems(entries) == ["audit log, entry 4: it does not follow the stored entry 3"]


def test_removed_entries_are_named() -> None:
    assert _problems([*LOG[:1], *LOG[2:]]) == ["audit log, entry 2: it is missing"]
    assert _problems([*LOG[:1], *LOG[3:]]) == ["audit log, entry 2: it and all up to entry 3 are missing"]
    renumbered = [*LOG[:2], *(replace(entry, number=entry.number - 1) for entry in LOG[3:])]
    assert "audit log, entry 3: it does not follow the stored entry 2" in _problems(renumbered)


def test_reordered_entries_are_named() -> None:
    entries = [*LOG[:2], replace(LOG[3], number=3), replace(LOG[2], number=4), LOG[4]]
    problems = _problems(entries)
    assert "audit log, entry 3: it was moved here from the place of entry 4" in problems
    assert "audit log, entry 4: it was moved here from the place of entry 3" in problems


def test_a_log_that_was_cut_is_named() -> None:
    assert _problems(LOG[:4]) == ["audit log, entry 5: it is missing at the end"]
    assert _problems(LOG[:3]) == ["audit log, entry 4: it and all up to entry 5 are missing at the end"]
    assert _problems([]) == ["audit log, entry 1: it and all up to entry 5 are missing at the end"]


def test_a_log_that_was_cut_with_its_head_is_known_by_a_hash_that_was_kept() -> None:
    assert verify_log(LOG[:3], (3, LOG[2].hash)) == []
    [difference] = verify_log(LOG[:3], (3, LOG[2].hash), known_hash=LOG[4].hash)
    assert f"the kept hash {LOG[4].hash[:12]}... is not in the log" in str(difference)


def test_an_entry_too_many_is_named() -> None:
    [difference] = verify_log(_log(6), HEAD)
    assert "should end with entry 5" in str(difference)
