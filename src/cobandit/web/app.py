"""The whole server, built inside `create_app`."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import gc
import logging
import os
import sys
from collections.abc import AsyncIterator, Mapping
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from cobandit import __version__
from cobandit.base.errors import CobanditError, InvalidInput, MissingExtra
from cobandit.base.json_types import JsonObject
from cobandit.report.kit import assets
from cobandit.studies.page_texts import PAGE_LANGUAGE, page_texts
from cobandit.web import pages
from cobandit.web.access import PasswordQueue, forget_failures
from cobandit.web.config import WebConfig
from cobandit.web.refusals import Refused
from cobandit.web.root_path import remove_root_path
from cobandit.web.routes import admin, home, media, participant, robot
from cobandit.web.routes.bodies import ErrorBody
from cobandit.web.routes.moves import Handlers, MoveEndpoint, StreamEndpoint, own_token
from cobandit.web.routes.partner import api as partner_api
from cobandit.web.routes.partner.plays import KeyBeforeBody, PartnerEndpoint
from cobandit.web.security import Receive, Scope, SecurityMiddleware, Send
from cobandit.web.services.admission import REASONS
from cobandit.web.services.curves import Curves
from cobandit.web.services.export import Exports
from cobandit.web.services.health import Health
from cobandit.web.services.live import Live
from cobandit.web.services.media import MediaStore
from cobandit.web.services.participants import Participants
from cobandit.web.services.partner.games import Games
from cobandit.web.services.partner.keys import Keys
from cobandit.web.services.partner.teams import Teams as PartnerTeams
from cobandit.web.services.reports import Reports
from cobandit.web.services.robot.server import Robot
from cobandit.web.services.team_monitor import TeamMonitor
from cobandit.web.services.watching import CurvesApart, LiveApart, ReaderProcess
from cobandit.web.static_files import CachedFiles
from cobandit.web.storage.database import Connection, Database, database_message
from cobandit.web.storage.participants import DEMO_MS, delete_demos
from cobandit.web.storage.values import now_ms

log = logging.getLogger("cobandit.web")

PAGES = {
    "not-found": "unknown",
    "invalid": "unknown",  # an address that cannot be read is one that leads nowhere
    "refused": "unknown",
    "forbidden": "forbidden",
    "too-many": "busy",
    "busy": "busy",
    "unfilled": "unfilled",
} | {reason: reason for reason in REASONS}
"""Which texts of the catalogue a page shows for the code of a refusal; those of trouble for any other."""

RESEARCHERS = ("admin", "docs", "report")
RESEARCHER_TITLES = {
    "not-allowed": "Your account is not allowed to do this",
    "form-expired": "This form has expired",
}
"""Titles of refusals that only researchers meet, on pages that are in English."""

NO_PAGE = "There is no page at this address."

TIDY_SECONDS = 3600
SWITCH_SECONDS = 0.0002
GC_THRESHOLDS = (50_000, 50, 100)

ABOUT_PARTNERS = (
    "A partner-aware agent for any program: create a team, ask for the partner's arm, report team action and reward. "
    "Every request needs an API key: `Authorization: Bearer cb_...`."
)
ABOUT = "Human-AI studies of cooperative bandit teams: what the participants' and the researcher's pages use."


def create_app(config: WebConfig | None = None, *, reading_apart: bool = False) -> FastAPI:
    """Yield a server for the studies of one database, whose tables must be there (`Database.migrate`).

    With ``reading_apart`` a process of its own reads for researchers who watch.
    """
    settings = WebConfig() if config is None else config
    database = Database(settings.database)
    arm = Robot(database, settings)
    reader = ReaderProcess(settings.database, consent_elsewhere=settings.consent_elsewhere) if reading_apart else None

    @contextlib.asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        together = app.state.participants.together
        tasks = [asyncio.create_task(work) for work in (_tidy(database), app.state.reports.watch(), *together.work())]
        await arm.start()
        yield
        for task in tasks:
            task.cancel()
        if app.state.games is not None:
            await app.state.games.finish()
        together.services.close()
        await asyncio.to_thread(arm.stop)
        if reader is not None:
            await asyncio.to_thread(reader.end)
        app.state.passwords.close()
        app.state.reports.close()
        await asyncio.to_thread(database.close)

    root = settings.root_path
    app = (_ServerBelowPath if root else _Server)(
        title="cobandit studies",
        description=ABOUT,
        version=__version__,
        lifespan=life,
        docs_url=None,  # the interactive page would load scripts from elsewhere
        redoc_url=None,
        servers=[{"url": root}] if root else None,
    )
    app.state.config = settings
    app.state.database = database
    app.state.robot = arm
    app.state.passwords = PasswordQueue()
    app.state.participants = Participants(
        database, demo=settings.demo, consent_elsewhere=settings.consent_elsewhere, robot=arm.stage
    )
    own_live = Live(database, consent_elsewhere=settings.consent_elsewhere)
    app.state.live = own_live if reader is None else LiveApart(database, reader)
    app.state.curves = Curves(database) if reader is None else CurvesApart(database, reader)
    app.state.team_monitor = TeamMonitor(database)
    app.state.health = Health(database)
    app.state.media = MediaStore(database)
    app.state.exports = Exports(database)
    app.state.reports = Reports(database, settings.database)
    app.state.keys, app.state.games = None, None  # those of the partner service, where it is on
    app.router.routes.extend(_routes())
    app.mount("/static/vendor", CachedFiles(directory=str(assets.VENDOR)), name="vendor")
    app.mount("/static", CachedFiles(directory=str(pages.PACKAGE.joinpath("static"))), name="static")
    handlers: Handlers = {
        Refused: _refused,
        InvalidInput: _invalid,
        MissingExtra: _invalid,
        CobanditError: _broken,
        RequestValidationError: _malformed,
        HTTPException: _http,
    }
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)
    app.add_middleware(SecurityMiddleware, broken=_broken)
    app.moves = app.state.moves = MoveEndpoint(app.state.participants, {**handlers, Exception: _broken})
    app.streams = StreamEndpoint(app.state.participants, {**handlers, Exception: _broken})
    if settings.partners:
        _add_partners(app, database, handlers)
    trusted = os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1")
    app.behind_proxy = ProxyHeadersMiddleware(super(_Server, app).__call__, trusted)  # type: ignore[arg-type]
    return app


def _add_partners(app: _Server, database: Database, handlers: Handlers) -> None:
    """Add the partner service below /v1, with a router and an OpenAPI document of its own."""
    keys, games = Keys(database), Games(database)
    api = FastAPI(
        title="cobandit partner",
        description=ABOUT_PARTNERS,
        version=__version__,
        openapi_url="/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # an address with a slash too many is unknown, also for a request that changes data
        servers=app.servers,
        responses={status: {"model": ErrorBody} for status in (401, 403, 404, 409, 413, 422, 429, 500, 503)},
    )
    api.include_router(partner_api.router)
    api.state.keys, api.state.games, api.state.teams = keys, games, PartnerTeams(database, games)
    for kind, handler in handlers.items():
        api.add_exception_handler(kind, handler)
    every = {**handlers, Exception: _broken}
    api.add_middleware(KeyBeforeBody, keys=keys, handlers=every)
    api.add_middleware(SecurityMiddleware, broken=_broken)
    app.state.keys, app.state.games, app.state.partner_api = keys, games, api
    app.partners = app.state.partners = PartnerEndpoint(keys, games, every, api)


class _Server(FastAPI):
    """The server. `MoveEndpoint` answers every move, `StreamEndpoint` every participant's stream, `PartnerEndpoint`
    everything below /v1 where the partner service is on; the middleware and the router handle all other requests.

    None of them depends on the client's address or scheme, so only the others read the headers of a proxy.
    """

    moves: MoveEndpoint
    streams: StreamEndpoint
    partners: PartnerEndpoint | None = None
    behind_proxy: ProxyHeadersMiddleware

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if self.partners is not None and scope["type"] == "http" and _path_below_root(scope).startswith("/v1/"):
            await self.partners(scope, receive, send)
            return
        token = own_token(scope)
        if token is None:
            await self.behind_proxy(scope, receive, send)  # type: ignore[arg-type]
        else:
            await (self.moves if scope["method"] == "POST" else self.streams)(token, scope, receive, send)


def _path_below_root(scope: Scope) -> str:
    path: str = scope["path"]
    root: str = scope.get("root_path", "")
    return path.removeprefix(root) if root else path


class _ServerBelowPath(_Server):
    """A server below a path of its host. It is a class of its own so that other servers spend no time on it."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] == "http":
            remove_root_path(scope, self.state.config.root_path)
        await super().__call__(scope, receive, send)


