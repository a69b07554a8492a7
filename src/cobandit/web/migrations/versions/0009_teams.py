"""Teams of several people: their members, the lobby, the moves of each seat, and episodes that a team plays."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Add the tables of teams; existing episodes remain episodes of one participant."""
    _create_teams()
    with op.batch_alter_table("episodes", table_kwargs={"sqlite_autoincrement": True}) as batch:
        batch.alter_column("participant_id", existing_type=sa.Integer(), nullable=True)
        batch.add_column(sa.Column("team_id", sa.Integer(), nullable=True))
        batch.add_column(sa.Column("round_at", sa.BigInteger(), nullable=True))
        batch.add_column(sa.Column("deadline", sa.BigInteger(), nullable=True))
        batch.create_foreign_key("fk_episodes_team_id", "teams", ["team_id"], ["id"], ondelete="CASCADE")
        batch.create_unique_constraint("uq_episodes_team_id_number", ["team_id", "number"])
    op.create_index("ix_episodes_deadline", "episodes", ["deadline"])
    _create_moves()


def _create_teams() -> None:
    op.create_table(
        "teams",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("public_id", sa.Text(), nullable=False),
        sa.Column("seed", sa.Text(), nullable=False),
        sa.Column("order_index", sa.Integer(), nullable=False),
        sa.Column("roster", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("formed_at", sa.BigInteger(), nullable=False),
        sa.Column("meet_by", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["study_id"], ["studies.id"], name="fk_teams_study_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_teams"),
        sa.UniqueConstraint("public_id", name="uq_teams_public_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_teams_study_id_kind", "teams", ["study_id", "kind"])
    op.create_index("ix_teams_meet_by", "teams", ["meet_by"])
    op.create_table(
        "members",
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("seat", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("participant_id", sa.Integer(), nullable=True),
        sa.Column("arrived", sa.Integer(), nullable=False),
        sa.Column("left_at", sa.BigInteger(), nullable=True),
        sa.Column("left_episode", sa.Integer(), nullable=True),
        sa.Column("left_reason", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name="fk_members_team_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["participant_id"], ["participants.id"], name="fk_members_participant_id", ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("team_id", "seat", name="pk_members"),
        sa.UniqueConstraint("participant_id", name="uq_members_participant_id"),
    )
    op.create_table(
        "lobby",
        sa.Column("participant_id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("joined_at", sa.BigInteger(), nullable=False),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.Column("ready_at", sa.BigInteger(), nullable=False),
        sa.Column("asked_at", sa.BigInteger(), nullable=True),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["participant_id"], ["participants.id"], name="fk_lobby_participant_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["study_id"], ["studies.id"], name="fk_lobby_study_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("participant_id", name="pk_lobby"),
    )
    op.create_index("ix_lobby_study_id_kind", "lobby", ["study_id", "kind"])
    op.create_index("ix_lobby_until", "lobby", ["until"])


def _create_moves() -> None:
    op.create_table(
        "moves",
        sa.Column("episode_id", sa.Integer(), nullable=False),
        sa.Column("t", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("seat", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("arm", sa.Integer(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=True),
        sa.Column("ms", sa.Integer(), nullable=True),
        sa.Column("previous", sa.Text(), nullable=False),
        sa.Column("evidence", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["episode_id"], ["episodes.id"], name="fk_moves_episode_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("episode_id", "t", "seat", name="pk_moves"),
        sa.UniqueConstraint("episode_id", "seat", "key", name="uq_moves_episode_id_seat_key"),
    )
    op.create_table(
        "move_records",
        sa.Column("episode_id", sa.Integer(), nullable=False),
        sa.Column("t", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("seat", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("record", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["episode_id"], ["episodes.id"], name="fk_move_records_episode_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("episode_id", "t", "seat", name="pk_move_records"),
    )
