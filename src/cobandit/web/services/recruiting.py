"""Recruiting services: what their links say about who comes, and where they want people back."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote

from cobandit.web.storage.database import Connection
from cobandit.web.storage.settings import claim_setting, read_setting, write_setting
from cobandit.web.storage.values import as_json

UNFILLED_SHOWN_MS = 86_400_000
"""How long a researcher is told of people who were turned away: a day after the last."""

_PLACEHOLDER = re.compile(
    r"\s*|.*(?:\{\{|\$\{).*|%\w+%|[\[<{][\w -]+[\]>}]|undefined|null|none|nan", re.DOTALL | re.IGNORECASE
)
_INVISIBLE = ("Cc", "Cf")
"""Categories of Unicode that show nothing, such as a blank without width, which text editors leave behind."""


@dataclass(frozen=True)
class Recruit:
    """Who somebody is to the service that sent them."""

    recruiter: str
    external_id: str
    more: Mapping[str, str] = field(default_factory=dict)

    @property
    def known_to_one_only(self) -> bool:
        """Whether the id is long and random, so that having it is proof enough to go on in another browser."""
        return self.recruiter in ("prolific", "mturk")


RECRUITERS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("prolific", "PROLIFIC_PID", ("STUDY_ID", "SESSION_ID")),
    ("mturk", "workerId", ("assignmentId", "hitId")),
    ("sona", "survey_code", ()),
    ("sona", "id", ()),
    ("label", "label", ()),
)
"""Recruiting services by the parameter that tells who comes, and what else they send."""


def _filled(name: str, value: str | None) -> bool:
    """Whether it is a value, and not what stands in a link until a recruiting service puts one in its place."""
    if value is None:
        return False
    shown = "".join(letter for letter in unquote(value) if unicodedata.category(letter) not in _INVISIBLE)
    return _PLACEHOLDER.fullmatch(shown) is None and (len(name) < 3 or shown.strip().lower() != name.lower())


def recruit(parameters: Mapping[str, str]) -> Recruit | None:
    """Who comes, from the parameters of the link; None: nobody said."""
    for recruiter, name, more in RECRUITERS:
        if _filled(name, parameters.get(name)):
            known = {key: parameters[key] for key in more if _filled(key, parameters.get(key))}
            return Recruit(recruiter, parameters[name], known)
    return None


def unfilled(parameters: Mapping[str, str]) -> str | None:
    """The parameter that should tell who comes and tells nothing: with it everybody would be one person."""
    names = (name for _, name, _ in RECRUITERS if name in parameters and not _filled(name, parameters[name]))
    return next(names, None)


def note_unfilled(connection: Connection, study: int, name: str, value: str, now: int) -> None:
    """Keep for the researcher that somebody was turned away because of the link."""
    claim_setting(connection, _setting(study), "null")  # whoever counts at the same time waits
    before = unfilled_links(connection, study, now)
    count = 1 if before is None else before["count"] + 1
    refusals = {"parameter": name, "value": value[:80], "count": count, "at": now}
    write_setting(connection, _setting(study), as_json(refusals))


def unfilled_links(connection: Connection, study: int, now: int) -> dict[str, Any] | None:
    """Who was turned away because of the link: which parameter, what stood in it, how many, and when the last came."""
    stored = read_setting(connection, _setting(study))
    refusals: dict[str, Any] | None = None if stored is None else json.loads(stored)
    return refusals if refusals is not None and refusals["at"] > now - UNFILLED_SHOWN_MS else None


def _setting(study: int) -> str:
    return f"unfilled-links-{study}"


def completion_code_for(code: str, kind: str, public_id: str) -> str:
    """Return the completion code that a participant of this kind gets, given the study's ``code``.

    Only real participants get the study's code: anybody can run a demo, and must not be able to claim a payment by it.
    """
    return code if kind == "real" else f"{kind.upper()}-{public_id.removeprefix('p-').upper()}"


def return_url(recruiter: str | None, kind: str, code: str) -> str | None:
    """Return the recruiting service's address for real participants who have finished; None: there is none."""
    if recruiter != "prolific" or kind != "real":
        return None
    return f"https://app.prolific.com/submissions/complete?cc={quote(code)}"
