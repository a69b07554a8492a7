"""The researcher's pages. Without a login, a visitor is sent to the login page, and back afterwards."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from cobandit.studies.audit import ACTIONS
from cobandit.studies.data import moment
from cobandit.studies.export import EXPORT_FORMATS
from cobandit.studies.service_use import services_of
from cobandit.web.access import drop_login_cookie, log_out, require_admin
from cobandit.web.config import WebConfig
from cobandit.web.routes.admin.audit import Before
from cobandit.web.routes.admin.common import LOGIN, PAGE, Data, PublicId, StudyNumber, Who, csv_table
from cobandit.web.routes.admin.views import LoginFirst, view
from cobandit.web.routes.bodies import LARGEST
from cobandit.web.services.admission import unready
from cobandit.web.services.audit import audit_view
from cobandit.web.services.backup import last_backup
from cobandit.web.services.export import record_export
from cobandit.web.services.links import MOST_LINKS
from cobandit.web.services.paging import Part
from cobandit.web.services.payments import all_payments, list_payments, prolific_bonuses, sum_payments
from cobandit.web.services.plays import participant_view
from cobandit.web.services.studies import about, find_availability, find_study, list_studies, newest_version
from cobandit.web.storage.values import iso_time

PAYMENTS_SHOWN = 100

router = APIRouter(prefix=PAGE, include_in_schema=False, route_class=LoginFirst, dependencies=[Depends(require_admin)])


@router.post("/logout")
async def logout(request: Request) -> Response:
    """End the login of the page."""
    await log_out(request)
    answer = RedirectResponse(LOGIN, 303)
    drop_login_cookie(request, answer)
    return answer


@router.get("", response_class=HTMLResponse)
async def studies_page(request: Request, database: Data) -> Response:
    """Return every study."""
    disk = request.app.state.health.disk()
    backup = await database.ask(last_backup)
    if backup is not None:
        backup["time"] = iso_time(backup["at"]).replace("T", " ").replace("Z", " UTC")
    config: WebConfig = request.app.state.config
    stored = await request.app.state.participants.studies()
    planned = {study.id for study in stored if study.plan is not None}
    studies = await list_studies(database, consent_elsewhere=config.consent_elsewhere)
    return view("studies", request, "Studies", studies=studies, disk=disk, backup=backup, planned=planned)


@router.get("/log", response_class=HTMLResponse)
async def audit_page(request: Request, database: Data, viewer: Who, before: Before = None) -> Response:
    """Show the audit log."""
    return view("log", request, "Audit log", log=await audit_view(database, viewer, before), words=ACTIONS)


@router.get("/robot", response_class=HTMLResponse)
async def robot_page(request: Request) -> Response:
    """Return the console of the arm in the lab."""
    return view("robot", request, "Robot", arm=request.app.state.robot.lab.arm.name)


@router.get("/studies/{number}", response_class=HTMLResponse)
async def study_page(request: Request, number: StudyNumber, database: Data) -> Response:
    """Show one study, live."""
    stored = await find_study(database, number)
    study = about(stored)
    config: WebConfig = request.app.state.config
    sentence = None if config.consent_elsewhere else unready(stored.design)
    return view(
        "study",
        request,
        f"{study['title']} ({stored.label})",
        study=study,
        most_links=MOST_LINKS,
        formats=EXPORT_FORMATS.values(),
        grouped=stored.design.group is not None,
        served=bool(services_of(stored.design)),
        unready=sentence,
        availability=await find_availability(database, stored, consent_elsewhere=config.consent_elsewhere),
        newest=await newest_version(database, stored.name),
    )


@router.get("/studies/{number}/participants/{participant}", response_class=HTMLResponse)
async def participant_page(
    request: Request, number: StudyNumber, participant: PublicId, database: Data, viewer: Who
) -> Response:
    """Show one participant's episodes."""
    person = await participant_view(database, number, participant, viewer)
    return view(
        "participant", request, participant, study=person["study"], participant=participant, kind=person["kind"]
    )


@router.get("/studies/{number}/payments", response_class=HTMLResponse)
async def payments_page(
    request: Request,
    number: StudyNumber,
    database: Data,
    viewer: Who,
    offset: Annotated[int, Query(ge=0, le=LARGEST)] = 0,
) -> Response:
    """Show the participants to be paid, a page at a time."""
    stored = await find_study(database, number)
    study = about(stored)
    page = await list_payments(database, number, viewer, Part(offset, PAYMENTS_SHOWN))
    await record_export(database, viewer, number, "payments", tables="payments", format="page", kind="real")
    payments = [
        payment | {"finished": iso_time(payment["finished_at"]), "finished_on": _day(payment["finished_at"])}
        for payment in page.rows
    ]
    return view(
        "payments",
        request,
        f"Payments: {stored.label}",
        study=study,
        payments=payments,
        finished=page.total,
        offset=page.offset,
        step=PAYMENTS_SHOWN,
        rules=stored.design.payment,
        sums=await sum_payments(database, number, viewer),
    )


@router.get("/studies/{number}/payments.csv")
async def payments_csv(number: StudyNumber, database: Data, viewer: Who) -> Response:
    """Return the participants to be paid, as a CSV table."""
    await record_export(database, viewer, number, "payments", tables="payments", format="csv", kind="real")
    names = ["participant", "label", "recruiter", "external_id", "finished_at", "outcome", "code", "minutes"]
    names += ["attention_passed", "successes", "currency", "fixed", "bonus", "total"]
    payments = await all_payments(database, number, viewer)
    rows = [payment | {"finished_at": iso_time(payment["finished_at"])} for payment in payments]
    return csv_table(f"payments-{number}.csv", names, ([row[name] for name in names] for row in rows))


@router.get("/studies/{number}/bonuses.csv")
async def bonuses_csv(number: StudyNumber, database: Data, viewer: Who) -> Response:
    """Return the bonuses of people from Prolific as its bulk payment takes them: lines ``id,amount`` without a
    heading.
    """
    await record_export(database, viewer, number, "payments", tables="bonuses", format="csv", kind="real")
    lines, _ = prolific_bonuses(await all_payments(database, number, viewer))
    headers = {"content-disposition": f'attachment; filename="prolific-bonuses-{number}.csv"'}
    return Response(lines, media_type="text/csv; charset=utf-8", headers=headers)


def _day(milliseconds: int | None) -> str:
    """Return a time for a person to read."""
    time = moment(milliseconds)
    return "" if time is None else f"{time.day} {time:%b %Y, %H:%M} UTC"
