"""The participant's pages of a draft, for the editor: the payload of every step, of a person who is not stored."""

from __future__ import annotations

from typing import Any

from cobandit.base.json_types import JsonObject
from cobandit.studies import Episode, ParticipantPlan, StudyDesign, TeamPlace, participant_view
from cobandit.studies.journey import (
    Step,
    debriefing_payload,
    journey,
    named_partner,
    page_texts_of,
    partner_payload,
    seat_texts,
    step_payload,
    task_payload,
)
from cobandit.studies.page_texts import page_texts

_SEED = 1
_CODE = "PREVIEW1"


def preview_steps(design: StudyDesign) -> list[str]:
    """Return the steps that differ: of the episodes and rests of a set the first ones."""
    shown: dict[tuple[Any, ...], str] = {}
    practices = 0 if design.practice is None else design.practice.episodes
    for step in journey(design).steps:
        part = step.number
        if step.number is not None and step.kind in ("episode", "rest"):
            part = -1 if step.number < practices else (step.number - practices) // design.episodes
        shown.setdefault((step.kind, part, step.questionnaire, step.page), step.id)
    return list(shown.values())


def preview_state(design: StudyDesign, step_id: str, language: str | None = None) -> JsonObject:
    """Return the state of a participant at a step, as the page gets it, and the texts of the page.

    Nothing is stored. Episodes are before their first round.
    """
    way = journey(design)
    step = way.find(step_id)
    chosen = language if language in design.languages else design.languages[0]
    place = None if design.group is None else TeamPlace(_SEED, design.participant_seat)
    plan = ParticipantPlan(design, _SEED, 0, "", place)
    seat = design.participant_seat
    done = {before.id for before in way.steps[: way.places[step.id]]}
    state: JsonObject = {
        "participant": "preview",
        "study": design.name,
        "title": design.texts(chosen)["title"],
        "kind": "real",
        "language": chosen,
        "languages": list(design.languages),
        "step": {"kind": step.kind, "id": step.id},
        "progress": way.progress(done),
        "limits": design.limits.to_dict(),
        "texts": page_texts_of(design, step, chosen) | seat_texts(design, seat, chosen),
        "task": task_payload(design, chosen, seat),
    }
    if (partner := partner_payload(plan, step, chosen)) is not None:
        state |= {"partner": partner, "texts": state["texts"] | named_partner(design, partner)}
    state |= _part(design, plan, step, chosen)
    return {"state": state, "messages": page_texts(chosen, design)}


def _part(design: StudyDesign, plan: ParticipantPlan, step: Step, language: str) -> JsonObject:
    """Return the part of the state that only this kind of step has."""
    if step.kind == "thanks":
        thanks = {"code": design.completion_code or _CODE, "return_url": None}
        return {"thanks": thanks | debriefing_payload(design, language)}
    if step.kind == "partner":
        return {"sets": design.sets}
    if step.kind not in ("episode", "rest"):
        return step_payload(design, plan, step, language)
    assert step.number is not None
    number = step.number - (step.kind == "rest")
    view = participant_view(Episode.open(plan.episode(number)), language) | {"index": number}
    results = {"results": [0] * max(0, number)} if design.episodes > 1 else {}
    if step.kind == "episode":
        return {"episode": view} | results
    names = {"practice": "practice", "done": "episode", "of": "episodes", "set": "set", "sets": "sets", "good": "good"}
    shown = {key: view[name] for key, name in names.items()} | {"rounds": view["rounds"] // design.task.steps}
    return {"rest": shown | ({"score": view["score"]} if "score" in view else {})} | results
