"""The lobby: people wait here until a team is complete. Teams form in one transaction, and visits can be repeated."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from cobandit.base.json_types import JsonObject
from cobandit.base.records import fingerprint
from cobandit.base.streams import generator
from cobandit.studies import Places, next_order
from cobandit.studies.design import Group
from cobandit.web.refusals import not_found
from cobandit.web.services.people import UNKNOWN_LINK
from cobandit.web.storage.answers import add_answer, answers_of
from cobandit.web.storage.audit import participant_mark
from cobandit.web.storage.database import Connection
from cobandit.web.storage.participants import (
    Participant,
    participant_by_token,
    participants_by_ids,
    update_participants,
)
from cobandit.web.storage.studies import Study, count_arrival, locked_study
from cobandit.web.storage.teams import (
    Waiting,
    add_team,
    join_lobby,
    leave_lobby,
    team_orders,
    update_lobby,
    waiting_people,
)

PRESENT_MS = 20_000
"""Participants whose page has been silent for longer than this are not assigned to a team."""


def is_expired(waiting: Waiting, group: Group, now: int) -> bool:
    """Return whether a participant was asked to confirm their presence and did not answer in time."""
    return waiting.asked_at is not None and now - waiting.asked_at > 1000 * group.check_in_seconds


def _is_ready(waiting: Waiting, group: Group, now: int) -> bool:
    return now - waiting.ready_at <= 1000 * group.check_in_seconds


def visit(connection: Connection, study: Study, person: Participant, ready: bool, now: int) -> None:
    """Join the lobby, show that the page is open, or (``ready``) confirm the presence; then form teams."""
    group = study.design.group
    assert group is not None
    # The scheduler that ends waits races with arrivals that form teams. Both lock the study first and read the lobby
    # afterwards, so one of them finds the person gone.
    locked_study(connection, study.id)
    waiting = {other.participant_id: other for other in waiting_people(connection, study.id, person.kind)}
    own = waiting.get(person.id)
    if own is None:
        # Another person's visit may have formed the team, or the clock ended the wait, since this request was read.
        if any(answer.step == "lobby" for answer in answers_of(connection, person.id)):
            return
        if participant_by_token(connection, person.token) is None:
            raise not_found(UNKNOWN_LINK)  # the person has withdrawn since this request was read
        join_lobby(connection, person.id, study.id, person.kind, now, now + 1000 * group.lobby_seconds)
    else:
        changes: dict[str, Any] = {"seen_at": now}
        if ready:
            changes |= {"ready_at": now, "asked_at": None}
            if is_expired(own, group, now):  # back at the end of the queue
                changes |= {"joined_at": now, "until": now + 1000 * group.lobby_seconds}
        update_lobby(connection, [person.id], **changes)
    form_teams(connection, study, person.kind, now)


def form_teams(connection: Connection, study: Study, kind: str, now: int) -> None:
    """Form all complete teams, and ask participants to confirm their presence if that would complete a team.

    The caller has locked the study: of two participants who arrive at the same time, the second one sees the changes
    that the first one has made.
    """
    group, size = study.design.group, len(study.design.participant_seats)
    assert group is not None
    waiting = [
        other
        for other in waiting_people(connection, study.id, kind, lock=True)
        if now - other.seen_at <= PRESENT_MS and not is_expired(other, group, now)
    ]
    ready = [other.participant_id for other in waiting if _is_ready(other, group, now)]
    while len(ready) >= size:
        _form(connection, study, kind, ready[:size], "team", now)
        waiting = [other for other in waiting if other.participant_id not in ready[:size]]
        ready = ready[size:]
    # Only as many are asked as would complete a team: people who are called in vain ignore the next call.
    if len(waiting) >= size:
        unsure = [other.participant_id for other in waiting if other.participant_id not in ready]
        asked = [other.participant_id for other in waiting if other.asked_at is not None]
        update_lobby(
            connection, [person for person in unsure[: size - len(ready)] if person not in asked], asked_at=now
        )


def end_wait(connection: Connection, study: Study, person: Participant, now: int) -> None:
    """End a wait without a team: AIs fill the free seats, or the study ends for this person, as the design says."""
    group = study.design.group
    assert group is not None
    locked_study(connection, study.id)
    waiting = {other.participant_id: other for other in waiting_people(connection, study.id, person.kind)}
    if person.id not in waiting or waiting[person.id].until > now:
        return  # a team was formed meanwhile
    if group.when_short == "ai":
        _form(connection, study, person.kind, [person.id], "ai", now)
        return
    leave_lobby(connection, [person.id])
    add_answer(connection, person.id, "lobby", {"outcome": "short"}, now, None)
    update_participants(connection, [person.id], finished_at=max(now, person.consented_at or now))


def _form(connection: Connection, study: Study, kind: str, people: Sequence[int], outcome: str, now: int) -> None:
    """Give seats to people: counted and stored in the caller's transaction, in which the study is locked."""
    design, current = study.design, locked_study(connection, study.id)
    counted = team_orders(connection, study.id, kind)
    places = Places(tuple(counted.get(order, 0) for order in range(len(design.orders))))
    order = next_order(design, places, current.seed, current.arrivals)
    # The counter of arrivals is stored in the same transaction as the team, so no two teams share a seed, and a team
    # whose transaction was undone takes the same number again.
    digest = hashlib.sha256(f"team:{current.seed}:{current.arrivals}".encode()).digest()
    seed = int.from_bytes(digest[:16], "big")
    count_arrival(connection, study.id, current.arrivals + 1, current.plan_fixed_at)
    seats = list(design.participant_seats)
    drawn = [seats[i] for i in generator(seed, TEAM_SEATS).random(len(seats)).argsort().tolist()]
    seated: dict[int, int | None] = dict.fromkeys(sorted(seats))
    seated |= dict(zip(drawn, people, strict=False))
    store_team(connection, study, kind, seated, now, seed=seed, order=order)
    leave_lobby(connection, people)
    for person in people:
        add_answer(connection, person, "lobby", {"outcome": outcome}, now, None)


