"""A participant's way through a study: which steps there are, what each one shows, and what may be answered.

The steps follow from the design alone; only the order of survey items is the participant's own. Nothing here knows
who has done what: a server keeps the ids of the steps that are done and asks `Journey.current` for the next one.
Paper: Experiments, Procedure; Online Casino Study, Procedure.
"""

from __future__ import annotations

import itertools
import secrets
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from cobandit.base.checks import short_repr, whole
from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.studies.burger import burger_layers, filling, two_filling_layers
from cobandit.studies.design import Question, StudyDesign
from cobandit.studies.markup import markdown_tree
from cobandit.studies.plan import ParticipantPlan

KINDS = ("consent", "demographics", "instructions", "quiz", "partner", "episode", "rest", "survey", "thanks")
"""Every kind of step."""

LONGEST_ANSWER = 1000
"""How many characters a text of a participant may have."""

_CODE_LENGTH = 8
_CODE_LETTERS = "23456789BCDFGHJKMNPQRSTVWXYZ"  # nothing that looks like another, and no vowels: no words by accident


@dataclass(frozen=True)
class Step:
    """One step; ``number`` is the one in its id: the episode (or the one after a rest) from 0, the set from 1."""

    kind: str
    id: str
    number: int | None = None


@dataclass(frozen=True)
class Journey:
    """All steps of a participant, consent first, thanks last."""

    steps: tuple[Step, ...]
    places: Mapping[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "places", {step.id: place for place, step in enumerate(self.steps)})

    def __len__(self) -> int:
        return len(self.steps)

    def find(self, id: str) -> Step:
        """The step of an id."""
        if not isinstance(id, str) or id not in self.places:
            raise UnknownName("step of this study called", id, self._landmarks)
        return self.steps[self.places[id]]

    def current(self, done: Collection[str]) -> Step:
        """The first step that is not among the ids of those done; thanks, when all others are."""
        return next((step for step in self.steps if step.id not in done), self.steps[-1])

    def after(self, id: str) -> Step:
        """The step that follows; thanks follows itself."""
        return self.steps[min(self.places[self.find(id).id] + 1, len(self.steps) - 1)]

    def progress(self, done: Collection[str]) -> dict[str, int]:
        """How many steps are done, and of how many; thanks, where there is nothing to do, does not count."""
        return {"done": self.places[self.current(done).id], "total": len(self.steps) - 1}

    @cached_property
    def _landmarks(self) -> list[str]:
        """The ids that an error message lists: not hundreds of episodes."""
        return [step.id for step in self.steps if step.kind not in ("episode", "rest")] + ["episode-0"]


def journey(design: StudyDesign) -> Journey:
    """The steps that a design asks for; made once for each shape of a study."""
    practices = 0 if design.practice is None else design.practice.episodes
    asked = bool(design.demographics), bool(design.quiz), bool(design.partners)
    return _journey(
        *asked, practices, len(design.conditions), design.episodes
    )  # a few numbers as the key: hashing a whole design at every request would be slow


def steps(plan: ParticipantPlan) -> tuple[Step, ...]:
    """The steps of one participant; their ids depend on neither seed nor order."""
    return journey(plan.design).steps


@lru_cache(maxsize=256)
def _journey(demographics: bool, quiz: bool, introduced: bool, practices: int, sets: int, episodes: int) -> Journey:
    steps = [Step("consent", "consent")]
    if demographics:
        steps.append(Step("demographics", "demographics"))
    steps.append(Step("instructions", "instructions"))
    if quiz:
        steps.append(Step("quiz", "quiz"))

    def play(index: int, *, rested: bool, meets: bool = False) -> None:
        if rested:
            steps.append(Step("rest", f"rest-{index}", index))
        if meets:
            place = (index - practices) // episodes + 1
            steps.append(Step("partner", f"partner-{place}", place))
        steps.append(Step("episode", f"episode-{index}", index))

    for index in range(practices):
        play(index, rested=index > 0)
    for place in range(sets):
        for number in range(episodes):
            # A survey is a rest of its own, so the first episode after one follows at once.
            rested = number > 0 or (place == 0 and practices > 0)
            play(practices + place * episodes + number, rested=rested, meets=introduced and number == 0)
        steps.append(Step("survey", f"survey-{place + 1}", place + 1))
    return Journey((*steps, Step("thanks", "thanks")))


