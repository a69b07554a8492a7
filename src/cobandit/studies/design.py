"""A study as data: who plays with which AI, on what task, for how long, and what people read and answer.

A design is a TOML file whose tables and keys are the fields of `StudyDesign`; a key that is not known is refused with
the nearest right one. ``burger`` and ``casino`` are the paper's two studies (Experiments; Online Casino Study),
``three-by-three`` is an example with labels of its own, ``three-seats`` one of a person and two AIs.
``burger-pair`` and ``casino-pair`` are for two people in one team; ``casino-between`` is a study between subjects,
``burger-mixed`` one with a factor within and one between subjects. ``burger-line`` has states.
"""
# ruff: noqa: RUF009 -- entry() makes the field itself, and the defaults it is given are frozen

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar

from cobandit.base.checks import one_of, real, short_repr, whole
from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.base.files import read_text
from cobandit.base.plugins import DESIGNS, plugin_names
from cobandit.base.records import (
    Record,
    Table,
    entry,
    fingerprint,
    flag,
    listing,
    optional,
    slug,
    table_of,
    words,
    words_or_empty,
)
from cobandit.base.toml import parse_toml
from cobandit.problem.observation import ObservationName
from cobandit.problem.problem import ACTIONS, ActionsName
from cobandit.studies.agent_tables import MOST_ROUNDS
from cobandit.studies.agent_tables import AgentChoice as AgentChoice
from cobandit.studies.agent_tables import Practice as Practice
from cobandit.studies.agent_tables import SeatAgent as SeatAgent
from cobandit.studies.agent_tables import WarmStart as WarmStart
from cobandit.studies.brought import plugin_design_text
from cobandit.studies.cells import ConditionsByCell, check_cells
from cobandit.studies.cells import Factor as Factor
from cobandit.studies.content_pages import ContentPage as ContentPage
from cobandit.studies.content_pages import check_pages
from cobandit.studies.design_tables import LONGEST_DELAY, MOST_ARMS, MOST_SEATS, PLAYERS, roles_rule
from cobandit.studies.design_tables import AnalysisChoices as AnalysisChoices
from cobandit.studies.design_tables import AttentionCheck as AttentionCheck
from cobandit.studies.design_tables import Condition as Condition
from cobandit.studies.design_tables import Consent as Consent
from cobandit.studies.design_tables import Group as Group
from cobandit.studies.design_tables import Limits as Limits
from cobandit.studies.design_tables import MeansRule as MeansRule
from cobandit.studies.design_tables import PartnerIdentity as PartnerIdentity
from cobandit.studies.design_tables import Question as Question
from cobandit.studies.design_tables import QuizItem as QuizItem
from cobandit.studies.design_tables import Seat as Seat
from cobandit.studies.design_tables import Survey as Survey
from cobandit.studies.design_tables import SurveyItem as SurveyItem
from cobandit.studies.design_tables import Task as Task
from cobandit.studies.group_checks import GROUP_TEXTS, check_agents, check_group, has_recorded_seats, may_be_agent
from cobandit.studies.leaving import OUTCOMES, check_leaving
from cobandit.studies.leaving import Outcome as Outcome
from cobandit.studies.leaving import Recruiter as Recruiter
from cobandit.studies.leaving import Withdrawal as Withdrawal
from cobandit.studies.lines import check_line
from cobandit.studies.markup import MARKUPS, markdown_tree
from cobandit.studies.media import MOST_FILES, is_video, read_media
from cobandit.studies.media import MediaFile as MediaFile
from cobandit.studies.payment import Bonus as Bonus
from cobandit.studies.payment import Payment as Payment
from cobandit.studies.presets import fill_presets
from cobandit.studies.questionnaires import MatrixRow as MatrixRow
from cobandit.studies.questionnaires import Questionnaire as Questionnaire
from cobandit.studies.questionnaires import QuestionnaireItem as QuestionnaireItem
from cobandit.studies.questionnaires import Scale as Scale
from cobandit.studies.questionnaires import ShowIf as ShowIf
from cobandit.studies.reward_tables import OBSERVATIONS as OBSERVATIONS
from cobandit.studies.reward_tables import RewardRule as RewardRule
from cobandit.studies.reward_tables import check_delays, check_hidden_choices, check_rewards
from cobandit.studies.typography import typeset

ORDERS = ("counterbalanced", "random")
MOST_TEAM_ACTIONS = 81
"""A person cannot grasp a page with more."""

