"""Static files, kept by browsers as long as they may be, and sent small."""

from __future__ import annotations

import gzip
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from fastapi.responses import FileResponse, Response
from fastapi.staticfiles import StaticFiles

FOREVER = "public, max-age=31536000, immutable"

_VERSIONED = re.compile(r"/[a-z]+-\d+\.\d+\.\d+/")
_TEXTS = {".css", ".js"}


class CachedFiles(StaticFiles):
    """Static files; those asked for by the hash of their contents, or by a version, may be kept for good."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        """Return one file, gzipped if it is text and the browser supports it."""
        response: Response = super().file_response(*args, **kwargs)
        scope = args[2] if len(args) > 2 else kwargs["scope"]
        lasting = b"v=" in scope.get("query_string", b"") or _VERSIONED.search(scope["path"]) is not None
        response.headers["cache-control"] = FOREVER if lasting else "no-cache"
        if isinstance(response, FileResponse) and Path(response.path).suffix in _TEXTS:
            response.headers["vary"] = "accept-encoding"
            if reads_gzip(scope):
                return _packed(response)
        return response


def reads_gzip(scope: Any) -> bool:
    """Return whether the client accepts gzip."""
    accepted = next((value for name, value in scope["headers"] if name == b"accept-encoding"), b"")
    return b"gzip" in accepted


def _packed(response: FileResponse) -> Response:
    content = _gzipped(str(response.path), response.headers["etag"])
    headers = {name: response.headers[name] for name in ("cache-control", "content-type", "last-modified", "vary")}
    # Weak: the same file, in other bytes.
    return Response(content, headers=headers | {"content-encoding": "gzip", "etag": f"W/{response.headers['etag']}"})


@lru_cache(maxsize=128)
def _gzipped(path: str, etag: str) -> bytes:
    """Return the contents of a file as ``etag`` knows them."""
    return gzip.compress(Path(path).read_bytes(), 9, mtime=0)
