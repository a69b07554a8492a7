"""Who may begin a study: its state and quota decide, and whether its consent is one that people can give."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from cobandit.base.errors import InvalidInput
from cobandit.base.json_types import JsonObject
from cobandit.studies import StudyDesign
from cobandit.studies.assignment import cells_are_full, taken_by_cell
from cobandit.studies.consent import placeholder_consent
from cobandit.web.refusals import Refused
from cobandit.web.services.places import places
from cobandit.web.storage.database import Connection
from cobandit.web.storage.participants import active_since, people_before_assignment
from cobandit.web.storage.settings import read_setting, write_setting
from cobandit.web.storage.studies import STATES, Study
from cobandit.web.storage.values import now_ms

MOST_PEOPLE = 1_000_000

REASONS = {
    "not-ready": "This study takes no participants yet: its consent is the placeholder of a shipped design.",
    "closed": "This study is closed: it takes no new participants at the moment.",
    "invite-only": "This study takes people by invitation: a personal link is needed.",
    "full": "This study is full: it has all the participants it needs at the moment.",
}
"""Reasons why a visitor may not begin, by their code in the API."""

AVAILABILITY = {
    "open": "Open",
    "invite-only": "By invitation",
    "full": "Full",
    "closed": "Closed",
    "not-ready": "Not ready",
}
"""The word for the state of a study, by its code: "open", or a code of `REASONS`. Every page and command uses it."""

_CONSENT_ELSEWHERE = "consent-elsewhere"


def unready(*designs: StudyDesign) -> str | None:
    """Return for the researcher which studies admit no real participant in any state, and why; None if all do."""
    waiting = {design.name: placeholder_consent(design) for design in designs if placeholder_consent(design)}
    if not waiting:
        return None
    *others, last = waiting
    if others:
        subject = f"{', '.join(others)} and {last} take no participants yet: their consent"
    else:
        subject = f"{last} takes no participants yet: its consent ({', '.join(waiting[last])})"
    return (
        f"{subject} is the placeholder of a shipped design. Put the text that your ethics board has approved into "
        "[consent] of the design and into its translations. Demo and rehearsal work already. If participants consent "
        "elsewhere, for example on paper, serve with --consent-elsewhere."
    )


def seats_taken(connection: Connection, study: Study) -> int:
    """Return how many real participants count against the quota: finished or active ones, not those who dropped out."""
    now = now_ms()
    taken = places(connection, study, "real", now)
    return sum(taken.finished) + sum(taken.active) + _before_assignment(connection, study, now)


def _before_assignment(connection: Connection, study: Study, now: int) -> int:
    """Return how many people of a design with strata have agreed and have no order of conditions yet."""
    if not study.design.strata:
        return 0
    return people_before_assignment(connection, study.id, "real", active_since(study.design, now))


def _is_full(connection: Connection, study: Study) -> bool:
    """Return whether all cells of a design with quotas are taken, or will be by people who are not assigned yet."""
    design, now = study.design, now_ms()
    if not design.quotas.pairs:
        return False
    taken = places(connection, study, "real", now)
    if not design.strata:
        return cells_are_full(design, taken)
    whole = taken_by_cell(design, taken)
    free: int = sum(max(0, quota - whole[cell]) for cell, quota in design.quotas.pairs)
    return free <= _before_assignment(connection, study, now)


def reason_to_refuse(
    connection: Connection, study: Study, *, invited: bool = False, consent_elsewhere: bool = False
) -> str | None:
    """Return the code of `REASONS` why a new real participant may not begin; None where they may.

    ``invited``: they have a personal link. ``consent_elsewhere``: the placeholder is no reason.
    """
    if study.state == "closed":
        return "closed"
    if not consent_elsewhere and placeholder_consent(study.design):
        return "not-ready"
    if study.state == "invite-only" and not invited:
        return "invite-only"
    if study.state == "quota" and seats_taken(connection, study) >= (study.quota or 0):
        return "full"
    if _is_full(connection, study):
        return "full"
    return None


@dataclass(frozen=True)
class Availability:
    """Whether the open link of a study takes people, as every page and command states it.

    ``code`` is a key of `AVAILABILITY`, ``word`` its word, ``reason`` the sentence why people are refused (None where
    the study is open) and ``taken`` the number of places taken, if the study has a quota.
    """

    code: str
    word: str
    reason: str | None
    taken: int | None

    def to_dict(self) -> JsonObject:
        """Return the fields for JSON."""
        return asdict(self)


def availability(connection: Connection, study: Study, *, consent_elsewhere: bool = False) -> Availability:
    """Return the state of a study as people meet it: what its open link does, not only what the researcher has set."""
    code = reason_to_refuse(connection, study, consent_elsewhere=consent_elsewhere) or "open"
    taken = seats_taken(connection, study) if study.state == "quota" else None
    return Availability(code, AVAILABILITY[code], REASONS.get(code), taken)


def store_consent_elsewhere(connection: Connection, elsewhere: bool) -> None:
    """Store whether the server takes participants who consent elsewhere, so that commands state the same as it does."""
    write_setting(connection, _CONSENT_ELSEWHERE, str(elsewhere).lower())


def stored_consent_elsewhere(connection: Connection) -> bool:
    """Return whether the last server on this database was started with ``--consent-elsewhere``."""
    return read_setting(connection, _CONSENT_ELSEWHERE) == "true"


def refused(reason: str) -> Refused:
    """Return the refusal of a visitor who may not begin."""
    return Refused(403, reason, REASONS[reason])


def checked_state(state: str, quota: int | None) -> None:
    """Refuse a state that is none, and a quota where none belongs or none is given."""
    if state not in STATES:
        raise InvalidInput(f"The state must be one of {', '.join(STATES)}, got {state!r}.")
    if (state == "quota") != (quota is not None):
        raise InvalidInput("A quota, the number of participants, goes with the state 'quota', and only with it.")
    if quota is not None and (isinstance(quota, bool) or not 1 <= quota <= MOST_PEOPLE):
        raise InvalidInput(f"The quota must be an integer from 1 to {MOST_PEOPLE:,}, got {quota}.")
