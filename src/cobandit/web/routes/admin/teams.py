"""Teams of people, for researchers who watch: the lobby, the teams, and acting on them; messages to participants."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from cobandit.base.json_types import JsonObject
from cobandit.web.refusals import not_found
from cobandit.web.routes.admin.common import (
    MOST_LISTED,
    NAME,
    Data,
    Kind,
    Service,
    StudyNumber,
    TeamMonitorService,
    Who,
)
from cobandit.web.routes.bodies import LARGEST, DoneBody, MessageBody, ReleaseBody, ReplaceBody, SentBody
from cobandit.web.services.messages import send_message
from cobandit.web.services.team_actions import end_team, replace_member

router = APIRouter(prefix="/studies/{number}")  # under the researcher's interface, and behind its login


async def _team(team: str) -> str:
    if not NAME.fullmatch(team):
        raise not_found("There is no team of this name here.")
    return team


TeamName = Annotated[str, Depends(_team)]


@router.get("/teams")
async def teams(
    number: StudyNumber,
    monitor: TeamMonitorService,
    viewer: Who,
    kind: Kind = "real",
    over: Annotated[bool, Query(description="Teams whose members have all finished or left")] = False,
    offset: Annotated[int, Query(ge=0, le=LARGEST, description="How many to skip")] = 0,
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED, description="How many teams at most")] = 100,
) -> JsonObject:
    """Return who waits in the lobby, a page of teams with who waits for whom, takeovers, and what services cost.

    An account that is blind gets neither conditions nor what would tell them apart.
    """
    return await monitor.view(number, kind, viewer, over=over, offset=offset, limit=limit)


@router.post("/teams/{team}/end", response_model=DoneBody)
async def end(
    number: StudyNumber, team: TeamName, body: ReleaseBody, database: Data, service: Service, viewer: Who
) -> DoneBody:
    """End a team: its members continue with the survey, and are paid as the design says."""
    await end_team(service.together.teams, database, number, team, viewer, body.message)
    await service.messages.look()
    return DoneBody()


@router.post("/teams/{team}/replace", response_model=DoneBody)
async def replace(
    number: StudyNumber, team: TeamName, body: ReplaceBody, database: Data, service: Service, viewer: Who
) -> DoneBody:
    """Replace a member by an AI, which plays on with the others; the person continues with the survey."""
    together = service.together
    game = await replace_member(together.teams, database, number, team, body.participant, viewer, body.message)
    if game is not None:
        together.services.ask(game)
    await service.messages.look()
    return DoneBody()


@router.post("/messages", response_model=SentBody)
async def message(number: StudyNumber, body: MessageBody, database: Data, service: Service, viewer: Who) -> SentBody:
    """Send a message to one participant, one team, or all participants of a kind who are at work.

    Their pages show it at the next update, until it is dismissed.
    """
    people = await send_message(
        database,
        number,
        viewer,
        body.text,
        participant=body.participant,
        team=body.team,
        kind=body.kind,
        key=body.key,
    )
    await service.messages.look()
    return SentBody(people=people)