TEAM_SEATS = 1
"""The stream of a team's seed that seats are drawn from."""


def store_team(
    connection: Connection, study: Study, kind: str, seats: Mapping[int, int | None], now: int, *, seed: int, order: int
) -> int:
    """Store a team, and tell its members their order of conditions; return the number of the team."""
    people = participants_by_ids(connection, [person for person in seats.values() if person is not None])
    marks = [
        None if person is None else participant_mark(connection, people[person].public_id) for person in seats.values()
    ]
    number = add_team(
        connection,
        seats,
        now,
        study_id=study.id,
        kind=kind,
        seed=str(seed),
        order_index=order,
        roster=fingerprint(marks),
    )
    update_participants(connection, list(people), order_index=order)
    return number


def count_present(waiting: Sequence[Waiting], group: Group, now: int) -> int:
    """Return how many people wait whose page is open and who have not failed to answer."""
    return sum(now - other.seen_at <= PRESENT_MS and not is_expired(other, group, now) for other in waiting)


def lobby_view(waiting: Sequence[Waiting], person: int, group: Group, size: int, now: int) -> JsonObject:
    """Return what the page shows of the lobby."""
    own = next((other for other in waiting if other.participant_id == person), None)
    return own_lobby_view(own, count_present(waiting, group, now), group, size, now)


def own_lobby_view(own: Waiting | None, present: int, group: Group, size: int, now: int) -> JsonObject:
    """Return what the page shows of the lobby to a participant; ``own`` None: they have not joined."""
    check_in = None
    if own is not None and own.asked_at is not None:
        check_in = {"seconds_left": max(0, group.check_in_seconds - (now - own.asked_at) // 1000)}
    return {
        "waiting": min(present, size),
        "needed": size,
        "joined": own is not None,
        "waited_seconds": 0 if own is None else max(0, now - own.joined_at) // 1000,
        "limit_seconds": group.lobby_seconds,
        "when_short": group.when_short,
        "check_in": check_in,
        "expired": own is not None and is_expired(own, group, now),
    }
