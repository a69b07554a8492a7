"""A study as data: who plays with which AI, on what task, for how long, and what people read and answer.

A design is a TOML file whose tables and keys are the fields of `StudyDesign`; a key that is not known is refused with
the nearest right one. ``burger`` and ``casino`` are the paper's two studies (Experiments; Online Casino Study),
``three-by-three`` is an example with labels of its own.
"""
# ruff: noqa: RUF009 -- entry() makes the field itself, and the defaults it is given are frozen

from __future__ import annotations

import itertools
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar

from cobandit.agents import Agent, agent_class, make_agent
from cobandit.base.checks import one_of, real, short_repr, whole
from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.base.plugins import DESIGNS, plugin_names
from cobandit.base.records import (
    Record,
    Table,
    entry,
    fingerprint,
    flag,
    listing,
    optional,
    scalar,
    slug,
    table_of,
    words,
    words_or_empty,
)
from cobandit.problem import FixedMeans, Problem
from cobandit.studies.brought import plugin_design_text

TASKS = ("burger", "casino", "grid")
"""What a page may draw: the burger's layers, the slot machines, or a plain grid with the labels."""

ORDERS = ("counterbalanced", "random")
OBSERVATIONS = ("missed", "missed-known", "flipped")
ANSWERS = ("whole", "choice", "text")
MOST_ROUNDS = 100_000
MOST_ARMS = 9
LONGEST_FILE = 1_000_000
_PRACTICE = "practice"


def _player(name: str, value: Any) -> str:
    kind = agent_class(value)
    if not issubclass(kind, Agent):
        raise InvalidInput(f"{name} is {value!r}, one brain for the whole team; it cannot be one member of it.")
    return str(value)


def _condition_name(name: str, value: Any) -> str:
    if value == _PRACTICE:
        raise InvalidInput(f"{name} is {value!r}; practice rounds go by this name, so another one is needed.")
    return slug(name, value)


@dataclass(frozen=True)
class AgentChoice(Record):
    """A registered agent with options: ``agent = "naive-ucb"``, ``options = { exploration = 0.01 }``."""

    agent: str = entry(_player)
    options: Table = entry(table_of(scalar), Table())

    def __post_init__(self) -> None:
        super().__post_init__()
        settings = self.make().options
        kept = tuple((key, settings[key]) for key, _ in self.options.pairs)
        object.__setattr__(self, "options", Table(kept))

    def make(self) -> Agent:
        """A fresh agent, the library's own."""
        made = make_agent(self.agent, **self.options.to_dict())
        assert isinstance(made, Agent)
        return made


@dataclass(frozen=True)
class Condition(AgentChoice):
    """One condition of the study: the AI that the participant plays with (Independent Variables)."""

    name: str = entry(_condition_name)


@dataclass(frozen=True)
class WarmStart(AgentChoice):
    """Rounds that the AI plays with a simulated partner before each episode; they do not count (Procedure)."""

    rounds: int = entry(whole(1, MOST_ROUNDS))


@dataclass(frozen=True)
class Practice(AgentChoice):
    """Episodes to get used to the task, with means and an AI of their own; they do not count."""

    rounds: int = entry(whole(1, MOST_ROUNDS))
    episodes: int = entry(whole(1, 100), 1)


@dataclass(frozen=True)
class Task(Record):
    """What the page draws, and what everything is called.

    ``arms`` holds the labels of the participant's arms, then those of the AI's; ``configuration`` is the word for one
    team action ("burger", "machine"), ``good`` and ``bad`` for its outcome.
    """

    kind: str = entry(one_of(TASKS, "kind of task"))
    participant: str = entry(words)
    partner: str = entry(words)
    arms: tuple[tuple[str, ...], ...] = entry(listing(listing(words, 2, MOST_ARMS, unique="="), 2, 2))
    configuration: str = entry(words)
    good: str = entry(words)
    bad: str = entry(words)
    instructions: tuple[str, ...] = entry(listing(words, 1, 50))


