"""The moves of a team as they are stored, and how a member is taken out of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, bindparam, insert, select, update

from cobandit.studies import Episode, Round
from cobandit.studies.data import NO_MOVE
from cobandit.web.storage.participants import Stale, delete_participant, participant_by_public_id
from cobandit.web.storage.rounds import stored_round
from cobandit.web.storage.schema import episodes, moves, rounds, teams
from cobandit.web.storage.teams import mark_left, team_of


@dataclass(frozen=True)
class SeatMove:
    """The move of one seat in one round, as stored; ``record`` is what a service was asked and answered."""

    seat: int
    arm: int
    by: str
    key: str | None = None
    ms: int | None = None
    evidence: str | None = None
    record: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class TeamEpisode:
    """An episode of a team as stored, with the moves of the round under way by seat."""

    id: int
    number: int
    played: int
    head: str
    opened_at: int
    round_at: int
    finished_at: int | None
    pending: dict[int, SeatMove]

    def after(self, t: int, head: str, now: int) -> TeamEpisode:
        """Return the episode when round ``t`` has been sealed."""
        return TeamEpisode(self.id, self.number, t, head, self.opened_at, now, self.finished_at, {})


_POSITION = (
    select(teams.c.revision, episodes.c.played, moves.c.arm)
    .select_from(teams)
    .outerjoin(episodes, (episodes.c.team_id == teams.c.id) & (episodes.c.number == bindparam("number")))
    .outerjoin(
        moves,
        (moves.c.episode_id == episodes.c.id)
        & (moves.c.t == episodes.c.played + 1)
        & (moves.c.seat == bindparam("seat")),
    )
    .where(teams.c.id == bindparam("team"))
)


@dataclass(frozen=True)
class Position:
    """Where a person in a team is: nothing of it depends on moves of others that wait."""

    revision: int
    played: int
    moved: bool


def position_of(connection: Connection, team: int, number: int, seat: int) -> Position:
    """Return where the person in a seat is in an episode of a team."""
    row = connection.execute(_POSITION, {"team": team, "number": number, "seat": seat}).first()
    return Position(0, 0, False) if row is None else Position(row.revision, row.played or 0, row.arm is not None)


def open_episode(connection: Connection, team: int, episode: Episode, now: int, deadline: int | None) -> None:
    """Store a new episode of a team; `Stale` where another process has opened it."""
    known = select(episodes.c.id).where(episodes.c.team_id == team, episodes.c.number == episode.plan.index)
    if connection.scalar(known) is not None:
        raise Stale
    connection.execute(
        insert(episodes).values(
            team_id=team,
            number=episode.plan.index,
            condition=episode.plan.condition,
            played=0,
            head=episode.head,
            opened_at=now,
            round_at=now,
            deadline=deadline,
        )
    )


def running_episode(connection: Connection, team: int) -> int | None:
    """Return the number of the episode that a team has begun and not finished."""
    query = select(episodes.c.number).where(episodes.c.team_id == team, episodes.c.finished_at.is_(None))
    return connection.scalar(query.order_by(episodes.c.number.desc()).limit(1))


def load_team_episode(connection: Connection, team: int, number: int, *, lock: bool = False) -> TeamEpisode | None:
    """Return an episode of a team; ``lock`` makes other transactions that lock it wait."""
    query = select(episodes).where(episodes.c.team_id == team, episodes.c.number == number)
    row = connection.execute(query.with_for_update() if lock else query).first()
    if row is None:
        return None
    current = moves.c.episode_id == row.id, moves.c.t == row.played + 1
    pending = {move.seat: _seat_move(move) for move in connection.execute(select(moves).where(*current))}
    return TeamEpisode(row.id, row.number, row.played, row.head, row.opened_at, row.round_at, row.finished_at, pending)


def _seat_move(row: Any) -> SeatMove:
    return SeatMove(row.seat, row.arm, row.by, row.key, row.ms, row.evidence)


def load_moves(
    connection: Connection, episode_ids: Sequence[int], after: int = 0
) -> dict[int, dict[int, dict[int, SeatMove]]]:
    """Return the moves of some episodes after a round, by episode, round and seat."""
    by_episode: dict[int, dict[int, dict[int, SeatMove]]] = defaultdict(lambda: defaultdict(dict))
    for row in connection.execute(select(moves).where(moves.c.episode_id.in_(episode_ids), moves.c.t > after)):
        by_episode[row.episode_id][row._mapping["t"]][row.seat] = _seat_move(row)
    return by_episode


def recorded_columns(seats: int, by_round: Mapping[int, Mapping[int, SeatMove]], ts: Sequence[int]) -> dict[str, Any]:
    """Return the moves of the rounds ``ts`` as columns of `studies.data.EpisodeData.of_columns`."""
    by, evidence, ms = [], [], np.full((len(ts), seats), np.nan)
    arms = np.full((len(ts), seats), NO_MOVE)
    for place, t in enumerate(ts):
        chosen = by_round.get(int(t), {})
        by.append(tuple(chosen[seat].by if seat in chosen else "agent" for seat in range(seats)))
        evidence.append(tuple(chosen[seat].evidence if seat in chosen else None for seat in range(seats)))
        for seat, move in chosen.items():
            if seat < seats:
                arms[place, seat] = move.arm
                ms[place, seat] = np.nan if move.ms is None else move.ms
    return {"by": by, "evidence": evidence, "seat_ms": ms, "seat_arms": arms}


def delete_person(connection: Connection, study: int, public_id: str, now: int) -> None:
    """Delete a participant with all data; of a member of a team, the arms of the team's rounds stay."""
    person = participant_by_public_id(connection, study, public_id)
    if person is not None:
        remove_from_team(connection, person.id, now)
        delete_participant(connection, study, public_id)


def remove_from_team(connection: Connection, participant: int, now: int) -> None:
    """Take a person out of their team before they are deleted: arms and who made them stay, keys and times go."""
    team = team_of(connection, participant)
    if team is None:
        return
    seat = team.seat_of(participant)
    # First, so that a move that is being stored is either deleted with the others or finds that the member has left.
    theirs = select(episodes.c.id).where(episodes.c.team_id == team.id)
    connection.execute(theirs.with_for_update()).all()
    # The others may have waited for this member alone: the scheduler looks at the round, or the meeting, next.
    waiting = episodes.c.team_id == team.id, episodes.c.finished_at.is_(None)
    connection.execute(update(episodes).where(*waiting).values(deadline=now))
    meeting = teams.c.id == team.id, teams.c.meet_by.is_not(None)
    connection.execute(update(teams).where(*meeting).values(meet_by=now))
    own = moves.c.episode_id.in_(theirs), moves.c.seat == seat
    connection.execute(update(moves).where(*own).values(key=None, at=None, ms=None))
    mark_left(connection, team.id, [seat], max(team.members[seat].arrived, 0), "deleted", now)


def team_rounds(
    connection: Connection, episode_id: int, seats: int, after: int, previous: str
) -> tuple[list[Round], dict[int, dict[int, SeatMove]]]:
    """Return the sealed rounds of a team's episode after a round, and the moves after it by round and seat.

    ``previous`` is the hash that the first of these rounds is chained to.
    """
    by_round = load_moves(connection, [episode_id], after)[episode_id]
    later = rounds.c.episode_id == episode_id, rounds.c.t > after
    sealed = []
    for row in connection.execute(select(rounds).where(*later).order_by(rounds.c.t)):
        columns = recorded_columns(seats, by_round, [row._mapping["t"]])
        sealed.append(stored_round(row, previous, columns["by"][0], columns["evidence"][0]))
        previous = row.hash
    return sealed, by_round
