"""The researchers' logins: accounts with roles, random logins that end by themselves, and a limit to guessing.

Every route of the researcher asks `require_admin`, which looks up in one table what the account's role may do.

Pages carry the login in a cookie and every change needs the form token too; programs carry it as a bearer, which no
other site can make a browser send.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from fastapi import Request, Response

from cobandit.web.refusals import Refused
from cobandit.web.roles import Viewer, least_role, may, not_allowed
from cobandit.web.root_path import root_of
from cobandit.web.security import (
    ALL_FAILURES_ALLOWED,
    FAILURE_WINDOW_MS,
    FAILURES_ALLOWED,
    LOGIN_HOURS,
    NO_PASSWORD,
    code_step,
    digest,
    form_token_fits,
    network_of,
    new_token,
    password_fits,
    recovery_digest,
)
from cobandit.web.storage import accounts, logins
from cobandit.web.storage.accounts import Account
from cobandit.web.storage.audit import OWNER, network_mark, record
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.logins import BROWSER_KNOWN_MS
from cobandit.web.storage.values import now_ms

COOKIE = "cobandit-login"
BROWSER_COOKIE = "cobandit-browser"
"""The cookie that identifies a browser with an earlier login; it gives no access by itself."""
LOGIN_PATH = "/admin/login"

MOST_WAITING = 16
"""How many passwords may wait to be checked, in addition to the one that is being checked."""

NOBODY = "unknown"
"""Who has tried a password that is wrong."""

FAILURES_LISTED = 50

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


def _gently() -> None:
    """Let everything else go first: guessing must not cost participants anything."""
    with contextlib.suppress(AttributeError, OSError):  # not every system knows priorities of threads
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)


class PasswordQueue:
    """Tries the passwords of one server one at a time, and lets few wait: hashing is slow on purpose.

    Known browsers and networks have a queue of their own, so that they do not wait for strangers. Each queue has a
    thread of its own, so that database reads do not wait for hashing.
    """

    def __init__(self) -> None:
        self._threads = {known: ThreadPoolExecutor(1, "password", initializer=_gently) for known in (False, True)}
        self._turns = {known: asyncio.Lock() for known in (False, True)}
        self._waiting = dict.fromkeys((False, True), 0)

    @contextlib.asynccontextmanager
    async def turn(self, known: bool, gone: Callable[[], Awaitable[bool]]) -> AsyncIterator[None]:
        """Wait for a turn; refuse where too many wait, and drop an attempt whose client has disconnected meanwhile."""
        if self._waiting[known] > MOST_WAITING:
            raise Refused(
                429, "too-many", "Too many passwords are being tried just now. Try again in a minute.", retry_after=60
            )
        self._waiting[known] += 1
        try:
            async with self._turns[known]:
                if await gone():
                    raise Refused(499, "gone", "The client has disconnected.")
                yield
        finally:
            self._waiting[known] -= 1

    async def fits(self, known: bool, password: str, stored: str) -> bool:
        """Return whether a password fits a stored hash; only within a turn."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads[known], password_fits, password, stored)

    def close(self) -> None:
        """End the threads."""
        for thread in self._threads.values():
            thread.shutdown(wait=False, cancel_futures=True)


@dataclass(frozen=True)
class Credentials:
    """The name and password of a login; without a name it is the owner."""

    password: str
    name: str = ""
    code: str = ""
    via: str = "program"

    @property
    def account(self) -> str:
        """Whose they are said to be."""
        return self.name.strip() or OWNER


@dataclass(frozen=True)
class Login:
    """A fresh login: its token, when it ends (ms), and by what the browser is known from now on."""

    token: str
    expires: int
    browser: str


@dataclass(frozen=True)
class _Origin:
    """Where an attempt comes from: by which name its failures are counted, and whether it is known."""

    name: str
    known: bool


