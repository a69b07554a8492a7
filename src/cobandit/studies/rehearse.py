"""A whole simulated participant, played through the same episodes as a person; and both in one shape of table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.agents import Agent
from cobandit.base.errors import InvalidInput
from cobandit.base.streams import StudyStream, checked_seed, generator
from cobandit.engine.trajectory import NOBODY
from cobandit.studies.behaviours import make_behaviour
from cobandit.studies.design import StudyDesign, load_design
from cobandit.studies.episode import Episode
from cobandit.studies.plan import ParticipantPlan


def rehearse(
    design: StudyDesign | str, behaviour: str | Agent = "knowledge-gradient", seed: int = 0, order: int | None = None
) -> list[Episode]:
    """One simulated participant from the first episode to the last, practice too; ``order`` None draws it.

    The behaviour is told what a person is told (the rounds of an episode, not the warm start) and starts each
    episode anew.
    """
    study = load_design(design) if isinstance(design, str) else design
    number = checked_seed(seed)
    if order is None:
        order = int(generator(number, StudyStream.ORDER).random() * len(study.orders))
    return [
        _played(Episode.open(plan), make_behaviour(behaviour))
        for plan in ParticipantPlan(study, number, order).episodes
    ]


def _played(episode: Episode, person: Agent) -> Episode:
    plan = episode.plan
    rng = generator(plan.seed, StudyStream.BEHAVIOUR, plan.index)
    seat = plan.design.participant_seat
    person.reset(plan.briefing(person, seat, plan.rounds), rng)
    for t in range(1, plan.rounds + 1):
        played = episode.play(t, person.choose())
        person.observe(played.arms, played.seen[seat])
    return episode


def columns(
    episodes: Iterable[Episode], participants: Sequence[str | int] | None = None, *, practice: bool = False
) -> dict[str, NDArray[Any]]:
    """Flat columns, one row per round: those of a simulated trajectory, and whose and which episode it was.

    ``participants`` names the participant of each episode; by default they are numbered as they come, told apart by
    seed and order. ``run`` numbers the episodes of the table, ``episode`` and ``set`` count from 0 as the plan does,
    and what each AI foresees of the others (``predicted_1_0``) is always there (-1: nothing). Practice is left out
    unless asked for.
    """
    given = list(episodes)
    if participants is not None and len(participants) != len(given):
        raise InvalidInput(f"participants names {len(participants)} episodes; there are {len(given)}.")
    people: dict[tuple[int, int], int] = {}
    tables: list[dict[str, NDArray[Any]]] = []
    for i, episode in enumerate(given):
        plan = episode.plan
        number = people.setdefault((plan.seed, plan.order), len(people))
        if plan.practice and not practice:
            continue
        played = episode.trajectory(len(tables)).columns()
        foreseen = [f"predicted_{i}_{j}" for i, j in plan.design.predictions]
        for name in foreseen:
            played.setdefault(name, np.full(episode.played, NOBODY, dtype=np.int64))
        about = {
            "run": played["run"],
            "participant": np.full(episode.played, number if participants is None else participants[i]),
            "episode": np.full(episode.played, plan.index, dtype=np.int64),
            "set": np.full(episode.played, plan.set, dtype=np.int64),
            "condition": np.full(episode.played, plan.condition),
        }
        seats = range(len(plan.design.seating))
        arms, seen = [f"arm_{i}" for i in seats], [f"seen_{i}" for i in seats]
        names = ("t", *arms, "reward", *seen, *foreseen, "task_regret")
        tables.append({key: {**about, **played}[key] for key in (*about, *names)})
    if not tables:
        raise InvalidInput("There is no episode that counts; at least one is needed.")
    return {key: np.concatenate([table[key] for table in tables]) for key in tables[0]}
