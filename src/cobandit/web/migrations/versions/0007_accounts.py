"""Accounts with roles and one-time codes; logins know whose they are."""

import time

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Create the owner's account from the one password; existing logins become the owner's."""
    accounts = op.create_table(
        "accounts",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("password", sa.Text(), nullable=True),
        sa.Column("code_key", sa.Text(), nullable=True),
        sa.Column("code_step", sa.BigInteger(), nullable=False),
        sa.Column("recovery", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_accounts"),
    )
    owner = {"name": "owner", "role": "owner", "code_step": 0, "recovery": "[]"}
    op.bulk_insert(accounts, [owner | {"password": None, "code_key": None, "created_at": int(time.time() * 1000)}])
    op.add_column("admin_logins", sa.Column("account", sa.Text(), server_default="owner", nullable=False))
    op.add_column("admin_logins", sa.Column("created_at", sa.BigInteger(), server_default="0", nullable=False))
    op.add_column("admin_logins", sa.Column("via", sa.Text(), server_default="", nullable=False))
    op.add_column("admin_logins", sa.Column("network", sa.Text(), server_default="", nullable=False))
