"""The analysis plan: tests, measures and exclusions, written before the first participant.

A plan is a TOML file whose tables and keys are the fields of `AnalysisPlan`. It is stored with the study, and its
SHA-256 is fixed when the first real participant gives consent. An analysis marks each result as planned or not.
`default_plan` writes the paper's plan for any design (Experiments, Hypotheses; Online Casino Study).
"""
# ruff: noqa: RUF009 -- entry() makes the field itself, and the defaults it is given are frozen

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from cobandit.analysis.between import EFFECTS, anova_factors, check_people, pair_test, variance_test
from cobandit.base.checks import one_of, real, short_repr, whole
from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.base.files import read_text
from cobandit.base.records import (
    Record,
    entry,
    fingerprint,
    flag,
    listing,
    optional,
    result_name,
    slug,
    words,
    words_or_empty,
)
from cobandit.base.toml import parse_toml
from cobandit.studies.design import Question, StudyDesign
from cobandit.studies.design_tables import MARKS, REGRETS
from cobandit.studies.group_checks import players_of

TASK_REGRET, TEAM_REGRET, GOOD, SCORE = "task_regret", "team_regret", "good", "survey-score"
MEASURES = (TASK_REGRET, TEAM_REGRET, GOOD, SCORE)
"""What can be tested, besides ``survey:<item>`` and ``scale:<scale>``: regrets and good outcomes summed over the
counted rounds of a condition; the mean of all survey items, reversed ones turned round."""

SURVEY = "survey:"
SCALE = "scale:"
"""How the measure of a scale begins: ``scale:QUESTIONNAIRE/SCALE``, the mean of its ratings."""

BETWEEN = ("welch", "student")
"""The tests of two groups of people: with and without unequal spreads."""

ANOVAS = ("rm-anova", "anova", "mixed-anova")
"""Analyses of variance: of the same people, of different people, and of both."""

TESTS = ("paired-t", "wilcoxon", "rm-anova", *BETWEEN, "anova", "mixed-anova")
DIRECTIONS = ("less", "greater", "two-sided")
LONGEST_PLAN = 1_000_000
_AWARE = ("partner-aware", "bank", "handshake")
"""How the names of agents begin that predict what a person will do."""
_RESEARCHER = "ai_researcher"


def _name_or_empty(name: str, value: Any) -> str:
    return "" if value == "" else result_name(name, value)


def _measure(name: str, value: Any) -> str:
    if isinstance(value, str) and any(value.startswith(kind) and value != kind for kind in (SURVEY, SCALE)):
        return value
    if value not in MEASURES:
        raise UnknownName("measure", value, (*MEASURES, f"{SURVEY}<item>", f"{SCALE}<scale>"))
    return str(value)


def _slug_or_empty(name: str, value: Any) -> str:
    return "" if value == "" else slug(name, value)


@dataclass(frozen=True)
class Hypothesis(Record):
    """One thing to be tested.

    ``compares`` names the conditions: the first minus the second for ``paired-t`` and ``wilcoxon``, two or more for
    ``rm-anova``. ``welch`` and ``student`` compare two groups of people: those who play the first condition with those
    who play the second (in a design between subjects), or, where ``group`` names a question, those who gave the first
    two of ``groups`` as answers, on the mean over the conditions. ``anova`` compares conditions of different people;
    ``mixed-anova`` has the cells of the design as groups, and their conditions within people; ``effect`` says which of
    its effects answers: that within people, that between them, or their interaction. ``direction`` is what is
    expected of the first: less or greater than the second. The p-value is nevertheless two-sided, unless
    ``one_sided`` is true; the hypothesis is supported only if the difference also points the right way. Hypotheses of
    one ``family`` answer one question, and Holm's correction is made over them.
    """

    id: str = entry(result_name)
    text: str = entry(words)
    measure: str = entry(_measure)
    test: str = entry(one_of(TESTS, "test"))
    compares: tuple[str, ...] = entry(listing(slug, 1, 4, unique="="))
    direction: str = entry(one_of(DIRECTIONS, "direction"), "two-sided")
    one_sided: bool = entry(flag, False)
    group: str = entry(_slug_or_empty, "")
    groups: tuple[str, ...] = entry(listing(words, 0, 2, unique="="), ())
    effect: str = entry(one_of(EFFECTS, "effect"), "within")
    family: str = entry(_name_or_empty, "")

    def __post_init__(self) -> None:
        super().__post_init__()
        called = f"The hypothesis {self.id!r}"
        between = self.test in BETWEEN
        if self.group and not between:
            raise InvalidInput(
                f"{called}: test is {self.test!r} and group {self.group!r}; "
                f"'welch' or 'student' and a group go together."
            )
        if self.groups and (not self.group or len(self.groups) != 2):
            raise InvalidInput(
                f"{called} has groups = {short_repr(list(self.groups))}; two choices of group are needed."
            )
        if self.effect != "within" and self.test != "mixed-anova":
            raise InvalidInput(f"{called} has effect = {self.effect!r}, which goes with test = 'mixed-anova'.")
        least = 1 if self.group else 4 if self.test == "mixed-anova" else 2
        most = 4 if self.group or self.test in ANOVAS else 2
        if not least <= len(self.compares) <= most:
            span = f"{least}" if least == most else f"{least} to {most}"
            raise InvalidInput(f"{called} compares {len(self.compares)} conditions; {self.test} needs {span}.")
        if self.test in ANOVAS and self.direction != "two-sided":
            raise InvalidInput(f"{called} has a direction, but {self.test} has none; 'two-sided' is needed.")
        if self.one_sided and self.direction == "two-sided":
            raise InvalidInput(f"{called} is one_sided without a direction; less or greater is needed.")

    @property
    def alternative(self) -> str:
        """The alternative of the test itself."""
        return self.direction if self.one_sided else "two-sided"

    @property
    def item(self) -> str | None:
        """The survey item, where the measure is one."""
        return self.measure.removeprefix(SURVEY) if self.measure.startswith(SURVEY) else None

    @property
    def essential(self) -> tuple[Any, ...]:
        """The fields that identify a test; two hypotheses with different names can be the same test."""
        return (self.measure, self.test, frozenset(self.compares), self.group, frozenset(self.groups), self.effect)


