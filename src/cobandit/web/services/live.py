"""Who is where at this moment."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from cobandit.studies import ParticipantPlan, StudyDesign
from cobandit.studies.journey import Step, journey
from cobandit.web.services.recruiting import unfilled_links
from cobandit.web.services.studies import STATUSES, about, no_counts, stored_study
from cobandit.web.storage.answers import answered_steps
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.episodes import Progress, progress_by_condition, running_episodes
from cobandit.web.storage.participants import Participant, participants_of, status
from cobandit.web.storage.studies import Study
from cobandit.web.storage.values import now_ms


async def live_view(database: Database, number: int, kind: str, base: str) -> bytes:
    """Who is where, as JSON: people of one kind, and counts by status, order and condition; ``base`` begins links.

    Put into text where it is read, in a thread: with ten thousand people that takes long enough to be felt by them.
    """

    def ask(connection: Connection) -> bytes:
        study, now = stored_study(connection, number), now_ms()
        people = participants_of(connection, number)
        counts = no_counts()
        for person in people:
            counts[person.kind][status(person, study.design, now)] += 1
        progress = progress_by_condition(connection, number, kind)
        running = running_episodes(connection, number, kind)
        answered = answered_steps(connection, number, kind)
        entries = [
            participant_entry(
                person,
                study,
                now,
                progress=progress.get(person.id, {}),
                running=running.get(person.id),
                answered=answered.get(person.id, 0),
            )
            for person in people
            if person.kind == kind
        ]
        for entry in entries:
            entry["url"] = base + entry.pop("path")
        view = {
            "study": about(study),
            "now": now,
            "kind": kind,
            "limits": study.design.limits.to_dict(),
            "unfilled": unfilled_links(connection, number, now),
            "counts": counts,
            "orders": _orders(study.design, entries),
            "conditions": _conditions(study.design, progress),
            "participants": entries,
        }
        return json.dumps(view, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()

    return await database.ask(ask, heavy=True)


def plan_of(study: Study, person: Participant) -> ParticipantPlan | None:
    """What a participant will play; known from consent on."""
    if person.seed is None or person.order_index is None:
        return None
    return ParticipantPlan(study.design, person.seed, person.order_index, study.secret_for(person.kind))


def participant_entry(
    person: Participant,
    study: Study,
    now: int,
    *,
    progress: Mapping[str, Progress],
    running: tuple[int, int] | None,
    answered: int,
) -> dict[str, Any]:
    """One participant in a line. Steps are done in their order, so counting those done tells which one is next."""
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
            "total": practices + len(design.conditions) * design.episodes * design.rounds,
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
) -> dict[str, Any] | None:
    plan = plan_of(study, person)
    if step.kind not in ("episode", "rest") or step.number is None or plan is None:
        return None
    episode = plan.episode(step.number)
    return {
        "number": episode.index,
        "practice": episode.practice,
        "set": episode.set + 1,
        "sets": len(study.design.conditions),
        "place": episode.number + 1,
        "of": episode.siblings,
        "condition": episode.condition,
        "played": running[1] if running is not None and running[0] == episode.index else 0,
        "rounds": episode.rounds,
    }


def _orders(design: StudyDesign, entries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    counted = Counter((entry["order_index"], entry["status"]) for entry in entries)
    return [
        {"order": list(order), "counts": {name: counted[i, name] for name in STATUSES if name != "invited"}}
        for i, order in enumerate(design.orders)
    ]


def _conditions(design: StudyDesign, progress: Mapping[int, Mapping[str, Progress]]) -> list[dict[str, Any]]:
    rows = []
    for condition in design.conditions:
        parts = [person[condition.name] for person in progress.values() if condition.name in person]
        rows.append(
            {
                "name": condition.name,
                "begun": len(parts),
                "finished": sum(part.finished_episodes == design.episodes for part in parts),
                "episodes": sum(part.finished_episodes for part in parts),
                "rounds": sum(part.rounds for part in parts),
            }
        )
    return rows
