"""The front door: the studies, the demo, the report, the researcher's pages."""

from __future__ import annotations

import re
from pathlib import Path

from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse

from cobandit.web import pages
from cobandit.web.config import WebConfig
from cobandit.web.refusals import not_found
from cobandit.web.services.participants import Participants

router = APIRouter(include_in_schema=False)

WHY = {
    "closed": ("Closed", "This study is closed: it takes no new participants at the moment."),
    "invite-only": ("By invitation", "This study takes people by invitation, with a personal link."),
    "full": ("Full", "This study is full: all places are taken at the moment."),
    "not-ready": ("Not ready", "This study takes no participants yet: it has no consent of its own."),
}
"""What the front page says of a study that takes nobody new."""

NO_REPORT = (
    "There is no report here yet. Run `cobandit reproduce`, then start the server with `--report out/reproduce`."
)


REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; font-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_FIGURE = re.compile(r"figures/([\w-]+\.(?:pdf|svg|png))")


@router.get("/", response_class=HTMLResponse)
async def home(request: Request) -> Response:
    """Where everything can be reached from."""
    config: WebConfig = request.app.state.config
    service: Participants = request.app.state.participants
    studies = await service.studies()
    newest = {study.name: study for study in reversed(studies)}
    shown = [
        {
            "name": study.name,
            "title": study.design.title,
            "task": study.design.task.kind,
            "refused": await service.turned_away(study),
            "rounds": study.design.rounds,
            "episodes": study.design.episodes,
            "conditions": len(study.design.conditions),
        }
        for study in sorted(newest.values(), key=lambda study: study.name)
    ]
    return pages.page(
        "home.html",
        title="cobandit",
        language="en",
        studies=shown,
        demo=config.demo,
        why=WHY,
        report=_report(config) is not None,
    )


@router.get("/report")
async def report() -> Response:
    """The report lives in a folder, so that its links to figures lead somewhere."""
    return RedirectResponse("/report/", 307)


@router.get("/report/{file:path}")
async def report_file(request: Request, file: str) -> Response:
    """The report of the simulations and its figures, where there is one."""
    page = _report(request.app.state.config)
    if page is None:
        raise not_found(NO_REPORT)
    if file in ("", page.name):
        # The report is one file with its styles and scripts inside, made by this package and not by visitors.
        return FileResponse(page, media_type="text/html", headers={"content-security-policy": REPORT_POLICY})
    match = _FIGURE.fullmatch(file)
    figure = page.parent / "figures" / match[1] if match else None
    if figure is None or not figure.is_file():
        raise not_found("The report has no such figure.")
    return FileResponse(figure)


def _report(config: WebConfig) -> Path | None:
    if config.report is None:
        return None
    path = Path(config.report) / "report.html"
    return path if path.is_file() else None