@dataclass(frozen=True)
class Listed(Record):
    """A participant who is excluded by name, and the reason."""

    participant: str = entry(words)
    reason: str = entry(words)


@dataclass(frozen=True)
class Exclusions(Record):
    """Exclusions: rules that can be written before the data are collected, and participants by name.

    ``quiz_attempts`` excludes participants who needed more attempts than this, ``fastest_ms`` those whose median
    reaction time in the counted rounds is below it; None: no such rule. In studies with teams, ``incomplete_teams``
    excludes participants of whose team another member is missing or excluded, and an episode that a team played
    together counts only if an AI chose in place of a person in at most ``takeover_share`` of its rounds.
    """

    unfinished: bool = entry(flag, True)
    attention_failed: bool = entry(flag, False)
    quiz_attempts: int | None = entry(optional(whole(1)), None)
    fastest_ms: float | None = entry(optional(real(0.0, above=True)), None)
    incomplete_teams: bool = entry(flag, True)
    takeover_share: float | None = entry(optional(real(0.0, 1.0)), None)
    listed: tuple[Listed, ...] = entry(listing(Listed.read, 0, 1000, unique="participant"), ())


@dataclass(frozen=True)
class AnalysisPlan(Record):
    """All decisions that are made before the data are analysed.

    ``n`` is the planned number of participants (None: not decided). ``marks`` selects the p-values of the asterisks:
    "paper" (uncorrected) or "holm" (corrected within a family); verdicts always use the corrected ones. ``regret`` is
    the regret of all analyses that no hypothesis names: "task", or "team", the paper's R(T). The program sets ``late``:
    the number of participants who had started when the plan was stored, 0 for a plan that was stored first.
    """

    outermost: ClassVar[bool] = True

    study: str = entry(slug)
    alpha: float = entry(real(0.0, 0.5, above=True), 0.05)
    n: int | None = entry(optional(whole(2)), None)
    notes: str = entry(words_or_empty, "")
    late: int = entry(whole(0), 0)
    marks: str = entry(one_of(MARKS, "rule for asterisks"), "holm")
    regret: str = entry(one_of(REGRETS, "regret"), "task")
    exclusions: Exclusions = entry(Exclusions.read, Exclusions())
    hypotheses: tuple[Hypothesis, ...] = entry(listing(Hypothesis.read, 0, 2000, unique="id"), ())

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of what the plan says, whatever its comments: two plans with one digest ask for the same."""
        return fingerprint(self.essence())

    @property
    def regret_measure(self) -> str:
        """The measure of the regret that the plan chooses."""
        return f"{self.regret}_regret"

    @classmethod
    def from_dict(cls, data: Any, where: str = "the analysis plan") -> AnalysisPlan:
        """Create a plan from plain data, as `to_dict` returns it."""
        return cls.read(where, data)

    def checked(self, design: StudyDesign) -> AnalysisPlan:
        """Return the same plan, if the design has everything that it names."""
        if self.study != design.name:
            raise InvalidInput(f"The plan is for the study {self.study!r}; this study is {design.name!r}.")
        conditions = [condition.name for condition in design.conditions]
        items = [item.id for item in design.survey.items]
        questions = {question.id: question for question in design.demographics if question.answer == "choice"}
        for hypothesis in self.hypotheses:
            for name in hypothesis.compares:
                if name not in conditions:
                    raise UnknownName(f"condition in {design.name!r} (hypothesis {hypothesis.id!r})", name, conditions)
            if hypothesis.item is not None and hypothesis.item not in items:
                raise UnknownName(f"survey item (hypothesis {hypothesis.id!r})", hypothesis.item, items)
            if hypothesis.measure.startswith(SCALE):
                _check_scale(design, hypothesis)
            if not hypothesis.group:
                check_people(design, hypothesis.id, hypothesis.test, hypothesis.compares)
            if hypothesis.group:
                if hypothesis.group not in questions:
                    what = f"question with choices among the demographics (hypothesis {hypothesis.id!r})"
                    raise UnknownName(what, hypothesis.group, questions)
                for choice in hypothesis.groups:
                    choices = questions[hypothesis.group].choices
                    if choice not in choices:
                        raise UnknownName(f"choice of {hypothesis.group!r}", choice, choices)
        return self


def _check_scale(design: StudyDesign, hypothesis: Hypothesis) -> None:
    """Check that the scale of a hypothesis exists and is asked at the times that the test needs."""
    named, _, scale = hypothesis.measure.removeprefix(SCALE).partition("/")
    fitting = [asked for asked in design.questionnaires if asked.id == named]
    ids = fitting[0].scale_ids if fitting else ()
    if not fitting or (scale not in ids if scale else len(ids) != 1):
        known = [f"{asked.id}/{id}" for asked in design.questionnaires for id in asked.scale_ids]
        raise UnknownName(f"scale (hypothesis {hypothesis.id!r})", hypothesis.measure.removeprefix(SCALE), known)
    # Between two sets each participant is asked once, so there are no two values to compare.
    asked_once = not fitting[0].repeated or (fitting[0].when == "between" and design.sets == 2)
    if not hypothesis.group and asked_once:
        raise InvalidInput(
            f"The hypothesis {hypothesis.id!r} compares conditions, and {named!r} is asked "
            f"{fitting[0].when!r}; a questionnaire with when = 'after' is needed."
        )


def text_digest(text: str) -> str:
    """Return the SHA-256 of a plan as it was written, comments and all: what is stored and fixed."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def parse_plan(toml: str, where: str = "the analysis plan") -> AnalysisPlan:
    """Return the plan in the text of a TOML file."""
    return AnalysisPlan.from_dict(parse_toml(toml, where), where)


