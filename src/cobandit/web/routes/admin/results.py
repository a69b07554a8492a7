"""The results of a study: a page with the tests of the plan, the exclusions and everything to download."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.responses import FileResponse, HTMLResponse

from cobandit.report.study.page import NAME as PAGE_NAME
from cobandit.studies.export import EXPORT_FORMATS
from cobandit.web import pages
from cobandit.web.access import require_admin
from cobandit.web.refusals import Refused, not_found
from cobandit.web.root_path import root_of
from cobandit.web.routes.admin.common import PAGE, Data, StudyNumber, Who
from cobandit.web.routes.admin.views import LoginFirst, view
from cobandit.web.routes.report_files import report_file
from cobandit.web.services.reports import Reports
from cobandit.web.services.studies import about, find_study

Analysed = Annotated[Literal["real", "rehearsal"], Query(description="Participants, or simulated ones")]
AnalysedPath = Annotated[Literal["real", "rehearsal"], Path()]
_TABLE = re.compile(r"(?:results\.(?:csv|json|md)|methods\.md|plan\.toml)")


async def _reports(request: Request) -> Reports:
    reports: Reports = request.app.state.reports
    return reports


ReportsService = Annotated[Reports, Depends(_reports)]

router = APIRouter(prefix=PAGE, include_in_schema=False, route_class=LoginFirst, dependencies=[Depends(require_admin)])
api = APIRouter()


@router.get("/studies/{number}/results", response_class=HTMLResponse)
async def results_page(request: Request, number: StudyNumber, database: Data, kind: Analysed = "real") -> Response:
    """Show the results; the page itself is sent immediately and asks for them."""
    stored = await find_study(database, number)
    formats = EXPORT_FORMATS.values()
    return view("results", request, f"Results: {stored.label}", study=about(stored), kind=kind, formats=formats)


@router.get("/studies/{number}/results/summary", response_class=HTMLResponse)
async def results_summary(
    request: Request, number: StudyNumber, service: ReportsService, viewer: Who, kind: Analysed = "real"
) -> Response:
    """Return the part of the page that takes a while: it is computed from the data as they are now."""
    address = f"{root_of(request.scope)}{PAGE}/studies/{number}/results"
    try:
        report = await service.report(number, kind, viewer)
    except Refused as error:
        if error.code != "blind":
            raise
        return pages.page(request, "admin/results-blind.html", number=number)
    return pages.page(
        request, "admin/results-summary.html", kind=kind, address=address, number=number, **report.summary
    )


@router.get("/studies/{number}/results/{kind}/figures/{file}")
async def results_figure(
    number: StudyNumber, kind: AnalysedPath, file: str, service: ReportsService, viewer: Who
) -> Response:
    """Return a figure of the report."""
    report = await service.report(number, kind, viewer)
    return report_file(report.folder / PAGE_NAME, f"figures/{file}")


@router.get("/studies/{number}/results/{kind}/{file}")
async def results_file(
    number: StudyNumber, kind: AnalysedPath, file: str, service: ReportsService, viewer: Who
) -> Response:
    """Return the page of the report, or a table or text of it to download."""
    report = await service.report(number, kind, viewer)
    if not _TABLE.fullmatch(file):
        return report_file(report.folder / PAGE_NAME, file)
    path = report.folder / file
    if not path.is_file():
        raise not_found("The report has no such file.")
    return FileResponse(path, filename=file)


@api.get("/studies/{number}/results")
async def results(number: StudyNumber, service: ReportsService, viewer: Who, kind: Analysed = "real") -> Response:
    """Return the analysis of the current data: every test, exclusion and description, as ``results.json`` has them.

    It is refused to an account that is blind to the conditions.
    """
    report = await service.report(number, kind, viewer)
    return FileResponse(report.folder / "results.json", media_type="application/json")


@api.get(
    "/studies/{number}/results.zip",
    response_class=Response,
    responses={200: {"content": {"application/zip": {}}, "description": "The report, its figures, tables and texts"}},
)
async def results_zip(number: StudyNumber, service: ReportsService, viewer: Who, kind: Analysed = "real") -> Response:
    """Return the whole report as a zip archive."""
    report = await service.report(number, kind, viewer)
    headers: dict[str, Any] = {"content-disposition": f'attachment; filename="{report.folder.name}.zip"'}
    return Response(report.packed(), media_type="application/zip", headers=headers)
