"""Arms, seen rewards and predictions of a round as lists over the seats, no longer a column for each of two."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_NEW = ("arms", "seen", "predictions")
_OLD = ("arm_0", "arm_1", "seen_0", "seen_1", "predicted_1_0")


def upgrade() -> None:
    """Replace columns by lists over seats; the hashes of existing rounds stay unchanged (version 1)."""
    with op.batch_alter_table("rounds") as batch:
        for name in _NEW:
            batch.add_column(sa.Column(name, sa.Text(), nullable=True))
    op.execute(
        f"""
        UPDATE rounds SET
            arms = '[' || arm_0 || ',' || arm_1 || ']',
            seen = '[' || {_number("seen_0")} || ',' || {_number("seen_1")} || ']',
            predictions = '[[null,null],[' || COALESCE(CAST(predicted_1_0 AS TEXT), 'null') || ',null]]'
        """
    )
    with op.batch_alter_table("rounds") as batch:
        for name in _NEW:
            batch.alter_column(name, existing_type=sa.Text(), nullable=False)
        for name in _OLD:
            batch.drop_column(name)


def _number(column: str) -> str:
    """Return a seen reward as JSON has it; 0 and 1 alike on every database."""
    return (
        f"CASE WHEN {column} IS NULL THEN 'null' WHEN {column} = 0 THEN '0.0' WHEN {column} = 1 THEN '1.0' "
        f"ELSE CAST({column} AS TEXT) END"
    )
