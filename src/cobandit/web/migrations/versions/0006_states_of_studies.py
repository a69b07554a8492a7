"""How many people a study takes: beside open and closed, a study may be by invitation, or have a quota."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Studies that are there stay open or closed, as they are."""
    op.add_column("studies", sa.Column("quota", sa.Integer(), nullable=True))


def downgrade() -> None:
    """Open or closed: whoever could not come by the open link still cannot."""
    op.execute("UPDATE studies SET status = 'closed' WHERE status IN ('invite-only', 'quota')")
    with op.batch_alter_table("studies") as batch:
        batch.drop_column("quota")
