"""How the researcher's pages are guarded and made."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any
from urllib.parse import quote

from fastapi import Request, Response
from fastapi.responses import RedirectResponse
from fastapi.routing import APIRoute

from cobandit.web import pages
from cobandit.web.access import COOKIE
from cobandit.web.config import WebConfig
from cobandit.web.refusals import Refused
from cobandit.web.roles import ROLES
from cobandit.web.routes.admin.common import LOGIN, PAGE, base_url
from cobandit.web.security import form_token


class LoginFirst(APIRoute):
    """A page that sends a visitor without a login to the login page, and back afterwards."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler, behind the login."""
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


def view(name: str, request: Request, title: str, status: int = 200, **values: Any) -> Response:
    """Return a page of the researcher; ``trusted`` says whether the account may open, close, export and delete."""
    config: WebConfig = request.app.state.config
    return pages.page(
        request,
        f"admin/{name}.html",
        status,
        title=title,
        language="en",
        form_token=form_token(request.cookies.get(COOKIE, "")),
        demo=config.demo,
        base=base_url(request),
        robot=request.app.state.robot.in_lab,
        partners=config.partners,
        report=config.report_page is not None,
        account=request.state.account,
        role=request.state.role,
        trusted=ROLES.index(request.state.role) >= ROLES.index("researcher"),
        **values,
    )
