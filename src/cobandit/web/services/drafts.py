"""Drafts of study designs: create, edit, check, compare, publish.

A draft is TOML text. Forms send edits of single places (`toml_edits`), so that comments and order survive; a save names
the revision it builds on, so that of two open pages neither overwrites the other.
"""

from __future__ import annotations

import asyncio
import datetime
import difflib
import math
import re
from collections.abc import Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.base.json_types import JsonObject
from cobandit.base.plugins import DESIGNS, plugin_names
from cobandit.base.records import slug
from cobandit.base.toml import parse_toml
from cobandit.studies import StudyDesign
from cobandit.studies.brought import plugin_design_text
from cobandit.studies.design import design_text, parse_design, shipped_designs
from cobandit.studies.design_schema import design_schema
from cobandit.studies.service_use import policies_of
from cobandit.web.refusals import Refused, conflict, not_found
from cobandit.web.roles import Viewer
from cobandit.web.services.media import delete_unused
from cobandit.web.services.preview import preview_state, preview_steps
from cobandit.web.services.registration import register_study
from cobandit.web.services.studies import stored_study
from cobandit.web.services.toml_edits import Edit, edited, toml_text
from cobandit.web.storage import drafts
from cobandit.web.storage.audit import record
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.drafts import Draft
from cobandit.web.storage.media import hashes_in, renew_media
from cobandit.web.storage.studies import Study, all_studies, find_study
from cobandit.web.storage.values import now_ms

LONGEST_DRAFT = 400_000
"""Bytes in UTF-8."""

_PLACE = r"[a-z_]+(?:\[\d+\]|\.[\w-]+)*"
_LINE = re.compile(r"\(at line (\d+), column (\d+)\)")


async def list_drafts(database: Database, viewer: Viewer) -> JsonObject:
    """Return all drafts, the templates that a draft can begin with, and the stored studies."""
    viewer.require("designs")

    def ask(connection: Connection) -> JsonObject:
        return {
            "drafts": [asdict(draft) for draft in drafts.all_drafts(connection)],
            "templates": [*shipped_designs(), *plugin_names(DESIGNS)],
            "studies": [
                {"id": study.id, "name": study.name, "version": study.design.version, "label": study.label}
                for study in all_studies(connection)
            ],
        }

    return await database.ask(ask)


async def create_draft(
    database: Database,
    viewer: Viewer,
    name: str | None = None,
    *,
    template: str | None = None,
    study: int | None = None,
    text: str | None = None,
) -> JsonObject:
    """Create a draft from a shipped design, from a stored study or from a text; return it.

    A new ``name`` begins with version 1. The draft of a stored study without a new name continues its versions.
    """
    viewer.require("designs")
    if sum(source is not None for source in (template, study, text)) != 1:
        raise InvalidInput("Exactly one of template, study and text must be given.")
    called = None if name is None else slug("name", name)
    if template is not None:
        if called is None:
            raise InvalidInput("name must be given with a template.")
        text = await asyncio.to_thread(template_text, template)
    elif study is not None:
        stored = await database.ask(lambda connection: stored_study(connection, study))
        text = await asyncio.to_thread(toml_text, stored.design.essence())
    assert text is not None
    source = checked_text(text)
    if called is not None:
        renamed = [Edit("set", ("name",), called), Edit("set", ("version",), 1)]
        source = await asyncio.to_thread(edited, source, renamed)

    def job(connection: Connection) -> int:
        title, base = _name_in(source), None
        if study is not None and called is None:
            base = stored_study(connection, study).design.version
        number = drafts.add_draft(connection, title, base, source, viewer.account, now_ms())
        renew_media(connection, hashes_in(source), now_ms())
        record(connection, viewer.account, "draft-created", None, draft=number, name=title)
        return number

    return await find_draft(database, await database.commit(job), viewer)


def template_text(name: str) -> str:
    """Return the TOML text of a shipped design, or of one that a plugin brings."""
    if name in shipped_designs():
        return design_text(name)
    brought = plugin_design_text(name)
    if brought is None:
        raise UnknownName("study design", name, [*shipped_designs(), *plugin_names(DESIGNS)])
    return brought


async def find_draft(database: Database, number: int, viewer: Viewer, revision: int | None = None) -> JsonObject:
    """Return a draft with its text, the newest revision by default, and what a check of it says."""
    viewer.require("designs")

    def ask(connection: Connection) -> tuple[Draft, int, str, list[JsonObject], list[int]]:
        draft = _stored(connection, number)
        wanted = draft.revision if revision is None else revision
        text = drafts.text_of(connection, number, wanted)
        if text is None:
            raise not_found(f"There is no revision {wanted} of draft {number}.")
        revisions = [asdict(saved) for saved in drafts.revisions_of(connection, number)]
        versions = [study.design.version for study in all_studies(connection) if study.name == draft.name]
        return draft, wanted, text, revisions, versions

    draft, shown, text, revisions, versions = await database.ask(ask)
    answer = asdict(draft) | {"shown": shown, "revisions": revisions, "versions": versions}
    return answer | await asyncio.to_thread(check_text, text)