def read_plan_text(path: str | os.PathLike[str]) -> str:
    """Return the text of a plan file; it must be a plan."""
    if not isinstance(path, (str, os.PathLike)) or "\0" in os.fspath(path):
        raise InvalidInput(f"The plan file must be a path, got {short_repr(path)}.")
    file = Path(path)
    text = read_text(file, "plan file", LONGEST_PLAN)
    parse_plan(text, repr(str(file)))
    return text


# The paper's plan

TAKEOVER_SHARE = 0.1
"""The rule on takeovers of `default_plan`: the largest share of the rounds of an episode that counts."""


def contrasts(design: StudyDesign) -> tuple[tuple[str, str], ...]:
    """Return every two conditions that are compared, the one that predicts its partner (or else the later one) first.

    These are conditions of the same people; or, where everyone plays a single condition, of different people.
    """
    pairs = [
        pair
        for pair in itertools.combinations((condition.name for condition in design.conditions), 2)
        if design.sets == 1 or design.same_people(*pair)
    ]
    aware = {condition.name: _aware(design, condition.name) == {True} for condition in design.conditions}
    return tuple((a, b) if aware[a] and not aware[b] else (b, a) for a, b in pairs)


def has_ai(design: StudyDesign, condition: str) -> bool:
    """Return whether an AI has a seat in a condition; where people take all seats, it only takes over."""
    return design.group is None or design.condition(condition).alone or "agent" in players_of(design, condition)


def _aware(design: StudyDesign, condition: str) -> set[bool]:
    """Return whether the AIs of a condition predict their partner; nothing where no AI plays."""
    chosen = design.condition(condition)
    return {own.agent.startswith(_AWARE) for own in (chosen, *chosen.agents) if has_ai(design, condition)}


def _better(design: StudyDesign, first: str, second: str) -> bool:
    """Return whether the first condition is expected to do better: of two AIs it alone predicts its partner."""
    return (_aware(design, first), _aware(design, second)) == ({True}, {False})


def good_word(design: StudyDesign) -> str:
    """Return the word for the good outcomes of a design, for use in a sentence."""
    words = {"burger": "satisfied customers", "burger-line": "satisfied customers", "casino": "coins"}
    return words.get(design.task.kind, "good outcomes")


