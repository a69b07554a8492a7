"""Who is where at this moment."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from time import monotonic

from cobandit.base.json_types import JsonObject
from cobandit.studies import ParticipantPlan, StudyDesign, TeamPlace
from cobandit.studies.journey import Step, journey
from cobandit.web.roles import Viewer
from cobandit.web.services.blinding import Masks, masked_live, masked_order_ranks, masks_for
from cobandit.web.services.recruiting import unfilled_links
from cobandit.web.services.studies import about, availability_fields, counts_of, stored_study
from cobandit.web.storage.answers import answered_steps
from cobandit.web.storage.audit import happened_since
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.episodes import (
    ConditionCounts,
    Progress,
    counts_by_condition,
    progress_by_condition,
    running_episodes,
)
from cobandit.web.storage.listing import STATUSES, Headcount, Listing, headcounts, list_people
from cobandit.web.storage.participants import Participant, status
from cobandit.web.storage.studies import Study
from cobandit.web.storage.teams import Team
from cobandit.web.storage.values import now_ms

CHEAP_SECONDS = 0.01
SHARE_OF_TIME = 0.05
"""The share of time for recounting a large study; in between, requests get the latest counts."""


@dataclass(frozen=True)
class _Summary:
    """People counted: those of every kind, those of one kind by order and condition; good until a time."""

    counts: dict[str, dict[str, int]]
    orders: list[JsonObject]
    conditions: list[JsonObject]
    until: float


class Live:
    """Who is where in the studies of one server. However many watch, a study is counted once for all of them."""

    def __init__(self, database: Database, *, consent_elsewhere: bool = False) -> None:
        self._database = database
        self._consent_elsewhere = consent_elsewhere
        self._summaries: dict[tuple[int, str], _Summary] = {}
        self._counting = threading.Lock()

    async def view(self, number: int, wanted: Listing, base: str, viewer: Viewer, since: int | None = None) -> bytes:
        """Return a page of participants of one kind, and counts by status, order and condition, as JSON; ``base``
        begins links.

        ``page`` names all participants of the page in order, ``cursor`` is the next ``since``: then only those who have
        changed are listed in full. Conditions are letters while the viewer is blind to them, and a personal link is
        included only if the viewer's role may see it. A thread for heavy reads does the work.
        """
        return await self._database.ask(
            lambda connection: self.read(connection, number, wanted, base, viewer, since), heavy=True
        )

    def read(
        self,
        connection: Connection,
        number: int,
        wanted: Listing,
        base: str,
        viewer: Viewer,
        since: int | None,
    ) -> bytes:
        """Return the view synchronously, with the caller's connection."""
        viewer.require("participants")
        study = stored_study(connection, number)
        masks = masks_for(connection, study, viewer, wanted.kind)
        view = masked_live(self._view(connection, study, wanted, since, masks), masks)
        for entry in view["participants"]:
            give_link(entry, viewer, base)
        return json.dumps(view, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()

    def _view(
        self, connection: Connection, study: Study, wanted: Listing, since: int | None, masks: Masks | None
    ) -> JsonObject:
        now, ranks = now_ms(), masked_order_ranks(study, masks)
        shares = masks is None or not masks.rounds
        total, people = list_people(connection, study, wanted, now, ranks, shares=shares)
        if since is not None and since <= now:  # otherwise the clock was set back, and it is unknown what is new
            # Neither of the two changes a time of the participant.
            whole = happened_since(connection, study.label, ("participant-removed", "participant-restored"), since)
            changed = [person for person in people if whole or _has_changed(person, study.design, since, now)]
        else:
            changed = people
        summary = self._summary(connection, study, wanted.kind, now)
        return {
            "study": about(study) | availability_fields(connection, study, self._consent_elsewhere),
            "now": now,
            "kind": wanted.kind,
            "limits": study.design.limits.to_dict(),
            "unfilled": unfilled_links(connection, study.id, now),
            "counts": summary.counts,
            "orders": summary.orders,
            "conditions": summary.conditions,
            "total": total,
            "offset": wanted.offset,
            "page": [person.public_id for person in people],
            "cursor": now - OVERLAP_MS,
            "participants": _entries(connection, study, changed, now),
        }

    def _summary(self, connection: Connection, study: Study, kind: str, now: int) -> _Summary:
        with self._counting:
            known = self._summaries.get((study.id, kind))
            start = monotonic()
            if known is not None and start < known.until:
                return known
            people = list(headcounts(connection, study, now))
            counted = counts_by_condition(connection, study.id, kind, study.design.episodes)
            spent = monotonic() - start
            until = start + spent / SHARE_OF_TIME if spent > CHEAP_SECONDS else 0.0
            summary = _Summary(
                counts_of(people), _orders(study.design, people, kind), _conditions(study.design, counted), until
            )
            self._summaries[study.id, kind] = summary
            return summary


OVERLAP_MS = 3000
"""How far back a cursor reaches: a write has its time before it is committed, and another process its own clock."""


def _has_changed(person: Participant, design: StudyDesign, since: int, now: int) -> bool:
    """Return whether a participant was written to since, or became idle or dropped out by time alone."""
    written = max(person.created_at, person.last_seen or 0, person.finished_at or 0)
    return written >= since or status(person, design, since) != status(person, design, now)


def give_link(entry: JsonObject, viewer: Viewer, base: str) -> None:
    """Replace the path of a personal link by its address, or by None if the viewer may not see it.

    The link of a participant who has begun opens the participation, with every move of the AI so far.
    """
    path = entry.pop("path")
    known = viewer.may_read("invitations" if entry["status"] == "invited" else "links")
    entry["url"] = base + path if known else None


def _entries(connection: Connection, study: Study, people: Sequence[Participant], now: int) -> list[dict[str, object]]:
    numbers = [person.id for person in people]
    progress = progress_by_condition(connection, numbers)
    running = running_episodes(connection, numbers)
    answered = answered_steps(connection, numbers)
    return [
        participant_entry(
            person,
            study,
            now,
            progress=progress.get(person.id, {}),
            running=running.get(person.id),
            answered=answered.get(person.id, 0),
        )
        for person in people
    ]


def plan_of(study: Study, person: Participant, team: Team | None = None) -> ParticipantPlan | None:
    """Return what a participant will play; known from consent on, and in a team as soon as it is formed."""
    if person.seed is None or person.order_index is None:
        return None
    place = None if team is None else TeamPlace(team.seed, team.seat_of(person.id), team.roster)
    return ParticipantPlan(study.design, person.seed, person.order_index, study.secret_for(person.kind), place)


def participant_entry(
    person: Participant,
    study: Study,
    now: int,
    *,
    progress: Mapping[str, Progress],
    running: tuple[int, int] | None,
    answered: int,
) -> JsonObject:
    """Return one participant's row. Steps are done in their order, so the number of done steps determines the
    next one.
    """
    design = study.design
    steps = journey(design).steps
    last = len(steps) - 1
    finished = sum(part.finished_episodes for part in progress.values())
    place = last if person.finished_at is not None else min(answered + finished, last)
    practices = 0 if design.practice is None else design.practice.episodes * design.practice.rounds
    return {
        "participant": person.public_id,
        "kind": person.kind,
        "label": person.label,
        "recruiter": person.recruiter,
        "external_id": person.external_id,
        "status": status(person, design, now),
        "step": {"kind": steps[place].kind, "id": steps[place].id},
        "episode": _current_episode(study, person, steps[place], running),
        "progress": {"done": place, "total": last},
        "rounds": {
            "played": sum(part.rounds for part in progress.values()),
            "total": practices + design.rounds_in(person.order_index or 0),
        },
        "order_index": person.order_index,
        "order": None if person.order_index is None else list(design.orders[person.order_index]),
        "language": person.language,
        "quiz_attempts": person.quiz_attempts,
        "created_at": person.created_at,
        "started_at": person.consented_at,
        "last_seen": person.last_seen,
        "idle_seconds": None if person.last_seen is None else max(0, now - person.last_seen) // 1000,
        "finished_at": person.finished_at,
        "path": f"/p/{person.token}",
    }


def _current_episode(
    study: Study, person: Participant, step: Step, running: tuple[int, int] | None
) -> JsonObject | None:
    plan = plan_of(study, person)
    if step.kind not in ("episode", "rest", "partner") or step.number is None or plan is None:
        return None
    practices = 0 if study.design.practice is None else study.design.practice.episodes
    meets = step.kind == "partner"  # the number of such a step is that of its set, from 1
    episode = plan.episode(practices + (step.number - 1) * study.design.episodes if meets else step.number)
    return {
        "number": episode.index,
        "practice": episode.practice,
        "set": episode.set + 1,
        "sets": study.design.sets,
        "place": episode.number + 1,
        "of": episode.siblings,
        "condition": episode.condition,
        "played": running[1] if running is not None and running[0] == episode.index else 0,
        "rounds": episode.rounds,
    }


def _orders(design: StudyDesign, people: Iterable[Headcount], kind: str) -> list[dict[str, object]]:
    counted = {(group.order_index, group.status): group.count for group in people if group.kind == kind}
    return [
        {"order": list(order), "counts": {name: counted.get((i, name), 0) for name in STATUSES if name != "invited"}}
        for i, order in enumerate(design.orders)
    ]


def _conditions(design: StudyDesign, counted: Mapping[str, ConditionCounts]) -> list[dict[str, object]]:
    names = (condition.name for condition in design.conditions)
    return [{"name": name} | asdict(counted.get(name, ConditionCounts())) for name in names]