def _matrices(name: str, value: Any) -> tuple[FixedMeans, ...]:
    if not isinstance(value, (list, tuple)):
        raise InvalidInput(f"{name} is {short_repr(value)}; a list of matrices, one per episode, is needed.")
    return tuple(part if isinstance(part, FixedMeans) else FixedMeans.of(part) for part in value)


@dataclass(frozen=True)
class MeansRule(Record):
    """Where the means mu of an episode come from.

    ``uniform``: each from Unif[low, high], anew for each participant or once for all of the study; ``fixed``: the
    matrices in ``values``, one for all episodes or one for each.
    """

    draw: str = entry(one_of(("uniform", "fixed"), "way to draw means"), "uniform")
    per: str = entry(one_of(("participant", "study"), "owner of means"), "participant")
    low: float = entry(real(0.0, 1.0), 0.0)
    high: float = entry(real(0.0, 1.0), 1.0)
    values: tuple[FixedMeans, ...] = entry(_matrices, ())

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low > self.high:
            raise InvalidInput(f"means.low is {self.low:g} and means.high is {self.high:g}; low must not be higher.")
        if (self.draw == "fixed") != bool(self.values):
            raise InvalidInput("means.values goes with means.draw = 'fixed', and only with it.")
        for values in self.values:
            if not all(0.0 <= value <= 1.0 for value in values.values):
                raise InvalidInput(f"means.values holds {short_repr(values.values)}; every mean must lie in [0, 1].")


@dataclass(frozen=True)
class SurveyItem(Record):
    """One statement to agree with; ``reversed``: agreement speaks against the AI."""

    id: str = entry(slug)
    text: str = entry(words)
    reversed: bool = entry(flag, False)


@dataclass(frozen=True)
class Survey(Record):
    """What is asked after each set, on a scale from 1 to ``points`` (Dependent Measures)."""

    points: int = entry(whole(2, 11), 5)
    low: str = entry(words, "Strongly disagree")
    high: str = entry(words, "Strongly agree")
    shuffled: bool = entry(flag, False)
    items: tuple[SurveyItem, ...] = entry(listing(SurveyItem.read, 1, 100, unique="id"))


@dataclass(frozen=True)
class Consent(Record):
    """What people agree to; its version is stored with the time of consent."""

    version: str = entry(words)
    text: str = entry(words)


@dataclass(frozen=True)
class Question(Record):
    """One question about the person: a whole number, a choice or a short text."""

    id: str = entry(slug)
    text: str = entry(words)
    answer: str = entry(one_of(ANSWERS, "kind of answer"))
    choices: tuple[str, ...] = entry(listing(words, 0, 50, unique="="), ())
    low: int = entry(whole(0), 0)
    high: int = entry(whole(0), 200)
    required: bool = entry(flag, True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.answer == "choice") != (len(self.choices) >= 2):
            raise InvalidInput(f"Question {self.id!r}: two or more choices go with answer = 'choice' only.")


@dataclass(frozen=True)
class QuizItem(Record):
    """One question on the instructions; ``answer`` is the place of the right choice, from 0."""

    id: str = entry(slug)
    text: str = entry(words)
    choices: tuple[str, ...] = entry(listing(words, 2, 10, unique="="))
    answer: int = entry(whole(0))

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(0, len(self.choices) - 1)(f"The answer to {self.id!r}", self.answer)


@dataclass(frozen=True)
class AttentionCheck(Record):
    """A survey item with one right answer, asked after one of the sets (``after_set`` from 1)."""

    id: str = entry(slug)
    text: str = entry(words)
    answer: int = entry(whole(1))
    after_set: int = entry(whole(1), 1)


@dataclass(frozen=True)
class Limits(Record):
    """After how many idle seconds a person is warned, and is taken to have left (the place is then free again)."""

    warn_seconds: int = entry(whole(1), 300)
    idle_seconds: int = entry(whole(1), 1800)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.warn_seconds > self.idle_seconds:
            raise InvalidInput(f"limits.warn_seconds is {self.warn_seconds}; at most idle_seconds makes sense.")


