"""Studies: their designs, whether they take people, and their analysis plans."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from cobandit.base.errors import InvalidInput
from cobandit.studies import StudyDesign
from cobandit.web.storage.schema import studies
from cobandit.web.storage.values import as_json

STATES = ("open", "invite-only", "quota", "closed")
"""Who may begin: all visitors; people with a personal link; all visitors up to a quota; no new participants."""


@dataclass(frozen=True)
class Study:
    """A stored study; ``arrivals`` counts the people who ever came, deleted ones too.

    ``state`` is one of `STATES`, and ``quota`` how many people a study takes whose state is ``quota``.
    """

    id: int
    design: StudyDesign
    seed: int
    code: str
    state: str
    created_at: int
    versions: Mapping[str, str]
    plan: str | None
    plan_digest: str | None
    plan_fixed_at: int | None
    arrivals: int
    secret: str | None = None
    quota: int | None = None

    @property
    def name(self) -> str:
        """The name in its links."""
        return self.design.name

    @property
    def label(self) -> str:
        """Name and version, for people."""
        return f"{self.name} v{self.design.version}"

    def secret_for(self, kind: str) -> str:
        """Return the secret for the means that participants of a kind share: a demo or a rehearsal reveals no real
        means.

        Empty in a study from before there were secrets, which continues without.
        """
        return "" if self.secret is None else hashlib.sha256(f"{kind}:{self.secret}".encode()).hexdigest()


@lru_cache(maxsize=256)
def _design(text: str, digest: str) -> StudyDesign:
    design = StudyDesign.from_dict(json.loads(text), "the stored design")
    if design.digest != digest:
        raise InvalidInput(f"The stored design of {design.name!r} does not match its stored digest.")
    return design


def _study(row: Row[Any]) -> Study:
    return Study(
        row.id,
        _design(row.design, row.digest),
        int(row.seed),
        row.code,
        row.status,
        row.created_at,
        json.loads(row.versions),
        row.plan,
        row.plan_digest,
        row.plan_fixed_at,
        row.arrivals,
        row.secret,
        row.quota,
    )


def all_studies(connection: Connection) -> list[Study]:
    """Return every study, the newest version of each name first."""
    rows = connection.execute(select(studies).order_by(studies.c.name, studies.c.version.desc()))
    return [_study(row) for row in rows]


def find_study(connection: Connection, name: str, version: int | None = None) -> Study | None:
    """Return a study by name; the newest version, where none is given."""
    query = select(studies).where(studies.c.name == name).order_by(studies.c.version.desc()).limit(1)
    row = connection.execute(query if version is None else query.where(studies.c.version == version)).first()
    return None if row is None else _study(row)


def study_by_id(connection: Connection, number: int) -> Study | None:
    """Return a study by its number."""
    row = connection.execute(select(studies).where(studies.c.id == number)).first()
    return None if row is None else _study(row)


def locked_study(connection: Connection, number: int) -> Study:
    """Return a study that must exist; on PostgreSQL, simultaneous requests wait. SQLite has one writer anyway."""
    return _study(connection.execute(select(studies).where(studies.c.id == number).with_for_update()).one())


def add_study(
    connection: Connection, design: StudyDesign, *, seed: int, code: str, versions: Mapping[str, str], now: int
) -> None:
    """Add a study, which is open."""
    connection.execute(
        insert(studies).values(
            name=design.name,
            version=design.version,
            seed=str(seed),
            status="open",
            arrivals=0,
            created_at=now,
            secret=_secret(seed),
            **_design_values(design, code, versions),
        )
    )


def replace_design(
    connection: Connection, study: int, design: StudyDesign, *, code: str, versions: Mapping[str, str]
) -> None:
    """Replace the design of a study without participants."""
    seed = connection.execute(select(studies.c.seed).where(studies.c.id == study)).scalar_one()
    values = _design_values(design, code, versions) | {"secret": _secret(int(seed))}
    connection.execute(update(studies).where(studies.c.id == study).values(**values))


def _secret(seed: int) -> str:
    """Return a secret derived from the seed, so that a study with a given seed can be run again."""
    return hashlib.sha256(f"secret:{seed}".encode()).hexdigest()


def _design_values(design: StudyDesign, code: str, versions: Mapping[str, str]) -> dict[str, object]:
    return {
        "digest": design.digest,
        "design": as_json(design.to_dict()),
        "code": code,
        "versions": as_json(dict(versions)),
    }


def set_state(connection: Connection, study: int, state: str, quota: int | None = None) -> None:
    """Open or close a study to new participants; those who have begun may always finish."""
    connection.execute(update(studies).where(studies.c.id == study).values(status=state, quota=quota))


def store_plan(connection: Connection, study: int, text: str, digest: str, fixed_at: int | None) -> None:
    """Store the analysis plan of a study, and since when it is fixed."""
    changes = {"plan": text, "plan_digest": digest, "plan_fixed_at": fixed_at}
    connection.execute(update(studies).where(studies.c.id == study).values(**changes))


def count_arrival(connection: Connection, study: int, arrivals: int, plan_fixed_at: int | None) -> None:
    """Store the number of arrivals, and the time when the plan was fixed, if this fixes it."""
    changes = {"arrivals": arrivals, "plan_fixed_at": plan_fixed_at}
    connection.execute(update(studies).where(studies.c.id == study).values(**changes))
