"""Speaking HTTP with a server of studies: its address, its answers, and what can go wrong."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx

from cobandit.base.checks import short_repr
from cobandit.base.errors import CobanditError, InvalidInput
from cobandit.base.json_types import JsonObject


class RequestFailed(CobanditError):
    """A server of studies refuses a request; the message gives the reason and what to do."""


class ServerUnreachable(RequestFailed):
    """There is no answer at the address, or not from a server of studies."""


class LoginRefused(RequestFailed):
    """The password or the login is not accepted."""


class NoSuchStudy(RequestFailed):
    """The server has no study of this name."""


class StudyClosed(RequestFailed):
    """The study takes no new participants."""


def client_options(url: str, login: str | None = None) -> dict[str, Any]:
    """Return the options of every client of a server; ``login`` is the researcher's, as a bearer token."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidInput(f"The server must be an address such as http://127.0.0.1:8000, got {short_repr(url)}.")
    return {
        "base_url": url.rstrip("/"),
        "headers": {} if login is None else {"authorization": f"Bearer {login}"},
        "trust_env": not _is_local(parts.hostname),  # a proxy for the internet knows nothing of this machine
        "verify": parts.scheme == "https",  # else no certificate is checked, and reading all root certificates is slow
    }


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def address(client: httpx.Client | httpx.AsyncClient) -> str:
    """Return the server's address as people write it."""
    return str(client.base_url).rstrip("/")


def unreachable(client: httpx.Client | httpx.AsyncClient, error: Exception) -> ServerUnreachable:
    """Return the error for a request that got no answer."""
    why = str(error) or type(error).__name__
    return ServerUnreachable(f"The server at {address(client)} cannot be reached: {why}. Is it running?")


def answer_body(response: httpx.Response) -> JsonObject:
    """Return the JSON of an answer; empty, where it is none."""
    try:
        body = response.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def sentence(body: Mapping[str, Any], status: int) -> str:
    """Return the message of an answer."""
    return str(body.get("message") or f"it answers {status}; is it a cobandit server?")