LONGEST_FILE = 1_000_000
MOST_PEOPLE = 1_000_000
"""The largest quota of a cell."""


@dataclass(frozen=True)
class StudyDesign(ConditionsByCell, Record):
    """A study of one person and one or more AIs at a time, or of several people in one team.

    ``seats`` says who sits where; where it is left out, the participant has seat 0 and the AI seat 1, and ``arms``,
    ``observability`` and ``task`` describe them. Every AI of an episode plays the algorithm of its condition, unless
    the condition names one for its seat. Every participant plays one set of ``episodes`` episodes per condition,
    ``rounds`` rounds each. ``shared_luck``: the k-th episodes of all sets have the same r*_t(a). ``swap_labels``: in
    every second set all arms are reversed, so that participants do not notice. ``group`` says how several people become
    a team. With ``factors`` between subjects, each participant plays the conditions of one cell only; ``quotas`` says
    how many people a cell takes.
    Paper: Experiments; Online Casino Study.
    """

    outermost: ClassVar[bool] = True

    name: str = entry(slug)
    version: int = entry(whole(1))
    title: str = entry(words)
    task: Task = entry(Task.read)
    seats: tuple[Seat, ...] = entry(listing(Seat.read, 0, MOST_SEATS, unique="name"), ())
    arms: tuple[int, ...] = entry(listing(whole(2, MOST_ARMS), 2, MOST_SEATS), (2, 2))
    observation: ObservationName = entry(one_of(OBSERVATIONS, "observation model"), "missed")
    observability: tuple[float, ...] = entry(listing(real(0.0, 1.0), 0, MOST_SEATS), ())
    rounds: int = entry(whole(1, MOST_ROUNDS))
    episodes: int = entry(whole(1, 1000), 1)
    conditions: tuple[Condition, ...] = entry(listing(Condition.read, 1, 4, unique="name"))
    partners: tuple[PartnerIdentity, ...] = entry(listing(PartnerIdentity.read, 0, 4, unique="name"), ())
    order: str = entry(one_of(ORDERS, "order rule"))
    shared_luck: bool = entry(flag, True)
    swap_labels: bool = entry(flag, False)
    means: MeansRule = entry(MeansRule.read, MeansRule())
    rewards: RewardRule = entry(RewardRule.read, RewardRule())
    delay: int = entry(whole(0, LONGEST_DELAY), 0)
    actions: ActionsName = entry(one_of(ACTIONS, "visibility of choices"), "observed")
    roles: str | tuple[int, ...] = entry(roles_rule, ())
    warm_start: WarmStart | None = entry(optional(WarmStart.read), None)
    practice: Practice | None = entry(optional(Practice.read), None)
    survey: Survey = entry(Survey.read)
    consent: Consent = entry(Consent.read)
    demographics: tuple[Question, ...] = entry(listing(Question.read, 0, 50, unique="id"), ())
    quiz: tuple[QuizItem, ...] = entry(listing(QuizItem.read, 0, 50, unique="id"), ())
    attention: tuple[AttentionCheck, ...] = entry(listing(AttentionCheck.read, 0, 50, unique="id"), ())
    questionnaires: tuple[Questionnaire, ...] = entry(listing(Questionnaire.read, 0, 50, unique="id"), ())
    pages: tuple[ContentPage, ...] = entry(listing(ContentPage.read, 0, 50, unique="id"), ())
    media: tuple[MediaFile, ...] = entry(listing(MediaFile.read, 0, MOST_FILES, unique="file"), ())
    limits: Limits = entry(Limits.read, Limits())
    analysis: AnalysisChoices = entry(AnalysisChoices.read, AnalysisChoices())
    completion_code: str = entry(words_or_empty, "")
    payment: Payment | None = entry(optional(Payment.read), None)
    group: Group | None = entry(optional(Group.read), None)
    outcomes: tuple[Outcome, ...] = entry(listing(Outcome.read, 0, len(OUTCOMES), unique="outcome"), ())
    withdrawal: Withdrawal = entry(Withdrawal.read, Withdrawal())
    recruiter: Recruiter | None = entry(optional(Recruiter.read), None)
    factors: tuple[Factor, ...] = entry(listing(Factor.read, 0, 4, unique="name"), ())
    quotas: Table = entry(table_of(whole(1, MOST_PEOPLE)), Table())
    markup: str = entry(one_of(MARKUPS, "markup of texts"), "plain")
    debriefing: str = entry(words_or_empty, "")
    languages: tuple[str, ...] = entry(listing(slug, 1, 50, unique="="), ("en",))
    translations: Table = entry(table_of(table_of(words)), Table())
    messages: Table = entry(table_of(table_of(words)), Table())

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_seats()
        fill_presets(self)
        labelled = tuple(len(labels) for labels in self.task.arms)
        if labelled != self.arms:
            raise InvalidInput(f"task.arms labels {labelled} arms, but arms is {self.arms}; every arm needs one label.")
        if self.task.kind != "grid" and (len(self.seating) != 2 or self.seating[0].player != "participant"):
            raise InvalidInput(
                f"task.kind is {self.task.kind!r}, which is drawn for two, the participant first; other teams: 'grid'."
            )
        check_cells(self)
        check_group(self)
        check_agents(self)
        self._check_icons()
        if self.task.fillings and self.arms != (2, 2):
            raise InvalidInput(
                f"task.fillings names four fillings, whose order two arms for each side decide; arms is {self.arms}."
            )
        if math.prod(self.arms) > MOST_TEAM_ACTIONS:
            raise InvalidInput(
                f"The arms {self.arms} make {math.prod(self.arms)} team actions; a page shows at most "
                f"{MOST_TEAM_ACTIONS}."
            )
        check_rewards(self)
        check_line(self)
        check_delays(self)
        check_hidden_choices(self)
        self._check_attention()
        self._check_questionnaires()
        check_pages(self.pages, self.sets)
        self._check_partners()
        check_leaving(self)
        self._check_texts()

    def _check_icons(self) -> None:
        if self.task.icons and self.seats:
            raise InvalidInput("task.icons must be left out if the design has seats: each seat has its own icons.")
        given = [bool(seat.icons) for seat in self.seating]
        if any(given) and (self.task.kind != "grid" or not all(given)):
            raise InvalidInput("icons of arms require task.kind = 'grid', and every seat needs them, or none.")
        for icon in [icon for seat in self.seating for icon in seat.icons]:
            if "." in icon and (icon not in self.files or is_video(icon)):
                raise InvalidInput(f"icons must be pictures in the design's folder (or in media), got {icon!r}.")

    def _check_texts(self) -> None:
        """Check that translations belong to existing texts, and that Markdown uses its safe subset in all languages."""
        known = self._texts
        for language, texts in self.translations.pairs:
            if language not in self.languages[1:]:
                raise UnknownName("further language", language, self.languages[1:])
            for key, _ in texts.pairs:
                if key not in known:
                    raise UnknownName("text of the design called", key, known)
        for language, _ in self.messages.pairs:
            if language not in self.languages:
                raise UnknownName("language of the design", language, self.languages)
        marked = {f"pages.{page.id}.text" for page in self.pages}
        marked |= self.marked_texts if self.markup == "markdown" else set()
        for language in self.languages if marked else ():
            texts = self.texts(language)
            for key in sorted(marked & texts.keys()):
                called = key if language == self.languages[0] else f"translations.{language}.{key}"
                markdown_tree(called, texts[key], self.files)

    def _check_partners(self) -> None:
        if self.partners and len(self.partners) != self.sets:
            raise InvalidInput(
                f"partners names {len(self.partners)}, and there are {len(self.conditions)} conditions; one partner "
                "for each set is needed, or none at all."
            )
        looks = [partner.look for partner in self.partners]
        if len(set(looks)) < len(looks):
            raise InvalidInput(f"partners look {', '.join(looks)}; each needs a look of its own.")
        others = len(self.agent_seats)
        for partner in self.partners:
            if len(partner.seats) != (others if others > 1 else 0):
                raise InvalidInput(
                    f"The partner {partner.name!r} names {len(partner.seats)} seats; "
                    + (f"all {others} AIs need a name." if others > 1 else "with a single AI its own name is enough.")
                )

    def _check_attention(self) -> None:
        for check in self.attention:
            whole(1, self.survey.points)(f"The answer to {check.id!r}", check.answer)
            whole(1, self.sets)(f"after_set of {check.id!r}", check.after_set)
            if check.id in {item.id for item in self.survey.items}:
                raise InvalidInput(f"The attention check {check.id!r} has the id of a survey item; it needs its own.")

    def _check_questionnaires(self) -> None:
        for questionnaire in self.questionnaires:
            if questionnaire.when == "between" and self.sets < 2:
                raise InvalidInput(f"conditions must be at least 2, got 1: {questionnaire.id!r} is asked between sets.")

    def questionnaire(self, id: str) -> Questionnaire:
        """Return the questionnaire with this id."""
        known = {questionnaire.id: questionnaire for questionnaire in self.questionnaires}
        if id not in known:
            raise UnknownName("questionnaire", id, known)
        return known[id]

    def page(self, id: str) -> ContentPage:
        """Return the page with this id."""
        known = {page.id: page for page in self.pages}
        if id not in known:
            raise UnknownName("page of the design called", id, known)
        return known[id]

    def _check_seats(self) -> None:
        """Check that the short form for two seats is complete or follows from ``seats``, and that both agree."""
        task = self.task
        if not self.seats:
            given = {"observability": self.observability, "task.arms": task.arms}
            for name, value in given.items():
                if len(value) != 2:
                    raise InvalidInput(
                        f"{name} has {len(value)} parts; exactly 2 are needed where the design lists no seats."
                    )
            for name in ("participant", "partner"):
                if not getattr(task, name):
                    raise InvalidInput(f"task has no {name}; it is needed where the design lists no seats.")
            return
        people = [i for i, seat in enumerate(self.seats) if seat.player == "participant"]
        if not people or len(self.seats) < 2:
            raise InvalidInput(
                f"seats has {len(people)} participants among {len(self.seats)} seats; at least one participant and "
                "one other seat are needed."
            )
        others = [seat.name for i, seat in enumerate(self.seats) if i != people[0]]
        named: dict[str, Any] = {
            "participant": self.seats[people[0]].name,
            "arms": tuple(seat.arms for seat in self.seats),
        }
        named["partner"] = others[0] if len(others) == 1 else task.partner or ", ".join(others)
        follows: dict[str, Any] = {
            "arms": tuple(len(seat.arms) for seat in self.seats),
            "observability": tuple(seat.observability for seat in self.seats),
        }
        for name, value in named.items():
            if getattr(task, name) not in (value, "", ()):
                raise InvalidInput(f"task.{name} is {short_repr(getattr(task, name))}, but the seats say otherwise.")
        for name, value in follows.items():
            if getattr(self, name) not in (value, (), (2, 2)):
                raise InvalidInput(f"{name} is {short_repr(getattr(self, name))}, but the seats say {value}.")
            object.__setattr__(self, name, value)
        object.__setattr__(self, "task", replace(task, **named))

    @cached_property
    def files(self) -> Mapping[str, MediaFile]:
        """The pictures and videos, by the names of their files."""
        return {file.file: file for file in self.media}

    @cached_property
    def seating(self) -> tuple[Seat, ...]:
        """Every seat, also where the design is written in the short form for two."""
        if self.seats:
            return self.seats
        names, icons = (self.task.participant, self.task.partner), self.task.icons or ((), ())
        pair = zip(names, PLAYERS, self.observability, self.task.arms, icons, strict=True)
        return tuple(
            Seat(name=name, player=player, observability=level, arms=labels, icons=drawn)
            for name, player, level, labels, drawn in pair
        )

    @cached_property
    def participant_seat(self) -> int:
        """Where the participant sits; the first of them, where there are several."""
        return self.participant_seats[0]

    @cached_property
    def participant_seats(self) -> tuple[int, ...]:
        """Where people sit."""
        return tuple(i for i, seat in enumerate(self.seating) if seat.player == "participant")

    @cached_property
    def has_recorded_seats(self) -> bool:
        """Whether the moves of several seats are recorded in some condition: of people or services."""
        return has_recorded_seats(self)

    @cached_property
    def agent_seats(self) -> tuple[int, ...]:
        """Where the AIs sit."""
        return tuple(i for i, seat in enumerate(self.seating) if seat.player == "agent")

    @cached_property
    def predictions(self) -> tuple[tuple[int, int], ...]:
        """Who may foresee whom: pairs of a seat that an AI plays in some condition and another seat."""
        seats = range(len(self.seating))
        return tuple((i, j) for i in seats if may_be_agent(self, i) for j in seats if i != j)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the design's canonical JSON: two designs with one digest are the same study.

        Fields at their default are left out, so a field that a later version adds changes no digest; in return the
        default of a field, once released, must never change.
        """
        return fingerprint(self.essence())

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], where: str = "the design") -> StudyDesign:
        """Create a design from plain data, as `to_dict` returns it."""
        return cls.read(where, data)

    def condition(self, name: str) -> Condition:
        """Return the condition with this name."""
        conditions = {condition.name: condition for condition in self.conditions}
        if name not in conditions:
            raise UnknownName("condition", name, conditions)
        return conditions[name]

    @cached_property
    def _texts(self) -> dict[str, str]:
        task, survey = self.task, self.survey
        texts = {"title": self.title, "consent.text": self.consent.text}
        for key in ("participant", "partner", "configuration", "good", "bad"):
            texts[f"task.{key}"] = getattr(task, key)
        for i, seat in enumerate(self.seating):
            texts |= {f"task.arms.{i}.{arm}": label for arm, label in enumerate(seat.arms)}
        texts |= task.layer_texts()
        for i, names in enumerate(task.fillings):
            texts |= {f"task.fillings.{i}.{filling}": name for filling, name in enumerate(names)}
        if len(self.seating) > 2 or self.group is not None:
            texts |= {f"seats.{i}": seat.name for i, seat in enumerate(self.seating)}
        for i, partner in enumerate(self.partners):
            texts[f"partners.{i}"] = partner.name
            texts |= {f"partners.{i}.{place}": name for place, name in enumerate(partner.seats)}
        if self.group is not None:
            texts |= {f"group.{key}": getattr(self.group, key) for key in GROUP_TEXTS}
        texts |= {f"task.instructions.{i}": line for i, line in enumerate(task.instructions)}
        if self.debriefing:
            texts["debriefing"] = self.debriefing
        texts |= {"survey.low": survey.low, "survey.high": survey.high}
        texts |= {f"survey.{item.id}": item.text for item in survey.items}
        texts |= {f"attention.{check.id}": check.text for check in self.attention}
        for group, questions in (("demographics", self.demographics), ("quiz", self.quiz)):
            for question in questions:
                texts[f"{group}.{question.id}"] = question.text
                texts |= {f"{group}.{question.id}.{i}": choice for i, choice in enumerate(question.choices)}
        for questionnaire in self.questionnaires:
            texts |= dict(questionnaire.texts())
        for page in self.pages:
            texts |= dict(page.texts())
        return {key: typeset(self.languages[0], text) for key, text in texts.items()}

    @cached_property
    def marked_texts(self) -> frozenset[str]:
        """The keys of the texts that ``markup`` is about: consent, instructions and debriefing."""
        instructions = {f"task.instructions.{i}" for i in range(len(self.task.instructions))}
        return frozenset({"consent.text", "debriefing"} | instructions)

    def texts(self, language: str | None = None) -> dict[str, str]:
        """Return every text that people read, typeset, by message key; untranslated ones are in the first language."""
        if language is None or language == self.languages[0]:
            return dict(self._texts)
        if language not in self.languages:
            raise UnknownName("language of this design called", language, self.languages)
        translated = dict(self.translations.pairs).get(language, Table())
        return self._texts | {key: typeset(language, text) for key, text in translated.pairs}


def shipped_designs() -> tuple[str, ...]:
    """Return the names of the shipped designs."""
    folder = resources.files("cobandit.studies").joinpath("designs")
    return tuple(sorted(Path(file.name).stem for file in folder.iterdir() if file.name.endswith(".toml")))


def design_text(name: str) -> str:
    """Return the TOML text of a shipped design, to copy and edit."""
    if name not in shipped_designs():
        raise UnknownName("study design", name, shipped_designs())
    return resources.files("cobandit.studies").joinpath("designs", f"{name}.toml").read_text(encoding="utf-8")


def load_design(name_or_path: str | os.PathLike[str]) -> StudyDesign:
    """Load a shipped design by name, or your own by the path of its TOML file, with the pictures in its folder."""
    if isinstance(name_or_path, str) and name_or_path in shipped_designs():
        return parse_design(design_text(name_or_path), f"the design {name_or_path!r}")
    brought = plugin_design_text(name_or_path)
    if brought is not None:
        return parse_design(brought, f"the design {name_or_path!r}")
    if not isinstance(name_or_path, (str, os.PathLike)) or "\0" in str(name_or_path):
        raise InvalidInput(
            f"The design must be the name of a shipped design or a path, got {short_repr(name_or_path)}."
        )
    path = Path(name_or_path)
    if path.suffix != ".toml" and not path.exists():
        raise UnknownName("study design or file", str(name_or_path), [*shipped_designs(), *plugin_names(DESIGNS)])
    where = repr(str(path))
    data = parse_toml(read_text(path, "design file", LONGEST_FILE), where)
    return StudyDesign.from_dict(read_media(data, path.parent), where)


def parse_design(toml: str, where: str = "the design") -> StudyDesign:
    """Return the design that a TOML text describes."""
    return StudyDesign.from_dict(parse_toml(toml, where), where)
