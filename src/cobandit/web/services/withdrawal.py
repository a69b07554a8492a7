"""Withdrawing: the server deletes or anonymises the data in one transaction, and keeps no trace of who it was.

The remaining row has the digest of the personal link, so that a retry changes nothing and the page can still show
what was done, the completion code and the pay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cobandit.base.json_types import JsonObject
from cobandit.studies.journey import debriefing_payload, journey, page_texts_of, task_payload
from cobandit.studies.leaving import placeholders
from cobandit.web.refusals import Refused, busy, conflict, not_found
from cobandit.web.security import digest
from cobandit.web.services.payments import amounts_of
from cobandit.web.services.people import UNKNOWN_LINK, ActiveParticipant, People
from cobandit.web.services.recruiting import completion_code_for, outcome_code, return_template, return_url
from cobandit.web.services.robot.stage import Stage
from cobandit.web.services.teams import Teams
from cobandit.web.storage.audit import participant_mark, record
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.participants import participant_by_token
from cobandit.web.storage.studies import Study, locked_study, study_by_id
from cobandit.web.storage.team_moves import delete_person
from cobandit.web.storage.teams import Team
from cobandit.web.storage.values import now_ms
from cobandit.web.storage.withdrawals import StoredWithdrawal, add_withdrawal, anonymise, withdrawal_of

WITHDREW = "withdrew"
"""The outcome of people who have withdrawn, and why their seat in a team was taken over."""

TRIES = 5


async def withdraw(
    database: Database,
    people: People,
    teams: Teams,
    token: str,
    robot_of: Callable[[ActiveParticipant], Stage | None],
) -> None:
    """Withdraw the participant of a link; a member of a team leaves it by the rules of the group."""
    problem: Refused = busy()
    for _ in range(TRIES):
        if await database.ask(lambda connection: withdrawal_of(connection, token)) is not None:
            await database.forget_in_time()
            return
        try:
            async with people.person(token, fresh=True) as person:
                await _withdraw(database, people, teams, person)
                if (robot := robot_of(person)) is not None:
                    robot.dismiss(person)
        except Refused as error:
            # Another request was faster, the seat was taken over meanwhile, or the team is gone with its last member.
            if error.status not in (404, 409) or error.code == "not-begun":
                raise
            problem = error
    raise problem


async def _withdraw(database: Database, people: People, teams: Teams, person: ActiveParticipant) -> None:
    if person.record.consented_at is None:
        raise conflict("not-begun", "A participant can withdraw after the consent; before it, nothing is stored.")
    team, token = person.team, person.token
    people.forget(token)
    seat = None if team is None else team.seat_of(person.record.id)

    def job(connection: Connection) -> None:
        _erase(connection, person.study, token)

    if team is None or seat is None or seat in team.gone or person.record.finished_at is not None:
        await database.commit(job)
        return
    leaving = {seat: WITHDREW}
    group = person.study.design.group
    if group is not None and group.when_left == "end":
        leaving |= {other: "partner" for other in team.members if other != seat and other not in team.gone}

    def then(connection: Connection, current: Team, seats: Sequence[int]) -> None:
        job(connection)

    await teams.release(team.id, leaving, then)


def _erase(connection: Connection, study: Study, token: str) -> None:
    """Delete or anonymise a participant and store the withdrawal, unless another request has done so."""
    locked_study(connection, study.id)  # of two requests at the same time, the second finds the withdrawal
    person, now = participant_by_token(connection, token), now_ms()
    if withdrawal_of(connection, token) is not None:
        return
    if person is None:
        raise not_found(UNKNOWN_LINK)
    outcome, amounts = amounts_of(connection, study, person, otherwise=WITHDREW)
    code = outcome_code(study, outcome)
    template = return_template(study, person.recruiter, outcome)
    nameless = placeholders("The address", template) <= {"code"}
    rule = study.design.withdrawal.data
    data = "deleted" if rule == "delete" else "anonymised"
    stored = StoredWithdrawal(
        digest=digest(token),
        study_id=study.id,
        kind=person.kind,
        at=now,
        data=data,
        outcome=outcome,
        code=completion_code_for(code, person.kind, person.public_id) if code else "",
        currency=amounts["currency"],
        fixed=amounts["fixed"],
        bonus=amounts["bonus"],
        return_url=return_url(study, person, outcome, code) if nameless else None,
        language=person.language,
    )
    mark = participant_mark(connection, person.public_id)
    if rule == "delete":
        delete_person(connection, study.id, person.public_id, now)
    else:
        anonymise(connection, person, study.design, now)
    add_withdrawal(connection, stored)
    if person.kind == "real":
        record(connection, "participant", "participant-withdrew", study.label, participant=mark, data=data)


async def withdrawn_state(database: Database, token: str, language: str | None) -> JsonObject | None:
    """Return the state for the page of a participant who has withdrawn; None: there is no such withdrawal."""

    def ask(connection: Connection) -> tuple[StoredWithdrawal, Study] | None:
        stored = withdrawal_of(connection, token)
        study = None if stored is None else study_by_id(connection, stored.study_id)
        return None if stored is None or study is None else (stored, study)

    withdrawn = await database.ask(ask)
    if withdrawn is None:
        return None
    stored, study = withdrawn
    design, last = study.design, journey(study.design).steps[-1]
    wanted = language or stored.language
    chosen = wanted if wanted in design.languages else design.languages[0]
    total = len(journey(design)) - 1
    thanks: JsonObject = {
        "code": stored.code or None,
        "return_url": stored.return_url,
        "ending": WITHDREW,
        "data": stored.data,
    }
    if (pay := stored.total) is not None:
        thanks["pay"] = f"{pay} {stored.currency}"
    return {
        "participant": "",
        "study": design.name,
        "version": design.version,
        "title": design.texts(chosen)["title"],
        "kind": stored.kind,
        "language": chosen,
        "languages": list(design.languages),
        "step": {"kind": last.kind, "id": last.id},
        "progress": {"done": total, "total": total},
        "limits": design.limits.to_dict(),
        "texts": page_texts_of(design, last, chosen),
        "task": task_payload(design, chosen),
        "thanks": thanks | debriefing_payload(design, chosen),
    }
