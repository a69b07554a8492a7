"""Recruiting services: what their links say about who comes, and where they want people back."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from urllib.parse import unquote

from cobandit.base.json_types import JsonObject
from cobandit.studies.codes import derived_code
from cobandit.studies.design import Outcome, StudyDesign
from cobandit.studies.leaving import BUILT_IN, FINISHED, filled_address
from cobandit.studies.payment import Pay
from cobandit.web.storage.database import Connection
from cobandit.web.storage.participants import Participant
from cobandit.web.storage.settings import claim_setting, read_setting, write_setting
from cobandit.web.storage.studies import Study
from cobandit.web.storage.values import as_json

UNFILLED_SHOWN_MS = 86_400_000
"""How long a researcher sees that people were turned away: a day after the last one."""

_PLACEHOLDER = re.compile(
    r"\s*|.*(?:\{\{|\$\{).*|%\w+%|[\[<{][\w -]+[\]>}]|undefined|null|none|nan", re.DOTALL | re.IGNORECASE
)
_INVISIBLE = ("Cc", "Cf")
"""Categories of Unicode that show nothing, such as a blank without width, which text editors leave behind."""


@dataclass(frozen=True)
class Recruit:
    """The identity of a participant at the service that sent them."""

    recruiter: str
    external_id: str
    more: Mapping[str, str] = field(default_factory=dict)

    @property
    def known_to_one_only(self) -> bool:
        """Whether the id is long and random, so that it proves the identity in another browser."""
        return self.recruiter in BUILT_IN


RECRUITERS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    *((name, *parameters) for name, parameters in BUILT_IN.items()),
    ("sona", "survey_code", ()),
    ("sona", "id", ()),
    ("label", "label", ()),
)
"""Recruiting services by the parameter that tells who comes, and what else they send."""


def _filled(name: str, value: str | None) -> bool:
    """Return whether the text is a value, and not the placeholder that a recruiting service replaces."""
    if value is None:
        return False
    shown = "".join(letter for letter in unquote(value) if unicodedata.category(letter) not in _INVISIBLE)
    return _PLACEHOLDER.fullmatch(shown) is None and (len(name) < 3 or shown.strip().lower() != name.lower())


def recruiters_of(design: StudyDesign | None) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """Return the recruiting services of a study: the one that its design defines, and those that are built in."""
    own = None if design is None else design.recruiter
    if own is None or not own.id:
        return RECRUITERS
    return ((own.name, own.id, own.also), *RECRUITERS)


def recruit(parameters: Mapping[str, str], design: StudyDesign | None = None) -> Recruit | None:
    """Return the identity from the parameters of the link; None: there is none."""
    for recruiter, name, more in recruiters_of(design):
        if _filled(name, parameters.get(name)):
            known = {key: parameters[key] for key in more if _filled(key, parameters.get(key))}
            return Recruit(recruiter, parameters[name], known)
    return None


def unfilled(parameters: Mapping[str, str], design: StudyDesign | None = None) -> str | None:
    """Return the identity parameter that is still a placeholder: all visitors would be stored as one person."""
    known = [name for _, name, _ in recruiters_of(design)]
    names = (name for name in known if name in parameters and not _filled(name, parameters[name]))
    return next(names, None)


def note_unfilled(connection: Connection, study: int, name: str, value: str, now: int) -> None:
    """Record for the researcher that a visitor was turned away because of the link."""
    claim_setting(connection, _setting(study), "null")  # a process that counts at the same time waits
    before = unfilled_links(connection, study, now)
    count = 1 if before is None else before["count"] + 1
    refusals = {"parameter": name, "value": value[:80], "count": count, "at": now}
    write_setting(connection, _setting(study), as_json(refusals))


def unfilled_links(connection: Connection, study: int, now: int) -> JsonObject | None:
    """Return the visitors turned away because of the link: parameter, value, number, and time of the last."""
    stored = read_setting(connection, _setting(study))
    refusals: JsonObject | None = None if stored is None else json.loads(stored)
    return refusals if refusals is not None and refusals["at"] > now - UNFILLED_SHOWN_MS else None


def _setting(study: int) -> str:
    return f"unfilled-links-{study}"


def completion_code_for(code: str, kind: str, public_id: str) -> str:
    """Return the completion code that a participant of this kind gets, given the study's ``code``.

    Only real participants get the study's code: anybody can run a demo, and must not be able to claim a payment by it.
    """
    return code if kind == "real" else f"{kind.upper()}-{public_id.removeprefix('p-').upper()}"


def return_url(study: Study, person: Participant, outcome: str, code: str) -> str | None:
    """Return where a real participant goes at the end, with the code; None: nowhere.

    The address of the outcome goes first, then that of the design's recruiter, then that of a known service.
    """
    if person.kind != "real" or not code:
        return None
    template = return_template(study, person.recruiter, outcome)
    values = dict(json.loads(person.recruiting or "{}")) | {"code": code, "id": person.external_id or ""}
    return filled_address(template, values) if template else None


def return_template(study: Study, recruiter: str | None, outcome: str) -> str:
    """Return the template of the address to which people of a recruiter go at the end; empty: there is none."""
    own, defined = find_outcome(study, outcome), study.design.recruiter
    if own is not None and own.return_url:
        return own.return_url
    if defined is not None and defined.name == recruiter and defined.return_url:
        return defined.return_url
    return _RETURN_URLS.get(recruiter or "", "")


_RETURN_URLS = {"prolific": "https://app.prolific.com/submissions/complete?cc={code}"}


def thanks_for(study: Study, person: Participant, outcome: str) -> JsonObject:
    """Return the completion code of a participant with an outcome, where it leads, and the pay of an early end."""
    code = outcome_code(study, outcome)
    shown = completion_code_for(code, person.kind, person.public_id) if code else None
    thanks: JsonObject = {"code": shown, "return_url": return_url(study, person, outcome, code)}
    if outcome in ("", FINISHED, "failed-attention"):  # the page does not tell people that they failed a check
        return thanks
    return thanks | {"ending": "short" if outcome == "no-team" else outcome} | pay_shown(study, outcome)


def pay_shown(study: Study, outcome: str) -> dict[str, str]:
    """Return the pay of an early end as the page shows it, where the design pays for it."""
    pay = outcome_pay(study, outcome)
    return {} if pay is None or not pay.total else {"pay": f"{pay.total} {pay.currency}"}


def find_outcome(study: Study, outcome: str) -> Outcome | None:
    """Return the entry of the design for an outcome; None: there is none."""
    return next((own for own in study.design.outcomes if own.outcome == outcome), None)


def outcome_pay(study: Study, outcome: str) -> Pay | None:
    """Return the pay of an outcome other than a finished study; None: the design has no rules of payment."""
    own, rules, group = find_outcome(study, outcome), study.design.payment, study.design.group
    if rules is None:
        return None
    amount = "0" if own is None else own.pay
    if own is None and outcome == "no-team" and group is not None:
        amount = group.short_pay
    return Pay(rules.currency, rules.rounded(Decimal(amount)), rules.rounded(Decimal(0)))


def outcome_code(study: Study, outcome: str) -> str:
    """Return the completion code of an outcome; empty: there is none.

    Made-up codes are digests with the study's seed: the code of a finished study cannot be derived from another one.
    """
    if outcome in ("", FINISHED):
        return study.code
    own, group = find_outcome(study, outcome), study.design.group
    if own is None:
        if outcome != "no-team":
            return ""
        return (group.short_code if group is not None else "") or f"{study.code}-S"
    return own.code or derived_code(f"{study.seed}:{study.code}:{outcome}")
