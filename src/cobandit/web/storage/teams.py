"""Teams of several people: their members, the lobby, and the deadlines of moves."""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from cobandit.web.storage.participants import REMOVED
from cobandit.web.storage.schema import episodes, lobby, members, participants, teams

_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"


@dataclass(frozen=True)
class Member:
    """A person's seat in a team: ``participant`` is None if the seat was never filled, or the person was deleted."""

    seat: int
    participant: int | None
    arrived: int
    left_at: int | None
    left_episode: int | None
    left_reason: str | None


@dataclass(frozen=True)
class Team:
    """A team as stored, with its members by seat."""

    id: int
    study_id: int
    kind: str
    public_id: str
    seed: int
    order_index: int
    roster: str
    revision: int
    formed_at: int
    meet_by: int | None
    members: dict[int, Member]

    def seat_of(self, participant: int) -> int:
        """Return the seat of a member."""
        return next(seat for seat, member in self.members.items() if member.participant == participant)

    @property
    def people(self) -> list[int]:
        """The participants of the team, by seat."""
        return [member.participant for _, member in sorted(self.members.items()) if member.participant is not None]

    @cached_property
    def gone(self) -> frozenset[int]:
        """The seats of people that were taken over for good."""
        return frozenset(seat for seat, member in self.members.items() if member.left_at is not None)

    def bumped(self) -> Team:
        """Return the team with the next revision."""
        following = object.__new__(Team)  # for every sealed round, and `copy.copy` takes several times as long
        vars(following).update(vars(self), revision=self.revision + 1)
        return following


@dataclass(frozen=True)
class Waiting:
    """A participant in the lobby."""

    participant_id: int
    joined_at: int
    seen_at: int
    ready_at: int
    asked_at: int | None
    until: int


def teams_where(connection: Connection, *where: Any, lock: bool = False) -> list[Team]:
    """Return the teams that fulfil some conditions; ``lock`` makes other transactions that lock them wait."""
    query = select(teams).where(*where)
    rows = connection.execute(query.with_for_update() if lock else query).all()
    seated: dict[int, dict[int, Member]] = defaultdict(dict)
    numbers = [row.id for row in rows]
    for row in connection.execute(select(members).where(members.c.team_id.in_(numbers))) if rows else ():
        seated[row.team_id][row.seat] = Member(
            row.seat, row.participant_id, row.arrived, row.left_at, row.left_episode, row.left_reason
        )
    return [Team(**row._asdict() | {"seed": int(row.seed), "members": seated[row.id]}) for row in rows]


def team_of(connection: Connection, participant: int) -> Team | None:
    """Return the team of a participant."""
    own = select(members.c.team_id).where(members.c.participant_id == participant)
    stored = teams_where(connection, teams.c.id.in_(own))
    return stored[0] if stored else None


def team_by_id(connection: Connection, team: int, *, lock: bool = False) -> Team | None:
    """Return a team; ``lock`` makes other transactions that lock it wait."""
    stored = teams_where(connection, teams.c.id == team, lock=lock)
    return stored[0] if stored else None


def team_by_public_id(connection: Connection, study: int, public_id: str) -> Team | None:
    """Return the team of a pseudonym."""
    stored = teams_where(connection, teams.c.study_id == study, teams.c.public_id == public_id)
    return stored[0] if stored else None


def teams_of(connection: Connection, people: Sequence[int]) -> dict[int, Team]:
    """Return the teams of some people, by participant."""
    own = select(members.c.team_id).where(members.c.participant_id.in_(people))
    by_person: dict[int, Team] = {}
    for team in teams_where(connection, teams.c.id.in_(own)):
        by_person |= {member.participant: team for member in team.members.values() if member.participant is not None}
    return by_person


def team_orders(connection: Connection, study: int, kind: str) -> dict[int, int]:
    """Return how many teams of a study have each order of conditions; those with a removed member do not count."""
    removed = select(members.c.team_id).join(participants, participants.c.id == members.c.participant_id)
    removed = removed.where(participants.c.ending == REMOVED)
    query = select(teams.c.order_index, func.count()).where(teams.c.study_id == study, teams.c.kind == kind)
    query = query.where(teams.c.id.not_in(removed))
    return {order: int(count) for order, count in connection.execute(query.group_by(teams.c.order_index))}


def team_revisions(connection: Connection, numbers: Sequence[int]) -> dict[int, int]:
    """Return the revisions of some teams."""
    rows = connection.execute(select(teams.c.id, teams.c.revision).where(teams.c.id.in_(numbers)))
    return {row.id: row.revision for row in rows}


def new_team_id() -> str:
    """Return a pseudonym of a team."""
    return "t-" + "".join(secrets.choice(_ALPHABET) for _ in range(8))


