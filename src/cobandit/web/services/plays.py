"""One participant for the researcher: answers, episodes, rounds, events; and deleting them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.base.json_types import JsonObject
from cobandit.base.numbers import rounded
from cobandit.studies import StudyDesign
from cobandit.studies.journey import Step, attention_results, journey, wrong_quiz_answers
from cobandit.studies.plan import EpisodePlan, ParticipantPlan
from cobandit.web.refusals import not_found
from cobandit.web.roles import Viewer
from cobandit.web.services.blinding import ROBOT, masked_person, masked_rounds, masks_for
from cobandit.web.services.live import give_link, participant_entry, plan_of
from cobandit.web.services.studies import about, stored_study
from cobandit.web.storage.answers import StoredAnswers, answers_of, count_answers
from cobandit.web.storage.audit import participant_mark, record
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.episodes import (
    StoredEpisode,
    count_episodes,
    episodes_of,
    find_episode,
    progress_by_condition,
    running_episodes,
)
from cobandit.web.storage.events import count_events, latest_events
from cobandit.web.storage.participants import Participant, participant_by_public_id
from cobandit.web.storage.rounds import (
    EpisodeCounts,
    StoredRound,
    arms_by_episode,
    count_rounds,
    counts_by_episode,
    rounds_from,
)
from cobandit.web.storage.team_moves import delete_person as delete_stored_person
from cobandit.web.storage.teams import team_of
from cobandit.web.storage.values import now_ms

MOST_EVENTS_SHOWN = 500


async def participant_view(
    database: Database, number: int, public_id: str, viewer: Viewer, base: str = ""
) -> JsonObject:
    """Return one participant's data without the rounds (see `rounds_view`), as far as the viewer may see them."""
    viewer.require("participants")

    def ask(connection: Connection) -> JsonObject:
        study, now = stored_study(connection, number), now_ms()
        design = study.design
        person = _person(connection, number, public_id)
        team = team_of(connection, person.id)
        plan = plan_of(study, person, team)
        answers = answers_of(connection, person.id)
        masks = masks_for(connection, study, viewer, person.kind)
        without = ROBOT if masks is not None and masks.robot else None
        events, events_total = latest_events(connection, person.id, MOST_EVENTS_SHOWN, without)
        entry = participant_entry(
            person,
            study,
            now,
            progress=progress_by_condition(connection, [person.id]).get(person.id, {}),
            running=running_episodes(connection, [person.id]).get(person.id),
            answered=len(answers),
        )
        view = entry | {
            "study": about(study),
            "now": now,
            "arms": [list(labels) for labels in design.task.arms],
            "seats": [seat.name for seat in design.seating],
            "seat": design.participant_seat if team is None else team.seat_of(person.id),
            "team": None if team is None else team.public_id,
            "answers": [_answers_view(design, plan, given) for given in answers],
            "episodes": [] if plan is None else _episodes_view(connection, plan, person.id),
            "events": [{"at": event.at, "kind": event.kind, "data": event.data} for event in events],
            "events_total": events_total,
        }
        if design.rewards.graded:
            view["scored"] = True
        if design.task.layers:
            view["layers"] = [[list(labels) for labels in layer] for layer in (design.task.arms, *design.task.layers)]
        give_link(view, viewer, base)
        return masked_person(view, masks)

    return await database.ask(ask, heavy=True)


async def rounds_view(
    database: Database, number: int, public_id: str, episode: int, viewer: Viewer, *, first: int, limit: int
) -> JsonObject:
    """Return some rounds of an episode, as far as the viewer may see them."""
    viewer.require("participants")

    def ask(connection: Connection) -> JsonObject:
        study = stored_study(connection, number)
        person = _person(connection, number, public_id)
        team = team_of(connection, person.id)
        stored, plan = find_episode(connection, person.id, episode), plan_of(study, person, team)
        if stored is None or plan is None:
            raise not_found(f"{public_id} has not played episode {episode}.")
        layers = study.design.task.steps  # a regret needs the whole burger
        start = max(1, first - (first - 1) % layers)
        log = rounds_from(connection, stored.id, start, limit + max(0, first - start))
        view = {
            "episode": episode,
            "condition": stored.condition,
            "played": stored.played,
            "rounds": _round_views(plan.episode(episode), log)[first - start :],
        }
        seat = study.design.participant_seat if team is None else team.seat_of(person.id)
        return masked_rounds(view, masks_for(connection, study, viewer, person.kind), seat)

    return await database.ask(ask, heavy=True)


async def delete_person(database: Database, number: int, public_id: str, by: str) -> dict[str, int]:
    """Delete a participant with everything of theirs; how much that was."""

    def job(connection: Connection) -> dict[str, int]:
        person = _person(connection, number, public_id)
        participant = person.id
        deleted = {
            "episodes": count_episodes(connection, participant),
            "rounds": count_rounds(connection, participant),
            "answers": count_answers(connection, participant),
            "events": count_events(connection, participant),
        }
        delete_stored_person(connection, number, public_id, now_ms())
        label = stored_study(connection, number).label
        mark = participant_mark(connection, public_id)
        record(connection, by, "participant-deleted", label, participant=mark, kind=person.kind, **deleted)
        return deleted

    deleted = await database.commit(job)
    await database.forget_in_time()
    return deleted


def _person(connection: Connection, study: int, public_id: str) -> Participant:
    person = participant_by_public_id(connection, study, public_id)
    if person is None:
        raise not_found(f"This study has no participant {public_id!r}; perhaps the participant was deleted.")
    return person


def _round_views(plan: EpisodePlan, log: list[StoredRound]) -> list[dict[str, object]]:
    if not log:
        return []
    regret = plan.round_regret(np.array([r.arms for r in log]), np.array([r.t for r in log]))
    return [_round_view(r, cost) for r, cost in zip(log, regret.tolist(), strict=True)]


