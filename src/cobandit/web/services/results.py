"""A participant's results so far, for the pages between and during episodes."""

from __future__ import annotations

from cobandit.web.services.people import ActiveParticipant
from cobandit.web.storage.database import Database
from cobandit.web.storage.rounds import good_by_number


async def results_of(database: Database, person: ActiveParticipant) -> list[float]:
    """Return the good outcomes, or the sum of the scores, that the person has seen in each finished episode that
    counts.
    """
    participant, plan = person.record.id, person.plan
    assert plan is not None
    seat = plan.episode(0).own_seat
    good = await database.ask(lambda connection: good_by_number(connection, participant, seat))
    return [good[number] for number in sorted(good) if not plan.episode(number).practice]
