"""Studies: their designs, whether they take people, their analysis plans, and the places they give."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, insert, select, update

from cobandit import __version__
from cobandit.analysis.plan import parse_plan, text_digest
from cobandit.base.errors import InvalidInput
from cobandit.studies import Places, StudyDesign, next_order
from cobandit.studies.journey import completion_code
from cobandit.web.storage.participants import active_since, consented_by_kind, delete_consented, orders_taken
from cobandit.web.storage.schema import studies
from cobandit.web.storage.values import as_json, now_ms


@dataclass(frozen=True)
class Study:
    """A stored study."""

    id: int
    design: StudyDesign
    seed: int
    code: str
    open: bool
    created_at: int
    versions: Mapping[str, str]
    plan: str | None
    plan_digest: str | None
    plan_fixed_at: int | None

    @property
    def name(self) -> str:
        """The name in its links."""
        return self.design.name


@lru_cache(maxsize=256)
def _design(text: str, digest: str) -> StudyDesign:
    design = StudyDesign.from_dict(json.loads(text), "the stored design")
    if design.digest != digest:
        raise InvalidInput(f"The stored design of {design.name!r} is not the one that its digest vouches for.")
    return design


def _study(row: Row[Any]) -> Study:
    return Study(
        row.id,
        _design(row.design, row.digest),
        int(row.seed),
        row.code,
        row.status == "open",
        row.created_at,
        json.loads(row.versions),
        row.plan,
        row.plan_digest,
        row.plan_fixed_at,
    )


def all_studies(connection: Connection) -> list[Study]:
    """Every study, the newest version of each name first."""
    rows = connection.execute(select(studies).order_by(studies.c.name, studies.c.version.desc()))
    return [_study(row) for row in rows]


def find_study(connection: Connection, name: str, version: int | None = None) -> Study | None:
    """A study by name; the newest version, where none is given."""
    query = select(studies).where(studies.c.name == name).order_by(studies.c.version.desc()).limit(1)
    row = connection.execute(query if version is None else query.where(studies.c.version == version)).first()
    return None if row is None else _study(row)


def study_by_id(connection: Connection, number: int) -> Study | None:
    """A study by its number."""
    row = connection.execute(select(studies).where(studies.c.id == number)).first()
    return None if row is None else _study(row)


def register_study(connection: Connection, design: StudyDesign, seed: int | None = None) -> Study:
    """The study of a design, made where it is new; a changed design is refused once somebody takes part."""
    known = find_study(connection, design.name, design.version)
    if known is not None and known.design.digest == design.digest:
        if seed is not None and seed != known.seed:
            raise InvalidInput(f"The study {design.name!r}, version {design.version}, has another seed already.")
        return known
    values = {
        "digest": design.digest,
        "design": as_json(design.to_dict()),
        "code": design.completion_code or completion_code(),
        "versions": as_json({"cobandit": __version__, "numpy": np.__version__}),
    }
    if known is not None:
        _refuse_if_begun(connection, known)
        # Invited people keep their links: what they have not seen yet may still change.
        delete_consented(connection, known.id)
        connection.execute(update(studies).where(studies.c.id == known.id).values(**values))
    else:
        connection.execute(
            insert(studies).values(
                name=design.name,
                version=design.version,
                seed=str(secrets.randbits(64) if seed is None else seed),
                status="open",
                arrivals=0,
                created_at=now_ms(),
                **values,
            )
        )
    stored = find_study(connection, design.name, design.version)
    assert stored is not None
    return stored


def _refuse_if_begun(connection: Connection, study: Study) -> None:
    """A design is fixed once somebody plays by it; demos do not count."""
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


def set_open(connection: Connection, study: int, open: bool) -> None:
    """Open or close a study to new people; whoever has begun may always finish."""
    connection.execute(update(studies).where(studies.c.id == study).values(status="open" if open else "closed"))


def set_plan(connection: Connection, study: int, text: str, *, late: bool = False) -> str:
    """Store an analysis plan (TOML) with a study; its SHA-256, which is fixed when the first person gives consent.

    A plan that came before the data is never replaced. Once a real participant has started, a first plan is refused
    unless ``late`` says that this is meant; the stored text then tells how many had started, and an analysis calls
    every result exploratory.
    """
    row = connection.execute(select(studies).where(studies.c.id == study).with_for_update()).one()
    design = _study(row).design
    if parse_plan(text).checked(design).late:
        raise InvalidInput("The plan says late, which is not written by hand; take the line out of the file.")
    started = consented_by_kind(connection, study).get("real", 0)
    if row.plan_fixed_at is not None and not parse_plan(row.plan, "the stored plan").late:
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
    changes = {"plan": text, "plan_digest": digest, "plan_fixed_at": now_ms() if started else None}
    connection.execute(update(studies).where(studies.c.id == study).values(**changes))
    return digest


def places(connection: Connection, study: Study, kind: str, now: int) -> Places:
    """How many of each order have finished, and how many are at it."""
    taken = orders_taken(connection, study.id, kind, active_since(study.design, now))
    orders = range(len(study.design.orders))
    return Places(
        tuple(taken.get((order, True), 0) for order in orders), tuple(taken.get((order, False), 0) for order in orders)
    )


def take_place(connection: Connection, study_id: int, kind: str, now: int) -> tuple[int, int]:
    """Seed and order for the next person; everything is counted and taken in the caller's transaction."""
    # PostgreSQL: whoever comes at the same time waits here. SQLite has one writer anyway.
    row = connection.execute(select(studies).where(studies.c.id == study_id).with_for_update()).one()
    study = _study(row)
    order = next_order(study.design, places(connection, study, kind, now), study.seed, row.arrivals)
    key = hashlib.sha256(f"participant:{study.seed}:{row.arrivals}".encode()).digest()
    changes: dict[str, Any] = {"arrivals": row.arrivals + 1}
    if kind == "real" and row.plan is not None and row.plan_fixed_at is None:
        changes["plan_fixed_at"] = now
    connection.execute(update(studies).where(studies.c.id == study_id).values(**changes))
    return int.from_bytes(key[:16], "big"), order
