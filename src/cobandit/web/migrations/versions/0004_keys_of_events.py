"""Keys of events, so that what is sent twice is stored once."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the keys of events; existing events have none."""
    op.add_column("events", sa.Column("key", sa.Text(), nullable=True))
    op.create_index("ix_events_participant_id_key", "events", ["participant_id", "key"], unique=True)