@functools.cache
def _routes() -> list[BaseRoute]:
    """Return every route, built. The servers of a process share them: no route depends on the server that it is in.

    FastAPI builds the routes of an included router when one is first looked for, and changes the process's warning
    filters meanwhile: with two servers in one process, one of them could fail; and the first visitor would wait.
    """
    responses: dict[int | str, JsonObject] = {
        status: {"model": ErrorBody} for status in (403, 404, 409, 413, 422, 429, 500, 503)
    }
    together = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, responses=responses)
    for part in (home, media, participant, robot, admin):
        together.include_router(part.router)
    for route in together.routes:
        route.matches({"type": "http", "method": "GET", "path": "/no/such/page", "root_path": "", "headers": []})
    return together.routes


async def _tidy(database: Database) -> None:
    """Delete demos after a day, and the addresses of failed logins, every hour."""

    def job(connection: Connection) -> None:
        delete_demos(connection, now_ms() - DEMO_MS)
        forget_failures(connection)

    while True:
        await asyncio.sleep(TIDY_SECONDS)
        try:
            await database.commit(job)
            await database.forget_in_time()
        except Refused as error:
            log.warning("Tidying up did not work: %s", database_message(error.__cause__))


def from_environment() -> FastAPI:
    """Return the server of a worker process."""
    app = create_app(WebConfig.from_environment(), reading_apart=True)
    # These objects live as long as the process; scanning them again and again would slow down participants.
    gc.collect()
    gc.freeze()
    # Python would otherwise look for reference cycles every 700 allocations, several times per request.
    gc.set_threshold(*GC_THRESHOLDS)
    # A thread that waits for the interpreter lock, such as the writer after each statement, gets it a little sooner.
    sys.setswitchinterval(SWITCH_SECONDS)
    return app


