"""Authentication and security headers: passwords, logins, forms, limits, headers.

The administrator's password is stored as an scrypt hash. A login returns a random token, of which only the SHA-256 is
stored; pages carry it in a cookie and must send a form token with every change, programs send it as a bearer token.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import ipaddress
import json
import os
import re
import secrets
import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, MutableMapping
from functools import lru_cache
from typing import Any

from fastapi import HTTPException, Request, Response

from cobandit.web.root_path import root_of

LOGIN_HOURS = 12
FAILURES_ALLOWED = 10
ALL_FAILURES_ALLOWED = 500
FAILURE_WINDOW_MS = 15 * 60 * 1000
LARGEST_BODY = 128 * 1024
LARGEST_DESIGN_BODY = 512 * 1024
LARGEST_FILE_BODY = 960 * 1024  # below the limit of the edge; also of the state of a partner's game

DESIGNS = "/api/admin/designs"
"""The routes whose bodies hold whole designs."""

IMPORTS = re.compile(r"/v1/teams/[^/]+/games")
"""The route whose body may hold the state of a partner's game."""


def too_large(largest: int) -> str:
    """Return the sentence about a body above a limit, without its full stop."""
    return f"A request may have {largest // 1024} KB"


TOO_LARGE = too_large(LARGEST_BODY)

_SCRYPT = {"n": 2**14, "r": 8, "p": 1}


def hash_password(password: str) -> str:
    """Return the password as it is stored: scrypt with a salt of its own."""
    salt = os.urandom(16)
    key = hashlib.scrypt(password.encode("utf-8", "surrogatepass"), salt=salt, dklen=32, **_SCRYPT)
    return "scrypt$" + base64.b64encode(salt).decode() + "$" + base64.b64encode(key).decode()


def password_fits(password: str, stored: str) -> bool:
    """Return whether it is the password of which the hash is stored."""
    try:
        _, salt, wanted = stored.split("$")
        key = hashlib.scrypt(
            password.encode("utf-8", "surrogatepass"), salt=base64.b64decode(salt), dklen=32, **_SCRYPT
        )
    except ValueError:
        return False
    return hmac.compare_digest(key, base64.b64decode(wanted))


NO_PASSWORD = "scrypt$" + "$".join(base64.b64encode(os.urandom(size)).decode() for size in (16, 32))
"""What the password of an account is compared with that is not there, so that it takes as long; none fits."""

CODE_SECONDS = 30
RECOVERY_CODES = 10
_LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"  # nothing that looks like something else


def new_code_key() -> str:
    """Return the key of an account's one-time codes (RFC 6238), which the person's app keeps, too."""
    import pyotp

    return str(pyotp.random_base32())


def code_address(key: str, account: str) -> str:
    """Return the address that an app for one-time codes reads."""
    import pyotp

    return str(pyotp.TOTP(key).provisioning_uri(name=account, issuer_name="cobandit"))


def code_step(key: str, code: str, now: float) -> int | None:
    """Return the half minute of a code, the present one or an adjacent one; None: the code is wrong."""
    import pyotp

    given = re.sub(r"\s", "", code)
    totp, current = pyotp.TOTP(key), int(now) // CODE_SECONDS
    fitting = [
        step
        for step in (current - 1, current, current + 1)
        if hmac.compare_digest(str(totp.at(step * CODE_SECONDS)).encode(), given.encode("utf-8", "surrogatepass"))
    ]
    return fitting[-1] if fitting else None


def new_recovery_codes() -> list[str]:
    """Return recovery codes for a lost phone: each works once."""
    drawn = ("".join(secrets.choice(_LETTERS) for _ in range(10)) for _ in range(RECOVERY_CODES))
    return [f"{code[:5]}-{code[5:]}" for code in drawn]


def recovery_digest(code: str) -> str:
    """Return the stored digest of a recovery code, independent of how it is typed."""
    return digest(re.sub(r"[\s-]", "", code.lower()))


def new_token() -> str:
    """192 random bits for a link or a login."""
    return secrets.token_urlsafe(24)


def digest(token: str) -> str:
    """Return the stored digest of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def form_token(login: str) -> str:
    """Return the token that a form must send in addition to the cookie, so that no other site can send it (CSRF)."""
    return hmac.new(login.encode(), b"form", hashlib.sha256).hexdigest()


def form_token_fits(login: str, given: str) -> bool:
    """Return whether the form came from a page of this login."""
    return hmac.compare_digest(form_token(login).encode(), given.encode("utf-8", "surrogatepass"))


@lru_cache(maxsize=4096)
def network_of(address: str) -> str:
    """Return the network that counts as one visitor: an IPv4 address, or the /64 of IPv6 that a household gets."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, 64), strict=False))


