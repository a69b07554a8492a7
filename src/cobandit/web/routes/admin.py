"""The researcher's pages and the interface behind them. Everything but the two logins needs a login."""

from __future__ import annotations

import asyncio
import csv
import io
import re
import signal
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from typing import IO, Annotated, Any, Literal
from urllib.parse import parse_qs, quote, urlsplit

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse, StreamingResponse
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from pydantic import BaseModel, Field

from cobandit.base.errors import InvalidInput
from cobandit.web import pages
from cobandit.web.access import COOKIE, is_admin, log_in, log_out, require_admin, set_cookie
from cobandit.web.admin import MOST_LINKS, Admin, about, iso
from cobandit.web.config import WebConfig
from cobandit.web.refusals import Refused, not_found
from cobandit.web.routes.participant import LARGEST, Closed, Problem, Short
from cobandit.web.security import form_token

PAGE = "/admin"
LOGIN = "/admin/login"
STREAM_SECONDS = 20.0  # then the page asks again, and the login is looked at again
PULSE_SECONDS = 1.0
MOST_ROUNDS = 1000
CHUNK = 256 * 1024

_PUBLIC_ID = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_FORMULA = re.compile(r"[=+\-@\t\r]")


class LoginFirst(APIRoute):
    """A page that sends whoever is not logged in to the login, and back afterwards."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, behind the login."""
        handle = super().get_route_handler()

        async def guarded(request: Request) -> Response:
            try:
                return await handle(request)
            except Refused as error:
                if error.status != 401:
                    raise
            wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
            asked = f"?next={quote(wanted, safe='/')}" if request.method == "GET" and wanted != PAGE else ""
            return RedirectResponse(LOGIN + asked, 303)

        return guarded


_BEARER = HTTPBearer(auto_error=False, description="The token of POST /api/admin/login")

entrance = APIRouter()
views = APIRouter(prefix=PAGE, include_in_schema=False, route_class=LoginFirst, dependencies=[Depends(require_admin)])
api = APIRouter(
    prefix="/api/admin",
    tags=["researcher"],
    dependencies=[Depends(_BEARER), Depends(require_admin)],
    responses={401: {"model": Problem, "description": "No login, or one that has ended"}},
)


def _admin(request: Request) -> Admin:
    service: Admin | None = getattr(request.app.state, "admin", None)
    if service is None:
        service = request.app.state.admin = Admin(request.app.state.database)
    return service


def _participant(participant: str) -> str:
    if not _PUBLIC_ID.fullmatch(participant):
        raise not_found("There is no participant of this name here.")
    return participant


Service = Annotated[Admin, Depends(_admin)]
StudyNumber = Annotated[int, Path(ge=1, le=LARGEST, description="The number of the study")]
PublicId = Annotated[str, Depends(_participant)]
Kind = Annotated[Literal["real", "rehearsal", "demo"], Query(description="People, simulated people, or demos")]


class Password(Closed):
    """The researcher's password."""

    password: Annotated[str, Field(max_length=1000)]


class Login(BaseModel):
    """A bearer for programs; it ends by itself, in milliseconds since 1970."""

    token: str
    expires_at: int


class Done(BaseModel):
    """It was done."""

    done: Literal[True] = True


class Standing(BaseModel):
    """Whether the study takes new people."""

    study: int
    open: bool


class Invitation(Closed):
    """How many people to invite; ``labels`` are the researcher's own names for them, one each."""

    count: Annotated[int, Field(ge=1, le=MOST_LINKS)] | None = None
    labels: Annotated[list[Short], Field(min_length=1, max_length=MOST_LINKS)] | None = None
    kind: Literal["real", "rehearsal"] = "real"


class Link(BaseModel):
    """One person's link."""

    participant: str
    label: str | None
    url: str
    kind: str
    status: str


class Deleted(BaseModel):
    """What is gone for good."""

    participant: str
    deleted: dict[str, int]


class Payment(BaseModel):
    """Somebody who has finished."""

    participant: str
    label: str | None
    recruiter: str | None
    external_id: str | None
    finished_at: int
    code: str
    minutes: float | None
    attention_passed: bool | None


