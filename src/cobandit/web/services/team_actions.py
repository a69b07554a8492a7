"""What a researcher may do with a team: end it, or replace a member by an AI. Each is in the audit log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cobandit.web.refusals import conflict, not_found
from cobandit.web.roles import Viewer
from cobandit.web.services.games import Game
from cobandit.web.services.messages import checked_text, send
from cobandit.web.services.studies import stored_study
from cobandit.web.services.teams import RESEARCHER, Teams
from cobandit.web.storage.audit import participant_mark, record
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.messages import new_message_key
from cobandit.web.storage.participants import Participant, participant_by_public_id, participants_by_ids
from cobandit.web.storage.studies import Study
from cobandit.web.storage.teams import Team, team_by_public_id, team_of


async def end_team(
    teams: Teams, database: Database, number: int, name: str, viewer: Viewer, message: str | None = None
) -> Game | None:
    """End a team: all members who are there continue with the survey, and are paid as the design says."""
    viewer.require("teams")
    study, team, people = await database.ask(lambda connection: _team(connection, number, name))
    finished = {seat for seat, person in people.items() if person.finished_at is not None}
    there = [seat for seat in team.members if seat not in team.gone and seat not in finished]
    if not there:
        raise conflict("left", f"The team {name} is over: all members have left or finished.")
    return await _release(teams, study, team, there, people, _Order("team-ended", viewer.account, message))


async def replace_member(
    teams: Teams,
    database: Database,
    number: int,
    name: str,
    participant: str,
    viewer: Viewer,
    message: str | None = None,
) -> Game | None:
    """Replace a member by an AI: it plays on with the others, and the person continues with the survey."""
    viewer.require("teams")
    study, team, people = await database.ask(lambda connection: _team(connection, number, name))
    seat = next((seat for seat, person in people.items() if person.public_id == participant), None)
    if seat is None:
        raise not_found(f"There is no member {participant!r} in the team {name}.")
    if seat in team.gone or people[seat].finished_at is not None:
        raise conflict("left", f"{participant} has left the team or finished already.")
    return await _release(teams, study, team, [seat], people, _Order("member-replaced", viewer.account, message))


@dataclass(frozen=True)
class _Order:
    """What the audit log calls it, who does it, and the message to the people who leave."""

    action: str
    by: str
    message: str | None


async def _release(
    teams: Teams, study: Study, team: Team, seats: Sequence[int], people: Mapping[int, Participant], order: _Order
) -> Game | None:
    text = None if order.message is None else checked_text(order.message)

    def then(connection: Connection, current: Team, leaving: Sequence[int]) -> None:
        gone = [people[seat] for seat in leaving if seat in people]
        if text is not None:
            numbers, key = [person.id for person in gone], new_message_key()
            send(connection, study, order.by, numbers, text, key, to="team", team=current.public_id)
        marks = [participant_mark(connection, person.public_id) for person in gone]
        details = {"team": current.public_id, "kind": current.kind, "participants": marks}
        record(connection, order.by, order.action, study.label, **details)

    return await teams.release(team.id, dict.fromkeys(seats, RESEARCHER), then)


def team_of_participant(connection: Connection, number: int, participant: str) -> str:
    """Return the name of the team of a participant."""
    person = participant_by_public_id(connection, number, participant)
    team = None if person is None else team_of(connection, person.id)
    if team is None:
        raise not_found(f"There is no participant {participant!r} in a team of this study.")
    return team.public_id


def _team(connection: Connection, number: int, name: str) -> tuple[Study, Team, dict[int, Participant]]:
    """Return a study, its team of a name, and the people of the team by seat."""
    study = stored_study(connection, number)
    team = team_by_public_id(connection, number, name)
    if team is None:
        raise not_found(f"No team of this study is called {name!r}.")
    stored = participants_by_ids(connection, team.people)
    people = {
        seat: stored[member.participant] for seat, member in team.members.items() if member.participant is not None
    }
    return study, team, people