async def save_draft(database: Database, number: int, viewer: Viewer, text: str, revision: int) -> JsonObject:
    """Store the next revision of a draft, valid or not; refuse it if another one was saved since ``revision``."""
    viewer.require("designs")
    source = checked_text(text)

    def job(connection: Connection) -> int:
        draft = _stored(connection, number, lock=True)
        if drafts.text_of(connection, number, draft.revision) == source:
            return draft.revision  # also the same save again, after a lost answer
        _refuse_stale(draft, revision)
        saved = drafts.add_revision(connection, draft, _name_in(source, draft.name), source, viewer.account, now_ms())
        renew_media(connection, hashes_in(source), now_ms())
        record(connection, viewer.account, "draft-saved", None, draft=number, name=draft.name, revision=saved)
        return saved

    return {"revision": await database.commit(job)}


async def delete_draft(database: Database, number: int, viewer: Viewer) -> None:
    """Delete a draft with all revisions; published studies and files that something names stay."""
    viewer.require("designs")

    def job(connection: Connection) -> None:
        draft = _stored(connection, number, lock=True)
        drafts.delete_draft(connection, number)
        record(connection, viewer.account, "draft-deleted", None, draft=number, name=draft.name)

    await database.commit(job)
    await delete_unused(database, viewer)


async def publish_draft(
    database: Database, number: int, viewer: Viewer, revision: int, version: int | None = None
) -> JsonObject:
    """Register a saved revision as a study; by default as the next version of its name.

    The same rules as at the command line hold: a version that has participants is never changed. Only the owner may
    publish a policy behind HTTP that no stored study asks: this machine would send requests anywhere, signed with any
    of its environment variables.
    """
    viewer.require("designs")

    def job(connection: Connection) -> Study:
        draft = _stored(connection, number, lock=True)
        _refuse_stale(draft, revision)
        text = drafts.text_of(connection, number, revision)
        assert text is not None
        design = parse_design(text, "the draft")
        newest = find_study(connection, design.name)
        wanted = version
        if wanted is None:
            if newest is not None and _at(design, newest.design.version).digest == newest.design.digest:
                raise conflict("unchanged", f"The draft is the same as {newest.label}.")
            wanted = design.version if newest is None else max(design.version, newest.design.version + 1)
        if wanted != design.version:
            text = edited(text, [Edit("set", ("version",), wanted)])
            design = parse_design(text, "the draft")
            drafts.add_revision(connection, draft, design.name, text, viewer.account, now_ms())
        new = policies_of(design).difference(*(policies_of(study.design) for study in all_studies(connection)))
        if new and viewer.role != "owner":
            raise Refused(
                403,
                "not-allowed",
                f"No study of this server asks {', '.join(sorted(url for url, _ in new))} with this secret yet, so the "
                "owner has to publish the design. Your draft is saved.",
            )
        study = register_study(connection, design, by=viewer.account, draft=number)
        drafts.set_base_version(connection, number, design.version)
        return study

    study = await database.commit(job)
    await delete_unused(database, viewer)
    return {"study": study.id, "name": study.name, "version": study.design.version, "label": study.label}


async def differences(
    database: Database,
    number: int,
    viewer: Viewer,
    text: str,
    *,
    version: int | None = None,
    revision: int | None = None,
) -> JsonObject:
    """Return the lines in which a text differs from a saved revision, or from a published version of its study.

    Published versions are stored as data, so they are compared as normalised TOML, without comments and defaults.
    """
    viewer.require("designs")
    source = checked_text(text)
    if (version is None) == (revision is None):
        raise InvalidInput("Exactly one of version and revision must be given.")

    def ask(connection: Connection) -> tuple[str, str, str]:
        draft = _stored(connection, number)
        if revision is not None:
            saved = drafts.text_of(connection, number, revision)
            if saved is None:
                raise not_found(f"There is no revision {revision} of draft {number}.")
            return f"revision {revision}", saved, source
        study = find_study(connection, draft.name, version)
        if study is None:
            raise not_found(f"There is no version {version} of {draft.name!r}.")
        return study.label, toml_text(study.design.essence()), toml_text(parse_design(source, "the draft").essence())

    label, before, after = await database.ask(ask, heavy=True)
    lines = await asyncio.to_thread(_diff, label, before, after)
    return {"label": label, "lines": lines}