# Coming in and going out


@entrance.get(LOGIN, response_class=HTMLResponse, include_in_schema=False)
async def login_page(request: Request) -> Response:
    """Ask for the password."""
    onwards = _local(request.query_params.get("next", ""))
    if await is_admin(request):
        return RedirectResponse(onwards, 303)
    return _login_page(onwards)


@entrance.post(LOGIN, response_class=HTMLResponse, include_in_schema=False)
async def login(request: Request) -> Response:
    """Take the password from the form."""
    form = parse_qs((await request.body()).decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=10)
    onwards = _local(form.get("next", [""])[0])
    try:
        _own_form(request)
        token, _ = await log_in(request, form.get("password", [""])[0])
    except Refused as error:
        response = _login_page(onwards, error.status, str(error))
        if error.retry_after is not None:
            response.headers["retry-after"] = str(error.retry_after)
        return response
    answer = RedirectResponse(onwards, 303)
    set_cookie(request, answer, token)
    return answer


@views.post("/logout")
async def logout(request: Request) -> Response:
    """End the login of the page."""
    await log_out(request)
    answer = RedirectResponse(LOGIN, 303)
    answer.delete_cookie(COOKIE, path="/")
    return answer


@entrance.post("/api/admin/login", tags=["researcher"], response_model=Login)
async def program_login(request: Request, body: Password) -> dict[str, Any]:
    """A login for programs, sent as a bearer from then on."""
    token, expires = await log_in(request, body.password)
    return {"token": token, "expires_at": expires}


@api.post("/logout", response_model=Done)
async def program_logout(request: Request) -> Done:
    """End this login."""
    await log_out(request)
    return Done()


def _login_page(onwards: str, status: int = 200, message: str = "") -> Response:
    return pages.page(
        "admin/login.html", status, title="Researcher's login", language="en", onwards=onwards, message=message
    )


def _local(path: str) -> str:
    """A page of the researcher to go on to; anything else, and other sites above all, becomes the first page."""
    printable = all(" " < letter <= "~" for letter in path)
    inside = path == PAGE or path.startswith((f"{PAGE}/", f"{PAGE}?"))
    return path if printable and inside and "\\" not in path and not path.startswith(LOGIN) else PAGE


def _own_form(request: Request) -> None:
    """Refuse a login form that another site has sent, so that nobody is logged in without knowing."""
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    config: WebConfig = request.app.state.config
    if site is not None:
        own = site in ("same-origin", "none")
    else:  # an old browser; "null" is what a page sends that tells nobody where it is, as ours do
        hosts = {request.headers.get("host", ""), urlsplit(config.public_url or "").netloc}
        own = origin in (None, "null") or urlsplit(origin or "").netloc in hosts
    if not own:
        raise Refused(403, "forbidden", "This form came from another site. Log in here.")


# Pages


def _view(name: str, request: Request, title: str, **values: Any) -> Response:
    config: WebConfig = request.app.state.config
    token = form_token(request.cookies.get(COOKIE, ""))
    return pages.page(
        f"admin/{name}.html",
        title=title,
        language="en",
        form_token=token,
        demo=config.demo,
        base=_base(request),
        **values,
    )


@views.get("", response_class=HTMLResponse)
async def studies_page(request: Request, service: Service) -> Response:
    """Every study."""
    return _view("studies", request, "Studies", studies=await service.studies())


@views.get("/studies/{number}", response_class=HTMLResponse)
async def study_page(request: Request, number: StudyNumber, service: Service) -> Response:
    """One study, live."""
    study = about(await service.study(number))
    return _view("study", request, study["title"], study=study, most_links=MOST_LINKS)


@views.get("/studies/{number}/participants/{participant}", response_class=HTMLResponse)
async def participant_page(request: Request, number: StudyNumber, participant: PublicId, service: Service) -> Response:
    """One participant's play."""
    found = await service.participant(number, participant)
    return _view("participant", request, participant, study=found["study"], participant=participant, kind=found["kind"])


