"""What the researcher's routes share: parameters, addresses, tables."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from typing import Annotated, Any, Literal

from fastapi import Depends, Path, Query, Request, Response

from cobandit.base.json_types import JsonObject
from cobandit.web.access import acting, viewer_of
from cobandit.web.config import WebConfig
from cobandit.web.refusals import not_found
from cobandit.web.roles import Viewer
from cobandit.web.routes.bodies import LARGEST, Short
from cobandit.web.routes.state import of_app
from cobandit.web.services.curves import Curves
from cobandit.web.services.export import Exports
from cobandit.web.services.live import Live
from cobandit.web.services.paging import LARGEST_PAGE, Page, Part
from cobandit.web.services.participants import Participants
from cobandit.web.services.team_monitor import TeamMonitor
from cobandit.web.storage.database import Database
from cobandit.web.storage.listing import SORTS, STATUSES, Listing

PAGE = "/admin"
LOGIN = "/admin/login"

NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
"""The pseudonym of a participant or of a team."""

_FORMULA = re.compile(r"[=+\-@\t\r]")


async def _participant(participant: str) -> str:
    if not NAME.fullmatch(participant):
        raise not_found("There is no participant of this name here.")
    return participant


async def _acting(request: Request) -> str:
    return acting(request)


async def _viewer(request: Request) -> Viewer:
    return viewer_of(request)


async def _part(
    offset: Annotated[int, Query(ge=0, le=LARGEST, description="How many to skip")] = 0,
    limit: Annotated[int | None, Query(ge=1, le=LARGEST_PAGE, description="How many to send at most")] = None,
) -> Part:
    return Part(offset, limit)


By = Annotated[str, Depends(_acting)]
"""Whose login it is, for the audit log."""

Who = Annotated[Viewer, Depends(_viewer)]
"""Whose login it is and the role, for services that give data."""

WantedPart = Annotated[Part, Depends(_part)]

Data = Annotated[Database, of_app("database")]
CurvesService = Annotated[Curves, of_app("curves")]
Service = Annotated[Participants, of_app("participants")]
TeamMonitorService = Annotated[TeamMonitor, of_app("team_monitor")]
LiveService = Annotated[Live, of_app("live")]
ExportsService = Annotated[Exports, of_app("exports")]
StudyNumber = Annotated[int, Path(ge=1, le=LARGEST, description="The number of the study")]
PublicId = Annotated[str, Depends(_participant)]
Kind = Annotated[Literal["real", "rehearsal", "demo"], Query(description="People, simulated people, or demos")]

MOST_LISTED = 200


async def _wanted(
    kind: Kind = "real",
    status: Annotated[Literal[*STATUSES] | None, Query(description="Only who is getting on like this")] = None,  # type: ignore[valid-type]
    search: Annotated[Short, Query(description="Only whose id, label or recruiting id holds this")] = "",
    sort: Annotated[Literal[*SORTS], Query(description="What the list is sorted by")] = "made",  # type: ignore[valid-type]
    down: Annotated[bool, Query(description="The largest first")] = False,
    offset: Annotated[int, Query(ge=0, le=LARGEST, description="How many to pass over")] = 0,
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED, description="How many at most")] = 100,
) -> Listing:
    return Listing(kind, status, search, sort, down, offset, limit)


Wanted = Annotated[Listing, Depends(_wanted)]
Since = Annotated[int | None, Query(ge=0, le=2**53, description="The ``cursor`` of an earlier answer")]


def base_url(request: Request) -> str:
    """Return how people reach the server."""
    config: WebConfig = request.app.state.config
    return (config.public_url or str(request.base_url).rstrip("/") + config.root_path).rstrip("/")


def with_url(request: Request, entry: JsonObject) -> JsonObject:
    """Return the whole address of a personal link in place of its path."""
    return {key: value for key, value in entry.items() if key != "path"} | {"url": base_url(request) + entry["path"]}


def counted(response: Response, page: Page) -> list[JsonObject]:
    """Return the rows of a page, and say in a header how long the whole list is."""
    response.headers["x-total-count"] = str(page.total)
    return page.rows


def csv_table(name: str, header: list[str], rows: Iterable[list[Any]]) -> Response:
    """Return a CSV file; texts from participants are kept from being formulas of a spreadsheet."""

    def cell(value: Any) -> str:
        if value is None or isinstance(value, bool):
            return {None: "", True: "yes", False: "no"}[value]
        text = str(value)
        return f"'{text}" if isinstance(value, str) and _FORMULA.match(text) else text

    written = io.StringIO()
    table = csv.writer(written, lineterminator="\r\n")
    table.writerow(header)
    table.writerows([cell(value) for value in row] for row in rows)
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(written.getvalue(), media_type="text/csv; charset=utf-8", headers=headers)