async def log_in(request: Request, shown: Credentials) -> Login:
    """Return a fresh login, or refuse; failures are counted per known browser, else per network and in all."""
    database: Database = request.app.state.database
    queue: PasswordQueue = request.app.state.passwords
    network = network_of(request.client.host if request.client else "")
    cookie = request.cookies.get(BROWSER_COOKIE)
    browser = None if cookie is None else digest(cookie)
    # Looked at before it is written: a flood of guesses is mostly reading.
    origin = await database.ask(lambda connection: _allowed(connection, network, browser, shown.account))
    if origin is None:
        raise _too_many()
    async with queue.turn(origin.known, request.is_disconnected):
        attempt = await database.commit(lambda connection: _reserve(connection, network, browser, shown))
        if attempt is None:
            raise _too_many()
        number, account = attempt
        stored = NO_PASSWORD if account is None or account.password is None else account.password
        fits = await queue.fits(origin.known, shown.password, stored)
    if not fits or account is None:
        await database.commit(lambda connection: _record_failure(connection, network, shown, "password"))
        raise _wrong(shown)
    if account.code_key is not None and not shown.code.strip():
        # It stays counted: whether a password is right is worth knowing.
        raise Refused(403, "code-needed", "This account asks for a one-time code as well.")

    def job(connection: Connection) -> Login | None:
        if not _code_fits(connection, account, shown.code):
            _record_failure(connection, network, shown, "code")
            return None
        logins.delete_failure(connection, number)
        logins.remember_network(connection, network, now_ms())
        token, expires = grant_login(connection, account.name, shown.via, network_mark(connection, network))
        fresh = new_token()
        if shown.via == "page":  # programs keep no cookies
            logins.remember_browser(connection, digest(fresh), account.name, now_ms(), browser)
        return Login(token, expires, fresh)

    login = await database.commit(job)
    if login is None:
        raise _wrong(shown)
    return login


async def confirm_password(request: Request, name: str, password: str) -> None:
    """Refuse unless it is the password of an account that is logged in."""
    database: Database = request.app.state.database
    queue: PasswordQueue = request.app.state.passwords
    account = await database.ask(lambda connection: accounts.find_account(connection, name))
    stored = NO_PASSWORD if account is None or account.password is None else account.password
    async with queue.turn(True, request.is_disconnected):
        if not await queue.fits(True, password, stored):
            raise Refused(403, "forbidden", "The password is wrong.")


def _too_many() -> Refused:
    return Refused(
        429, "too-many", "Too many wrong passwords from this address. Wait a quarter of an hour.", retry_after=900
    )


def _wrong(shown: Credentials) -> Refused:
    """Return the refusal of a login, without saying whether name or password is wrong."""
    plain = not shown.name.strip() and not shown.code.strip()
    return Refused(403, "forbidden", f"The {'password' if plain else 'account, password or code'} is wrong.")


def _code_fits(connection: Connection, account: Account, code: str) -> bool:
    """Return whether the second thing is there, too; each one-time code and each recovery code counts once."""
    if account.code_key is None:
        return True
    step = code_step(account.code_key, code, now_ms() / 1000)
    if step is not None:
        return accounts.use_step(connection, account.name, step)
    return accounts.use_recovery(connection, account.name, recovery_digest(code))


def _allowed(connection: Connection, network: str, browser: str | None, account: str) -> _Origin | None:
    """Return the origin to which an attempt counts, or None if it has too many attempts.

    A browser with an earlier login of the account counts separately from the rest of its network. A cookie that is
    forged, revoked or of another account is ignored. All unknown browsers together have a limit, too; it does not apply
    to networks with a recent login, so that guessing cannot lock out the researcher.
    """
    now = now_ms()
    since = now - FAILURE_WINDOW_MS
    if browser is not None and logins.browser_is_known(connection, browser, account, now):
        origin = _Origin(f"browser {browser[:32]}", known=True)
    else:
        origin = _Origin(network, logins.network_is_known(connection, network, now))
    if logins.count_failures(connection, origin.name, since, now) >= FAILURES_ALLOWED:
        return None
    if origin.known or logins.count_failures(connection, None, since, now) < ALL_FAILURES_ALLOWED:
        return origin
    return None


def _reserve(
    connection: Connection, network: str, browser: str | None, shown: Credentials
) -> tuple[int, Account | None] | None:
    """Count an attempt as failed until it succeeds, so that parallel attempts at any process cannot exceed the
    limit.
    """
    accounts.find_account(connection, OWNER, lock=True)  # attempts of other processes wait here
    origin = _allowed(connection, network, browser, shown.account)
    if origin is None:
        return None
    now = now_ms()
    logins.delete_failures(connection, now - FAILURE_WINDOW_MS, now)
    return logins.add_failure(connection, origin.name, now), accounts.find_account(connection, shown.account)


