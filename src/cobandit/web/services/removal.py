"""Taking a participant out of a study without deleting anything, and taking them back.

The place becomes free, every analysis leaves the participant out with the reason, and the data stay. The participant
notices nothing: the pages stay the same, and the payment is that of any other participant.
"""

from __future__ import annotations

from typing import Any

from cobandit.base.errors import InvalidInput
from cobandit.studies.leaving import SCREENED_OUT, is_screened_out
from cobandit.web.refusals import conflict, not_found
from cobandit.web.roles import Viewer
from cobandit.web.services.messages import checked_text
from cobandit.web.services.studies import stored_study
from cobandit.web.storage.answers import merged_answers
from cobandit.web.storage.audit import participant_mark, record
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.events import Event, add_events
from cobandit.web.storage.participants import REMOVED, Participant, participant_by_public_id, update_participants
from cobandit.web.storage.studies import Study
from cobandit.web.storage.values import now_ms

RESTORED = "restored"
"""The kind of event, as `REMOVED` is: the events hold the reason, so that it is deleted with the participant."""


async def remove_participant(database: Database, number: int, public_id: str, reason: str, viewer: Viewer) -> None:
    """Take a participant out of a study, for a viewer who may do so."""
    viewer.require("removal")
    await database.commit(lambda connection: store_removal(connection, number, public_id, reason, viewer.account))


async def restore_participant(database: Database, number: int, public_id: str, viewer: Viewer) -> None:
    """Take a removed participant back, for a viewer who may do so."""
    viewer.require("removal")
    await database.commit(lambda connection: store_return(connection, number, public_id, viewer.account))


def store_removal(connection: Connection, number: int, public_id: str, reason: str, by: str) -> None:
    """Store that a participant was removed, in the caller's transaction; refuse someone who has left already."""
    if not reason.strip():
        raise InvalidInput("reason must say why the participant is left out of the analysis, got an empty text.")
    reason = checked_text(reason)
    study, person = _locked(connection, number, public_id)
    if person.consented_at is None:
        raise conflict("not-begun", f"{public_id} has not begun, so there is nothing to leave out.")
    if person.ending is not None:
        raise conflict("left", f"{public_id} has left the study already ({person.ending}).")
    update_participants(connection, [person.id], ending=REMOVED)
    _note(connection, person.id, REMOVED, {"reason": reason})
    mark = participant_mark(connection, public_id)
    record(connection, by, "participant-removed", study.label, participant=mark, kind=person.kind)


def store_return(connection: Connection, number: int, public_id: str, by: str) -> None:
    """Store that a removed participant counts again, in the caller's transaction."""
    study, person = _locked(connection, number, public_id)
    if person.ending != REMOVED:
        raise conflict("not-removed", f"{public_id} was not removed, so there is nothing to take back.")
    about = merged_answers(connection, [person.id], ["demographics"]).get(person.id, {})
    update_participants(connection, [person.id], ending=SCREENED_OUT if is_screened_out(study.design, about) else None)
    _note(connection, person.id, RESTORED, {})
    mark = participant_mark(connection, public_id)
    record(connection, by, "participant-restored", study.label, participant=mark, kind=person.kind)


def _locked(connection: Connection, number: int, public_id: str) -> tuple[Study, Participant]:
    """Return a study and its participant, who cannot withdraw or be screened out before the caller has written."""
    study = stored_study(connection, number)
    person = participant_by_public_id(connection, number, public_id, lock=True)
    if person is None:
        raise not_found(f"This study has no participant {public_id!r}; perhaps the participant was deleted.")
    return study, person


def _note(connection: Connection, participant: int, kind: str, data: dict[str, Any]) -> None:
    add_events(connection, participant, [Event(now_ms(), kind, data)])
