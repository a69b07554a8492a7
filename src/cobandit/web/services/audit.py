"""The audit log as the researcher sees it."""

from __future__ import annotations

import json
from collections.abc import Iterator

from cobandit.base.json_types import JsonObject
from cobandit.web.roles import Viewer
from cobandit.web.services.export import record_export
from cobandit.web.storage.audit import all_entries, check_log, count_entries, head_of_log, newest_entries
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.values import iso_time

PAGE_SIZE = 50


async def audit_view(database: Database, viewer: Viewer, before: int | None) -> JsonObject:
    """Return a page of the log, the newest entries first, and whether the whole of it is as it was written."""
    viewer.require("audit log")

    def ask(connection: Connection) -> JsonObject:
        head = head_of_log(connection)
        entries = newest_entries(connection, before, PAGE_SIZE)
        return {
            "entries": [entry.to_dict() | {"time": iso_time(entry.at)} for entry in entries],
            "count": count_entries(connection),
            "hash": head[1] if head[0] else None,
            "older": entries[-1].number if entries and entries[-1].number > 1 else None,
            "newest": before is None,
            "differences": [
                {"entry": difference.number, "problem": difference.problem} for difference in check_log(connection)
            ],
        }

    return await database.ask(ask, heavy=True)


async def whole_log(database: Database, viewer: Viewer) -> str:
    """Return every entry as a line of JSON, with its hashes, so that anybody can check the chain."""
    await record_export(database, viewer, None, "audit log", tables="audit log")

    def lines(connection: Connection) -> Iterator[str]:
        return (json.dumps(entry.to_dict(), ensure_ascii=False) + "\n" for entry in all_entries(connection))

    return await database.ask(lambda connection: "".join(lines(connection)), heavy=True)
