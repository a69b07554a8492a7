"""What services were asked and answered: a table of its own, which exports leave out."""

from __future__ import annotations

import json
from collections.abc import Iterator

from sqlalchemy import Connection, func, select

from cobandit.base.json_types import JsonObject
from cobandit.web.storage.schema import episodes, move_records, moves, teams


def count_records(connection: Connection, study: int) -> int:
    """Return how many moves services of a study were asked for, rehearsals included: those cost the same."""
    joined = move_records.join(episodes, episodes.c.id == move_records.c.episode_id).join(teams)
    return int(connection.scalar(select(func.count()).select_from(joined).where(teams.c.study_id == study)) or 0)


def count_by_episode(connection: Connection, study: int) -> dict[int, int]:
    """Return how many records each episode of a study has, by its number in the database."""
    joined = move_records.join(episodes, episodes.c.id == move_records.c.episode_id).join(teams)
    query = select(move_records.c.episode_id, func.count()).select_from(joined).where(teams.c.study_id == study)
    return {episode: int(count) for episode, count in connection.execute(query.group_by(move_records.c.episode_id))}


def service_records(connection: Connection, study: int, *, episode: int | None = None) -> Iterator[JsonObject]:
    """Yield every record of a study in the order of teams, episodes and rounds, with who moved in the end.

    ``episode`` is the number in the database of the only episode that is wanted.
    """
    here = (moves.c.episode_id == move_records.c.episode_id) & (moves.c.t == move_records.c.t)
    joined = (
        move_records.join(episodes, episodes.c.id == move_records.c.episode_id)
        .join(teams)
        .outerjoin(moves, here & (moves.c.seat == move_records.c.seat))
    )
    columns = (
        teams.c.public_id.label("team"),
        teams.c.kind.label("team_kind"),
        episodes.c.number.label("episode"),
        episodes.c.condition,
        move_records.c.t.label("round"),
        move_records.c.seat,
        moves.c.by,
        moves.c.arm,
        moves.c.evidence,
        move_records.c.record,
    )
    query = select(*columns).select_from(joined).where(teams.c.study_id == study)
    if episode is not None:
        query = query.where(move_records.c.episode_id == episode)
    order = teams.c.id, episodes.c.number, move_records.c.t, move_records.c.seat
    for row in connection.execution_options(yield_per=500).execute(query.order_by(*order)):
        yield {**row._mapping, "record": json.loads(row.record)}
