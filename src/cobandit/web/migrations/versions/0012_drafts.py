"""Drafts of designs, with every saved revision."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Create the tables; there are no drafts yet."""
    op.create_table(
        "drafts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("base_version", sa.Integer(), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("updated_by", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_drafts"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "draft_revisions",
        sa.Column("draft_id", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["draft_id"], ["drafts.id"], name="fk_draft_revisions_draft_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("draft_id", "revision", name="pk_draft_revisions"),
    )
