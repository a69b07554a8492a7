"""The front door: the studies, the demo, the report, the researcher's pages."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse, HTMLResponse

from cobandit.web import pages
from cobandit.web.config import WebConfig
from cobandit.web.refusals import not_found

router = APIRouter(include_in_schema=False)

NO_REPORT = (
    "There is no report here yet. Run `cobandit reproduce`, then start the server with `--report out/reproduce`."
)


@router.get("/", response_class=HTMLResponse)
async def home(request: Request) -> Response:
    """Where everything can be reached from."""
    config: WebConfig = request.app.state.config
    studies = await request.app.state.participants.studies()
    newest = {study.name: study for study in reversed(studies)}
    shown = [
        {
            "name": study.name,
            "title": study.design.title,
            "task": study.design.task.kind,
            "open": study.open,
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
        report=_report(config) is not None,
    )


@router.get("/report")
async def report(request: Request) -> Response:
    """The report of the simulations, where there is one."""
    found = _report(request.app.state.config)
    if found is None:
        raise not_found(NO_REPORT)
    # The report is one file with its styles and scripts inside, made by this package and not by visitors.
    policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; font-src data:"
    return FileResponse(found, media_type="text/html", headers={"content-security-policy": policy})


def _report(config: WebConfig) -> Path | None:
    if config.report is None:
        return None
    path = Path(config.report) / "report.html"
    return path if path.is_file() else None
