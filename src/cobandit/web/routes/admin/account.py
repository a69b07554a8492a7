"""The account page: own account, open logins, and for the owner all accounts."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar
from urllib.parse import parse_qs

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from cobandit.base.errors import InvalidInput
from cobandit.base.json_types import JsonObject
from cobandit.studies.data import moment
from cobandit.web.access import COOKIE, confirm_password, drop_login_cookie
from cobandit.web.refusals import Refused
from cobandit.web.roles import ROLES
from cobandit.web.routes.admin.common import By, Data
from cobandit.web.routes.admin.views import LoginFirst, view
from cobandit.web.routes.bodies import DoneBody
from cobandit.web.security import Throttle, code_address, digest, new_code_key
from cobandit.web.services import accounts as service
from cobandit.web.storage.accounts import all_accounts, find_account, session_id, sessions
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.values import now_ms

T = TypeVar("T")

PAGE = "/admin/account"

pages = APIRouter(prefix=PAGE, include_in_schema=False, route_class=LoginFirst)
api = APIRouter(prefix="/sessions")  # both under the researcher's login, which is asked for where they are included

_PASSWORD_TRIES = Throttle(10, 900.0)
"""Passwords that are asked for again: as few as at the login, per account."""


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form."""
    body = (await request.body()).decode("utf-8", "replace")
    try:
        fields = parse_qs(body, keep_blank_values=True, max_num_fields=10)
    except ValueError as error:
        raise InvalidInput("This is not the form of the page: it has too many fields.") from error
    return {name: values[0] for name, values in fields.items()}


Form = Annotated[dict[str, str], Depends(read_form)]


@pages.get("", response_class=HTMLResponse)
async def account_page(request: Request, database: Data, by: By) -> Response:
    """Show the user's own account, and for the owner all accounts."""
    return await _page(request, database, by)


@pages.post("/password", response_class=HTMLResponse)
async def change_password(request: Request, database: Data, by: By, form: Form) -> Response:
    """Return another password; one logs in with it."""

    async def change() -> None:
        hashed = await asyncio.to_thread(service.hashed_password, form.get("new", ""))
        await database.commit(lambda connection: service.change_password(connection, by, hashed))

    problem = await _with_password(request, by, form.get("old", ""), change)
    if problem is not None:
        return await _page(request, database, by, problem=problem)
    answer = RedirectResponse("/admin/login", 303)
    drop_login_cookie(request, answer)
    return answer


@pages.post("/codes", response_class=HTMLResponse)
async def begin_codes(request: Request, database: Data, by: By) -> Response:
    """Show a new key for the app, and ask for the first code."""
    return await _page(request, database, by, setup=_setup(new_code_key(), by))


@pages.post("/codes/confirm", response_class=HTMLResponse)
async def confirm_codes(request: Request, database: Data, by: By, form: Form) -> Response:
    """Ask for codes from now on, where the password and the first code are right; other logins end."""
    key, code, login = form.get("key", ""), form.get("code", ""), digest(_token(request))
    recovery: list[str] = []

    async def turn_on() -> None:
        recovery.extend(
            await database.commit(lambda connection: service.turn_codes_on(connection, by, key, code, keep=login))
        )

    problem = await _with_password(request, by, form.get("password", ""), turn_on)
    if problem is not None:
        again = re.fullmatch(r"[A-Z2-7]{32}", key) is not None and "already" not in problem
        return await _page(request, database, by, problem=problem, setup=_setup(key, by) if again else None)
    return await _page(request, database, by, recovery=recovery)


@pages.post("/codes/off", response_class=HTMLResponse)
async def codes_off(request: Request, database: Data, by: By, form: Form) -> Response:
    """Return the password alone again."""

    async def turn_off() -> None:
        await database.commit(lambda connection: service.turn_codes_off(connection, by))

    problem = await _with_password(request, by, form.get("password", ""), turn_off)
    return await _page(request, database, by, problem=problem)


@pages.post("/sessions/{session}/end", response_class=HTMLResponse)
async def end_session_form(request: Request, session: str, database: Data, by: By) -> Response:
    """End a login."""
    role = request.state.role
    await database.commit(lambda connection: service.end_session(connection, by, role, session))
    return RedirectResponse(PAGE, 303)