class Throttle:
    """Allow a number of requests per network (see `network_of`) and minute, counted in the memory of this process."""

    def __init__(self, most: int, seconds: float = 60.0, addresses: int = 10_000) -> None:
        self._most, self._seconds, self._addresses = most, seconds, addresses
        self._seen: OrderedDict[str, deque[float]] = OrderedDict()

    def allows(self, address: str) -> bool:
        """Count one more, unless there were too many."""
        address, now = network_of(address), time.monotonic()
        times = self._seen.setdefault(address, deque())
        self._seen.move_to_end(address)
        if len(self._seen) > self._addresses:
            self._seen.popitem(last=False)
        while times and times[0] < now - self._seconds:
            times.popleft()
        if len(times) >= self._most:
            return False
        times.append(now)
        return True


Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
ANSWER = "cobandit.answer"
"""An ASGI message with a whole answer whose head is encoded, and the extension of servers that take it (`edge`)."""

HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),  # a personal link must not travel to other sites
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
]


class SecurityMiddleware:
    """Every answer gets the headers; a body that is too large is refused before it is read.

    ``broken`` answers unexpected errors here, because an outer handler would send the answer without these headers.
    """

    def __init__(self, app: App, broken: Callable[[Request, Exception], Response]) -> None:
        self._app, self._broken = app, broken

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False
        body_withheld = _waits_with_body(scope)

        async def sealed(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                _seal(message, scope, last=body_withheld)
            elif body_withheld and not message.get("more_body"):
                await send({**message, "more_body": True})
                await _drain(receive)
                message = {"type": "http.response.body", "body": b""}
            await send(message)

        if _announces_too_much(scope):
            await _too_large(sealed, _largest_body(scope))
            return
        left = _largest_body(scope)

        async def counted() -> Message:
            nonlocal left, body_withheld
            body_withheld = False
            message = await receive()
            if message["type"] == "http.request":
                left -= len(message.get("body", b""))
                if left < 0:
                    raise BodyTooLarge(_largest_body(scope))
            return message

        try:
            await self._app(scope, counted, sealed)
        except BodyTooLarge:
            await _too_large(sealed, _largest_body(scope))
        except Exception as error:
            if started:
                raise
            await self._broken(Request(scope), error)(scope, receive, sealed)


def _seal(message: Message, scope: Scope, *, last: bool) -> None:
    """Add the headers that every answer carries to the start of an answer; ``last``: no request may follow it."""
    headers = message.setdefault("headers", [])
    if 300 <= message["status"] < 400:
        headers[:] = [
            (name, _redirect(value, scope) if name.lower() == b"location" else value) for name, value in headers
        ]
    present = {name.lower() for name, _ in headers}
    headers.extend(header for header in HEADERS if header[0] not in present)
    if b"cache-control" not in present and not scope["path"].startswith("/static/"):
        headers.append((b"cache-control", b"no-store"))
    if last:
        headers.append((b"connection", b"close"))


def _announces_too_much(scope: Scope) -> bool:
    """Return whether the announced length of the body is no number or above the limit."""
    length = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
    return not length.isdigit() or int(length) > _largest_body(scope)


def _largest_body(scope: Scope) -> int:
    """Return how many bytes the body of a request may have."""
    path: str = scope["path"]
    if path.startswith(f"{DESIGNS}/files") or IMPORTS.fullmatch(path):
        return LARGEST_FILE_BODY
    return LARGEST_DESIGN_BODY if path.startswith(DESIGNS) else LARGEST_BODY


def _waits_with_body(scope: Scope) -> bool:
    """Return whether the client waits for "100 Continue" before it sends the body."""
    return any(name == b"expect" for name, _ in scope["headers"])


async def _drain(receive: Receive) -> None:
    """Read the body that a client may still send after its answer; a closed connection would destroy the answer.

    The client waited for "100 Continue" and got a final answer, so nothing else may follow on its connection. Proxies
    built with Go before 1.22.5 (CVE-2024-24791), such as Caddy of Debian 12, would send the next request there, of
    which the first bytes would count as this body and the rest as a request of its own.
    """
    while (message := await receive())["type"] == "http.request" and message.get("more_body"):
        pass


def _redirect(address: bytes, scope: Scope) -> bytes:
    """Return the address of a redirect; one of ours is below the root path, and without the host, which the client
    chose.
    """
    own = str(Request(scope).base_url).encode()
    if address.startswith(own):
        address = b"/" + address[len(own) :].lstrip(b"/")  # two slashes would begin another host
    return root_of(scope).encode() + address if address.startswith(b"/") else address


class BodyTooLarge(HTTPException):
    """The body of a request is larger than allowed; an `HTTPException`, so that FastAPI's JSON reading lets it pass."""

    def __init__(self, largest: int = LARGEST_BODY) -> None:
        super().__init__(413, too_large(largest), {"connection": "close"})


async def _too_large(send: Send, largest: int) -> None:
    body = json.dumps({"error": "too-large", "message": f"{too_large(largest)}."}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    # The connection stays open: a server that closes it while the body is still arriving destroys its own answer.
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": body})
