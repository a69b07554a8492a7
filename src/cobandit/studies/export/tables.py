"""A stored study as columns by table: a row per round, per participant, per answer and per event."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.base.checks import short_repr
from cobandit.base.errors import InvalidInput
from cobandit.studies.data import EpisodeData, ParticipantData, StudyData
from cobandit.studies.design import Question, StudyDesign
from cobandit.studies.export import questions
from cobandit.studies.export.columns import Column, Table, codebook, of_rows, schema
from cobandit.studies.journey import attention_results
from cobandit.studies.lines import states_of
from cobandit.studies.plan import EpisodePlan


@dataclass(frozen=True)
class _Played:
    """An episode with at least one round, and what its rounds cost."""

    person: ParticipantData
    plan: EpisodePlan
    data: EpisodeData
    regret: NDArray[np.float64]


def _played(data: StudyData) -> Iterator[_Played]:
    for person in data.participants:
        plan = person.plan(data.design)
        for index in sorted(person.episodes):
            log = person.episodes[index]
            if plan is None or not len(log):
                continue
            episode = plan.episode(index)
            if log.arms.shape[1] != len(data.design.arms):
                raise InvalidInput(
                    f"Episode {index} of {person.id} was played in {log.arms.shape[1]} seats; the design has "
                    f"{len(data.design.arms)}. Verify the study, its log is damaged."
                )
            for seat, (column, arms) in enumerate(zip(log.arms.T, data.design.arms, strict=True)):
                if column.min() < 0 or column.max() >= arms:
                    raise InvalidInput(
                        f"Episode {index} of {person.id} holds an arm_{seat} outside 0 to {arms - 1}; "
                        f"verify the study, its log is damaged."
                    )
            yield _Played(person, episode, log, episode.round_regret(log.arms, log.t))


def tables(
    data: StudyData, *, practice: bool = True, recruiting: bool = False, texts: bool = False, first_run: int = 0
) -> dict[str, Table]:
    """Return the study as columns by table: long (a row per round), wide (per participant), survey, events, codebook.

    ``practice`` False leaves out the rounds of ``long`` that do not count; ``wide`` never counts them. If the study is
    read in parts, ``first_run`` is the number of episodes in the previous parts. A design with questionnaires has a
    table for them. ``texts`` includes free texts, there and in ``wide``.
    """
    columns = schema(data.design, recruiting=recruiting, texts=texts)
    played = list(_played(data))
    counted = [episode for episode in played if practice or not episode.plan.practice]
    exported = {
        "long": _long(data.design, counted, columns["long"], first_run),
        "wide": _wide(data, played, columns["wide"]),
        "survey": _survey(data, columns["survey"]),
        "events": _events(data, columns["events"]),
        "codebook": codebook(columns),
    }
    if questions.NAME in columns:
        exported[questions.NAME] = of_rows(columns[questions.NAME], questions.answer_rows(data, texts))
    return exported


def _long(design: StudyDesign, played: list[_Played], columns: tuple[Column, ...], first_run: int) -> Table:
    lengths = [len(episode.data) for episode in played]
    of_episode: dict[str, list[Any]] = {
        "run": list(range(first_run, first_run + len(played))),
        "participant": [episode.person.id for episode in played],
        "kind": [episode.person.kind for episode in played],
        "team": [None if episode.person.team is None else episode.person.team.id for episode in played],
        "seat": [episode.plan.own_seat for episode in played],
        "order": [" > ".join(design.orders[episode.plan.order]) for episode in played],
        "cell": [design.cell_of(episode.plan.order) for episode in played],
        "set": [episode.plan.set for episode in played],
        "condition": [episode.plan.condition for episode in played],
        "partner": [_partner_name(design, episode.plan.identity) for episode in played],
        "episode": [episode.plan.index for episode in played],
        "number": [episode.plan.number for episode in played],
        "practice": [episode.plan.practice for episode in played],
        "swapped": [episode.plan.swapped for episode in played],
    }
    ranks = [episode.plan.ranks for episode in played] if design.draws_roles else []
    of_episode |= {f"rank_{i}": list(of_seat) for i, of_seat in enumerate(zip(*ranks, strict=True))}
    of_round = _of_round(design)
    table: Table = {}
    for column in columns:
        name = column.name
        if name in of_episode:
            table[name] = np.repeat(column.array(of_episode[name]), lengths)
        elif name.startswith("label_"):
            seat = int(name.removeprefix("label_"))
            labels = np.array([column.array(layer[seat]) for layer in (design.task.arms, *design.task.layers)])
            table[name] = labels[(table["t"] - 1) % design.task.steps, table[f"arm_{seat}"]]
        else:
            parts = [of_round[name](episode) for episode in played]
            table[name] = np.concatenate([np.zeros(0, dtype=column.dtype), *parts])
    return table


def _of_round(design: StudyDesign) -> dict[str, Callable[[_Played], NDArray[Any]]]:
    """Return the columns that differ from round to round, each as a function of an episode."""
    of_round: dict[str, Callable[[_Played], NDArray[Any]]] = {
        "t": lambda episode: episode.data.t,
        "layer": lambda episode: (episode.data.t - 1) % design.task.steps + 1,
        "state": lambda episode: states_of(episode.data.arms, design.arms, design.task.steps),
        "reward": lambda episode: episode.data.reward,
        "round_regret": lambda episode: episode.regret,
        "task_regret": lambda episode: np.cumsum(episode.regret),
        "team_regret": lambda episode: (
            np.cumsum(episode.regret) * design.problem_of(episode.plan.condition).team_factor
        ),
        "answered_at": lambda episode: episode.data.answered_at,
        "reaction_ms": lambda episode: np.rint(episode.data.reaction_ms),
    }
    for i in range(len(design.seating)):
        of_round[f"arm_{i}"] = lambda episode, i=i: episode.data.arms[:, i]  # type: ignore[misc]
        of_round[f"seen_{i}"] = lambda episode, i=i: episode.data.seen[:, i]  # type: ignore[misc]
        of_round[f"by_{i}"] = lambda episode, i=i: _makers(episode)[:, i]  # type: ignore[misc]
        of_round[f"takeover_{i}"] = lambda episode, i=i: (_makers(episode)[:, i] == "takeover").astype(np.int64)  # type: ignore[misc]
        of_round[f"ms_{i}"] = lambda episode, i=i: np.rint(_seat_ms(episode)[:, i])  # type: ignore[misc]
    for i, j in design.predictions:
        of_round[f"predicted_{i}_{j}"] = lambda episode, i=i, j=j: episode.data.predictions[:, i, j]  # type: ignore[misc]
    return of_round


def _makers(episode: _Played) -> NDArray[Any]:
    """Return who chose, rounds x seats."""
    return np.array(episode.data.by_seat(episode.plan), dtype=object).reshape(episode.data.arms.shape)


def _seat_ms(episode: _Played) -> NDArray[np.float64]:
    """Return how long each choice took, rounds x seats; if one seat is recorded, only that of the participant."""
    if episode.data.seat_ms is not None:
        return episode.data.seat_ms
    times = np.full(episode.data.arms.shape, np.nan)
    times[:, episode.plan.own_seat] = episode.data.reaction_ms
    return times


def _wide(data: StudyData, played: list[_Played], columns: tuple[Column, ...]) -> Table:
    sums: dict[tuple[str, str], list[float]] = {}
    for episode in played:
        if not episode.plan.practice:
            totals = sums.setdefault((episode.person.id, episode.plan.condition), [0, 0.0, 0.0])
            totals[0] += len(episode.data)
            totals[1] += float(episode.data.reward.sum())
            totals[2] += float(episode.regret.sum())
    return of_rows(columns, [_wide_row(data.design, person, sums, columns) for person in data.participants])


def _wide_row(
    design: StudyDesign,
    person: ParticipantData,
    sums: Mapping[tuple[str, str], list[float]],
    columns: tuple[Column, ...],
) -> list[Any]:
    plan = person.plan(design)
    consent = person.answers.get("consent")
    values: dict[Any, Any] = {
        "participant": person.id,
        "kind": person.kind,
        "status": person.status,
        "outcome": person.outcome(design) or None,
        "order": None if plan is None else " > ".join(plan.conditions),
        "cell": None if plan is None else design.cell_of(plan.order),
        "language": person.language,
        "consent_version": None if consent is None else consent.values.get("version"),
        "consented_at": person.consented_at,
        "started_at": person.started_at,
        "finished_at": person.finished_at,
        "minutes": None,
        "quiz_attempts": person.quiz_attempts,
        "recruiter": person.recruiter,
        "external_id": person.external_id,
    }
    values |= _team_values(person)
    if person.consented_at is not None and person.finished_at is not None:
        values["minutes"] = max(0.0, (person.finished_at - person.consented_at).total_seconds() / 60.0)
    if "demographics" in person.answers:
        given = person.answers["demographics"].values
        for question in design.demographics:
            values["demographics", question.id] = _answer_text(person, question, given.get(question.id))
    for place in range(design.sets):
        answer = person.answers.get(f"survey-{place + 1}")
        if answer is None or plan is None:
            continue
        for check, right in attention_results(design, answer.values).items():
            values["attention", check] = int(right)
        for item in design.survey.items:
            values["survey", item.id, plan.conditions[place]] = answer.values.get(item.id)
    if plan is not None:
        values |= questions.wide_values(design, person, plan.conditions)
        for name, identity in zip(plan.conditions, plan.partner_order, strict=False):
            values["partner", name] = _partner_name(design, identity)
    for condition in design.conditions:
        rounds, good, regret = sums.get((person.id, condition.name), (0, None, None))
        values["rounds", condition.name] = rounds
        values["good", condition.name] = good
        values["task_regret", condition.name] = regret
        values["team_regret", condition.name] = None if regret is None else regret * design.team_factors[condition.name]
    return [values.get(column.key or column.name) for column in columns]


def _team_values(person: ParticipantData) -> dict[Any, Any]:
    team, lobby = person.team, person.answers.get("lobby")
    values = {} if lobby is None else {"lobby": lobby.values.get("outcome")}
    if team is not None:
        values |= {"team": team.id, "seat": team.seat, "left_reason": team.left_reason}
    return values


def _partner_name(design: StudyDesign, identity: int | None) -> str | None:
    return None if identity is None else design.partners[identity].name


def _answer_text(person: ParticipantData, question: Question, value: object) -> object:
    """Return a stored answer as the table shows it: a choice by its text."""
    if value is None or question.answer != "choice":
        return value
    if type(value) is not int or not 0 <= value < len(question.choices):
        raise InvalidInput(
            f"{person.id} is stored with {question.id} = {short_repr(value)}; "
            f"the place of a choice from 0 to {len(question.choices) - 1} is needed."
        )
    return question.choices[value]


def _survey(data: StudyData, columns: tuple[Column, ...]) -> Table:
    turned = {item.id: item.reversed for item in data.design.survey.items}
    points = data.design.survey.points
    rows = []
    for person in data.participants:
        plan = person.plan(data.design)
        for place in range(data.design.sets):
            answer = person.answers.get(f"survey-{place + 1}")
            if answer is None or plan is None:
                continue
            for position, id in enumerate(plan.survey_order(place)):
                if answer.values.get(id) is not None:
                    about = (person.id, place, plan.conditions[place], id, position, answer.values[id], points)
                    rows.append((*about, turned.get(id, False), id not in turned, answer.at, answer.ms))
    return of_rows(columns, rows)


def _events(data: StudyData, columns: tuple[Column, ...]) -> Table:
    rows = [
        (person.id, event.at, event.kind, json.dumps(dict(event.data), ensure_ascii=False, sort_keys=True))
        for person in data.participants
        for event in person.events
    ]
    return of_rows(columns, rows)
