"""The URL path of the server behind a proxy, such as /lab.

Inside the server no address has it: it is removed from each request, and every address that leaves the server in
a page, a redirect, a cookie, a link or a JSON body begins with it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from cobandit.base.errors import InvalidInput

OWN_PATHS = ("admin", "api", "docs", "media", "openapi.json", "p", "report", "s", "static", "v1")
"""How the addresses of the server itself begin. A root path that begins like one of them would be ambiguous."""

MOST_CHARACTERS = 200
_KEY = "cobandit.root_path"
_PATH = re.compile(r"(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*")


def checked_root_path(path: str, public_url: str | None = None) -> str:
    """Return a root path without the slash at its end, or raise the error of an invalid one; empty: no root path."""
    root = path.rstrip("/") if isinstance(path, str) else path
    if not isinstance(root, str) or len(root) > MOST_CHARACTERS or not _PATH.fullmatch(root):
        raise InvalidInput(
            f"root_path must be a path such as /lab, of letters, digits and . _ ~ - only, got {str(path)[:80]!r}."
        )
    if root.split("/")[1:2] and root.split("/")[1] in OWN_PATHS:
        raise InvalidInput(f"root_path must not begin with a path of the server itself ({', '.join(OWN_PATHS)}).")
    if root and public_url is not None and urlsplit(public_url).path.rstrip("/") != root:
        raise InvalidInput(f"public_url must end with the root path {root}, got {public_url!r}.")
    return root


def root_of(scope: Mapping[str, Any]) -> str:
    """Return the root path of the server that handles a request; empty: none."""
    return str(scope.get(_KEY, ""))


def remove_root_path(scope: MutableMapping[str, Any], root: str) -> None:
    """Change the address of a request to the one inside the server; a proxy may have removed the path already."""
    scope[_KEY] = root
    path: str = scope["path"]
    if path.startswith(root) and path[len(root) : len(root) + 1] in ("", "/"):
        scope["path"] = path[len(root) :] or "/"
        raw, before = scope.get("raw_path"), root.encode()
        if raw is not None and raw.startswith(before):
            scope["raw_path"] = raw[len(before) :] or b"/"
