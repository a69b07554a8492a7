"""The researcher's login: one password, random logins that end by themselves, and a limit to guessing.

Pages carry the login in a cookie and every change needs the form token too; programs carry it as a bearer, which no
other site can make a browser send.
"""

from __future__ import annotations

import asyncio

from fastapi import Request, Response

from cobandit.web.refusals import Refused
from cobandit.web.security import (
    FAILURE_WINDOW_MS,
    FAILURES_ALLOWED,
    LOGIN_HOURS,
    digest,
    form_token_fits,
    new_token,
    password_fits,
)
from cobandit.web.storage import logins
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.settings import read_setting
from cobandit.web.storage.values import now_ms

COOKIE = "cobandit-login"
PASSWORD = "admin-password"
"""The setting that holds the hash of the password."""

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


async def log_in(request: Request, password: str) -> tuple[str, int]:
    """A fresh login and when it ends (ms), or a refusal; failures are counted per address."""
    # One at a time: otherwise a hundred guesses at once would all be let through before the first has failed.
    async with request.app.state.logins:
        return await _log_in(request, password)


async def _log_in(request: Request, password: str) -> tuple[str, int]:
    database: Database = request.app.state.database
    address = request.client.host if request.client else ""

    def check(connection: Connection) -> tuple[int, str | None]:
        failures = logins.count_failures(connection, address, now_ms() - FAILURE_WINDOW_MS)
        return failures, read_setting(connection, PASSWORD)

    failures, stored = await database.ask(check)
    if failures >= FAILURES_ALLOWED:
        raise Refused(
            429, "too-many", "Too many wrong passwords from this address. Wait a quarter of an hour.", retry_after=900
        )
    # Hashing is slow on purpose; it must not hold up the participants.
    if stored is None or not await asyncio.to_thread(password_fits, password, stored):

        def failed(connection: Connection) -> None:
            logins.add_failure(connection, address, now_ms())
            forget_failures(connection)

        await database.commit(failed)
        raise Refused(403, "forbidden", "The password is wrong.")
    return await database.commit(grant_login)


def grant_login(connection: Connection) -> tuple[str, int]:
    """A fresh login for whoever may write to the database, and when it ends (ms)."""
    token, now = new_token(), now_ms()
    expires = now + LOGIN_HOURS * 3_600_000
    logins.add_login(connection, digest(token), expires, now)
    return token, expires


def forget_failures(connection: Connection) -> None:
    """Delete the addresses of failed logins that no longer count."""
    logins.delete_failures(connection, now_ms() - FAILURE_WINDOW_MS)


async def log_out(request: Request) -> None:
    """End the login of this request."""
    token = _bearer(request) or request.cookies.get(COOKIE)
    if token:
        database: Database = request.app.state.database
        await database.commit(lambda connection: logins.end_login(connection, digest(token)))


def set_cookie(request: Request, response: Response, token: str) -> None:
    """Let the browser carry the login, out of reach of scripts and of other sites."""
    response.set_cookie(
        COOKIE,
        token,
        max_age=LOGIN_HOURS * 3600,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
        path="/",
    )


async def is_admin(request: Request) -> bool:
    """Whether the request carries a valid login (as a bearer, or as cookie of a page that asks for nothing)."""
    token = _bearer(request)
    if token is None and request.method in SAFE_METHODS:
        token = request.cookies.get(COOKIE)
    return token is not None and await _valid(request, token)


async def require_admin(request: Request) -> str:
    """The login of the request; a dependency of every route of the researcher. With a cookie, changes need more."""
    bearer = _bearer(request)
    token = bearer or request.cookies.get(COOKIE)
    if token is None or not await _valid(request, token):
        raise Refused(401, "login-needed", "This page needs the researcher's login.")
    if bearer is None and request.method not in SAFE_METHODS:
        given = request.headers.get("x-form-token") or await _form_field(request)
        if not form_token_fits(token, given):
            raise Refused(403, "form-expired", "This form is too old or came from elsewhere. Reload the page.")
    return token


async def _form_field(request: Request) -> str:
    if not request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        return ""
    from urllib.parse import parse_qs

    body = (await request.body()).decode("utf-8", "replace")
    return parse_qs(body).get("form_token", [""])[0]


def _bearer(request: Request) -> str | None:
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() or None if kind.lower() == "bearer" else None


async def _valid(request: Request, token: str) -> bool:
    database: Database = request.app.state.database
    expires = await database.ask(lambda connection: logins.login_expiry(connection, digest(token)))
    return expires is not None and expires > now_ms()
