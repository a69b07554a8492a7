"""The triggers by which the database itself refuses to change the audit log, and whether they are all there.

The texts are those of migration 0005, and every database has them so; a later change needs a migration and texts of its
own.
"""

from __future__ import annotations

import re

from sqlalchemy import Connection, text

from cobandit.studies.audit import LogDifference

GROWS = "The audit log only ever grows."

SQLITE = (
    f"CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, '{GROWS}'); END",
    f"CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, '{GROWS}'); END",
    # A row that replaces another is no deletion to SQLite, so the number itself must be the next one.
    "CREATE TRIGGER audit_next BEFORE INSERT ON audit "
    "WHEN NEW.number IS NOT (SELECT number + 1 FROM audit_head) "
    f"BEGIN SELECT RAISE(ABORT, '{GROWS}'); END",
    "CREATE TRIGGER audit_head_next BEFORE UPDATE ON audit_head "
    "WHEN NEW.id IS NOT OLD.id OR NEW.number IS NOT OLD.number + 1 "
    f"BEGIN SELECT RAISE(ABORT, '{GROWS}'); END",
    f"CREATE TRIGGER audit_head_no_delete BEFORE DELETE ON audit_head BEGIN SELECT RAISE(ABORT, '{GROWS}'); END",
    f"CREATE TRIGGER audit_head_no_insert BEFORE INSERT ON audit_head BEGIN SELECT RAISE(ABORT, '{GROWS}'); END",
)

POSTGRESQL = (
    "CREATE FUNCTION cobandit_audit_grows() RETURNS trigger LANGUAGE plpgsql AS "
    f"$$ BEGIN RAISE EXCEPTION '{GROWS}'; END $$",
    "CREATE FUNCTION cobandit_audit_next() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
    "IF NEW.number IS DISTINCT FROM (SELECT number + 1 FROM audit_head) THEN "
    f"RAISE EXCEPTION '{GROWS}'; END IF; RETURN NEW; END $$",
    "CREATE FUNCTION cobandit_audit_head_next() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
    "IF NEW.id IS DISTINCT FROM OLD.id OR NEW.number IS DISTINCT FROM OLD.number + 1 THEN "
    f"RAISE EXCEPTION '{GROWS}'; END IF; RETURN NEW; END $$",
    "CREATE TRIGGER audit_no_change BEFORE UPDATE OR DELETE ON audit "
    "FOR EACH ROW EXECUTE FUNCTION cobandit_audit_grows()",
    "CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON audit EXECUTE FUNCTION cobandit_audit_grows()",
    "CREATE TRIGGER audit_next BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION cobandit_audit_next()",
    "CREATE TRIGGER audit_head_next BEFORE UPDATE ON audit_head "
    "FOR EACH ROW EXECUTE FUNCTION cobandit_audit_head_next()",
    "CREATE TRIGGER audit_head_no_change BEFORE INSERT OR DELETE ON audit_head "
    "FOR EACH ROW EXECUTE FUNCTION cobandit_audit_grows()",
    "CREATE TRIGGER audit_head_no_truncate BEFORE TRUNCATE ON audit_head EXECUTE FUNCTION cobandit_audit_grows()",
)

_SQLITE_TRIGGER = re.compile(r"CREATE TRIGGER (\w+) ")
_TRIGGER = re.compile(r"CREATE TRIGGER (\w+) .* EXECUTE FUNCTION (\w+)\(\)")
_FUNCTION = re.compile(r"CREATE FUNCTION (\w+)\(\).*\$\$(.*)\$\$")
_PRESENT = """
    SELECT t.tgname, t.tgenabled, p.prosrc FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
    WHERE NOT t.tgisinternal AND t.tgrelid IN ('audit'::regclass, 'audit_head'::regclass)
"""


def trigger_differences(connection: Connection) -> list[LogDifference]:
    """Return each trigger that is missing, switched off or another one than was made."""
    sqlite = connection.dialect.name == "sqlite"
    wanted, present = (_sqlite if sqlite else _postgresql)(connection)
    return [
        LogDifference(
            0,
            f"the trigger {name}, which keeps the log from being changed, "
            + ("is another one now" if present.get(name) else "is missing or switched off"),
        )
        for name, contents in wanted.items()
        if present.get(name) != contents
    ]


def _sqlite(connection: Connection) -> tuple[dict[str, str], dict[str, str | None]]:
    rows = connection.execute(text("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"))
    wanted = {match[1]: sql for sql in SQLITE if (match := _SQLITE_TRIGGER.match(sql))}
    return wanted, {row.name: row.sql for row in rows}


def _postgresql(connection: Connection) -> tuple[dict[str, str], dict[str, str | None]]:
    """Compare the functions that triggers call: they decide what a trigger does."""
    bodies = {match[1]: match[2] for sql in POSTGRESQL if (match := _FUNCTION.match(sql))}
    wanted = {match[1]: bodies[match[2]] for sql in POSTGRESQL if (match := _TRIGGER.match(sql))}
    rows = connection.execute(text(_PRESENT))
    return wanted, {row.tgname: row.prosrc if row.tgenabled in ("O", "A") else None for row in rows}