def check_answers(design: StudyDesign, step: Step, answers: object) -> dict[str, Any]:
    """The answers to a step in their one stored form, or an error that says what is wrong with them.

    Choices are places from 0, survey answers go from 1 to the design's points. An optional question that is left out
    is kept as None, so that the same answers are equal however they were sent. Whether quiz answers are right is
    another question: `wrong_quiz_answers`.
    """
    if step.kind in ("episode", "thanks"):
        raise InvalidInput(f"The step {step.id!r} takes no answers; consent, questions, rests and surveys do.")
    if not isinstance(answers, Mapping):
        raise InvalidInput(
            f"The answers to {step.id!r} are {short_repr(answers)}; a table of ids and answers is needed."
        )
    if step.kind == "consent":
        return _checked_consent(design, answers)
    if step.kind == "demographics":
        questions = {question.id: question for question in design.demographics}
        optional = {question.id for question in design.demographics if not question.required}
        _check_ids(step, answers, questions, optional)
        return {id: _checked_question(question, answers.get(id)) for id, question in questions.items()}
    if step.kind == "quiz":
        limits = {item.id: (0, len(item.choices) - 1) for item in design.quiz}
    elif step.kind == "survey":
        limits = dict.fromkeys(survey_ids(design, step), (1, design.survey.points))
    else:
        limits = {}
    _check_ids(step, answers, limits)
    return {id: whole(*span)(f"The answer to {id!r}", answers[id]) for id, span in limits.items()}


def survey_ids(design: StudyDesign, step: Step) -> tuple[str, ...]:
    """The ids of all that is asked in a survey step, attention checks last, in the order of the design."""
    asked = [item.id for item in design.survey.items]
    return (*asked, *(check.id for check in design.attention if check.after_set == step.number))


def _checked_consent(design: StudyDesign, answers: Mapping[str, Any]) -> dict[str, Any]:
    for id in answers:
        if id != "version":
            raise UnknownName("part of the consent called", id, ("version",))
    given, needed = answers.get("version"), design.consent.version
    if not isinstance(given, str):
        raise InvalidInput(f"The version of the consent is {short_repr(given)}; {needed!r} is needed.")
    if given != needed:
        raise InvalidInput(
            f"The consent is for version {short_repr(given)} of the text, "
            f"which has changed: it is version {needed!r} now. "
            "Reload the page and read it again."
        )
    return {"version": needed}


def _check_ids(step: Step, answers: Mapping[str, Any], known: Collection[str], optional: Collection[str] = ()) -> None:
    for id in answers:
        if id not in known:
            if not known:
                raise InvalidInput(
                    f"The answers to {step.id!r} hold {short_repr(id)}; there is nothing to answer here."
                )
            raise UnknownName(f"question of {step.id!r} called", id, known)
    missing = [id for id in known if id not in optional and answers.get(id) is None]
    if missing:
        named = ", ".join(map(repr, missing))
        raise InvalidInput(f"The answers to {step.id!r} leave out {named}; each needs an answer.")


def _checked_question(question: Question, value: object) -> Any:
    name = f"The answer to {question.id!r}"
    if value is None:
        return None  # only optional questions come as far as this without an answer
    if question.answer == "text":
        return _checked_text(name, value, required=question.required)
    span = (0, len(question.choices) - 1) if question.answer == "choice" else (question.low, question.high)
    return whole(*span)(name, value)


