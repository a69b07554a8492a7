"""The editor of study designs: pages, and the interface behind them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.responses import HTMLResponse

from cobandit.base.json_types import JsonObject
from cobandit.studies.data import moment
from cobandit.studies.design_schema import design_schema
from cobandit.web.access import require_admin
from cobandit.web.pages import page
from cobandit.web.routes.admin.common import PAGE, Data, Who
from cobandit.web.routes.admin.views import LoginFirst, view
from cobandit.web.routes.bodies import (
    LARGEST,
    DifferencesBody,
    DoneBody,
    EditsBody,
    NewDraftBody,
    PreviewBody,
    PublishBody,
    SaveDraftBody,
)
from cobandit.web.security import POLICY
from cobandit.web.services import drafts, media
from cobandit.web.services.toml_edits import Edit

DraftNumber = Annotated[int, Path(ge=1, le=LARGEST, description="The number of the draft")]
RevisionNumber = Annotated[int | None, Query(ge=1, le=LARGEST, description="A saved revision; left out: the newest")]
FileName = Annotated[str, Query(max_length=100, description="The name of the file, such as ward.png")]

router = APIRouter(prefix="/designs")  # under the researcher's interface, and behind its login
pages = APIRouter(
    prefix=f"{PAGE}/designs", include_in_schema=False, route_class=LoginFirst, dependencies=[Depends(require_admin)]
)


@pages.get("", response_class=HTMLResponse)
async def designs_page(request: Request, database: Data, viewer: Who) -> Response:
    """Show all drafts, and the ways to begin one."""
    listed = await drafts.list_drafts(database, viewer)
    for draft in listed["drafts"]:
        time = moment(draft["updated_at"])
        assert time is not None
        draft["changed"] = f"{time.day} {time:%b %Y, %H:%M} UTC"
    return view("designs", request, "Designs", **listed)


@pages.get("/preview", response_class=HTMLResponse)
async def preview_page(request: Request, viewer: Who) -> Response:
    """Return the frame for the pages of a draft: the only page that another page of this server may embed."""
    viewer.require("designs")
    answer = page(request, "preview.html", title="Preview", language="en")
    answer.headers["content-security-policy"] = POLICY.replace("frame-ancestors 'none'", "frame-ancestors 'self'")
    answer.headers["x-frame-options"] = "SAMEORIGIN"
    return answer


@pages.get("/{number}", response_class=HTMLResponse)
async def design_page(request: Request, number: DraftNumber, database: Data, viewer: Who) -> Response:
    """Show one draft in the editor."""
    draft = await drafts.find_draft(database, number, viewer)
    return view("design", request, f"Design {draft['name']}", draft=draft)


@router.get("")
async def list_designs(database: Data, viewer: Who) -> JsonObject:
    """Return all drafts, the templates and the stored studies that a draft can begin with."""
    return await drafts.list_drafts(database, viewer)


@router.post("", status_code=201)
async def create(body: NewDraftBody, database: Data, viewer: Who) -> JsonObject:
    """Create a draft."""
    return await drafts.create_draft(
        database, viewer, body.name, template=body.template, study=body.study, text=body.text
    )


@router.get("/schema")
async def schema(viewer: Who) -> JsonObject:
    """Return the JSON Schema of designs, as `cobandit study schema` prints it."""
    viewer.require("designs")
    return design_schema()


@router.post("/edit")
async def edit(body: EditsBody, viewer: Who) -> JsonObject:
    """Return a text after some edits, its data, and the first problem with its place; nothing is stored."""
    viewer.require("designs")
    return await drafts.edit_text(
        body.text, [Edit(change.op, tuple(change.path), change.value, change.to) for change in body.edits]
    )


@router.post("/preview")
async def preview(body: PreviewBody, viewer: Who) -> JsonObject:
    """Return the state of a participant at a step of a draft, and the texts of the page; nothing is stored."""
    viewer.require("designs")
    return await drafts.preview_text(body.text, body.step, body.language)


@router.post("/files", status_code=201)
async def upload(request: Request, file: FileName, database: Data, viewer: Who) -> JsonObject:
    """Store the body, a picture or a short video, under its hash; return its entry for the table `media` of a draft."""
    return await media.upload(database, viewer, file, await request.body())


@router.get("/{number}")
async def draft(number: DraftNumber, database: Data, viewer: Who, revision: RevisionNumber = None) -> JsonObject:
    """Return a draft with the text of a revision, its data and its problem, and the list of revisions."""
    return await drafts.find_draft(database, number, viewer, revision)


@router.post("/{number}")
async def save(number: DraftNumber, body: SaveDraftBody, database: Data, viewer: Who) -> JsonObject:
    """Store the next revision; answer 409 if a newer one was saved meanwhile."""
    return await drafts.save_draft(database, number, viewer, body.text, body.revision)


@router.delete("/{number}", response_model=DoneBody)
async def delete(number: DraftNumber, database: Data, viewer: Who) -> DoneBody:
    """Delete a draft; published studies stay."""
    await drafts.delete_draft(database, number, viewer)
    return DoneBody()


@router.post("/{number}/differences")
async def differences(number: DraftNumber, body: DifferencesBody, database: Data, viewer: Who) -> JsonObject:
    """Return the differences between a text and a revision or a published version, as lines of a unified diff."""
    return await drafts.differences(database, number, viewer, body.text, version=body.version, revision=body.revision)


@router.post("/{number}/publish", status_code=201)
async def publish(number: DraftNumber, body: PublishBody, database: Data, viewer: Who) -> JsonObject:
    """Register a saved revision as a study, by default as the next version of its name."""
    return await drafts.publish_draft(database, number, viewer, body.revision, body.version)
