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
from cobandit.report.kit import assets
from cobandit.studies.page_texts import PAGE_LANGUAGE, page_texts
from cobandit.web import pages
from cobandit.web.access import PasswordQueue, forget_failures
from cobandit.web.config import WebConfig
from cobandit.web.refusals import Refused
from cobandit.web.routes import admin, home, participant, robot
from cobandit.web.routes.bodies import ErrorBody
from cobandit.web.routes.moves import Handlers, MoveEndpoint, move_token
from cobandit.web.security import Receive, Scope, SecurityMiddleware, Send
from cobandit.web.services.admission import REASONS
from cobandit.web.services.curves import Curves
from cobandit.web.services.export import Exports
from cobandit.web.services.health import Health
from cobandit.web.services.live import Live
from cobandit.web.services.participants import Participants
from cobandit.web.services.robot.server import Robot
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

ABOUT = "Human-AI studies of cooperative bandit teams: what the participants' and the researcher's pages use."


def create_app(config: WebConfig | None = None, *, reading_apart: bool = False) -> FastAPI:
    """A server for the studies of one database, whose tables must be there (`Database.migrate`).

    With ``reading_apart`` a process of its own reads for researchers who watch.
    """
    settings = WebConfig() if config is None else config
    database = Database(settings.database)
    arm = Robot(database, settings)
    reader = ReaderProcess(settings.database, consent_elsewhere=settings.consent_elsewhere) if reading_apart else None

    @contextlib.asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        tidying = asyncio.create_task(_tidy(database))
        await arm.start()
        yield
        tidying.cancel()
        await asyncio.to_thread(arm.stop)
        if reader is not None:
            await asyncio.to_thread(reader.end)
        app.state.passwords.close()
        await asyncio.to_thread(database.close)

    app = _Server(
        title="cobandit studies",
        description=ABOUT,
        version=__version__,
        lifespan=life,
        docs_url=None,  # the interactive page would load scripts from elsewhere
        redoc_url=None,
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
    app.state.health = Health(database)
    app.state.exports = Exports(database)
    app.router.routes.extend(_routes())
    app.mount("/static/vendor", CachedFiles(directory=str(assets.VENDOR)), name="vendor")
    app.mount("/static", CachedFiles(directory=str(pages.ROOM.joinpath("static"))), name="static")
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
    trusted = os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1")
    app.behind_proxy = ProxyHeadersMiddleware(super(_Server, app).__call__, trusted)  # type: ignore[arg-type]
    return app


class _Server(FastAPI):
    """The server. `MoveEndpoint` answers every move; the middleware and the router handle all other requests.

    A move does not depend on the client's address or scheme, so only the others read the headers of a proxy.
    """

    moves: MoveEndpoint
    behind_proxy: ProxyHeadersMiddleware

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        token = move_token(scope)
        if token is None:
            await self.behind_proxy(scope, receive, send)  # type: ignore[arg-type]
        else:
            await self.moves(token, scope, receive, send)


@functools.cache
def _routes() -> list[BaseRoute]:
    """Return every route, built. The servers of a process share them: no route depends on the server that it is in.

    FastAPI builds the routes of an included router when one is first looked for, and changes the process's warning
    filters meanwhile: with two servers in one process, one of them could fail; and the first visitor would wait.
    """
    responses: dict[int | str, dict[str, Any]] = {
        status: {"model": ErrorBody} for status in (403, 404, 409, 413, 422, 429, 500, 503)
    }
    together = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, responses=responses)
    for part in (home, participant, robot, admin):
        together.include_router(part.router)
    for route in together.routes:
        route.matches({"type": "http", "method": "GET", "path": "/no/such/page", "root_path": "", "headers": []})
    return together.routes


async def _tidy(database: Database) -> None:
    """Every hour: delete demos after their day, and the addresses of failed logins."""

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
    """The server of a worker process."""
    app = create_app(WebConfig.from_environment(), reading_apart=True)
    # What is there now stays for good; looking through it again and again would hold up participants.
    gc.collect()
    gc.freeze()
    # Python would otherwise look for reference cycles every 700 allocations, several times per request.
    gc.set_threshold(*GC_THRESHOLDS)
    # Whoever waits for the interpreter, such as the writer after each statement, gets it a little sooner.
    sys.setswitchinterval(SWITCH_SECONDS)
    return app


def _answer(request: Request, status: int, code: str, message: str, **more: Any) -> Response:
    if pages.wants_page(request):
        design = getattr(request.state, "design", None)  # of the study whose page it is, which may word it itself
        language = pages.page_language(request, None if design is None else design.languages)
        texts = page_texts(language, design)
        about = PAGES.get(code, "trouble")
        room = request.url.path.split("/")[1]
        if room in RESEARCHERS:  # whose pages are in English, and say what happened
            texts, language = page_texts(PAGE_LANGUAGE) | {f"{about}.text": message}, PAGE_LANGUAGE
        link = _way_on(request, room, status, texts)
        title = RESEARCHER_TITLES.get(code, texts[f"{about}.title"])
        return pages.message_page(status, title, texts[f"{about}.text"], language, link)
    return JSONResponse({"error": code, "message": message} | more, status)


def _way_on(request: Request, room: str, status: int, texts: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the address and the name of the link on an error page; None: there is none.

    A participant gets no link but to their own study: the home page tells what studies compare.
    """
    if room == "admin":
        return "/admin", texts["home.studies"]
    if room in ("", *RESEARCHERS):
        return "/", texts["home.link"]
    return (request.url.path, texts["reload"]) if room in ("s", "p") and status != 404 else None


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    if error.status >= 500:
        log.error("%s %s: %s (%s)", request.method, _path(request), error, database_message(error.__cause__))
    more = {} if error.state is None else {"state": error.state}
    response = _answer(request, error.status, error.code, str(error), **more)
    if error.retry_after is not None:
        response.headers["retry-after"] = str(error.retry_after)
    return response


def _invalid(request: Request, error: Exception) -> Response:
    return _answer(request, 422, "invalid", str(error))


def _malformed(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part != "body")
    message = f"{where}: {first['msg']}." if where else f"{first['msg']}."
    if pages.wants_page(request):  # somebody has mistyped an address; what a program would want to know is no help
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
    """The methods that an address has: several routes may share it, and each knows its own alone."""
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