@dataclass(frozen=True)
class StudyDesign(Record):
    """A within-subjects study of one person and one AI at a time (Experiments; Online Casino Study).

    The participant is agent 0, the AI agent 1. Every participant plays one set of ``episodes`` episodes per
    condition, ``rounds`` rounds each. ``shared_luck``: the k-th episodes of all sets have the very same r*_t(a).
    ``swap_labels``: in every second set both agents' arms are reversed, so that nobody notices.
    """

    outermost: ClassVar[bool] = True

    name: str = entry(slug)
    version: int = entry(whole(1))
    title: str = entry(words)
    task: Task = entry(Task.read)
    arms: tuple[int, ...] = entry(listing(whole(2, MOST_ARMS), 2, 2), (2, 2))
    observation: str = entry(one_of(OBSERVATIONS, "observation model"), "missed")
    observability: tuple[float, ...] = entry(listing(real(0.0, 1.0), 2, 2))
    rounds: int = entry(whole(1, MOST_ROUNDS))
    episodes: int = entry(whole(1, 1000), 1)
    conditions: tuple[Condition, ...] = entry(listing(Condition.read, 1, 4, unique="name"))
    order: str = entry(one_of(ORDERS, "order rule"))
    shared_luck: bool = entry(flag, True)
    swap_labels: bool = entry(flag, False)
    means: MeansRule = entry(MeansRule.read, MeansRule())
    warm_start: WarmStart | None = entry(optional(WarmStart.read), None)
    practice: Practice | None = entry(optional(Practice.read), None)
    survey: Survey = entry(Survey.read)
    consent: Consent = entry(Consent.read)
    demographics: tuple[Question, ...] = entry(listing(Question.read, 0, 50, unique="id"), ())
    quiz: tuple[QuizItem, ...] = entry(listing(QuizItem.read, 0, 50, unique="id"), ())
    attention: tuple[AttentionCheck, ...] = entry(listing(AttentionCheck.read, 0, 50, unique="id"), ())
    limits: Limits = entry(Limits.read, Limits())
    completion_code: str = entry(words_or_empty, "")
    languages: tuple[str, ...] = entry(listing(slug, 1, 50, unique="="), ("en",))
    translations: Table = entry(table_of(table_of(words)), Table())

    def __post_init__(self) -> None:
        super().__post_init__()
        labelled = tuple(len(labels) for labels in self.task.arms)
        if labelled != self.arms:
            raise InvalidInput(f"task.arms labels {labelled} arms, but arms is {self.arms}; every arm needs one label.")
        if self.means.values and len(self.means.values) not in (1, self.episodes):
            raise InvalidInput(
                f"means.values holds {len(self.means.values)} matrices; one, or one for each of the "
                f"{self.episodes} episodes, is needed."
            )
        for matrix in self.means.values:
            if matrix.arms != self.arms:
                raise InvalidInput(f"means.values holds a matrix of shape {matrix.arms}; {self.arms} is needed.")
        for check in self.attention:
            whole(1, self.survey.points)(f"The answer to {check.id!r}", check.answer)
            whole(1, len(self.conditions))(f"after_set of {check.id!r}", check.after_set)
            if check.id in {item.id for item in self.survey.items}:
                raise InvalidInput(f"The attention check {check.id!r} has the id of a survey item; it needs its own.")
        known = self._texts
        for language, texts in self.translations.pairs:
            if language not in self.languages[1:]:
                raise UnknownName("further language", language, self.languages[1:])
            for key, _ in texts.pairs:
                if key not in known:
                    raise UnknownName("text of the design called", key, known)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the design's canonical JSON: two designs with one digest are the same study.

        Fields at their default are left out, so a field that a later version adds changes no digest; in return the
        default of a field, once released, must never change.
        """
        return fingerprint(self.essence())

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], where: str = "the design") -> StudyDesign:
        """From plain data, as `to_dict` gives it."""
        return cls.read(where, data)

    @cached_property
    def problem(self) -> Problem:
        """The problem as the library states it; its means only say how many arms there are."""
        return Problem.bernoulli(arms=self.arms, observation=self.observation, observability=self.observability)

    @cached_property
    def orders(self) -> tuple[tuple[str, ...], ...]:
        """Every order of the conditions; a participant's order is its place in this list."""
        return tuple(itertools.permutations(condition.name for condition in self.conditions))

    def condition(self, name: str) -> Condition:
        """The condition of a name."""
        found = {condition.name: condition for condition in self.conditions}
        if name not in found:
            raise UnknownName("condition", name, found)
        return found[name]

    @cached_property
    def _texts(self) -> dict[str, str]:
        task, survey = self.task, self.survey
        made = {"title": self.title, "consent.text": self.consent.text}
        for key in ("participant", "partner", "configuration", "good", "bad"):
            made[f"task.{key}"] = getattr(task, key)
        for agent, labels in enumerate(task.arms):
            made |= {f"task.arms.{agent}.{arm}": label for arm, label in enumerate(labels)}
        made |= {f"task.instructions.{i}": line for i, line in enumerate(task.instructions)}
        made |= {"survey.low": survey.low, "survey.high": survey.high}
        made |= {f"survey.{item.id}": item.text for item in survey.items}
        made |= {f"attention.{check.id}": check.text for check in self.attention}
        for group, questions in (("demographics", self.demographics), ("quiz", self.quiz)):
            for question in questions:
                made[f"{group}.{question.id}"] = question.text
                made |= {f"{group}.{question.id}.{i}": choice for i, choice in enumerate(question.choices)}
        return made

    def texts(self, language: str | None = None) -> dict[str, str]:
        """Every text that people read, by message key; what is not translated stays in the first language."""
        if language is None or language == self.languages[0]:
            return dict(self._texts)
        if language not in self.languages:
            raise UnknownName("language of this design called", language, self.languages)
        translated = dict(self.translations.pairs).get(language, Table())
        return self._texts | dict(translated.pairs)