def _checked_text(name: str, value: object, *, required: bool) -> str | None:
    if not isinstance(value, str):
        raise InvalidInput(f"{name} is {short_repr(value)}; a text is needed.")
    if len(value) > LONGEST_ANSWER:
        raise InvalidInput(f"{name} has {len(value):,} characters; at most {LONGEST_ANSWER:,} are needed.")
    for letter in value:
        # NUL and halves of surrogate pairs can be sent as JSON but neither stored nor exported.
        if letter not in "\n\r\t" and unicodedata.category(letter) in ("Cc", "Cs"):
            raise InvalidInput(f"{name} holds the control character {letter!a}; text without such is needed.")
    text = value.strip()
    if required and not text:
        raise InvalidInput(f"{name} is empty; a text is needed.")
    return text or None


def wrong_quiz_answers(design: StudyDesign, answers: Mapping[str, Any]) -> list[str]:
    """The ids of the quiz questions that are not answered rightly, in the order of the design."""
    return [item.id for item in design.quiz if answers.get(item.id) != item.answer]


def attention_results(design: StudyDesign, answers: Mapping[str, Any]) -> dict[str, bool]:
    """Which attention checks among these answers to a survey are right; those not asked there are left out."""
    return {check.id: answers[check.id] == check.answer for check in design.attention if check.id in answers}


def attention_passed(design: StudyDesign, answers: Mapping[str, Any]) -> bool:
    """Whether every attention check among these answers to a survey is right."""
    return all(attention_results(design, answers).values())


def step_payload(
    design: StudyDesign, plan: ParticipantPlan | None, step: Step, language: str | None = None, *, attempts: int = 0
) -> dict[str, Any]:
    """What the page needs to draw a step, under the name of its kind; empty for episodes, rests and thanks.

    Whoever the participant is about to meet is told by `partner_payload`.

    ``plan`` is needed for surveys alone, whose items may come in the participant's own order, and ``attempts`` is how
    often the quiz was answered wrongly. Right answers are never told.
    """
    texts = design.texts(language)

    def choices(group: str, id: str, count: int) -> list[str]:
        return [texts[f"{group}.{id}.{i}"] for i in range(count)]

    instructions = [texts[f"task.instructions.{i}"] for i in range(len(design.task.instructions))]
    if step.kind == "consent":
        return {"consent": consent_payload(design, language)}
    if step.kind == "demographics":
        questions = [
            {
                "id": asked.id,
                "text": texts[f"demographics.{asked.id}"],
                "answer": asked.answer,
                "low": asked.low,
                "high": asked.high,
                "required": asked.required,
                "choices": choices("demographics", asked.id, len(asked.choices)),
            }
            for asked in design.demographics
        ]
        return {"demographics": questions}
    if step.kind == "instructions":
        return {"instructions": instructions} | _marked(design, {"marked": instructions})
    if step.kind == "quiz":
        items = [
            {
                "id": item.id,
                "text": texts[f"quiz.{item.id}"],
                "choices": choices("quiz", item.id, len(item.choices)),
            }
            for item in design.quiz
        ]
        quiz = {"questions": items, "attempts": attempts, "instructions": instructions}
        return {"quiz": quiz | _marked(design, {"marked": instructions})}
    if step.kind == "survey":
        return {"survey": _survey(design, plan, step, texts)}
    return {}


def page_texts_of(design: StudyDesign, step: Step | None, language: str | None = None) -> dict[str, str]:
    """Return the texts of the design that a page needs beside those of its step, which come with `step_payload`.

    Before consent (``step`` is None, or the consent) this is the title alone. Attention checks, right answers and the
    debriefing are never among them: whoever reads the answers of the server must not learn them early.
    """
    texts = design.texts(language)
    shown = ("title",) if step is None or step.kind == "consent" else ("title", "task.", "seats.")
    return {key: text for key, text in texts.items() if key.startswith(shown)}


def consent_payload(design: StudyDesign, language: str | None = None) -> dict[str, Any]:
    """What somebody agrees to: its version and text; ``marked`` is the tree of a text in Markdown."""
    text = design.texts(language)["consent.text"]
    return {"version": design.consent.version, "text": text} | _marked(design, {"marked": text})


