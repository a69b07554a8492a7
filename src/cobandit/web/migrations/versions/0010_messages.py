"""Messages of researchers that participants have not dismissed yet."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Create the table; there are no messages yet."""
    op.create_table(
        "messages",
        sa.Column("participant_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("shown_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["participant_id"], ["participants.id"], name="fk_messages_participant_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("participant_id", "key", name="pk_messages"),
    )
