"""The lobby and the teams of a study, for researchers who watch: who waits for whom, takeovers, services.

While the viewer is blind, conditions and everything that tells one apart are left out: the set that a team plays, seats
of services, the agents that took over, names of services. If people meet in some conditions only, or play different
numbers of rounds, a blind view has no rounds, waits and takeovers at all. No view holds an arm that a person chose.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from time import monotonic

from cobandit.base.json_types import JsonObject
from cobandit.studies import StudyDesign
from cobandit.studies.design import Group
from cobandit.studies.group_checks import players_of
from cobandit.studies.journey import Step
from cobandit.web.roles import Viewer
from cobandit.web.services.blinding import masked_teams, masks_for, teams_tell_conditions
from cobandit.web.services.live import CHEAP_SECONDS, SHARE_OF_TIME
from cobandit.web.services.lobby import PRESENT_MS, is_expired
from cobandit.web.services.people import steps_of
from cobandit.web.services.service_totals import ServiceTotals
from cobandit.web.services.studies import stored_study
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.participants import Participant, participants_by_ids, status
from cobandit.web.storage.studies import Study
from cobandit.web.storage.team_watch import (
    Standing,
    TeamCounts,
    standings,
    takeovers_by_team,
    team_counts,
    watched_teams,
)
from cobandit.web.storage.teams import Member, Team, Waiting, waiting_people
from cobandit.web.storage.values import now_ms


class TeamMonitor:
    """The teams of the studies of one server. However many watch, the sums of a study are made once for all of them."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._services = ServiceTotals()
        self._counts: dict[tuple[int, str], tuple[float, TeamCounts]] = {}
        self._counting = threading.Lock()

    async def view(
        self, number: int, kind: str, viewer: Viewer, *, over: bool = False, offset: int = 0, limit: int = 100
    ) -> JsonObject:
        """Return the lobby, a page of teams (at work, or ``over``), and the sums of takeovers and services."""
        viewer.require("participants")
        return await self._database.ask(
            lambda connection: self.read(connection, number, kind, viewer, over=over, offset=offset, limit=limit),
            heavy=True,
        )

    def read(
        self,
        connection: Connection,
        number: int,
        kind: str,
        viewer: Viewer,
        *,
        over: bool = False,
        offset: int = 0,
        limit: int = 100,
    ) -> JsonObject:
        """Return the view synchronously, with the caller's connection."""
        study, now = stored_study(connection, number), now_ms()
        blind = masks_for(connection, study, viewer, kind) is not None
        view: JsonObject = {"now": now, "kind": kind, "blind": blind, "group": None, "lobby": [], "teams": []}
        view |= {"total": 0, "offset": offset, "counts": None}
        if study.design.group is not None:
            total, teams = watched_teams(connection, number, kind, over=over, offset=offset, limit=limit)
            counts = self._counted(connection, number, kind)
            view |= {
                "group": _group(study.design, study.design.group),
                "lobby": _lobby(connection, study, kind, now),
                "teams": _teams(connection, study, teams, now, blind=blind),
                "total": total,
                "counts": asdict(counts),
            }
            if blind and teams_tell_conditions(study.design):
                view = masked_teams(view)
        return view | {"services": self._services.view(connection, study, blind=blind)}

    def _counted(self, connection: Connection, study: int, kind: str) -> TeamCounts:
        with self._counting:
            until, counts = self._counts.get((study, kind), (0.0, None))
            start = monotonic()
            if counts is None or start >= until:
                counts = team_counts(connection, study, kind)
                spent = monotonic() - start
                until = start + spent / SHARE_OF_TIME if spent > CHEAP_SECONDS else 0.0
                self._counts[study, kind] = until, counts
            return counts


def _group(design: StudyDesign, group: Group) -> dict[str, object]:
    return {
        "size": len(design.participant_seats),
        "lobby_seconds": group.lobby_seconds,
        "check_in_seconds": group.check_in_seconds,
        "when_short": group.when_short,
        "when_left": group.when_left,
    }


def _lobby(connection: Connection, study: Study, kind: str, now: int) -> list[dict[str, object]]:
    """Return who waits for a team, the first first."""
    group = study.design.group
    assert group is not None
    waiting = waiting_people(connection, study.id, kind)
    people = participants_by_ids(connection, [other.participant_id for other in waiting])
    return [
        {
            "participant": people[other.participant_id].public_id,
            "joined_at": other.joined_at,
            "seen_at": other.seen_at,
            "until": other.until,
            "check_in": _check_in(other, group, now),
            "asked_at": other.asked_at,
        }
        for other in waiting
        if other.participant_id in people
    ]


def _check_in(waiting: Waiting, group: Group, now: int) -> str:
    """Return whether a waiting person is there: ready, to be asked before a team forms, asked, expired or away."""
    if is_expired(waiting, group, now):
        return "expired"
    if now - waiting.seen_at > PRESENT_MS:
        return "away"
    if waiting.asked_at is not None:
        return "asked"
    return "ready" if now - waiting.ready_at <= 1000 * group.check_in_seconds else "unasked"


