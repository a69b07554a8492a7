"""A participant's way through a study: which steps there are, what each one shows, and what may be answered.

The steps follow from the design alone; only the order of survey items is the participant's own. Nothing here knows
who has done what: a server keeps the ids of the steps that are done and asks `Journey.current` for the next one.
Paper: Experiments, Procedure; Online Casino Study, Procedure.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from cobandit.base.checks import short_repr, whole
from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.base.json_types import JsonObject
from cobandit.studies.burger import burger_layers, filling, two_filling_layers
from cobandit.studies.design import Question, StudyDesign
from cobandit.studies.markup import markdown_tree
from cobandit.studies.plan import ParticipantPlan
from cobandit.studies.questionnaire_answers import checked_questionnaire, checked_text, questionnaire_payload

KINDS = (
    "consent", "demographics", "instructions", "quiz", "questionnaire", "page", "lobby", "partner", "episode", "rest",
    "survey", "thanks",
)  # fmt: skip
"""Every kind of step."""

LONGEST_ANSWER = 1000
"""How many characters a text of a participant may have."""


@dataclass(frozen=True)
class Step:
    """One step; ``number`` is the one in its id: the episode (or the one after a rest) from 0, the set from 1.

    ``questionnaire`` is the id of the questionnaire, where the step is one, and ``page`` that of a page.
    """

    kind: str
    id: str
    number: int | None = None
    questionnaire: str = ""
    page: str = ""


class Inserted(NamedTuple):
    """A page or questionnaire of a design: its kind, id and place; 0 stands for every set."""

    kind: str
    id: str
    when: str
    only: int = 0


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
        """Return the step with this id."""
        if not isinstance(id, str) or id not in self.places:
            raise UnknownName("step of this study called", id, self._landmarks)
        return self.steps[self.places[id]]

    def current(self, done: Collection[str]) -> Step:
        """Return the first step whose id is not in ``done``; the last step (thanks) if all others are done."""
        return next((step for step in self.steps if step.id not in done), self.steps[-1])

    def after(self, id: str) -> Step:
        """Return the next step; after the last step (thanks), return that step again."""
        return self.steps[min(self.places[self.find(id).id] + 1, len(self.steps) - 1)]

    def progress(self, done: Collection[str]) -> dict[str, int]:
        """Return the number of steps done and in all; the last step (thanks) does not count."""
        return {"done": self.places[self.current(done).id], "total": len(self.steps) - 1}

    @cached_property
    def _landmarks(self) -> list[str]:
        """The ids that an error message lists: not hundreds of episodes."""
        return [step.id for step in self.steps if step.kind not in ("episode", "rest")] + ["episode-0"]


def journey(design: StudyDesign) -> Journey:
    """Return the steps of a design; cached by the design's structure."""
    practices = 0 if design.practice is None else design.practice.episodes
    grouped = design.group is not None
    asked = bool(design.demographics), bool(design.quiz), grouped, bool(design.partners) or grouped
    pages = tuple(Inserted("page", page.id, page.when, page.set) for page in design.pages)
    questionnaires = tuple(Inserted("questionnaire", each.id, each.when) for each in design.questionnaires)
    return _journey(
        *asked, practices, design.sets, design.episodes, pages + questionnaires
    )  # a few numbers as the key: hashing a whole design at every request would be slow


def steps(plan: ParticipantPlan) -> tuple[Step, ...]:
    """Return the steps of one participant; their ids depend on neither seed nor order."""
    return journey(plan.design).steps


