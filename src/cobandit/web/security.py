"""Who may come in, and how every answer is sealed: passwords, logins, forms, limits, headers.

The administrator's password is kept as an scrypt hash. A login gives a random token, of which only the SHA-256 is
stored; pages carry it in a cookie and must send a form token beside it with every change, programs send it as a bearer.
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

LOGIN_HOURS = 12
FAILURES_ALLOWED = 10
ALL_FAILURES_ALLOWED = 500
FAILURE_WINDOW_MS = 15 * 60 * 1000
LARGEST_BODY = 128 * 1024
TOO_LARGE = f"A request may have {LARGEST_BODY // 1024} KB"

_SCRYPT = {"n": 2**14, "r": 8, "p": 1}


def hash_password(password: str) -> str:
    """The password as it is stored: scrypt with a salt of its own."""
    salt = os.urandom(16)
    key = hashlib.scrypt(password.encode("utf-8", "surrogatepass"), salt=salt, dklen=32, **_SCRYPT)
    return "scrypt$" + base64.b64encode(salt).decode() + "$" + base64.b64encode(key).decode()


def password_fits(password: str, stored: str) -> bool:
    """Whether it is the password of which the hash is stored."""
    try:
        _, salt, wanted = stored.split("$")
        key = hashlib.scrypt(
            password.encode("utf-8", "surrogatepass"), salt=base64.b64decode(salt), dklen=32, **_SCRYPT
        )
    except ValueError:
        return False
    return hmac.compare_digest(key, base64.b64decode(wanted))


NO_PASSWORD = hash_password(secrets.token_urlsafe(24))
"""What the password of an account is compared with that is not there, so that it takes as long."""

CODE_SECONDS = 30
RECOVERY_CODES = 10
_LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"  # nothing that looks like something else


def new_code_key() -> str:
    """The key of an account's one-time codes (RFC 6238), which the person's app keeps, too."""
    import pyotp

    return str(pyotp.random_base32())


def code_address(key: str, account: str) -> str:
    """What an app for one-time codes reads."""
    import pyotp

    return str(pyotp.TOTP(key).provisioning_uri(name=account, issuer_name="cobandit"))


def code_step(key: str, code: str, now: float) -> int | None:
    """The half minute of which it is the code, this one or one beside it; None: of none of them."""
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
    """Codes for the day on which the phone is lost: each works once."""
    drawn = ("".join(secrets.choice(_LETTERS) for _ in range(10)) for _ in range(RECOVERY_CODES))
    return [f"{code[:5]}-{code[5:]}" for code in drawn]


def recovery_digest(code: str) -> str:
    """What is stored of a recovery code, however it is typed."""
    return digest(re.sub(r"[\s-]", "", code.lower()))


def new_token() -> str:
    """192 random bits for a link or a login."""
    return secrets.token_urlsafe(24)


def digest(token: str) -> str:
    """What is stored of a token that opens a door."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def form_token(login: str) -> str:
    """What a form must carry beside the cookie, so that no other site can send it (CSRF)."""
    return hmac.new(login.encode(), b"form", hashlib.sha256).hexdigest()


def form_token_fits(login: str, given: str) -> bool:
    """Whether the form came from a page of this login."""
    return hmac.compare_digest(form_token(login).encode(), given.encode("utf-8", "surrogatepass"))


@lru_cache(maxsize=4096)
def network_of(address: str) -> str:
    """Who counts as one: an address of IPv4, the /64 of IPv6, which is what one household or one machine is given."""
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
    """Allow so many of something per network (see `network_of`) and minute, counted in the memory of this process."""

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

    An error that nobody has foreseen is answered by ``broken`` here: further out, the answer would not be sealed.
    """

    def __init__(self, app: App, broken: Callable[[Request, Exception], Response]) -> None:
        self._app, self._broken = app, broken

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def sealed(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                _seal(message, scope)
            await send(message)

        length = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if not length.isdigit() or int(length) > LARGEST_BODY:
            await _too_large(sealed)
            return
        left = LARGEST_BODY

        async def counted() -> Message:
            nonlocal left
            message = await receive()
            if message["type"] == "http.request":
                left -= len(message.get("body", b""))
                if left < 0:
                    raise BodyTooLarge
            return message

        try:
            await self._app(scope, counted, sealed)
        except BodyTooLarge:
            await _too_large(sealed)
        except Exception as error:
            if started:
                raise
            await self._broken(Request(scope), error)(scope, receive, sealed)


def _seal(message: Message, scope: Scope) -> None:
    """Add the headers that every answer carries to the start of an answer."""
    headers = message.setdefault("headers", [])
    if 300 <= message["status"] < 400:
        headers[:] = [(name, _without_host(name, value, scope)) for name, value in headers]
    present = {name.lower() for name, _ in headers}
    headers.extend(header for header in HEADERS if header[0] not in present)
    if b"cache-control" not in present and not scope["path"].startswith("/static/"):
        headers.append((b"cache-control", b"no-store"))


def _without_host(name: bytes, value: bytes, scope: Scope) -> bytes:
    """Return a header's value; the address of a redirect to this server without the host, which the client chose."""
    own = str(Request(scope).base_url).encode()
    if name.lower() != b"location" or not value.startswith(own):
        return value
    return b"/" + value[len(own) :].lstrip(b"/")  # two slashes would begin another host


class BodyTooLarge(HTTPException):
    """The body of a request is larger than allowed; an `HTTPException`, so that FastAPI's JSON reading lets it pass."""

    def __init__(self) -> None:
        super().__init__(413, TOO_LARGE, {"connection": "close"})


async def _too_large(send: Send) -> None:
    body = json.dumps({"error": "too-large", "message": f"{TOO_LARGE}."}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    # The connection stays open: a server that closes it while the body is still arriving destroys its own answer.
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": body})
