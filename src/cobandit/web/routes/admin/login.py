"""The researcher's login, for pages and for programs."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from cobandit.web import pages
from cobandit.web.access import is_admin, log_in, set_cookie
from cobandit.web.config import WebConfig
from cobandit.web.refusals import Refused
from cobandit.web.routes.admin.common import LOGIN, PAGE
from cobandit.web.routes.bodies import LoginBody, PasswordBody

router = APIRouter()


@router.get(LOGIN, response_class=HTMLResponse, include_in_schema=False)
async def login_page(request: Request) -> Response:
    """Ask for the password."""
    onwards = _local(request.query_params.get("next", ""))
    if await is_admin(request):
        return RedirectResponse(onwards, 303)
    return _login_page(onwards)


@router.post(LOGIN, response_class=HTMLResponse, include_in_schema=False)
async def login(request: Request) -> Response:
    """Take the password from the form."""
    onwards = PAGE
    try:
        form = await _form(request)
        onwards = _local(form.get("next", [""])[0])
        _own_form(request)
        token, _ = await log_in(request, form.get("password", [""])[0], "page")
    except Refused as error:
        response = _login_page(onwards, error.status, str(error))
        if error.retry_after is not None:
            response.headers["retry-after"] = str(error.retry_after)
        return response
    answer = RedirectResponse(onwards, 303)
    set_cookie(request, answer, token)
    return answer


@router.post("/api/admin/login", tags=["researcher"], response_model=LoginBody)
async def program_login(request: Request, body: PasswordBody) -> dict[str, Any]:
    """A login for programs, sent as a bearer from then on."""
    token, expires = await log_in(request, body.password, "program")
    return {"token": token, "expires_at": expires}


async def _form(request: Request) -> dict[str, list[str]]:
    body = (await request.body()).decode("utf-8", "replace")
    try:
        return parse_qs(body, keep_blank_values=True, max_num_fields=10)
    except ValueError as error:
        raise Refused(422, "invalid", "This is not the form of the login: it has too many fields.") from error


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
