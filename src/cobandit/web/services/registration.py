"""Designs and analysis plans on their way into the database: what may still change, and what is fixed.

Every function works in the caller's transaction.
"""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np

from cobandit import __version__
from cobandit.analysis.plan import parse_plan, text_digest
from cobandit.base.errors import InvalidInput
from cobandit.studies import StudyDesign
from cobandit.studies.codes import completion_code
from cobandit.web.services.media import store_design_media
from cobandit.web.storage.audit import command_line, record
from cobandit.web.storage.database import Connection
from cobandit.web.storage.participants import consented_by_kind, delete_consented
from cobandit.web.storage.studies import Study, add_study, find_study, locked_study, replace_design, store_plan
from cobandit.web.storage.values import now_ms


def register_study(
    connection: Connection, design: StudyDesign, seed: int | None = None, *, by: str | None = None, **details: Any
) -> Study:
    """Return the study of a design, created if it is new; a changed design is refused once it has participants.

    ``by`` is the account that the audit log names (default: the user of the command line), ``details`` say more.
    """
    known = find_study(connection, design.name, design.version)
    if known is not None and known.design.digest == design.digest:
        if seed is not None and seed != known.seed:
            raise InvalidInput(f"The study {design.name!r}, version {design.version}, has another seed already.")
        return known
    store_design_media(connection, design)
    code = design.completion_code or completion_code()
    versions = {"cobandit": __version__, "numpy": np.__version__}
    if known is None:
        chosen = secrets.randbits(64) if seed is None else seed
        add_study(connection, design, seed=chosen, code=code, versions=versions, now=now_ms())
        action = "study-registered"
    else:
        _refuse_if_begun(connection, known)
        # Invited people keep their links: the design may still change before they have seen it.
        delete_consented(connection, known.id)
        replace_design(connection, known.id, design, code=code, versions=versions)
        action = "design-replaced"
    stored = find_study(connection, design.name, design.version)
    assert stored is not None
    record(connection, by or command_line(), action, stored.label, digest=design.digest, **details)
    return stored


def _refuse_if_begun(connection: Connection, study: Study) -> None:
    """Refuse a changed design once it has participants; demos do not count."""
    counts = consented_by_kind(connection, study.id)
    version = study.design.version
    if counts.get("real"):
        raise InvalidInput(
            f"The design of {study.name!r} has changed, and {counts['real']} participants belong to version {version} "
            f"as it was. A new version is a new study: set version = {version + 1}."
        )
    if counts.get("rehearsal"):
        raise InvalidInput(
            f"The design of {study.name!r} has changed, and {counts['rehearsal']} simulated participants belong to it "
            f"as it was. Delete them (cobandit study delete-participant {study.name} --rehearsals), or set version = "
            f"{version + 1}."
        )


def set_plan(connection: Connection, study: int, text: str, *, late: bool = False) -> str:
    """Store an analysis plan (TOML) with a study; its SHA-256, which is fixed when the first person gives consent.

    A plan that came before the data is never replaced. Once a real participant has started, a first plan is refused
    unless ``late`` says that this is meant; the stored text then tells how many had started, and an analysis calls
    every result exploratory.
    """
    stored = locked_study(connection, study)
    design = stored.design
    if parse_plan(text).checked(design).late:
        raise InvalidInput("The plan says late, which is not written by hand; take the line out of the file.")
    started = consented_by_kind(connection, study).get("real", 0)
    fixed = None if stored.plan is None or stored.plan_fixed_at is None else parse_plan(stored.plan, "the stored plan")
    if fixed is not None and not fixed.late:
        raise InvalidInput(
            f"The analysis plan of {design.name!r} was fixed when the first participant started and is not replaced. "
            "`cobandit study analyse --plan FILE` follows another one, and its results are exploratory."
        )
    if started and not late:
        raise InvalidInput(
            f"{started} participant{' has' if started == 1 else 's have'} started in {design.name!r} already, so this "
            "plan comes after the data. With --late it is stored all the same, and every result is exploratory."
        )
    if started:
        text = f"late = {started}  # people who had started when this plan was stored; written by cobandit\n{text}"
    digest = text_digest(text)
    store_plan(connection, study, text, digest, now_ms() if started else None)
    record(connection, command_line(), "plan-stored", stored.label, sha256=digest, started=started)
    return digest
