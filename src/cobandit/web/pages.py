"""Templates, static files with the hash of their contents in the address, and the messages of the pages."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache
from importlib import resources
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, pass_context
from jinja2.runtime import Context

from cobandit import __version__
from cobandit.base.numbers import rounded
from cobandit.report.kit import assets
from cobandit.report.kit.templates import template_environment
from cobandit.studies.page_texts import page_languages
from cobandit.web.root_path import root_of

PACKAGE = resources.files("cobandit.web")
_WEIGHT = re.compile(r"[01](\.\d{1,3})?")


@lru_cache(maxsize=512)
def static(name: str) -> str:
    """Return the address of a static file; it changes with the contents, so browsers may keep the file for good."""
    folder, *path = name.split("/")
    file = assets.VENDOR.joinpath(*path) if folder == "vendor" else PACKAGE.joinpath("static", folder, *path)
    contents = file.read_bytes()
    return f"/static/{name}?v={hashlib.sha256(contents).hexdigest()[:12]}"


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = template_environment("cobandit.web")
    environment.globals |= {"library_folder": assets.library_folder, "static": _rooted_static, "version": __version__}
    environment.filters["rounded"] = rounded
    return environment


@pass_context
def _rooted_static(context: Context, name: str) -> str:
    """Return the address of a static file as a page must give it."""
    return str(context["root"]) + static(name)


def page(request: Request, name: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Return a template as an answer. Its links to the server begin with ``root``."""
    return HTMLResponse(_environment().get_template(name).render(root=root_of(request.scope), **values), status)


def spoken_languages(request: Request) -> list[str]:
    """Return the languages for a visitor: the one in the address first, then the browser's, in its order."""
    preferred: list[tuple[float, str]] = []
    for part in request.headers.get("accept-language", "").split(","):
        name, _, more = part.strip().partition(";")
        weight = more.strip().removeprefix("q=")
        preferred.append((-float(weight) if _WEIGHT.fullmatch(weight) else -1.0, name.strip().lower()))
    names = [
        request.query_params.get("language", ""),
        *(name for weight, name in sorted(preferred, key=_first) if weight),
    ]
    return [name for full in names if full for name in dict.fromkeys((full, full.split("-")[0]))]


def _first(pair: tuple[float, str]) -> float:
    return pair[0]


def page_language(request: Request, known: Sequence[str] | None = None) -> str:
    """Return the language for a page: the one asked for, else the first of the browser's that is known."""
    choices = page_languages() if known is None else known
    return next((language for language in spoken_languages(request) if language in choices), choices[0])


def wants_page(request: Request) -> bool:
    """Return whether a person looks at the answer, and not a program."""
    return not request.url.path.startswith(("/api/", "/v1/")) and "text/html" in request.headers.get("accept", "")