def _round_view(r: StoredRound, regret: float) -> dict[str, object]:
    return {
        "t": r.t,
        "arms": list(r.arms),
        "reward": r.reward,
        "seen": list(r.seen),
        "predictions": [list(row) for row in r.predictions],
        "regret": regret,
        "at": r.at,
        "ms": r.ms,
    }


def _episodes_view(connection: Connection, plan: ParticipantPlan, participant: int) -> list[dict[str, object]]:
    """Return the participant's episodes so far, and the outcomes of each configuration."""
    counts = counts_by_episode(connection, participant)
    episodes = episodes_of(connection, participant)
    views = [
        _episode_view(plan.episode(stored.number), stored, counts.get(stored.id, EpisodeCounts()))
        for stored in episodes
    ]
    if plan.design.task.layers or any(rule.drifts for rule in plan.design.means_rules.values()):
        # The regret of a team action depends on the round, or on the state.
        arms = arms_by_episode(connection, [stored.id for stored in episodes])
        for stored, view in zip(episodes, views, strict=True):
            if stored.id in arms:
                episode = plan.episode(stored.number)
                view["regret"] = float(episode.round_regret(arms[stored.id]).sum())
                if episode.layers > 1:
                    view["cells"] = _burger_cells(episode, arms[stored.id])
    return views


def _episode_view(plan: EpisodePlan, stored: StoredEpisode, counts: EpisodeCounts) -> dict[str, object]:
    means = plan.means
    regret = means.max() - means
    cells = counts.cells if plan.layers == 1 else {}  # at a line, the caller counts burgers
    return {
        "number": stored.number,
        "practice": plan.practice,
        "set": plan.set + 1,
        "place": plan.number + 1,
        "of": plan.siblings,
        "condition": plan.condition,
        "swapped": plan.swapped,
        "rounds": plan.rounds,
        "played": stored.played,
        "good": counts.good,
        "regret": sum(count * float(regret[cell]) for cell, (count, _) in cells.items()),
        "reaction_ms": int(rounded(counts.ms / counts.timed)) if counts.timed else None,
        "opened_at": stored.opened_at,
        "finished_at": stored.finished_at,
        "cells": [
            {"arms": list(cell), "mean": float(mean), "played": count, "good": good}
            for cell, mean in np.ndenumerate(means)
            for count, good in (cells.get(cell, (0, 0.0)),)
        ],
    }


def _burger_cells(plan: EpisodePlan, actions: NDArray[np.int64]) -> list[dict[str, object]]:
    """Return the finished burgers of an episode at a line; their arms are those of all layers, from below."""
    count = len(actions) // plan.layers
    stacks = list(map(tuple, actions[: count * plan.layers].reshape(count, -1).tolist()))
    luck = plan.luck()
    good = [float(luck[(row, *stack)]) for row, stack in enumerate(stacks)]
    played, satisfied = Counter(stacks), defaultdict[tuple[int, ...], float](float)
    for stack, outcome in zip(stacks, good, strict=True):
        satisfied[stack] += outcome
    return [
        {"arms": list(stack), "mean": float(mean), "played": played[stack], "good": satisfied[stack]}
        for stack, mean in np.ndenumerate(plan.means)
    ]


def _answers_view(design: StudyDesign, plan: ParticipantPlan | None, given: StoredAnswers) -> dict[str, object]:
    """Return the answers to one step with the texts they answer, in the order in which they were asked."""
    step = journey(design).find(given.step)
    values = given.values
    texts = design.texts()
    items: list[JsonObject] = []
    if step.kind == "consent":
        items = [{"id": "version", "text": "Version of the text", "value": values["version"], "right": None}]
    elif step.kind in ("demographics", "quiz"):
        wrong = wrong_quiz_answers(design, values) if step.kind == "quiz" else []
        for id, value in values.items():
            choice = texts.get(f"{step.kind}.{id}.{value}")
            items.append(
                {
                    "id": id,
                    "text": texts[f"{step.kind}.{id}"],
                    "value": value if choice is None else choice,
                    "right": id not in wrong if step.kind == "quiz" else None,
                }
            )
    elif step.kind == "survey" and plan is not None:
        checks = attention_results(design, values)
        for id in plan.survey_order((step.number or 1) - 1):
            text = texts[f"{'attention' if id in checks else 'survey'}.{id}"]
            items.append({"id": id, "text": text, "value": values.get(id), "right": checks.get(id)})
    elif step.kind == "questionnaire" and plan is not None:
        items = _questionnaire_items(design, plan, step, values)
    return {"step": step.id, "kind": step.kind, "at": given.at, "ms": given.ms, "items": items}


def _questionnaire_items(
    design: StudyDesign, plan: ParticipantPlan, step: Step, values: Mapping[str, Any]
) -> list[JsonObject]:
    """Return the answers to a questionnaire in the order of the page; items that were not shown are left out."""
    questionnaire = design.questionnaire(step.questionnaire)
    shown = {item.id: item for item in questionnaire.shown(values)}
    views = []
    for id, _ in plan.questionnaire_order(step.questionnaire, step.number):
        for answer in shown[id].answer_ids if id in shown else ():
            item = shown[id]
            row = next((row.text for row in item.rows if row.id == answer), None)
            value = values.get(answer)
            if item.choices and value is not None:
                places = value if isinstance(value, list) else [value]
                value = (" > " if item.kind == "ranking" else "; ").join(item.choices[place] for place in places)
            text = item.text if row is None else f"{item.text} {row}"
            views.append({"id": answer, "text": text, "value": value, "right": None})
    return views
