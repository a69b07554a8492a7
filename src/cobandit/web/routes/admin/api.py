"""The interface behind the researcher's pages, for programs too."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator
from typing import IO, Annotated, Literal

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.responses import StreamingResponse
from fastapi.security import HTTPBearer

from cobandit.base.errors import InvalidInput
from cobandit.base.json_types import JsonObject
from cobandit.studies.export import EXPORT_FORMATS
from cobandit.web.access import log_out, require_admin
from cobandit.web.routes.admin import account, audit, designs, results, robot, teams
from cobandit.web.routes.admin.common import (
    By,
    CurvesService,
    Data,
    ExportsService,
    Kind,
    LiveService,
    PublicId,
    Since,
    StudyNumber,
    Wanted,
    WantedPart,
    Who,
    base_url,
    counted,
    csv_table,
    with_url,
)
from cobandit.web.routes.admin.stream import ticks
from cobandit.web.routes.bodies import (
    LARGEST,
    AvailabilityBody,
    DeletedBody,
    DoneBody,
    ErrorBody,
    InvitationBody,
    LinkBody,
    PaymentBody,
    RemovalBody,
    StateBody,
    StudyStatusBody,
)
from cobandit.web.services import links, payments
from cobandit.web.services.blinding import blind, unblind
from cobandit.web.services.export import record_export
from cobandit.web.services.plays import delete_person, participant_view, rounds_view
from cobandit.web.services.removal import remove_participant, restore_participant
from cobandit.web.services.studies import find_availability, find_study, list_studies, set_state
from cobandit.web.storage.database import Database

MOST_ROUNDS = 1000
CHUNK = 256 * 1024

Listing = list[JsonObject]

_BEARER = HTTPBearer(auto_error=False, description="The token of POST /api/admin/login")

router = APIRouter(
    prefix="/api/admin",
    tags=["researcher"],
    dependencies=[Depends(_BEARER), Depends(require_admin)],
    responses={401: {"model": ErrorBody, "description": "No login, or one that has ended"}},
)
router.include_router(robot.router)
router.include_router(audit.router)
router.include_router(teams.router)
router.include_router(designs.router)
router.include_router(account.api)
router.include_router(results.api)


@router.post("/logout", response_model=DoneBody)
async def program_logout(request: Request) -> DoneBody:
    """End this login."""
    await log_out(request)
    return DoneBody()


@router.get("/studies")
async def studies(request: Request, database: Data) -> dict[str, list[JsonObject]]:
    """Return every study, whether it takes people, and how many people of each kind are where."""
    return {"studies": await list_studies(database, consent_elsewhere=request.app.state.config.consent_elsewhere)}


@router.get("/studies/{number}/live", response_model=JsonObject)
async def live(
    request: Request, number: StudyNumber, service: LiveService, wanted: Wanted, viewer: Who, since: Since = None
) -> Response:
    """Return the current state of a page of participants; with ``since``, details only of those who have changed.

    Conditions are letters as long as the account is blind to them. ``url`` is null if the role may not see it.
    """
    view = await service.view(number, wanted, base_url(request), viewer, since)
    return Response(view, media_type="application/json")


@router.post("/studies/{number}/unblind", response_model=DoneBody)
async def unblind_study(number: StudyNumber, database: Data, viewer: Who) -> DoneBody:
    """Show this account the conditions of real participants from now on; the audit log keeps it."""
    await unblind(database, number, viewer)
    return DoneBody()


@router.post("/studies/{number}/blind", response_model=DoneBody)
async def blind_study(number: StudyNumber, database: Data, by: By) -> DoneBody:
    """Hide them again."""
    await blind(database, number, by)
    return DoneBody()


@router.get("/studies/{number}/curves")
async def curves(number: StudyNumber, service: CurvesService, viewer: Who, kind: Kind = "real") -> JsonObject:
    """Mean cumulative task regret by condition, with its standard error; ``pending`` above 0: ask again.

    There are none for an account that is blind to the conditions.
    """
    return await service.curves(number, kind, viewer)


@router.get(
    "/studies/{number}/stream",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}, "description": "A `tick` whenever something has changed"}},
)
async def stream(request: Request, number: StudyNumber, database: Data) -> Response:
    """Server-sent events: a tick whenever something has changed. It ends now and then; browsers come back."""
    await find_study(database, number)
    seen = request.headers.get("last-event-id")
    return StreamingResponse(ticks(request, database, number, seen), media_type="text/event-stream")


@router.post("/studies/{number}/open", response_model=StudyStatusBody)
async def open_study(request: Request, number: StudyNumber, database: Data, by: By) -> StudyStatusBody:
    """Let new people in."""
    await set_state(database, number, "open", None, by)
    return await _status(request, number, database)


@router.post("/studies/{number}/close", response_model=StudyStatusBody)
async def close_study(request: Request, number: StudyNumber, database: Data, by: By) -> StudyStatusBody:
    """Close the study to new participants; those who have begun may finish."""
    await set_state(database, number, "closed", None, by)
    return await _status(request, number, database)


@router.post("/studies/{number}/state", response_model=StudyStatusBody)
async def change_state(
    request: Request, number: StudyNumber, body: StateBody, database: Data, by: By
) -> StudyStatusBody:
    """Change who may begin: all visitors, invited people, a quota, or no new participants. Those who have begun may
    finish.
    """
    await set_state(database, number, body.state, body.quota, by)
    return await _status(request, number, database)


async def _status(request: Request, number: int, database: Database) -> StudyStatusBody:
    study = await find_study(database, number)
    elsewhere = request.app.state.config.consent_elsewhere
    current = await find_availability(database, study, consent_elsewhere=elsewhere)
    return StudyStatusBody(
        study=number,
        open=current.code == "open",
        state=study.state,
        quota=study.quota,
        availability=AvailabilityBody(**current.to_dict()),
    )


@router.post("/studies/{number}/links", status_code=201, response_model=list[LinkBody])
async def make_links(
    request: Request, number: StudyNumber, body: InvitationBody, database: Data, viewer: Who
) -> Listing:
    """Invite people, each by a link of their own."""
    labels: list[str | None] = [label.strip() or None for label in body.labels or ()]
    if labels and body.count not in (None, len(labels)):
        raise InvalidInput(f"{body.count} links with {len(labels)} labels are asked for; one label each is needed.")
    wanted = labels or [None] * (body.count or 1)
    invited = await links.make_links(database, number, wanted, body.kind, viewer, repeat=body.repeat)
    return [with_url(request, link) for link in invited]


@router.get("/studies/{number}/links", response_model=list[LinkBody])
async def list_links(
    request: Request,
    response: Response,
    number: StudyNumber,
    database: Data,
    viewer: Who,
    part: WantedPart,
    kind: Kind = "real",
    newest: Annotated[bool, Query(description="The newest first")] = False,
) -> Listing:
    """Return the personal links of all who were invited; of more than 500 in parts. The header X-Total-Count counts
    all.
    """
    page = await links.list_links(database, number, kind, viewer, part, newest=newest)
    await record_export(database, viewer, number, "links", tables="links", format="json", kind=kind)
    return [with_url(request, link) for link in counted(response, page)]


@router.get("/studies/{number}/links.csv", response_class=Response, responses={200: {"content": {"text/csv": {}}}})
async def links_csv(
    request: Request, number: StudyNumber, database: Data, viewer: Who, kind: Kind = "real"
) -> Response:
    """Return the personal links, as a table."""
    await record_export(database, viewer, number, "links", tables="links", format="csv", kind=kind)
    rows = [with_url(request, link) for link in await links.all_links(database, number, kind, viewer)]
    names = ["participant", "label", "status", "url"]
    return csv_table(f"links-{number}.csv", names, ([row[name] for name in names] for row in rows))


@router.get("/studies/{number}/payments", response_model=list[PaymentBody])
async def list_payments(
    response: Response, number: StudyNumber, database: Data, viewer: Who, part: WantedPart
) -> Listing:
    """Return the finished participants with their payment data; more than 500 in parts, as links."""
    page = await payments.list_payments(database, number, viewer, part)
    await record_export(database, viewer, number, "payments", tables="payments", format="json", kind="real")
    return counted(response, page)


@router.get("/studies/{number}/participants/{participant}")
async def participant(
    request: Request, number: StudyNumber, participant: PublicId, database: Data, viewer: Who
) -> JsonObject:
    """Return all about one participant but the rounds."""
    return await participant_view(database, number, participant, viewer, base_url(request))


@router.get("/studies/{number}/participants/{participant}/episodes/{episode}")
async def rounds(
    number: StudyNumber,
    participant: PublicId,
    episode: Annotated[int, Path(ge=0, le=LARGEST)],
    database: Data,
    viewer: Who,
    first: Annotated[int, Query(alias="from", ge=1, le=LARGEST)] = 1,
    limit: Annotated[int, Query(ge=1, le=MOST_ROUNDS)] = 100,
) -> JsonObject:
    """Return rounds of one episode, starting at a round."""
    return await rounds_view(database, number, participant, episode, viewer, first=first, limit=limit)


@router.delete("/studies/{number}/participants/{participant}", response_model=DeletedBody)
async def delete_participant(number: StudyNumber, participant: PublicId, database: Data, by: By) -> DeletedBody:
    """Delete a participant with everything of theirs, for good."""
    return DeletedBody(participant=participant, deleted=await delete_person(database, number, participant, by))


@router.post("/studies/{number}/participants/{participant}/remove", response_model=DoneBody)
async def remove(
    number: StudyNumber, participant: PublicId, body: RemovalBody, database: Data, viewer: Who
) -> DoneBody:
    """Take a participant out of the study without deleting anything: analyses leave the data out, and the place
    becomes free.
    """
    await remove_participant(database, number, participant, body.reason, viewer)
    return DoneBody()


@router.post("/studies/{number}/participants/{participant}/restore", response_model=DoneBody)
async def restore(number: StudyNumber, participant: PublicId, database: Data, viewer: Who) -> DoneBody:
    """Take a removed participant back."""
    await restore_participant(database, number, participant, viewer)
    return DoneBody()


@router.get(
    "/studies/{number}/export",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/zip": {}}, "description": "All tables with their codebook"}},
)
async def export(
    request: Request,
    number: StudyNumber,
    service: ExportsService,
    viewer: Who,
    format: Literal[*EXPORT_FORMATS] = "csv",  # type: ignore[valid-type]
    kind: Kind = "real",
    recruiting: Annotated[bool, Query(description="With the recruiting service's ids: personal data")] = False,
    texts: Annotated[bool, Query(description="With free texts: may be personal data")] = False,
) -> Response:
    """Return the data as a zip of tables; without personal data, unless they are asked for."""
    name, packed = await service.export(
        number,
        format=format,
        kind=kind,
        recruiting=recruiting,
        texts=texts,
        gone=request.is_disconnected,
        viewer=viewer,
    )
    size = packed.seek(0, io.SEEK_END)
    packed.seek(0)
    headers = {"content-disposition": f'attachment; filename="{name}"', "content-length": str(size)}
    return StreamingResponse(_pieces(packed), media_type="application/zip", headers=headers)


async def _pieces(file: IO[bytes]) -> AsyncIterator[bytes]:
    with file:
        while piece := await asyncio.to_thread(file.read, CHUNK):
            yield piece