@lru_cache(maxsize=256)
def _journey(
    demographics: bool,
    quiz: bool,
    lobby: bool,
    introduced: bool,
    practices: int,
    sets: int,
    episodes: int,
    inserted: tuple[Inserted, ...],
) -> Journey:
    steps = [Step("consent", "consent"), *_inserted(inserted, "consented")]
    if demographics:
        steps.append(Step("demographics", "demographics"))
    steps += _inserted(inserted, "before-instructions")
    steps.append(Step("instructions", "instructions"))
    steps += _inserted(inserted, "after-instructions")
    if quiz:
        steps.append(Step("quiz", "quiz"))
    steps += _inserted(inserted, "before")
    if lobby:
        steps.append(Step("lobby", "lobby"))

    def play(index: int, *, rested: bool, begins: int = 0) -> None:
        if rested:
            steps.append(Step("rest", f"rest-{index}", index))
        if begins:
            steps.extend(_inserted(inserted, "before-set", begins))
        if begins and introduced:
            steps.append(Step("partner", f"partner-{begins}", begins))
        steps.append(Step("episode", f"episode-{index}", index))

    for index in range(practices):
        play(index, rested=index > 0)
    for place in range(sets):
        for number in range(episodes):
            # A survey counts as a rest, so there is no rest page between a survey and the next episode.
            rested = number > 0 or (place == 0 and practices > 0)
            play(practices + place * episodes + number, rested=rested, begins=0 if number else place + 1)
        steps += _inserted(inserted, "before-survey", place + 1)
        steps.append(Step("survey", f"survey-{place + 1}", place + 1))
        steps += _inserted(inserted, "between after" if place + 1 < sets else "after", place + 1)
    steps += _inserted(inserted, "end")
    return Journey((*steps, *_inserted(inserted, "last"), Step("thanks", "thanks")))


def _inserted(inserted: tuple[Inserted, ...], times: str, number: int | None = None) -> list[Step]:
    """Return the steps of the pages and questionnaires of one of these times, in the set with this number."""
    steps = []
    for kind, id, when, only in inserted:
        if when in times.split() and only in (0, number):
            if kind == "page":
                steps.append(Step("page", f"page-{number or 'once'}-{id}", number, page=id))
            else:
                steps.append(Step("questionnaire", f"questionnaire-{number or when}-{id}", number, id))
    return steps


def steps_skipped(design: StudyDesign, left_episode: int) -> frozenset[str]:
    """Return the steps that a participant skips after their seat was taken over for good during an episode.

    The participant continues with the survey of the current set, without questions about sets that were not played.
    """
    practices = 0 if design.practice is None else design.practice.episodes
    left_set = (left_episode - practices) // design.episodes + 1
    return frozenset(
        step.id
        for step in journey(design).steps
        if step.kind in ("partner", "episode", "rest")
        or (step.kind in ("survey", "questionnaire", "page") and step.number is not None and step.number > left_set)
    )


def journey_episode(design: StudyDesign, step: Step) -> int:
    """Return the episode that a step belongs to: its own, the first of a partner and of a page before a set, the last
    before the questions and pages on a set.
    """
    practices = 0 if design.practice is None else design.practice.episodes
    if step.number is None:
        return 0
    if step.kind == "partner" or (step.page and design.page(step.page).when == "before-set"):
        return practices + (step.number - 1) * design.episodes
    asked = step.kind in ("survey", "questionnaire", "page")
    return practices + step.number * design.episodes - 1 if asked else step.number


def check_answers(design: StudyDesign, step: Step, answers: object) -> dict[str, Any]:
    """Return the answers to a step in the form in which they are stored; raise if an answer is not valid.

    Choices are indices from 0, survey answers go from 1 to the design's points. An optional question without an answer
    is stored as None, so that equal answers are stored alike. `wrong_quiz_answers` checks whether quiz answers are
    right.
    """
    if step.kind in ("lobby", "episode", "thanks"):
        raise InvalidInput(f"The step {step.id!r} takes no answers; consent, questions, rests and surveys do.")
    if not isinstance(answers, Mapping):
        raise InvalidInput(f"The answers to {step.id!r} must be a table of ids and answers, got {short_repr(answers)}.")
    if step.kind == "consent":
        return _checked_consent(design, answers)
    if step.kind == "questionnaire":
        return checked_questionnaire(design.questionnaire(step.questionnaire), answers)
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
    """Return the ids of all questions of a survey step, in the order of the design, attention checks last."""
    asked = [item.id for item in design.survey.items]
    return (*asked, *(check.id for check in design.attention if check.after_set == step.number))


def _checked_consent(design: StudyDesign, answers: Mapping[str, Any]) -> dict[str, object]:
    for id in answers:
        if id != "version":
            raise UnknownName("part of the consent called", id, ("version",))
    given, needed = answers.get("version"), design.consent.version
    if not isinstance(given, str):
        raise InvalidInput(f"The version of the consent must be {needed!r}, got {short_repr(given)}.")
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


