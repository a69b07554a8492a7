"""A whole simulated participant, played through the same episodes as a person; and both in one shape of table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.agents import Agent
from cobandit.agents.base import learn_in_one_round, pass_over
from cobandit.agents.team import require_visible_actions
from cobandit.base.errors import InvalidInput
from cobandit.base.streams import StudyStream, checked_seed, generator
from cobandit.engine.trajectory import NOBODY
from cobandit.studies.behaviours import make_behaviour
from cobandit.studies.design import StudyDesign, load_design
from cobandit.studies.episode import Episode
from cobandit.studies.lines import at_line
from cobandit.studies.plan import ParticipantPlan, TeamPlace
from cobandit.studies.rounds import Choice


def rehearse(
    design: StudyDesign | str, behaviour: str | Agent = "knowledge-gradient", seed: int = 0, order: int | None = None
) -> list[Episode]:
    """Play all episodes of one simulated participant, practice included; ``order`` None draws the order.

    The behaviour knows what a person knows (the number of rounds, but not the warm start) and forgets all between
    episodes. In a design for several people all members of the team have the same behaviour, and the episodes are those
    of the first member.
    """
    study = load_design(design) if isinstance(design, str) else design
    return rehearse_team(study, [behaviour] * len(study.participant_seats), seed, order)[0]


def rehearse_team(
    design: StudyDesign | str, behaviours: Sequence[str | Agent], seed: int = 0, order: int | None = None
) -> list[list[Episode]]:
    """Return the episodes of each member of a simulated team; members share the episodes that they play together.

    Seats of services are played by their takeover agents.
    """
    study = load_design(design) if isinstance(design, str) else design
    seats, number = study.participant_seats, checked_seed(seed)
    if len(behaviours) != len(seats):
        raise InvalidInput(
            f"behaviours has {len(behaviours)} parts; one for each of the {len(seats)} people is needed."
        )
    if order is None:
        order = int(generator(number, StudyStream.ORDER).random() * len(study.orders))
    grouped, shared = len(seats) > 1, dict[int, Episode]()
    everybody: list[list[Episode]] = []
    for place, seat in enumerate(seats):
        plan = ParticipantPlan(study, number, order, team=TeamPlace(number, seat) if grouped else None)
        episodes = []
        for episode_plan in plan.episodes:
            if episode_plan.together:
                if episode_plan.index not in shared:
                    people = {other: make_behaviour(who) for other, who in zip(seats, behaviours, strict=True)}
                    shared[episode_plan.index] = _played(Episode.open(episode_plan), people)
                episodes.append(shared[episode_plan.index])
            else:
                episodes.append(_played(Episode.open(episode_plan), {seat: make_behaviour(behaviours[place])}))
        everybody.append(episodes)
    return everybody


def _played(episode: Episode, people: dict[int, Agent]) -> Episode:
    plan = episode.plan
    people = {seat: at_line(person, plan.layers) for seat, person in people.items()}
    for seat, person in people.items():
        # The first person has the address of the only one; further people add their seat.
        further = (seat,) if seat != plan.design.participant_seat else ()
        rng = generator(plan.seed, StudyStream.BEHAVIOUR, plan.index, *further)
        require_visible_actions(plan.design.problem_of(plan.condition), [person])
        person.reset(plan.briefing(person, seat, plan.rounds), rng)
    for t in range(1, plan.rounds + 1):
        moves = {seat: Choice(person.choose()) for seat, person in people.items()}
        for seat in plan.free_seats:
            if seat not in moves:
                moves[seat] = Choice(episode.takeover(seat), "takeover")
        played = episode.play(t, moves)
        for seat, person in people.items():
            if plan.delay:
                known = [(past.arms, past.seen[seat]) for past in episode.known_after(t)]
                learn_in_one_round(person, known) if known else pass_over(person, 1)
            else:
                person.observe(played.arms, played.seen[seat])
    return episode


def columns(
    episodes: Iterable[Episode], participants: Sequence[str | int] | None = None, *, practice: bool = False
) -> dict[str, NDArray[Any]]:
    """Flat columns, one row per round: those of a simulated trajectory, and whose and which episode it was.

    ``participants`` names the participant of each episode; by default they are numbered in order of appearance, by
    seed and order. ``run`` numbers the episodes of the table, ``episode`` and ``set`` count from 0 as the plan does,
    and each AI's predictions of the others (``predicted_1_0``) are always included (-1: none). Practice is left out
    by default.
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
