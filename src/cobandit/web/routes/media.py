"""Pictures and videos of designs, with headers that let a browser show them and nothing else."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from fastapi.responses import StreamingResponse

from cobandit.web.refusals import not_found
from cobandit.web.services.media import UNKNOWN, MediaStore
from cobandit.web.static_files import FOREVER

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; media-src 'self'; sandbox"
CHUNK = 64 * 1024
_RANGE = re.compile(r"bytes=(\d{0,12})-(\d{0,12})")

router = APIRouter(include_in_schema=False)
Hash = Annotated[str, Path(pattern=r"^[0-9a-f]{64}$")]
File = Annotated[str, Path(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,79}\.[a-z0-9]{3,4}$")]


@router.api_route("/media/{sha256}/{file}", methods=["GET", "HEAD"])
async def media(request: Request, sha256: Hash, file: File) -> Response:
    """Return a file, or the part of it that a player asks for; its address has the hash of its content."""
    store: MediaStore = request.app.state.media
    stored = await store.find(sha256)
    if not stored.type.endswith({"jpg": "jpeg"}.get(ending := file.rpartition(".")[2], ending)):
        raise not_found(UNKNOWN)
    headers = {
        "cache-control": FOREVER,
        "content-security-policy": POLICY,
        "content-disposition": f'inline; filename="{file}"',
        "accept-ranges": "bytes",
    }
    size = len(stored.content)
    match = _RANGE.fullmatch(request.headers.get("range", ""))
    if match is None or not (match[1] or match[2]):
        return _streamed(memoryview(stored.content), 200, headers, stored.type)
    first = int(match[1]) if match[1] else max(0, size - int(match[2]))
    last = min(int(match[2]), size - 1) if match[1] and match[2] else size - 1
    if first > last:
        return Response(status_code=416, headers=headers | {"content-range": f"bytes */{size}"})
    headers["content-range"] = f"bytes {first}-{last}/{size}"
    return _streamed(memoryview(stored.content)[first : last + 1], 206, headers, stored.type)


def _streamed(content: memoryview, status: int, headers: Mapping[str, str], type: str) -> Response:
    """Return an answer that is sent as fast as the client reads: of a slow one, no copy of a video is kept."""

    async def pieces() -> AsyncIterator[memoryview]:
        for start in range(0, len(content), CHUNK):
            yield content[start : start + CHUNK]

    return StreamingResponse(pieces(), status, dict(headers) | {"content-length": str(len(content))}, type)
