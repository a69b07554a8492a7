"""Who arrives at a study: a participant who is known by key or recruiting service, or a new one."""

from __future__ import annotations

from dataclasses import dataclass

from cobandit.web.refusals import Refused, conflict
from cobandit.web.services.places import take_place
from cobandit.web.services.recruiting import Recruit
from cobandit.web.storage.database import Connection
from cobandit.web.storage.participants import (
    Participant,
    add_participant,
    participant_by_key,
    participant_by_recruiter,
)
from cobandit.web.storage.values import as_json


@dataclass(frozen=True)
class Arrival:
    """A visitor who agrees to take part; ``recruit`` identifies the person to the service that sent them."""

    key: str
    consent_version: str
    language: str | None = None
    kind: str = "real"
    recruit: Recruit | None = None


def known_participant(connection: Connection, study: int, arrival: Arrival) -> Participant | None:
    """Return the participant with this key or recruiting id; refuse if that does not prove the identity."""
    known = participant_by_key(connection, study, arrival.key)
    recruit = arrival.recruit
    if known is not None:
        who = (None, None) if recruit is None else (recruit.recruiter, recruit.external_id)
        if (known.kind, known.recruiter, known.external_id) != (arrival.kind, *who):
            raise conflict("key-used", "Another participant has arrived with this key. Choose a new key.")
        return known
    if recruit is None:
        return None
    known = participant_by_recruiter(connection, study, arrival.kind, recruit.recruiter, recruit.external_id)
    if known is not None and not recruit.known_to_one_only and arrival.kind == "real":
        raise Refused(
            403,
            "forbidden",
            "This link has already been used in another browser. Please continue there, or ask the person who "
            "sent you the link for a personal one.",
        )
    return known


def add_arrival(connection: Connection, study: int, arrival: Arrival, *, token: str, language: str, now: int) -> int:
    """Store a new participant at the next free place, and return the number."""
    recruit = arrival.recruit
    seed, order = take_place(connection, study, arrival.kind, now)
    return add_participant(
        connection,
        study_id=study,
        token=token,
        key=arrival.key,
        kind=arrival.kind,
        label=recruit.external_id if recruit is not None and recruit.recruiter == "label" else None,
        recruiter=None if recruit is None else recruit.recruiter,
        external_id=None if recruit is None else recruit.external_id,
        recruiting=None if recruit is None else as_json(dict(recruit.more)),
        seed=str(seed),
        order_index=order,
        language=language,
        created_at=now,
        consented_at=now,
        last_seen=now,
    )
