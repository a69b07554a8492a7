"""The partner service: API keys, teams, games, and the log of each game."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Create the tables; nothing that is there changes."""
    op.create_table(
        "api_keys",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("rate", sa.Integer(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_api_keys"),
    )
    op.create_table(
        "partner_teams",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("setting", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_partner_teams"),
        sa.UniqueConstraint("tenant", "name", name="uq_partner_teams_tenant_name"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "partner_games",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("seed", sa.Text(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=True),
        sa.Column("snapshot", sa.Text(), nullable=True),
        sa.Column("snapshot_number", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["team_id"], ["partner_teams.id"], name="fk_partner_games_team_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_partner_games"),
        sa.UniqueConstraint("team_id", "name", name="uq_partner_games_team_id_name"),
        sqlite_autoincrement=True,
    )
    _create_log()


def _create_log() -> None:
    op.create_table(
        "partner_log",
        sa.Column("game_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("arm", sa.Integer(), nullable=False),
        sa.Column("predictions", sa.Text(), nullable=True),
        sa.Column("action", sa.Text(), nullable=True),
        sa.Column("reward", sa.Float(), nullable=True),
        sa.Column("event", sa.Text(), nullable=True),
        sa.Column("key", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["game_id"], ["partner_games.id"], name="fk_partner_log_game_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("game_id", "number", name="pk_partner_log"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_partner_log_game_id_round", "partner_log", ["game_id", "round"])
    op.create_index(
        "ix_partner_log_game_id_event",
        "partner_log",
        ["game_id", "event"],
        unique=True,
        sqlite_where=sa.text("event IS NOT NULL"),
        postgresql_where=sa.text("event IS NOT NULL"),
    )