def _checked_question(question: Question, value: object) -> object:
    name = f"The answer to {question.id!r}"
    if value is None:
        return None  # only optional questions come as far as this without an answer
    if question.answer == "text":
        return checked_text(name, value, required=question.required, longest=LONGEST_ANSWER)
    span = (0, len(question.choices) - 1) if question.answer == "choice" else (question.low, question.high)
    return whole(*span)(name, value)


def wrong_quiz_answers(design: StudyDesign, answers: Mapping[str, Any]) -> list[str]:
    """Return the ids of the quiz questions with a wrong answer, in the order of the design."""
    return [item.id for item in design.quiz if answers.get(item.id) != item.answer]


def attention_results(design: StudyDesign, answers: Mapping[str, Any]) -> dict[str, bool]:
    """Return whether each attention check of a survey was passed; checks of other surveys are omitted."""
    return {check.id: answers[check.id] == check.answer for check in design.attention if check.id in answers}


def attention_passed(design: StudyDesign, answers: Mapping[str, Any]) -> bool:
    """Return whether all attention checks among these answers to a survey were passed."""
    return all(attention_results(design, answers).values())


def step_payload(
    design: StudyDesign, plan: ParticipantPlan | None, step: Step, language: str | None = None, *, attempts: int = 0
) -> dict[str, Any]:
    """Return the data that the page needs to draw a step, under the name of its kind; empty for episodes and rests.

    `partner_payload` returns the partner that the page introduces.

    ``plan`` is needed only for surveys and questionnaires, whose items may be shuffled for each participant, and
    ``attempts`` is the number of failed attempts at the quiz. Right answers are never included.
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
    if step.kind == "questionnaire":
        return {"questionnaire": _questionnaire(design, plan, step, texts)}
    if step.kind == "page":
        key = f"pages.{step.page}"
        text = texts[f"{key}.text"]
        return {"page": {"title": texts[f"{key}.title"], "text": text, "marked": _tree(design, text)}}
    if step.kind == "survey":
        return {"survey": _survey(design, plan, step, texts)}
    return {}


def page_texts_of(design: StudyDesign, step: Step | None, language: str | None = None) -> dict[str, str]:
    """Return the texts of the design that a page needs in addition to those of its step (`step_payload`).

    Before consent (``step`` is None, or the consent) this is only the title. Attention checks, right answers and the
    debriefing are never included, because participants can read the server's responses in their browser.
    """
    texts = design.texts(language)
    shown = ("title",) if step is None or step.kind == "consent" else ("title", "task.", "seats.")
    return {key: text for key, text in texts.items() if key.startswith(shown)}


def consent_payload(design: StudyDesign, language: str | None = None) -> JsonObject:
    """Return the consent's version and text; ``marked`` is the syntax tree of a text in Markdown."""
    text = design.texts(language)["consent.text"]
    return {"version": design.consent.version, "text": text} | _marked(design, {"marked": text})


def debriefing_payload(design: StudyDesign, language: str | None = None) -> JsonObject:
    """Return the debriefing at the end of the study, if the design has one."""
    text = design.texts(language).get("debriefing")
    return {} if text is None else {"debriefing": {"text": text} | _marked(design, {"marked": text})}


def _marked(design: StudyDesign, texts: Mapping[str, str | list[str]]) -> dict[str, object]:
    """Return the syntax trees of texts in Markdown; empty if the design uses plain text."""
    if design.markup == "plain":
        return {}
    return {
        key: _tree(design, text) if isinstance(text, str) else [_tree(design, part) for part in text]
        for key, text in texts.items()
    }


def _tree(design: StudyDesign, text: str) -> list[Any]:
    return markdown_tree("marked", text, design.files)


