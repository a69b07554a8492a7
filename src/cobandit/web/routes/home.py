"""The front door: the studies, the demo, the report, the researcher's pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from cobandit.studies.design import StudyDesign
from cobandit.studies.page_texts import front_texts, page_languages
from cobandit.studies.typography import grouped
from cobandit.web import pages
from cobandit.web.config import WebConfig
from cobandit.web.refusals import not_found
from cobandit.web.routes.report_files import report_file
from cobandit.web.services.participants import Participants
from cobandit.web.static_files import CachedFiles

router = APIRouter(include_in_schema=False)

NO_REPORT = (
    "There is no report here yet. Run `cobandit reproduce`, then start the server with `--report out/reproduce`."
)


NO_DOCS = (
    "The documentation is not built yet. `make run` builds it in the background, within a few minutes: load this page "
    "again. Without make, run `python tools/docs.py out/docs`, and start the server with `--docs out/docs`."
)

DOCS_POLICY = (
    "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; worker-src 'self' blob:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)


@router.get("/", response_class=HTMLResponse)
async def home(request: Request) -> Response:
    """Return the home page: the listed studies, the report and the researcher's pages."""
    config: WebConfig = request.app.state.config
    service: Participants = request.app.state.participants
    studies = await service.studies()
    if config.partners and not studies:
        return RedirectResponse("/admin/keys", 303)  # a server for programs alone
    language = pages.page_language(request)
    texts = front_texts(language)
    asked = request.query_params.get("language")
    newest = {study.name: study for study in reversed(studies) if study.name not in config.unlisted}
    titles = Counter(_titled(study.design, language)["title"] for study in newest.values())
    shown = [
        {
            "name": study.name,
            **_titled(study.design, language, titles),
            "task": study.design.task.kind,
            "refused": await service.turned_away(study),
            "summary": _summary(study.design, texts, language),
        }
        for study in sorted(newest.values(), key=lambda study: study.name)
    ]
    return pages.page(
        request,
        "home.html",
        title="cobandit",
        language=language,
        texts=texts,
        asked=asked if asked in page_languages() else None,
        studies=shown,
        demo=config.demo,
        report=config.report_page is not None,
        watch=_run_page(config) is not None,
        docs=_docs(config) is not None,
    )


def _titled(design: StudyDesign, language: str, titles: Mapping[str, int] | None = None) -> dict[str, str]:
    """Return the title of a study in the page's language, or in the study's first, and which of them it is.

    If several studies share the title (``titles`` counts them), the study's name follows in brackets.
    """
    spoken = language if language in design.languages else design.languages[0]
    title = design.texts(spoken)["title"]
    several = titles is not None and titles.get(title, 0) > 1
    return {"title": f"{title} ({design.name})" if several else title, "language": spoken}


def _summary(design: StudyDesign, texts: dict[str, str], language: str) -> str:
    """Return a summary with the number of AIs and the duration."""
    # In a study for teams of people, an AI is the partner only in the conditions that each person plays alone.
    with_ai = sum(condition.alone or design.group is None for condition in design.conditions)
    n = min(design.sets, with_ai)
    people = f"{texts['people'].format(n=len(design.participant_seats))} " if design.group is not None else ""
    if n == 0:
        return people.strip()
    key = f"{'games' if design.episodes > 1 else 'rounds'}.{'one' if n == 1 else 'other'}"
    lengths = {design.rounds_of(condition.name) for condition in design.conditions}
    rounds = "\N{EN DASH}".join(grouped(language, length) for length in sorted({min(lengths), max(lengths)}))
    return people + texts[key].format(n=n, games=grouped(language, design.episodes), rounds=rounds)


@router.get("/report")
async def report() -> Response:
    """Redirect to the folder of the report, so that its relative links work."""
    return RedirectResponse("/report/", 307)


@router.get("/report/{file:path}")
async def simulation_report(request: Request, file: str) -> Response:
    """Return the report of the simulations and its figures, where there is one."""
    config: WebConfig = request.app.state.config
    page = config.report_page
    if page is None:
        raise not_found(NO_REPORT)
    run_page = _run_page(config)
    if run_page is not None and file == run_page.name:
        page = run_page
    return report_file(page, file)


@router.get("/docs")
async def docs() -> Response:
    """Redirect to the folder of the documentation, so that its relative links work."""
    return RedirectResponse("/docs/", 307)


@router.get("/docs/{file:path}")
async def docs_file(request: Request, file: str) -> Response:
    """Return the documentation as a site, where it was built: pages and scripts of this package, and nothing of
    visitors.
    """
    folder = _docs(request.app.state.config)
    if folder is None:
        raise not_found(NO_DOCS)
    response = await CachedFiles(directory=folder).get_response(file or "index.html", request.scope)
    response.headers["content-security-policy"] = DOCS_POLICY
    return response


def _run_page(config: WebConfig) -> Path | None:
    """Return the page of one simulated run, which `cobandit watch` has written next to the report, if there is one."""
    path = config.report_page and config.report_page.with_name("run.html")
    return path if path is not None and path.is_file() else None


def _docs(config: WebConfig) -> Path | None:
    if config.docs is None:
        return None
    folder = Path(config.docs)
    return folder if (folder / "index.html").is_file() else None