@views.get("/studies/{number}/payments", response_class=HTMLResponse)
async def payments_page(request: Request, number: StudyNumber, service: Service) -> Response:
    """Who is to be paid."""
    study = about(await service.study(number))
    found = [one | {"finished": iso(one["finished_at"])} for one in await service.payments(number)]
    return _view("payments", request, f"Payments: {study['title']}", study=study, payments=found)


@views.get("/studies/{number}/payments.csv")
async def payments_csv(number: StudyNumber, service: Service) -> Response:
    """Who is to be paid, as a table."""
    names = ["participant", "label", "recruiter", "external_id", "finished_at", "code", "minutes", "attention_passed"]
    rows = [one | {"finished_at": iso(one["finished_at"])} for one in await service.payments(number)]
    return _table(f"payments-{number}.csv", names, ([row[name] for name in names] for row in rows))


# The interface


@api.get("/studies")
async def studies(service: Service) -> dict[str, list[dict[str, Any]]]:
    """Every study, with how many people of each kind are where."""
    return {"studies": await service.studies()}


@api.get("/studies/{number}/live")
async def live(request: Request, number: StudyNumber, service: Service, kind: Kind = "real") -> dict[str, Any]:
    """Who is where at this moment."""
    found = await service.live(number, kind)
    found["participants"] = [_with_url(request, one) for one in found["participants"]]
    return found


@api.get("/studies/{number}/curves")
async def curves(number: StudyNumber, service: Service, kind: Kind = "real") -> dict[str, Any]:
    """Mean cumulative task regret by condition, with its standard error; ``pending`` above 0: ask again."""
    return await service.curves(number, kind)


@api.get(
    "/studies/{number}/stream",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}, "description": "A `tick` whenever something has changed"}},
)
async def stream(request: Request, number: StudyNumber, service: Service) -> Response:
    """Server-sent events: a tick whenever something has changed. It ends now and then; browsers come back."""
    await service.study(number)
    seen = request.headers.get("last-event-id")
    return StreamingResponse(_ticks(request, service, number, seen), media_type="text/event-stream")


async def _ticks(request: Request, service: Admin, number: int, seen: str | None) -> AsyncIterator[str]:
    until = time.monotonic() + STREAM_SECONDS
    yield "retry: 1000\n\n"
    while time.monotonic() < until and not _stopping(request):
        try:
            pulse = await service.pulse(number)
        except Refused:  # the database is busy: the page will ask again
            return
        if pulse != seen:
            seen = pulse
            yield f"event: tick\nid: {pulse}\ndata: {{}}\n\n"
        await asyncio.sleep(PULSE_SECONDS)


def _stopping(request: Request) -> bool:
    """Whether the server is on its way out: it takes the signal itself, tells nobody, and waits for open answers."""
    server = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
    return bool(getattr(server, "should_exit", False) or getattr(request.app.state, "stopping", False))


@api.post("/studies/{number}/open", response_model=Standing)
async def open_study(number: StudyNumber, service: Service) -> Standing:
    """Let new people in."""
    await service.set_open(number, True)
    return Standing(study=number, open=True)


@api.post("/studies/{number}/close", response_model=Standing)
async def close_study(number: StudyNumber, service: Service) -> Standing:
    """Let nobody new in; whoever has begun may finish."""
    await service.set_open(number, False)
    return Standing(study=number, open=False)


@api.post("/studies/{number}/links", status_code=201, response_model=list[Link])
async def make_links(request: Request, number: StudyNumber, body: Invitation, service: Service) -> list[dict[str, Any]]:
    """Invite people, each by a link of their own."""
    labels: list[str | None] = [label.strip() or None for label in body.labels or ()]
    if labels and body.count not in (None, len(labels)):
        raise InvalidInput(f"{body.count} links with {len(labels)} labels are asked for; one label each is needed.")
    made = await service.make_links(number, labels or [None] * (body.count or 1), body.kind)
    return [_with_url(request, one) for one in made]