def partner_payload(
    plan: ParticipantPlan | None, step: Step, language: str | None = None, last_met: int | None = None
) -> JsonObject | None:
    """Return the partner at a step, as the page shows it; None in practice and where partners have no names.

    The partner follows from the participant's seed, so a reload shows the same one, and it is independent of the
    algorithm. In a design for several people the payload says whether people or AIs play in the other seats. Where all
    other people have left, ``last_met`` is the last episode that any of them reached: AIs alone play the later sets.
    """
    if plan is None or step.number is None or not (plan.design.partners or plan.design.group):
        return None
    practices = 0 if plan.design.practice is None else plan.design.practice.episodes
    if step.kind in ("partner", "survey", "questionnaire"):
        place = step.number - 1
    elif step.kind in ("episode", "rest"):
        # A rest looks back at the episode before it.
        place = (step.number - (step.kind == "rest") - practices) // plan.design.episodes
    else:
        return None
    if place < 0:
        return None
    texts = plan.design.texts(language)
    if plan.design.group is not None:
        deserted = last_met is not None and last_met < practices + place * plan.design.episodes
        alone = deserted or plan.design.condition(plan.conditions[place]).alone
        return {"name": texts["group.agent" if alone else "group.people"], "look": "teal" if alone else "person"} | {
            "names": []
        }
    identity = plan.partner_order[place]
    partner = plan.design.partners[identity]
    names = [texts[f"partners.{identity}.{i}"] for i in range(len(partner.seats))]
    return {"name": texts[f"partners.{identity}"], "look": partner.look, "names": names}


def named_partner(design: StudyDesign, partner: Mapping[str, Any]) -> dict[str, str]:
    """Return the design's texts in which the partner's name replaces the general word."""
    texts = {"task.partner": partner["name"]}
    return texts | {f"seats.{seat}": name for seat, name in zip(design.agent_seats, partner["names"], strict=False)}


def seat_texts(design: StudyDesign, seat: int, language: str | None = None) -> dict[str, str]:
    """Return the texts that differ by seat, where several people take part: what the person and others are called."""
    if design.group is None:
        return {}
    texts = design.texts(language)
    others = [texts[f"seats.{i}"] for i in range(len(design.seating)) if i != seat]
    return {"task.participant": texts[f"seats.{seat}"], "task.partner": ", ".join(others)}


def task_payload(design: StudyDesign, language: str | None = None, seat: int | None = None) -> dict[str, Any]:
    """Return the data that the page needs to draw the task: its kind, arms and the participant's seat.

    ``seat`` selects the member of a team. For the burger task, ``burgers`` contains every configuration with its layers
    from the bottom; buns have no name. ``icons`` are the icons of a grid's arms, by seat, if the design has any.
    """
    own = design.participant_seat if seat is None else seat
    task: JsonObject = {"kind": design.task.kind, "arms": list(design.arms), "seat": own}
    if any(place.icons for place in design.seating):
        files = {name: file.address for name, file in design.files.items()}
        task["icons"] = [[files.get(icon, icon) for icon in place.icons] for place in design.seating]
    if design.rewards.graded:
        rules = (design.rewards, *(design.rewards_of(condition.name) for condition in design.conditions))
        task["score"] = {"decimals": max(rule.shown_decimals for rule in rules)}
    if all(design.problem_of(condition.name).hides_actions for condition in design.conditions):
        task["hidden"] = True
    if design.group is not None:
        task["people"] = len(design.participant_seats)
    if design.task.layers:
        task["layers"] = design.task.steps
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


def _survey(
    design: StudyDesign, plan: ParticipantPlan | None, step: Step, texts: Mapping[str, str]
) -> dict[str, object]:
    if plan is None or step.number is None:
        raise InvalidInput(f"The step {step.id!r} has no plan; the participant's plan is needed to order its items.")
    checks = {check.id for check in design.attention}
    apart = {check.id for check in design.attention if check.apart}
    items: list[JsonObject] = [
        {"id": id, "text": texts[f"{'attention' if id in checks else 'survey'}.{id}"]}
        for id in plan.survey_order(step.number - 1)
    ]
    for item in items:
        if item["id"] in apart:
            item["apart"] = True
    return {
        "set": step.number,
        "sets": design.sets,
        "points": design.survey.points,
        "low": texts["survey.low"],
        "high": texts["survey.high"],
        "items": items,
    }


def _questionnaire(
    design: StudyDesign, plan: ParticipantPlan | None, step: Step, texts: Mapping[str, str]
) -> JsonObject:
    if plan is None:
        raise InvalidInput(f"The step {step.id!r} has no plan; the participant's plan is needed to order its items.")
    order = plan.questionnaire_order(step.questionnaire, step.number)
    payload = questionnaire_payload(design.questionnaire(step.questionnaire), order, texts)
    return payload | {"set": step.number, "sets": design.sets}
