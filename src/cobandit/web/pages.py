"""Templates, static files with the hash of their contents in the address, and the messages of the pages."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Sequence
from functools import lru_cache
from importlib import resources
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment

from cobandit import __version__
from cobandit.report.kit.assets import VENDOR
from cobandit.report.kit.templates import template_environment

ROOM = resources.files("cobandit.web")
LANGUAGE = "en"


@lru_cache(maxsize=512)
def static(name: str) -> str:
    """The address of a static file; it changes with the contents, so browsers may keep the file for good."""
    room, *path = name.split("/")
    file = VENDOR.joinpath(*path) if room == "vendor" else ROOM.joinpath("static", room, *path)
    contents = file.read_bytes()
    return f"/static/{name}?v={hashlib.sha256(contents).hexdigest()[:12]}"


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = template_environment("cobandit.web")
    environment.globals |= {"static": static, "version": __version__}
    return environment


def page(name: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A template as an answer."""
    return HTMLResponse(_environment().get_template(name).render(**values), status)


def message_page(
    status: int, title: str, message: str, language: str = LANGUAGE, home: tuple[str, str] = ("/", "home.link")
) -> HTMLResponse:
    """A plain page with one thing to say, and a way home: an address, and the key of what its link is called."""
    address, called = home
    link_text = messages(language)[called]
    return page(
        "message.html", status, title=title, message=message, language=language, link=address, link_text=link_text
    )


@lru_cache(maxsize=1)
def message_languages() -> tuple[str, ...]:
    """The languages the pages speak, English first."""
    names = sorted(file.name[:-5] for file in ROOM.joinpath("messages").iterdir() if file.name.endswith(".toml"))
    return (LANGUAGE, *(name for name in names if name != LANGUAGE))


@lru_cache(maxsize=64)
def messages(language: str) -> dict[str, str]:
    """Every text of the pages by dotted key; what is not translated stays English."""
    english = _catalogue(LANGUAGE)
    return english | _catalogue(language) if language in message_languages() else english


def _catalogue(language: str) -> dict[str, str]:
    return _flat(tomllib.loads(ROOM.joinpath("messages", f"{language}.toml").read_text(encoding="utf-8")))


def _flat(table: dict[str, Any], prefix: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    for key, value in table.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": str(value)}
    return flat


def page_language(request: Request, known: Sequence[str]) -> str:
    """The language for a page: the one asked for, else the first of the browser's that is known."""
    wanted = request.query_params.get("language", "")
    spoken = [part.split(";")[0].strip().split("-")[0].lower() for part in _accepted(request).split(",")]
    return next((language for language in (wanted, *spoken) if language in known), known[0])


def _accepted(request: Request) -> str:
    return request.headers.get("accept-language", "")


def wants_page(request: Request) -> bool:
    """Whether a person looks at the answer, and not a program."""
    return not request.url.path.startswith("/api/") and "text/html" in request.headers.get("accept", "")