def _teams(connection: Connection, study: Study, teams: Sequence[Team], now: int, *, blind: bool) -> list[JsonObject]:
    numbers = [team.id for team in teams]
    people = participants_by_ids(connection, [person for team in teams for person in team.people])
    latest, taken = standings(connection, numbers), takeovers_by_team(connection, numbers)
    by_person = {person: team for team in teams for person in team.people}
    steps = steps_of(connection, study, people, by_person)
    rows = []
    for team in teams:
        seats = [
            _member(study.design, member, people.get(member.participant or 0), steps, now)
            for _, member in sorted(team.members.items())
        ]
        row = _team(study.design, team, latest.get(team.id), seats, blind=blind)
        rows.append(row | {"takeovers": _takeovers(study.design, team, taken.get(team.id, {}), blind=blind)})
    return rows


def _team(
    design: StudyDesign, team: Team, standing: Standing | None, seats: list[JsonObject], *, blind: bool
) -> JsonObject:
    # By the step: of members who were removed the status does not say whether they have finished.
    there = [row["seat"] for row in seats if row["left"] is None and row["step"] not in (None, "thanks")]
    playing = bool(there) and standing is not None and standing.finished_at is None
    view: JsonObject = {
        "team": team.public_id,
        "formed_at": team.formed_at,
        "status": "playing" if playing else "meeting" if team.meet_by is not None else "apart" if there else "over",
        "members": seats,
    }
    view |= dict.fromkeys(("condition", "set", "round", "rounds", "round_at", "waiting"))
    if playing and standing is not None:
        view |= {
            "round": standing.played + 1,
            "rounds": design.rounds_of(standing.condition),
            "round_at": standing.round_at,
        }
        view["waiting"] = _waiting(design, standing, there, blind=blind)
        if not blind:
            practices = 0 if design.practice is None else design.practice.episodes
            view |= {"condition": standing.condition, "set": (standing.number - practices) // design.episodes + 1}
    elif view["status"] == "meeting":
        view["waiting"] = _meeting(design, team, there)
    return view


def _member(
    design: StudyDesign, member: Member, person: Participant | None, steps: Mapping[int, Step], now: int
) -> JsonObject:
    left = None if member.left_at is None else {"at": member.left_at, "reason": member.left_reason}
    return {
        "seat": member.seat,
        "name": design.seating[member.seat].name,
        "participant": None if person is None else person.public_id,
        "status": None if person is None else status(person, design, now),
        "last_seen": None if person is None else person.last_seen,
        "step": None if person is None else steps[person.id].kind,
        "left": left,
    }


def _waiting(design: StudyDesign, standing: Standing, there: Sequence[int], *, blind: bool) -> JsonObject | None:
    """Return who has moved in the round under way, since when, for whom they wait, and when an AI moves for those."""
    players = players_of(design, standing.condition)
    free = [seat for seat, player in enumerate(players) if (player == "service" and not blind) or seat in there]
    moved = [seat for seat in free if seat in standing.moved]
    missing = [seat for seat in free if seat not in standing.moved]
    if not moved or not missing:
        return None
    times = [at for seat in moved if (at := standing.moved[seat]) is not None]
    limits = [design.seating[seat].timeout_seconds for seat in missing]
    due = [standing.round_at + 1000 * seconds for seconds in limits if seconds]
    since = min(times, default=standing.round_at)
    return {"seats": moved, "for": missing, "since": since, "deadline": min(due, default=None)}


def _meeting(design: StudyDesign, team: Team, there: Sequence[int]) -> JsonObject:
    """Return who waits for members that are still busy with the part before."""
    number = max(member.arrived for member in team.members.values())
    here = [seat for seat in there if team.members[seat].arrived >= number]
    late = [seat for seat in there if seat not in here]
    assert design.group is not None
    assert team.meet_by is not None
    since = team.meet_by - 1000 * design.group.lobby_seconds
    return {"seats": here, "for": late, "since": since, "deadline": team.meet_by}


def _takeovers(design: StudyDesign, team: Team, taken: Mapping[int, Counter[str]], *, blind: bool) -> list[JsonObject]:
    """Return how many moves an AI made in place of a person or service, by seat; by which agents and why."""
    rows = []
    for seat, by_condition in sorted(taken.items()):
        member = team.members.get(seat)
        if member is None and blind:
            continue
        own = design.seating[seat].takeover
        name = design.seating[seat].name
        agents = {design.condition(condition).agent_of(name).agent for condition in by_condition}
        names = sorted(agents) if own is None else [own.agent]
        why = "service" if member is None else member.left_reason or "timeout"
        rows.append(
            {
                "seat": seat,
                "name": name,
                "moves": sum(by_condition.values()),
                "agents": None if blind else names,
                "reason": why,
            }
        )
    return rows