def debriefing_payload(design: StudyDesign, language: str | None = None) -> dict[str, Any]:
    """What is told at the end, where the design has something to tell."""
    text = design.texts(language).get("debriefing")
    return {} if text is None else {"debriefing": {"text": text} | _marked(design, {"marked": text})}


def _marked(design: StudyDesign, texts: Mapping[str, str | list[str]]) -> dict[str, Any]:
    """Trees beside the texts, where the design writes them in Markdown; nothing where they stand as they are."""
    if design.markup == "plain":
        return {}
    return {
        key: markdown_tree(key, text) if isinstance(text, str) else [markdown_tree(key, part) for part in text]
        for key, text in texts.items()
    }


def partner_payload(plan: ParticipantPlan | None, step: Step, language: str | None = None) -> dict[str, Any] | None:
    """Who the participant plays with at a step, as the page shows it; None in practice and where nobody is named.

    It follows from the participant's seed, so a reload shows the same, and it tells nothing of the algorithm.
    """
    if plan is None or not plan.design.partners or step.number is None:
        return None
    practices = 0 if plan.design.practice is None else plan.design.practice.episodes
    if step.kind in ("partner", "survey"):
        place = step.number - 1
    elif step.kind in ("episode", "rest"):
        # A rest looks back at the episode before it.
        place = (step.number - (step.kind == "rest") - practices) // plan.design.episodes
    else:
        return None
    if place < 0:
        return None
    identity, texts = plan.partner_order[place], plan.design.texts(language)
    partner = plan.design.partners[identity]
    names = [texts[f"partners.{identity}.{i}"] for i in range(len(partner.seats))]
    return {"name": texts[f"partners.{identity}"], "look": partner.look, "names": names}


def named_partner(design: StudyDesign, partner: Mapping[str, Any]) -> dict[str, str]:
    """The texts of the design that a partner's own name takes the place of."""
    texts = {"task.partner": partner["name"]}
    return texts | {f"seats.{seat}": name for seat, name in zip(design.agent_seats, partner["names"], strict=False)}


def task_payload(design: StudyDesign, language: str | None = None) -> dict[str, Any]:
    """What the page needs to draw the task: its kind, arms and the participant's seat.

    Where it is a burger, ``burgers`` holds every configuration with its layers from below; buns have no name.
    """
    task: dict[str, Any] = {"kind": design.task.kind, "arms": list(design.arms), "seat": design.participant_seat}
    if design.task.kind == "burger":
        texts, group = design.texts(language), "fillings" if design.task.fillings else "arms"
        names = {
            filling(seat, arm): texts[f"task.{group}.{seat}.{arm}"]
            for seat, count in enumerate(design.arms)
            for arm in range(count)
        }
        layers_of = burger_layers if design.task.fillings else two_filling_layers
        task["burgers"] = [
            {
                "arms": list(arms),
                "layers": [{"item": layer.item, "by": layer.by, "name": names.get(layer)} for layer in layers_of(arms)],
            }
            for arms in itertools.product(*map(range, design.arms))
        ]
    return task


def _survey(design: StudyDesign, plan: ParticipantPlan | None, step: Step, texts: Mapping[str, str]) -> dict[str, Any]:
    if plan is None or step.number is None:
        raise InvalidInput(f"The step {step.id!r} has no plan; the participant's plan is needed to order its items.")
    checks = {check.id for check in design.attention}
    apart = {check.id for check in design.attention if check.apart}
    items: list[dict[str, Any]] = [
        {"id": id, "text": texts[f"{'attention' if id in checks else 'survey'}.{id}"]}
        for id in plan.survey_order(step.number - 1)
    ]
    for item in items:
        if item["id"] in apart:
            item["apart"] = True
    return {
        "set": step.number,
        "sets": len(design.conditions),
        "points": design.survey.points,
        "low": texts["survey.low"],
        "high": texts["survey.high"],
        "items": items,
    }


def completion_code() -> str:
    """A fresh code that nobody can guess, of letters and digits that nobody mistakes for others."""
    return "".join(secrets.choice(_CODE_LETTERS) for _ in range(_CODE_LENGTH))