def _record_failure(connection: Connection, network: str, shown: Credentials, wrong: str) -> None:
    """Record a refused login; of very many only every fiftieth, so that guessing cannot fill the disk.

    The name is recorded only if such an account exists: people type passwords into the wrong field.
    """
    now = now_ms()
    recent = logins.count_failures(connection, None, now - FAILURE_WINDOW_MS, now)
    if recent <= FAILURES_LISTED or recent % FAILURES_LISTED == 0:
        known = accounts.find_account(connection, shown.account) is not None
        record(
            connection,
            shown.account if known and shown.name.strip() else NOBODY,
            "login-failed",
            via=shown.via,
            wrong=wrong,
            network=network_mark(connection, network),
            in_this_quarter_of_an_hour=recent,
        )


def grant_login(connection: Connection, by: str, via: str, network: str = "", account: str = "") -> tuple[str, int]:
    """Create a login for a process that may write to the database; return its token and when it ends (ms)."""
    record(connection, by, "login", via=via, network=network)
    token, now = new_token(), now_ms()
    expires = now + LOGIN_HOURS * 3_600_000
    logins.add_login(connection, digest(token), expires, now, account=account or by, via=via, network=network)
    return token, expires


def forget_failures(connection: Connection) -> None:
    """Delete the addresses of failed logins that no longer count."""
    now = now_ms()
    logins.delete_failures(connection, now - FAILURE_WINDOW_MS, now)


async def log_out(request: Request) -> None:
    """End the login of this request."""
    token = _bearer(request) or request.cookies.get(COOKIE)
    if token:
        database: Database = request.app.state.database
        by = acting(request)

        def job(connection: Connection) -> None:
            logins.end_login(connection, digest(token))
            record(connection, by, "logout")

        await database.commit(job)


def acting(request: Request) -> str:
    """Return the account of the request, for the audit log; only behind `require_admin`."""
    return str(request.state.account)


def viewer_of(request: Request) -> Viewer:
    """Return the account and role of the request's login; only behind `require_admin`."""
    return Viewer(acting(request), str(request.state.role))


def set_cookies(request: Request, response: Response, login: Login) -> None:
    """Let the browser carry the login, and be known at the login page; out of reach of scripts and of other sites."""
    for name, value, seconds, path in (
        (COOKIE, login.token, LOGIN_HOURS * 3600, "/"),
        (BROWSER_COOKIE, login.browser, BROWSER_KNOWN_MS // 1000, LOGIN_PATH),
    ):
        response.set_cookie(
            name,
            value,
            max_age=seconds,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
            path=_cookie_path(request, path),
        )


def drop_login_cookie(request: Request, response: Response) -> None:
    """Make the browser forget the login."""
    response.delete_cookie(COOKIE, path=_cookie_path(request, "/"))


def _cookie_path(request: Request, path: str) -> str:
    """Return the path of a cookie; other servers of the same host must not get it."""
    return (root_of(request.scope) + path).rstrip("/") or "/"


async def is_admin(request: Request) -> bool:
    """Return whether the request carries a valid login (as a bearer, or as cookie of a page that asks for nothing)."""
    token = _bearer(request)
    if token is None and request.method in SAFE_METHODS:
        token = request.cookies.get(COOKIE)
    return token is not None and await _login(request, token) is not None


async def require_admin(request: Request) -> str:
    """Return the login of the request; a dependency of every route of the researcher. With a cookie, changes
    need more.
    """
    bearer = _bearer(request)
    token = bearer or request.cookies.get(COOKIE)
    login = None if token is None else await _login(request, token)
    if token is None or login is None:
        raise Refused(401, "login-needed", "This page needs the researcher's login.")
    if bearer is None and request.method not in SAFE_METHODS:
        given = request.headers.get("x-form-token") or await _form_field(request)
        if not form_token_fits(token, given):
            raise Refused(403, "form-expired", "This form is too old or came from elsewhere. Reload the page.")
    request.state.account, request.state.role = login
    if not may(request.state.role, request.method, request.scope["path"]):
        raise not_allowed(login[1], least_role(request.method, request.scope["path"]))
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


async def _login(request: Request, token: str) -> tuple[str, str] | None:
    """Return the account of a login and its role; None: it has ended or never existed."""
    database: Database = request.app.state.database
    stored = await database.ask(lambda connection: accounts.login_of(connection, digest(token)))
    # A login from when the clock was ahead does not last until then; an hour back is no such thing.
    if stored is None or not 0 < stored[0] - now_ms() <= (LOGIN_HOURS + 1) * 3_600_000:
        return None
    return stored[1], stored[2]