def add_team(connection: Connection, seats: Mapping[int, int | None], now: int, **values: Any) -> int:
    """Store a team with the participant of each seat; a seat without one is taken over from the start."""
    result = connection.execute(
        insert(teams).values(**({"public_id": new_team_id(), "revision": 0, "formed_at": now} | values))
    )
    assert result.inserted_primary_key is not None
    number = int(result.inserted_primary_key[0])
    rows = [
        {
            "team_id": number,
            "seat": seat,
            "participant_id": person,
            "arrived": -1,
            "left_at": None if person is not None else now,
            "left_reason": None if person is not None else "short",
        }
        for seat, person in seats.items()
    ]
    connection.execute(insert(members), rows)
    return number


def mark_arrived(connection: Connection, team: int, seat: int, episode: int, meet_by: int | None) -> None:
    """Record that a member has reached an episode of the team; with ``meet_by`` None, the episode begins."""
    own = members.c.team_id == team, members.c.seat == seat, members.c.arrived < episode
    connection.execute(update(members).where(*own).values(arrived=episode))
    connection.execute(update(teams).where(teams.c.id == team).values(meet_by=meet_by, revision=teams.c.revision + 1))


def mark_left(connection: Connection, team: int, seats: Sequence[int], episode: int, reason: str, now: int) -> None:
    """Take over seats for good; the people are read again by every process that knows them."""
    there = members.c.team_id == team, members.c.seat.in_(seats), members.c.left_at.is_(None)
    connection.execute(update(members).where(*there).values(left_at=now, left_episode=episode, left_reason=reason))
    renew_members(connection, team)


def renew_members(connection: Connection, team: int) -> None:
    """Make every process read the members of a team again."""
    people = select(members.c.participant_id).where(members.c.team_id == team, members.c.participant_id.is_not(None))
    connection.execute(
        update(participants).where(participants.c.id.in_(people)).values(revision=participants.c.revision + 1)
    )
    bump(connection, team)


def bump(connection: Connection, team: int) -> None:
    """Increase a team's revision, so that every process and page reads the team again."""
    connection.execute(update(teams).where(teams.c.id == team).values(revision=teams.c.revision + 1))


def stop_meeting(connection: Connection, team: int) -> None:
    """Stop waiting for members who are late."""
    connection.execute(update(teams).where(teams.c.id == team).values(meet_by=None))


# The lobby

_WAITING = tuple(lobby.c[name] for name in Waiting.__dataclass_fields__)


def waiting_people(connection: Connection, study: int, kind: str, *, lock: bool = False) -> list[Waiting]:
    """Return who waits for a team, the first first; ``lock`` skips those whom another transaction holds."""
    query = select(*_WAITING).where(lobby.c.study_id == study, lobby.c.kind == kind)
    query = query.order_by(lobby.c.joined_at, lobby.c.participant_id)
    rows = connection.execute(query.with_for_update(skip_locked=True) if lock else query)
    return [Waiting(*row) for row in rows]


def join_lobby(connection: Connection, participant: int, study: int, kind: str, now: int, until: int) -> None:
    """Add a participant to the lobby."""
    connection.execute(
        insert(lobby).values(
            participant_id=participant,
            study_id=study,
            kind=kind,
            joined_at=now,
            seen_at=now,
            ready_at=now,
            until=until,
        )
    )


def update_lobby(connection: Connection, people: Sequence[int], **values: Any) -> None:
    """Change what is stored of people who wait."""
    connection.execute(update(lobby).where(lobby.c.participant_id.in_(people)).values(**values))


def leave_lobby(connection: Connection, people: Sequence[int]) -> int:
    """Remove people from those who wait; return how many there were."""
    return connection.execute(delete(lobby).where(lobby.c.participant_id.in_(people))).rowcount


# What is due


def due_lobby(connection: Connection, now: int, limit: int = 100) -> list[int]:
    """Return who has waited long enough."""
    return list(connection.scalars(select(lobby.c.participant_id).where(lobby.c.until <= now).limit(limit)))


def due_meetings(connection: Connection, now: int, limit: int = 100) -> list[int]:
    """Return the teams that have waited long enough for members who are late."""
    return list(connection.scalars(select(teams.c.id).where(teams.c.meet_by <= now).limit(limit)))


def due_rounds(connection: Connection, now: int, limit: int = 100) -> list[tuple[int, int]]:
    """Return the teams whose current round has passed its deadline, each with the number of the episode."""
    query = select(episodes.c.team_id, episodes.c.number).where(
        episodes.c.deadline <= now, episodes.c.team_id.is_not(None)
    )
    return [(team, number) for team, number in connection.execute(query.limit(limit))]
