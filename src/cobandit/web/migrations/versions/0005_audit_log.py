"""An audit log, to which entries are only ever added: triggers refuse everything else."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

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


def upgrade() -> None:
    """An empty log; its first entry comes with the first thing that is written down."""
    op.create_table(
        "audit",
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("study", sa.Text(), nullable=True),
        sa.Column("details", sa.Text(), nullable=False),
        sa.Column("previous", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_audit"),
    )
    head = op.create_table(
        "audit_head",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_audit_head"),
    )
    op.bulk_insert(head, [{"id": 1, "number": 0, "hash": "0" * 64}])
    for statement in SQLITE if op.get_bind().dialect.name == "sqlite" else POSTGRESQL:
        op.execute(statement)


def downgrade() -> None:
    """Refused: a log that can be taken away vouches for nothing."""
    raise NotImplementedError("A database is not taken back to the tables before 0005; restore a copy of it instead.")
