"""``cobandit study log``: show the audit log and check that it is complete."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cobandit.base.extras import require_extras
from cobandit.cli import output
from cobandit.cli.declare import option
from cobandit.cli.door import say
from cobandit.cli.formats import TextOrJson
from cobandit.cli.options import with_option_groups
from cobandit.cli.study.common import DATABASE, THE_OUTPUT, DatabaseUrl, existing_database

if TYPE_CHECKING:
    from cobandit.studies.audit import AuditEntry, LogDifference
    from cobandit.web.storage.database import Database

DIFFERENT = 1


@dataclass(frozen=True)
class CheckedLog:
    """The audit log of a database, with its damaged entries."""

    entries: list[AuditEntry]
    differences: list[LogDifference]

    @property
    def last_hash(self) -> str:
        """The hash of the last entry, to keep in another place."""
        return self.entries[-1].hash if self.entries else ""

    def to_dict(self) -> dict[str, Any]:
        """Return the log as JSON data."""
        rows = [{"entry": difference.number, "problem": difference.problem} for difference in self.differences]
        return {"entries": len(self.entries), "hash": self.last_hash, "differences": rows}

    def print(self) -> None:
        """Print the entries and the problems of the log."""
        for difference in self.differences:
            output.console().print(str(difference))
        count = len(self.differences)
        verdict = f"{count} difference{'' if count == 1 else 's'}" if count else "no difference"
        entries = f"{len(self.entries):,} entr{'y' if len(self.entries) == 1 else 'ies'}"
        output.console().print(f"Audit log, {entries}: {verdict}.")


def audit_of(database: Database, known_hash: str | None = None) -> CheckedLog:
    """Read and check the log; ``known_hash`` was kept in another place."""
    from cobandit.web.storage.audit import all_entries, check_log

    with database.read() as connection:
        entries = list(all_entries(connection))
        return CheckedLog(entries, check_log(connection, entries, known_hash))


@with_option_groups
def log(
    out: Annotated[
        Path | None, option("FILE", "JSON file for the log, one entry per line, with hashes", THE_OUTPUT)
    ] = None,
    database: DatabaseUrl = DATABASE,
    form: TextOrJson = TextOrJson(),
) -> None:
    """Show the audit log.

    It records logins, exports, deletions, changes of state and settings.

    The exit code is 1 if an entry was changed, removed, moved or cut off.
    """
    require_extras("Reading the audit log", web=True)
    import json

    from cobandit.base.files import save_text
    from cobandit.studies.audit import ACTIONS

    with existing_database(database) as opened:
        checked = audit_of(opened)
    if out is not None:
        lines = (json.dumps(entry.to_dict(), ensure_ascii=False) + "\n" for entry in checked.entries)
        save_text(out, "".join(lines), private=True)
        say(f"Wrote {out}.")
    if form.as_json:
        listed = {} if out is not None else {"log": [entry.to_dict() for entry in checked.entries]}
        output.print_json(checked.to_dict() | listed)
    else:
        for entry in checked.entries if out is None else ():
            time = datetime.fromtimestamp(entry.at / 1000, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
            what = " ".join(filter(None, (ACTIONS.get(entry.action, entry.action), entry.study)))
            output.console().print(f"{entry.number}  {time}  {entry.by}: {what}  {entry.details}", soft_wrap=True)
        checked.print()
        if checked.entries:
            output.console().print(f"Its last hash is {checked.last_hash}.", soft_wrap=True)
    if checked.differences:
        raise typer.Exit(DIFFERENT)