def _answer(request: Request, status: int, code: str, message: str, **more: Any) -> Response:
    if pages.wants_page(request):
        design = getattr(request.state, "design", None)  # of the study whose page it is, which may word it itself
        language = pages.page_language(request, None if design is None else design.languages)
        texts = page_texts(language, design)
        about = PAGES.get(code, "trouble")
        section = request.url.path.split("/")[1]
        if section in RESEARCHERS:  # whose pages are in English, and say what happened
            texts, language = page_texts(PAGE_LANGUAGE) | {f"{about}.text": message}, PAGE_LANGUAGE
        link = _way_on(request, section, status, texts)
        title = RESEARCHER_TITLES.get(code, texts[f"{about}.title"])
        return pages.page(
            request, "message.html", status, title=title, message=texts[f"{about}.text"], language=language, link=link
        )
    return JSONResponse({"error": code, "message": message} | more, status)


def _way_on(request: Request, section: str, status: int, texts: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the address and the name of the link on an error page; None: there is none.

    A participant gets no link but to their own study: the home page tells what studies compare.
    """
    if section == "admin":
        return "/admin", texts["home.studies"]
    if section in ("", *RESEARCHERS):
        return "/", texts["home.link"]
    return (request.url.path, texts["reload"]) if section in ("s", "p") and status != 404 else None


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    if error.status >= 500:
        log.error("%s %s: %s (%s)", request.method, _path(request), error, database_message(error.__cause__))
    more = {} if error.state is None else {"state": error.state}
    response = _answer(request, error.status, error.code, str(error), **more)
    if error.code == "unauthorized":  # an API key is missing, not a login
        response.headers["www-authenticate"] = "Bearer"
    if error.retry_after is not None:
        response.headers["retry-after"] = str(error.retry_after)
    return response


def _invalid(request: Request, error: Exception) -> Response:
    return _answer(request, 422, "invalid", str(error))


def _malformed(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    text = str(first["msg"])
    if first["loc"][:1] == ("body",):  # pydantic's own words; those about queries stay as programs know them
        text = text.removeprefix("Value error, ")
    where = ".".join(str(part) for part in first["loc"] if part != "body")
    message = f"{where}: {text}." if where else f"{text}."
    if pages.wants_page(request):  # a person has mistyped an address; details for programs would not help
        message = NO_PAGE
    return _answer(request, 422, "invalid", message)


def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        return _answer(request, 404, "not-found", "There is nothing at this address.")
    if error.status_code == 400:  # JSON that is nested too deeply, or holds a number of thousands of digits
        return _answer(request, 422, "invalid", "The body of the request cannot be read.")
    code = "too-large" if error.status_code == 413 else "refused"
    message = NO_PAGE if pages.wants_page(request) else f"{error.detail}."
    response = _answer(request, error.status_code, code, message)
    for name, value in (error.headers or {}).items():
        response.headers[name] = value
    if error.status_code == 405:
        response.headers["allow"] = ", ".join(_methods(request))
    return response


def _methods(request: Request) -> list[str]:
    """Return the methods that an address has: several routes may share it, and each knows its own alone."""
    if request.url.path.startswith("/static/"):
        return ["GET", "HEAD"]
    routes = request.app.router.routes
    return [
        method
        for method in ("DELETE", "GET", "HEAD", "PATCH", "POST", "PUT")
        if any(route.matches(dict(request.scope) | {"method": method})[0] == Match.FULL for route in routes)
    ]


def _broken(request: Request, error: Exception) -> Response:
    # The person sees a sentence, the log of the server the rest; a path with a token stays out of both.
    log.error("%s %s failed", request.method, _path(request), exc_info=error)
    return _answer(request, 500, "internal", "Something went wrong on our side. What was stored before is safe.")


def _path(request: Request) -> str:
    route = request.scope.get("route")
    return str(getattr(route, "path", "an address"))
