"""The page of API keys: the owner lists, adds and revokes them."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from cobandit.base.errors import InvalidInput
from cobandit.studies.data import moment
from cobandit.web.refusals import not_found
from cobandit.web.routes.admin.account import Form
from cobandit.web.routes.admin.common import By, Data
from cobandit.web.routes.admin.views import LoginFirst, view
from cobandit.web.services.partner.keys import DEFAULT_RATE, Keys, add_key, revoke_key
from cobandit.web.storage.api_keys import SCOPES, all_keys
from cobandit.web.storage.database import Database

PAGE = "/admin/keys"

router = APIRouter(prefix=PAGE, include_in_schema=False, route_class=LoginFirst)


@router.get("", response_class=HTMLResponse)
async def keys_page(request: Request, database: Data) -> Response:
    """List the API keys."""
    _service(request)
    return await _page(request, database)


@router.post("", response_class=HTMLResponse)
async def add(request: Request, database: Data, by: By, form: Form) -> Response:
    """Add a key and show it, this once."""
    service = _service(request)
    try:
        rate = form.get("rate", "").strip()
        if not rate.isascii() or not rate.isdigit():
            raise InvalidInput(f"rate must be a whole number of requests a second, got {rate!r:.20}.")
        values: dict[str, Any] = {"tenant": form.get("tenant", ""), "scope": form.get("scope", ""), "rate": int(rate)}
        label = form.get("label", "").strip()
        key, text = await database.commit(lambda connection: add_key(connection, by, label, **values))
    except InvalidInput as error:
        return await _page(request, database, problem=str(error))
    service.forget()
    return await _page(request, database, fresh={"label": key.label, "key": text})


@router.post("/{key}/revoke", response_class=HTMLResponse)
async def revoke(request: Request, key: str, database: Data, by: By) -> Response:
    """Revoke a key for good."""
    service = _service(request)
    try:
        await database.commit(lambda connection: revoke_key(connection, by, key))
    except InvalidInput as error:
        return await _page(request, database, problem=str(error))
    service.forget()
    return RedirectResponse(PAGE, 303)


def _service(request: Request) -> Keys:
    keys: Keys | None = request.app.state.keys
    if keys is None:
        raise not_found("This server has no partner service; start it with `cobandit partner serve`.")
    return keys


async def _page(request: Request, database: Database, problem: str | None = None, fresh: Any = None) -> Response:
    keys = await database.ask(all_keys)
    listed = [
        {**vars(key), "created": _day(key.created_at), "revoked": _day(key.revoked_at)}
        for key in sorted(keys, key=lambda key: (key.revoked_at is not None, key.created_at))
    ]
    status = 422 if problem else 200
    return view(
        "keys", request, "API keys", status, keys=listed, scopes=SCOPES, rate=DEFAULT_RATE, problem=problem, fresh=fresh
    )


def _day(milliseconds: int | None) -> str:
    time = moment(milliseconds)
    return "" if time is None else time.strftime("%Y-%m-%d")
