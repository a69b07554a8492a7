"""The audit log, for programs."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from cobandit.base.json_types import JsonObject
from cobandit.web.routes.admin.common import Data, Who
from cobandit.web.routes.bodies import LARGEST
from cobandit.web.services.audit import audit_view, whole_log

router = APIRouter(prefix="/log")  # under the researcher's interface, and behind its login

Before = Annotated[int | None, Query(ge=1, le=LARGEST, description="Entries with numbers below this one")]


@router.get("")
async def entries(database: Data, viewer: Who, before: Before = None) -> JsonObject:
    """Return the entries, the newest first, and the damaged ones."""
    return await audit_view(database, viewer, before)


@router.get("/entries.jsonl", response_class=Response, responses={200: {"content": {"application/jsonl": {}}}})
async def entries_file(database: Data, viewer: Who) -> Response:
    """Return the whole log, one entry on each line."""
    headers = {"content-disposition": 'attachment; filename="audit-log.jsonl"'}
    return Response(await whole_log(database, viewer), media_type="application/jsonl", headers=headers)