def good_total(design: StudyDesign) -> str:
    """Return what the measure ``good`` is in a design, with its article: a number of outcomes, or a sum of scores."""
    return "the total score" if design.rewards.graded else f"the number of {good_word(design)}"


def episode_word(design: StudyDesign) -> str:
    """Return the word for an episode of a design, for use in a sentence."""
    return "casino" if design.task.kind == "casino" else "episode"


def factor_word(design: StudyDesign) -> str:
    """Return the name of the factor that the conditions are levels of."""
    return "algorithm" if design.group is None else "condition"


def default_plan(design: StudyDesign, n: int | None = None, *, regret: str | None = None) -> AnalysisPlan:
    """Return the paper's plan for a design: H1 regret and good outcomes, H2 every survey item, P the two populations.

    If exactly one of two AIs predicts its partner, it is expected to do better; otherwise the tests are two-sided.
    With more than two conditions each pair is compared, and one family contains all tests of one question.
    The design (``analysis``) names H1 and H2 and chooses the regret (unless ``regret`` is given) and the asterisks.
    If people play in teams, an episode in which an AI took over more than a tenth of the rounds does not count.
    """
    chosen = design.analysis
    tested = chosen.regret if regret is None else one_of(REGRETS, "regret")("regret", regret)
    return AnalysisPlan(
        study=design.name,
        n=n,
        marks=chosen.marks,
        regret=tested,
        exclusions=Exclusions(takeover_share=None if design.group is None else TAKEOVER_SHARE),
        hypotheses=tuple(_hypotheses(design, tested)),
    )


def _hypotheses(design: StudyDesign, regret: str) -> Iterator[Hypothesis]:
    pairs = contrasts(design)
    several = len(pairs) > 1
    performance, survey = design.analysis.hypotheses
    lost, measure_of_loss = f"{regret} regret", f"{regret}_regret"

    def expected_of(id: str, pair: tuple[str, str], measure: str, what: str, more: bool, family: str) -> Hypothesis:
        first, second = pair
        expected = _better(design, first, second)
        word = ("higher" if more else "lower") if expected else "different"
        link = "from that" if word == "different" else "than"
        return Hypothesis(
            id=f"{id}-{first}-{second}" if several else id,
            text=f"{what} is {word} with {first} {link} with {second}.",
            measure=measure,
            test=pair_test(design, pair),
            compares=pair,
            direction=("greater" if more else "less") if expected else "two-sided",
            family=family,
        )

    for pair in pairs:
        what = f"The {lost} over the counted rounds"
        yield expected_of(f"{performance}-regret", pair, measure_of_loss, what, False, performance)
        yield expected_of(f"{performance}-good", pair, GOOD, f"T{good_total(design)[1:]}", True, performance)
    if pairs and (design.episodes > 1 or several):
        test, between = variance_test(design), len(design.cells) > 1
        how = (
            f"a two-way analysis ({factor_word(design)} x {episode_word(design)})"
            if design.episodes > 1
            else "one analysis of all"
        )
        levels = "algorithms" if design.group is None and not between else "conditions"
        if between:
            within, cells = anova_factors(design)
            levels = f"levels of {within or cells}"
            how = f"a mixed analysis ({within} x {cells})" if within else "one analysis of all"
        variance = Hypothesis(
            id=f"{performance}-anova",
            text=f"The {lost} differs between the {levels} in {how}.",
            measure=measure_of_loss,
            test=test,
            compares=tuple(condition.name for condition in design.conditions),
        )
        yield variance
        if test == "mixed-anova":
            text = f"How the {lost} differs between the {levels} depends on {cells}."
            yield replace(variance, id=f"{performance}-interaction", text=text, effect="interaction")
    for pair in pairs:
        for item in design.survey.items:
            says = f"The agreement with {item.id!r}"
            yield expected_of(f"{survey}-{item.id}", pair, f"{SURVEY}{item.id}", says, not item.reversed, survey)
    question = researcher_question(design)
    if question is not None:
        for condition in design.conditions:
            yield Hypothesis(
                id=f"P-regret-{condition.name}",
                text=f"With {condition.name}, the {lost} of those who answer {question.choices[0]!r} to "
                f"{question.text!r} is different from that of those who answer {question.choices[1]!r}.",
                measure=measure_of_loss,
                test="welch",
                compares=(condition.name,),
                group=question.id,
                groups=question.choices[:2],
                family="P",
            )


def researcher_question(design: StudyDesign) -> Question | None:
    """Return the question that splits the people into AI researchers and others, where the design asks it."""
    for question in design.demographics:
        if question.id == _RESEARCHER and question.answer == "choice":
            return question
    return None
