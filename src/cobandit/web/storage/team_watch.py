"""Teams as researchers watch them: which there are, where each is, who has moved, and how often an AI took over."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy import ColumnElement, Connection, and_, exists, func, select

from cobandit.web.storage.schema import episodes, lobby, members, moves, participants, teams
from cobandit.web.storage.teams import Team, teams_where


@dataclass
class Standing:
    """The latest episode of a team; ``moved`` has the time of each move of the round under way, by seat."""

    id: int
    number: int
    condition: str
    played: int
    round_at: int
    finished_at: int | None
    moved: dict[int, int | None] = field(default_factory=dict)


@dataclass(frozen=True)
class TeamCounts:
    """Sums over the teams of one kind: teams, moves that AIs took over, and why seats were taken over for good."""

    active: int
    over: int
    takeovers: int
    left: dict[str, int]


def _somebody_is_there() -> ColumnElement[bool]:
    unfinished = members.join(participants, participants.c.id == members.c.participant_id)
    there = members.c.team_id == teams.c.id, members.c.left_at.is_(None), participants.c.finished_at.is_(None)
    return exists(select(members.c.team_id).select_from(unfinished).where(*there))


def watched_teams(
    connection: Connection, study: int, kind: str, *, over: bool, offset: int, limit: int
) -> tuple[int, list[Team]]:
    """Return how many teams there are, and a page of them, the latest first: those at work, or those that are
    ``over``.
    """
    there = _somebody_is_there()
    where = and_(teams.c.study_id == study, teams.c.kind == kind, ~there if over else there)
    total = connection.scalar(select(func.count()).select_from(teams).where(where)) or 0
    page = select(teams.c.id).where(where).order_by(teams.c.id.desc()).offset(offset).limit(limit)
    numbers = list(connection.scalars(page))
    known = {team.id: team for team in teams_where(connection, teams.c.id.in_(numbers))}
    return total, [known[number] for number in numbers if number in known]


def standings(connection: Connection, numbers: Sequence[int]) -> dict[int, Standing]:
    """Return the latest episode of some teams, with the moves of the round under way."""
    latest = select(episodes.c.team_id, func.max(episodes.c.number).label("number"))
    latest_of = latest.where(episodes.c.team_id.in_(numbers)).group_by(episodes.c.team_id).subquery()
    same = and_(latest_of.c.team_id == episodes.c.team_id, latest_of.c.number == episodes.c.number)
    by_team = {
        row.team_id: Standing(row.id, row.number, row.condition, row.played, row.round_at, row.finished_at)
        for row in connection.execute(select(episodes).join(latest_of, same))
    }
    by_episode = {standing.id: standing for standing in by_team.values() if standing.finished_at is None}
    query = select(moves.c.episode_id, moves.c.seat, moves.c.at).join(episodes, episodes.c.id == moves.c.episode_id)
    query = query.where(moves.c.episode_id.in_(list(by_episode)), moves.c.t == episodes.c.played + 1)
    for episode, seat, at in connection.execute(query):
        by_episode[episode].moved[seat] = at
    return by_team


def takeovers_by_team(connection: Connection, numbers: Sequence[int]) -> dict[int, dict[int, Counter[str]]]:
    """Return how many moves AIs took over, by team, seat and condition."""
    columns = episodes.c.team_id, moves.c.seat, episodes.c.condition
    query = select(*columns, func.count()).join(episodes, episodes.c.id == moves.c.episode_id)
    query = query.where(episodes.c.team_id.in_(numbers), moves.c.by == "takeover").group_by(*columns)
    counted: dict[int, dict[int, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for team, seat, condition, count in connection.execute(query):
        counted[team][seat][condition] = int(count)
    return counted


def team_counts(connection: Connection, study: int, kind: str) -> TeamCounts:
    """Return the sums over all teams of a kind."""
    own = teams.c.study_id == study, teams.c.kind == kind
    total = connection.scalar(select(func.count()).select_from(teams).where(*own)) or 0
    there = connection.scalar(select(func.count()).select_from(teams).where(*own, _somebody_is_there())) or 0
    played = moves.join(episodes, episodes.c.id == moves.c.episode_id).join(teams, teams.c.id == episodes.c.team_id)
    taken = connection.scalar(select(func.count()).select_from(played).where(*own, moves.c.by == "takeover")) or 0
    seats = select(members.c.left_reason, func.count()).join(teams, teams.c.id == members.c.team_id)
    left = connection.execute(seats.where(*own, members.c.left_at.is_not(None)).group_by(members.c.left_reason))
    return TeamCounts(int(there), int(total - there), int(taken), {str(why): int(count) for why, count in left})


def teams_activity(connection: Connection, study: int) -> tuple[int, int | None, int | None]:
    """Return values that change when a person joins or leaves the lobby, is asked or answers, or a team continues."""
    waiting = select(func.count(), func.sum(lobby.c.ready_at + func.coalesce(lobby.c.asked_at, 0)))
    count, answered = connection.execute(waiting.where(lobby.c.study_id == study)).one()
    return int(count), answered, connection.scalar(select(func.sum(teams.c.revision)).where(teams.c.study_id == study))