@api.get("/studies/{number}/links", response_model=list[Link])
async def links(request: Request, number: StudyNumber, service: Service, kind: Kind = "real") -> list[dict[str, Any]]:
    """The personal links of all who were invited."""
    return [_with_url(request, one) for one in await service.links(number, kind)]


@api.get("/studies/{number}/links.csv", response_class=Response, responses={200: {"content": {"text/csv": {}}}})
async def links_csv(request: Request, number: StudyNumber, service: Service, kind: Kind = "real") -> Response:
    """The personal links, as a table."""
    found = [_with_url(request, one) for one in await service.links(number, kind)]
    names = ["participant", "label", "status", "url"]
    return _table(f"links-{number}.csv", names, ([one[name] for name in names] for one in found))


@api.get("/studies/{number}/payments", response_model=list[Payment])
async def payments(number: StudyNumber, service: Service) -> list[dict[str, Any]]:
    """Everybody who has finished, and what is needed to pay them."""
    return await service.payments(number)


@api.get("/studies/{number}/participants/{participant}")
async def participant(request: Request, number: StudyNumber, participant: PublicId, service: Service) -> dict[str, Any]:
    """All about one participant but the rounds."""
    return _with_url(request, await service.participant(number, participant))


@api.get("/studies/{number}/participants/{participant}/episodes/{episode}")
async def rounds(
    number: StudyNumber,
    participant: PublicId,
    episode: Annotated[int, Path(ge=0, le=LARGEST)],
    service: Service,
    first: Annotated[int, Query(alias="from", ge=1, le=LARGEST)] = 1,
    limit: Annotated[int, Query(ge=1, le=MOST_ROUNDS)] = 100,
) -> dict[str, Any]:
    """Rounds of one episode, from a round on."""
    return await service.rounds(number, participant, episode, first, limit)


@api.delete("/studies/{number}/participants/{participant}", response_model=Deleted)
async def delete_participant(number: StudyNumber, participant: PublicId, service: Service) -> Deleted:
    """Delete a participant with everything of theirs, for good."""
    return Deleted(participant=participant, deleted=await service.delete(number, participant))


@api.get(
    "/studies/{number}/export",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/zip": {}}, "description": "All tables with their codebook"}},
)
async def export(
    number: StudyNumber,
    service: Service,
    format: Literal["csv", "parquet"] = "csv",
    kind: Kind = "real",
    recruiting: Annotated[bool, Query(description="With the recruiting service's ids: personal data")] = False,
) -> Response:
    """The data as a zip of tables; without personal data, unless they are asked for."""
    name, packed = await service.export(number, format=format, kind=kind, recruiting=recruiting)
    size = packed.seek(0, io.SEEK_END)
    packed.seek(0)
    headers = {"content-disposition": f'attachment; filename="{name}"', "content-length": str(size)}
    return StreamingResponse(_pieces(packed), media_type="application/zip", headers=headers)


async def _pieces(file: IO[bytes]) -> AsyncIterator[bytes]:
    with file:
        while piece := await asyncio.to_thread(file.read, CHUNK):
            yield piece


def _base(request: Request) -> str:
    config: WebConfig = request.app.state.config
    return (config.public_url or str(request.base_url)).rstrip("/")


def _with_url(request: Request, one: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in one.items() if key != "path"} | {"url": _base(request) + one["path"]}


def _table(name: str, header: list[str], rows: Iterable[list[Any]]) -> Response:
    """A CSV file; texts from participants are kept from being formulas of a spreadsheet."""

    def cell(value: Any) -> str:
        if value is None or isinstance(value, bool):
            return {None: "", True: "yes", False: "no"}[value]
        text = str(value)
        return f"'{text}" if isinstance(value, str) and _FORMULA.match(text) else text

    written = io.StringIO()
    table = csv.writer(written, lineterminator="\r\n")
    table.writerow(header)
    table.writerows([cell(value) for value in row] for row in rows)
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(written.getvalue(), media_type="text/csv; charset=utf-8", headers=headers)


router = APIRouter()
router.include_router(entrance)
router.include_router(views)
router.include_router(api)
