"""Early endings of participants, and withdrawals without a trace of the person."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Add an empty column and an empty table."""
    op.add_column("participants", sa.Column("ending", sa.Text(), nullable=True))
    op.create_table(
        "withdrawals",
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("currency", sa.Text(), nullable=True),
        sa.Column("fixed", sa.Text(), nullable=True),
        sa.Column("bonus", sa.Text(), nullable=True),
        sa.Column("return_url", sa.Text(), nullable=True),
        sa.Column("language", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["study_id"], ["studies.id"], name="fk_withdrawals_study_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("digest", name="pk_withdrawals"),
    )
    op.create_index("ix_withdrawals_study_id", "withdrawals", ["study_id"])
