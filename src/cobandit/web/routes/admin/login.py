"""The researcher's login, for pages and for programs."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from cobandit.base.json_types import JsonObject
from cobandit.web import pages
from cobandit.web.access import Credentials, is_admin, log_in, set_cookies
from cobandit.web.config import WebConfig
from cobandit.web.refusals import Refused
from cobandit.web.routes.admin.common import LOGIN, PAGE
from cobandit.web.routes.bodies import LoginBody, PasswordBody
from cobandit.web.storage.accounts import all_accounts
from cobandit.web.storage.database import Database

router = APIRouter()


@router.get(LOGIN, response_class=HTMLResponse, include_in_schema=False)
async def login_page(request: Request) -> Response:
    """Ask for the password."""
    onwards = _local(request.query_params.get("next", ""))
    if await is_admin(request):
        return RedirectResponse(onwards, 303)
    return await _login_page(request, onwards)


@router.post(LOGIN, response_class=HTMLResponse, include_in_schema=False)
async def login(request: Request) -> Response:
    """Take the password from the form."""
    onwards, name = PAGE, ""
    try:
        form = await _form(request)
        onwards = _local(form.get("next", [""])[0])
        _own_form(request)
        fields = {name: form.get(name, [""])[0] for name in ("password", "name", "code")}
        name = fields["name"]
        granted = await log_in(request, Credentials(**fields, via="page"))
    except Refused as error:
        response = await _login_page(request, onwards, error.status, str(error), name)
        if error.retry_after is not None:
            response.headers["retry-after"] = str(error.retry_after)
        return response
    answer = RedirectResponse(onwards, 303)
    set_cookies(request, answer, granted)
    return answer


@router.post("/api/admin/login", tags=["researcher"], response_model=LoginBody)
async def program_login(request: Request, body: PasswordBody) -> JsonObject:
    """Return a login for programs, sent as a bearer from then on."""
    granted = await log_in(request, Credentials(body.password, body.name, body.code))
    return {"token": granted.token, "expires_at": granted.expires}


async def _form(request: Request) -> dict[str, list[str]]:
    body = (await request.body()).decode("utf-8", "replace")
    try:
        return parse_qs(body, keep_blank_values=True, max_num_fields=10)
    except ValueError as error:
        raise Refused(422, "invalid", "This is not the form of the login: it has too many fields.") from error


async def _login_page(request: Request, onwards: str, status: int = 200, message: str = "", name: str = "") -> Response:
    """Return the form; it asks for no more than the accounts of this server need."""
    database: Database = request.app.state.database
    try:
        accounts = await database.ask(all_accounts)
    except Refused:  # the database is away: the page says so when the form comes
        accounts = []
    return pages.page(
        request,
        "admin/login.html",
        status,
        title="Researcher's login",
        language="en",
        onwards=onwards,
        message=message,
        named=len(accounts) > 1,
        given=name,
        codes=any(account.code_key is not None for account in accounts),
    )


def _local(path: str) -> str:
    """Return the researcher's page to continue with; other addresses, above all other sites, become the first page."""
    printable = all(" " < letter <= "~" for letter in path)
    inside = path == PAGE or path.startswith((f"{PAGE}/", f"{PAGE}?"))
    return path if printable and inside and "\\" not in path and not path.startswith(LOGIN) else PAGE


def _own_form(request: Request) -> None:
    """Refuse a login form from another site, which could log a person in without their knowledge."""
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    config: WebConfig = request.app.state.config
    if site is not None:
        own = site in ("same-origin", "none")
    else:  # an old browser; "null" is sent by pages that hide their origin, as ours do
        hosts = {request.headers.get("host", ""), urlsplit(config.public_url or "").netloc}
        own = origin in (None, "null") or urlsplit(origin or "").netloc in hosts
    if not own:
        raise Refused(403, "forbidden", "This form came from another site. Log in here.")
