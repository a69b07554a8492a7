"""A study with simulated participants alone, in the form of a stored one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from cobandit.agents import Agent
from cobandit.base.checks import one_of, whole
from cobandit.base.errors import InvalidInput
from cobandit.base.json_types import JsonObject
from cobandit.base.streams import StudyStream, generator
from cobandit.studies.data import Answer, EpisodeData, ParticipantData, StudyData, TeamMember, this_software
from cobandit.studies.design import Question, StudyDesign
from cobandit.studies.episode import Episode
from cobandit.studies.journey import Step, journey, survey_ids
from cobandit.studies.plan import ParticipantPlan
from cobandit.studies.questionnaire_answers import made_up_answers
from cobandit.studies.rehearse import rehearse, rehearse_team

MADE_UP = ("none", "neutral", "drawn")
"""Ways to make up what a simulated participant answers."""

PLAIN: dict[str, dict[str, str]] = {
    "lobby": {"outcome": "team"},
    "instructions": {},
    "page": {},
    "partner": {},
    "rest": {},
}
"""What is stored for steps without questions."""

Rule = Callable[[np.random.Generator, ParticipantPlan, int, str], int]
Simulated = tuple[str | Agent, int, int | None]


def rehearsed_data(
    design: StudyDesign, people: Iterable[tuple[str | Agent, int, int | None]], *, answers: str | Rule = "neutral"
) -> StudyData:
    """Return a study with only simulated participants, each a behaviour, a seed and an order (None draws it).

    In a design for teams of n people, each n consecutive participants form a team with the seed and order of the first.

    ``answers`` says where answers come from: "none", "neutral" (the middle of each scale), "drawn" (from the
    participant's seed), or a rule for survey items, called with a generator, the plan, the set from 0 and the item's
    id; the rest is then drawn. Attention checks and the quiz are answered rightly. There are no times.
    """
    if not callable(answers):
        one_of(MADE_UP, "way to make up answers")("answers", answers)
    participants: list[ParticipantData] = []
    for first in _teams_of(design, people):
        played = _rehearsed(design, first)
        for place, episodes in enumerate(played):
            plan = episodes[0].plan
            seed, number = first[place][1], len(participants) + 1
            team = None
            if design.group is not None:
                team = TeamMember(
                    f"t-{(number - 1) // len(played) + 1:04d}", design.participant_seats[place], plan.seed
                )
            own = ParticipantPlan(design, seed, plan.order)
            person = ParticipantData(
                id=f"r-{number:04d}",
                kind="rehearsal",
                status="finished",
                seed=own.seed,
                order=own.order,
                language=design.languages[0],
                answers={} if answers == "none" else _made_up(own, answers),
                quiz_attempts=int(bool(design.quiz)),
                episodes={game.plan.index: EpisodeData.of_rounds(game.rounds, head=game.head) for game in episodes},
                team=team,
            )
            participants.append(person)
    return StudyData(design, tuple(participants), versions=this_software())


def _teams_of(design: StudyDesign, people: Iterable[Simulated]) -> Iterator[list[Simulated]]:
    """Yield people one by one, or team by team in a design for several; raise if the last team is incomplete."""
    size, team = len(design.participant_seats), list[Simulated]()
    for person in people:
        team.append(person)
        if len(team) == size:
            yield team
            team = []
    if team:
        raise InvalidInput(f"{len(team)} simulated people are left over; teams of {size} are needed.")


def _rehearsed(design: StudyDesign, people: Sequence[Simulated]) -> list[list[Episode]]:
    """Return the episodes of one person, or of each member of a team; seed and order are those of the first member."""
    behaviour, seed, order = people[0]
    if len(people) == 1:
        return [rehearse(design, behaviour, seed, order)]
    return rehearse_team(design, [behaviour for behaviour, _, _ in people], seed, order)


def _about_person(asked: Question, number: Callable[[int, int], int]) -> int | str:
    if asked.answer == "text":
        return "simulated"
    return number(0, len(asked.choices) - 1) if asked.answer == "choice" else number(asked.low, asked.high)


def _made_up(plan: ParticipantPlan, source: str | Rule) -> dict[str, Answer]:
    rng = generator(plan.seed, StudyStream.ANSWERS)

    def number(low: int, high: int) -> int:
        return (low + high) // 2 if source == "neutral" else low + int(rng.random() * (high - low + 1))

    design = plan.design
    right = {check.id: check.answer for check in design.attention}

    def opinion(step: Step, item: str) -> int:
        if item in right:
            return right[item]
        if callable(source):
            answer = source(rng, plan, (step.number or 1) - 1, item)
            return int(whole(1, design.survey.points)(f"The answer to {item!r}", answer))
        return number(1, design.survey.points)

    answers: dict[str, JsonObject] = {}
    for step in journey(design).steps:
        if step.kind == "consent":
            answers[step.id] = {"version": design.consent.version}
        elif step.kind == "demographics":
            answers[step.id] = {asked.id: _about_person(asked, number) for asked in design.demographics}
        elif step.kind == "quiz":
            answers[step.id] = {item.id: item.answer for item in design.quiz}
        elif step.kind == "survey":
            answers[step.id] = {item: opinion(step, item) for item in survey_ids(design, step)}
        elif step.kind == "questionnaire":
            answers[step.id] = made_up_answers(design.questionnaire(step.questionnaire), number)
        elif step.kind in PLAIN:
            answers[step.id] = dict(PLAIN[step.kind])
    return {id: Answer(values) for id, values in answers.items()}