def shipped_designs() -> tuple[str, ...]:
    """The names of the designs that come with the package."""
    folder = resources.files("cobandit.studies").joinpath("designs")
    return tuple(sorted(Path(file.name).stem for file in folder.iterdir() if file.name.endswith(".toml")))


def design_text(name: str) -> str:
    """The TOML text of a shipped design, to copy and edit."""
    if name not in shipped_designs():
        raise UnknownName("study design", name, shipped_designs())
    return resources.files("cobandit.studies").joinpath("designs", f"{name}.toml").read_text(encoding="utf-8")


def load_design(name_or_path: str | os.PathLike[str]) -> StudyDesign:
    """A shipped design by name, or one's own by the path of its TOML file."""
    if isinstance(name_or_path, str) and name_or_path in shipped_designs():
        return parse_design(design_text(name_or_path), f"the design {name_or_path!r}")
    brought = plugin_design_text(name_or_path)
    if brought is not None:
        return parse_design(brought, f"the design {name_or_path!r}")
    if not isinstance(name_or_path, (str, os.PathLike)) or "\0" in str(name_or_path):
        raise InvalidInput(
            f"The design is {short_repr(name_or_path)}; the name of a shipped design or a path is needed."
        )
    path = Path(name_or_path)
    if path.suffix != ".toml" and not path.exists():
        raise UnknownName("study design or file", str(name_or_path), [*shipped_designs(), *plugin_names(DESIGNS)])
    return parse_design(_file_text(path), repr(str(path)))


def _file_text(path: Path) -> str:
    try:
        if path.stat().st_size > LONGEST_FILE:
            raise InvalidInput(f"{str(path)!r} is larger than a design file can be ({LONGEST_FILE:,} bytes).")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"The design file {str(path)!r} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"The design file {str(path)!r} is not UTF-8 text.") from error


def parse_design(toml: str, where: str = "the design") -> StudyDesign:
    """The design in the text of a TOML file."""
    try:
        data = tomllib.loads(toml)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{where} is not valid TOML: {error}.") from error
    return StudyDesign.from_dict(data, where)