async def edit_text(text: str, edits: Sequence[Edit]) -> JsonObject:
    """Return a text after some edits of a form, with its data and its first problem."""
    source = checked_text(text)
    return await asyncio.to_thread(lambda: check_text(checked_text(edited(source, edits))))


async def preview_text(text: str, step: str, language: str | None) -> JsonObject:
    """Return what a participant's page shows at a step of a valid draft."""
    source = checked_text(text)
    return await asyncio.to_thread(lambda: preview_state(parse_design(source, "the draft"), step, language))


def check_text(text: str) -> JsonObject:
    """Return a text with its data (null where it is not TOML) and the first problem, with its place."""
    try:
        data = parse_toml(text, "the draft")
    except InvalidInput as error:
        line = _LINE.search(str(error))
        place = {"path": None, "line": int(line[1]) if line else None, "column": int(line[2]) if line else None}
        return {"text": text, "data": None, "design": None, "problem": {"message": str(error)} | place}
    try:
        design = StudyDesign.from_dict(data, "the draft")
    except InvalidInput as error:
        problem = {"message": str(error), "path": problem_path(str(error)), "line": None, "column": None}
        return {"text": text, "data": _sendable(data), "design": None, "problem": problem}
    about: JsonObject = {
        "name": design.name,
        "version": design.version,
        "digest": design.digest,
        "languages": design.languages,
    }
    about |= {"texts": list(design.texts()), "steps": preview_steps(design)}
    return {"text": text, "data": _sendable(data), "design": about, "problem": None}


def problem_path(message: str) -> list[str | int] | None:
    """Return the place that an error of a design is about; None if the sentence names none.

    Checks name their place at the beginning of the sentence, or as "key of PLACE called 'KEY'".
    """
    if match := re.match(r"(?:the draft|(" + _PLACE + r")) must have the field '(\w+)'", message):
        return [*_parts(match[1] or ""), match[2]]
    if match := re.match(r"There is no key of (?:the draft|(" + _PLACE + r")) called '([^']*)'", message):
        return [*_parts(match[1] or ""), match[2]]
    tops = _top_level()
    if match := re.match(r"(?:The )?(" + _PLACE + r")(?= )", message):
        parts = _parts(match[1])
        if parts[0] in tops:
            return parts
    for token in re.findall(_PLACE, message):
        parts = _parts(token)
        if len(parts) > 1 and parts[0] in tops:
            return parts
    return None


def _parts(place: str) -> list[str | int]:
    return [int(part) if part.isdigit() else part for part in re.findall(r"[^.\[\]]+", place)]


@lru_cache(maxsize=1)
def _top_level() -> frozenset[str]:
    return frozenset(design_schema()["properties"])


def checked_text(text: str) -> str:
    """Return a text that can be stored: not too long, without NUL and broken letters."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        size = -1
    if size < 0 or "\0" in text:
        raise InvalidInput("text must have no NUL and no broken letters, which cannot be stored.")
    if size > LONGEST_DRAFT:
        raise InvalidInput(f"text must have at most {LONGEST_DRAFT:,} bytes, got {size:,}.")
    return text


def _name_in(text: str, otherwise: str = "untitled") -> str:
    """Return the name of the study in a text that may be wrong in other places."""
    try:
        return slug("name", parse_toml(text, "the draft").get("name"))
    except InvalidInput:
        return otherwise


def _at(design: StudyDesign, version: int) -> StudyDesign:
    return StudyDesign.from_dict(design.to_dict() | {"version": version})


def _stored(connection: Connection, number: int, *, lock: bool = False) -> Draft:
    draft = drafts.find_draft(connection, number, lock=lock)
    if draft is None:
        raise not_found(f"There is no draft number {number}; perhaps it was deleted.")
    return draft


def _refuse_stale(draft: Draft, revision: int) -> None:
    if draft.revision != revision:
        raise conflict(
            "stale",
            f"{draft.updated_by} has saved revision {draft.revision} since you opened revision {revision}. Nothing "
            "was overwritten: your text is still on your page.",
        )


def _diff(label: str, before: str, after: str) -> list[str]:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), label, "this draft", lineterm="")
    return list(lines)


def _sendable(value: Any) -> object:
    """Return data of TOML as JSON can carry them; what JSON does not know becomes its text."""
    if isinstance(value, dict):
        return {key: _sendable(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_sendable(part) for part in value]
    if isinstance(value, (datetime.date, datetime.time)) or (isinstance(value, float) and not math.isfinite(value)):
        return str(value)
    return value