@pages.post("/accounts", response_class=HTMLResponse)
async def add_account(request: Request, database: Data, by: By, form: Form) -> Response:
    """Return a new account; its password is shown once."""
    name = form.get("name", "").strip()
    password, problem = await _try(
        database, lambda connection: service.add_account(connection, by, name, form.get("role", ""))
    )
    fresh = None if problem else {"name": name, "password": password}
    return await _page(request, database, by, problem=problem, fresh=fresh)


@pages.post("/accounts/{name}/remove", response_class=HTMLResponse)
async def remove_account(request: Request, name: str, database: Data, by: By) -> Response:
    """Delete an account."""
    _, problem = await _try(database, lambda connection: service.remove_account(connection, by, name))
    return await _page(request, database, by, problem=problem)


@pages.post("/accounts/{name}/reset", response_class=HTMLResponse)
async def reset_account(request: Request, name: str, database: Data, by: By) -> Response:
    """Return a new password, shown once, and no one-time codes."""
    password, problem = await _try(database, lambda connection: service.reset_account(connection, by, name))
    fresh = None if problem else {"name": name, "password": password}
    return await _page(request, database, by, problem=problem, fresh=fresh)


@api.get("")
async def list_sessions(request: Request, database: Data, by: By) -> dict[str, list[JsonObject]]:
    """Return the open logins: the user's own, or for the owner all."""
    return {"sessions": await _sessions(request, database, by)}


@api.delete("/{session}", response_model=DoneBody)
async def end_session(request: Request, session: str, database: Data, by: By) -> DoneBody:
    """End a login."""
    role = request.state.role
    await database.commit(lambda connection: service.end_session(connection, by, role, session))
    return DoneBody()


async def _try(database: Database, job: Callable[[Connection], T]) -> tuple[T | None, str | None]:
    """Run a job and return its result, or the error message for the page."""
    try:
        return await database.commit(job), None
    except InvalidInput as error:
        return None, str(error)


async def _with_password(request: Request, by: str, password: str, act: Callable[[], Awaitable[None]]) -> str | None:
    """Do something that needs the password once more, and return the sentence for the page, if any.

    Wrong passwords are counted.
    """
    if not _PASSWORD_TRIES.allows(by):
        raise Refused(429, "too-many", "Too many passwords were tried. Wait a quarter of an hour.", retry_after=900)
    try:
        await confirm_password(request, by, password)
        await act()
    except InvalidInput as error:
        return str(error)
    except Refused as error:
        if error.code != "forbidden":
            raise
        return str(error)
    return None


def _token(request: Request) -> str:
    """Return the token of the request's login."""
    return request.headers.get("authorization", "").partition(" ")[2].strip() or request.cookies.get(COOKIE, "")


async def _sessions(request: Request, database: Database, by: str) -> list[JsonObject]:
    mine = session_id(digest(_token(request)))
    whose = None if request.state.role == "owner" else by
    listed = await database.ask(lambda connection: sessions(connection, now_ms(), whose))
    return [
        {
            "id": session.id,
            "account": session.account,
            "created_at": session.created_at or None,
            "expires_at": session.expires_at,
            "via": session.via,
            "network": session.network,
            "current": session.id == mine,
        }
        for session in listed
    ]


async def _page(request: Request, database: Database, by: str, **more: Any) -> Response:
    own = await database.ask(lambda connection: find_account(connection, by))
    owner = request.state.role == "owner"
    everybody = await database.ask(all_accounts) if owner else []
    listed = [
        session | {"since": _time(session["created_at"]), "until": _time(session["expires_at"])}
        for session in await _sessions(request, database, by)
    ]
    status = 422 if more.get("problem") else 200
    values: dict[str, Any] = {"problem": None, "setup": None, "recovery": None, "fresh": None} | more
    return view(
        "account", request, "Account", status, own=own, accounts=everybody, sessions=listed, roles=ROLES, **values
    )


def _setup(key: str, name: str) -> dict[str, str]:
    """Return the data that an app needs to make codes: a picture to scan, and the key to type."""
    import segno

    address = code_address(key, name)
    return {
        "key": key,
        "spaced": " ".join(key[place : place + 4] for place in range(0, len(key), 4)),
        "address": address,
        "picture": segno.make(address, error="m").svg_data_uri(scale=5, border=4, light="#fff"),
    }


def _time(milliseconds: int | None) -> str:
    time = moment(milliseconds)
    return "" if time is None else time.strftime("%Y-%m-%d %H:%M")
