"""The tests of a study: every one a row of data, with the question it answers and what it means for the hypothesis.

Paper: Results of both studies, and the appendix on populations. Nothing here chooses what counts as planned; it is
told, and it tells of each result.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cobandit import stats
from cobandit.analysis.measures import Array, Measures
from cobandit.analysis.plan import (
    GOOD,
    SCORE,
    SURVEY,
    TASK_REGRET,
    TEAM_REGRET,
    Hypothesis,
    contrasts,
    episode_word,
    good_word,
    researcher_question,
)
from cobandit.stats import Description, Finding
from cobandit.studies.design import StudyDesign

SECTIONS = ("hypothesis", "companion", "anova", "population", "reliability", "order", "robustness")
"""What a result is for: to answer a hypothesis, to stand beside such an answer, or to check on something."""

SUPPORTED, NOT_SUPPORTED, UNTESTABLE = "supported", "not supported", "cannot be tested"
SIGNIFICANT, STRONG = 0.05, 0.005
"""The paper's asterisks: one below the first, two below the second."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """One row of the results: a `Finding`, what it was asked for, and what it says.

    ``planned`` is true only for a test that a plan fixed before the data asks for. ``mark`` is the paper's: "*" for
    p < .05, "**" for p < .005, of the corrected p-value where there is one. ``verdict`` stands where there is a
    hypothesis; ``reason`` says why it is not simply supported.
    """

    id: str
    section: str
    question: str
    finding: Finding
    measure: str
    compares: tuple[str, ...] = ()
    hypothesis: str = ""
    planned: bool = False
    family: str = ""
    group: str = ""
    mark: str = ""
    verdict: str = ""
    reason: str = ""

    @property
    def p(self) -> float | None:
        """The p-value that counts: corrected, where several tests answer one question."""
        return self.finding.p if self.finding.p_adjusted is None else self.finding.p_adjusted

    def to_dict(self) -> dict[str, Any]:
        """Plain values by name, ready for JSON."""
        about = {
            "id": self.id,
            "section": self.section,
            "question": self.question,
            "hypothesis": self.hypothesis or None,
            "planned": self.planned,
            "measure": self.measure,
            "compares": list(self.compares),
            "group": self.group or None,
            "family": self.family or None,
            "mark": self.mark,
            "verdict": self.verdict or None,
            "reason": self.reason,
        }
        return about | {"finding": self.finding.to_dict()}


@dataclass(frozen=True)
class GridRow:
    """One participant over the casinos, or one casino over the participants; ``mark`` is of the plain p-value."""

    label: str
    finding: Finding
    mark: str = ""

    @property
    def lower(self) -> bool | None:
        """Whether the first condition has the lower value; None: equal, or nothing to compare."""
        difference = self.finding.estimate
        return None if difference is None or difference == 0.0 else difference < 0.0


@dataclass(frozen=True, kw_only=True)
class Grid:
    """The same paired t test again and again: within each participant, or within each casino (Fig. "casino").

    The counts are about the first condition of ``compares``: for how many rows it has the ``lower`` regret, for how
    many of these p < .05 (``significant``), p < .005 (``strong``), and for how many Holm's correction over all rows
    leaves p < .05 (``corrected``); ``opposed`` counts rows with p < .05 the other way, ``untested`` those without test.
    """

    by: str
    measure: str
    compares: tuple[str, str]
    rows: tuple[GridRow, ...]
    note: str = ""

    @property
    def lower(self) -> int:
        """Rows in which the first condition has the lower value."""
        return sum(row.lower is True for row in self.rows)

    @property
    def higher(self) -> int:
        """Rows in which the first condition has the higher value."""
        return sum(row.lower is False for row in self.rows)

    def _below(self, limit: float, *, lower: bool = True) -> int:
        return sum(row.lower is lower and row.finding.p is not None and row.finding.p < limit for row in self.rows)

    @property
    def significant(self) -> int:
        """Rows with a lower value and p < .05."""
        return self._below(SIGNIFICANT)

    @property
    def strong(self) -> int:
        """Rows with a lower value and p < .005."""
        return self._below(STRONG)

    @property
    def opposed(self) -> int:
        """Rows with a higher value and p < .05."""
        return self._below(SIGNIFICANT, lower=False)

    @property
    def corrected(self) -> int:
        """Rows with a lower value and p < .05 after Holm's correction over all rows."""
        values = [row.finding.p_adjusted for row in self.rows if row.lower]
        return sum(value is not None and value < SIGNIFICANT for value in values)

    @property
    def untested(self) -> int:
        """Rows that could not be tested; each row's note says why."""
        return sum(row.finding.p is None for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Plain values by name, ready for JSON."""
        counts = ("lower", "higher", "significant", "strong", "opposed", "corrected", "untested")
        rows = [{"label": row.label, "mark": row.mark, "finding": row.finding.to_dict()} for row in self.rows]
        about = {"by": self.by, "measure": self.measure, "compares": list(self.compares), "note": self.note}
        return about | {name: getattr(self, name) for name in counts} | {"rows": rows}


@dataclass(frozen=True)
class Described:
    """A measure in one condition, of everybody or of those who gave one answer to a question."""

    measure: str
    condition: str
    description: Description
    question: str = ""
    answer: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values by name, ready for JSON."""
        about = {"measure": self.measure, "condition": self.condition}
        split = {"question": self.question or None, "answer": self.answer or None}
        return about | split | self.description.to_dict()


def mark(p: float | None) -> str:
    """The paper's asterisks."""
    return "" if p is None or p >= SIGNIFICANT else "*" if p >= STRONG else "**"


def measure_name(design: StudyDesign, measure: str) -> str:
    """A measure as it is called in a sentence."""
    if measure.startswith(SURVEY):
        return f"agreement with {measure.removeprefix(SURVEY)!r}"
    known = {TASK_REGRET: "task regret", TEAM_REGRET: "team regret", SCORE: "survey score", GOOD: good_word(design)}
    return known.get(measure, measure)


# Hypotheses


def hypothesis_results(measured: Measures, hypotheses: Sequence[tuple[Hypothesis, bool]], alpha: float) -> list[Result]:
    """Every hypothesis tested, with Holm's correction within its family, and the other paired test beside it.

    ``hypotheses`` comes with whether each was planned; planned and exploratory tests never share a correction.
    """
    tested: list[tuple[Hypothesis, bool, tuple[Finding, ...]]] = []
    for hypothesis, planned in hypotheses:
        tested.append((hypothesis, planned, _tested(measured, hypothesis, alpha)))
    families: dict[tuple[bool, str], list[int]] = defaultdict(list)
    for place, (hypothesis, planned, _) in enumerate(tested):
        if hypothesis.family:
            families[planned, hypothesis.family].append(place)
    first = {place: found[0] for place, (_, _, found) in enumerate(tested)}
    for places in families.values():
        for place, row in zip(places, stats.adjusted([first[place] for place in places]), strict=True):
            first[place] = row
    made: list[Result] = []
    for place, (hypothesis, planned, found) in enumerate(tested):
        made.append(_judged(hypothesis, planned, first[place], alpha))
        for row in found[1:]:
            made.append(_beside(hypothesis, planned, row))
    return made


def _tested(measured: Measures, hypothesis: Hypothesis, alpha: float) -> tuple[Finding, ...]:
    """The test that answers the hypothesis first, then what stands beside it."""
    level = 1 - alpha
    name = f"{hypothesis.id}: {measure_name(measured.design, hypothesis.measure)}"
    if hypothesis.test == "rm-anova":
        return anova(measured, hypothesis.measure, hypothesis.compares, name)
    if hypothesis.test == "welch":
        return (_between(measured, hypothesis, name, level),)
    values = measured.totals(hypothesis.measure)
    first, second = (values[:, measured.column(condition)] for condition in hypothesis.compares)
    labels = (hypothesis.compares[0], hypothesis.compares[1])
    how: dict[str, Any] = {"name": name, "alternative": hypothesis.alternative, "level": level, "labels": labels}
    pair = stats.paired_t(first, second, **how), stats.wilcoxon(first, second, **how)
    return pair if hypothesis.test == "paired-t" else pair[::-1]


def _between(measured: Measures, hypothesis: Hypothesis, name: str, level: float) -> Finding:
    places = [measured.column(condition) for condition in hypothesis.compares]
    values = measured.totals(hypothesis.measure)[:, places].mean(axis=1)
    return between(
        measured,
        values,
        hypothesis.group,
        hypothesis.groups,
        name=name,
        alternative=hypothesis.alternative,
        level=level,
    )


def between(
    measured: Measures,
    values: Array,
    question: str,
    groups: tuple[str, ...] = (),
    *,
    name: str,
    alternative: str = "two-sided",
    level: float = 0.95,
) -> Finding:
    """Welch's t test of one value per participant between two answers to a question; others are counted and told."""
    asked = next(entry for entry in measured.design.demographics if entry.id == question)
    one, other = groups or asked.choices[:2]
    given = measured.group(question)
    samples = [values[[answer == choice for answer in given]] for choice in (one, other)]
    labels = (f"{question}: {one}", f"{question}: {other}")
    found = stats.welch_t(*samples, name=name, alternative=alternative, level=level, labels=labels)
    silent = sum(answer is None for answer in given)
    otherwise = len(given) - silent - sum(map(len, samples))
    told = [f"{silent} of {len(given)} did not answer {question!r}."] if silent else []
    told += [f"{otherwise} of {len(given)} gave another answer to {question!r}."] if otherwise else []
    return replace(found, note=" ".join([*told, found.note]).strip())


def anova(measured: Measures, measure: str, conditions: Sequence[str], name: str) -> tuple[Finding, ...]:
    """Repeated-measures analysis of variance: algorithm x episode where there are several episodes, else algorithm.

    Episodes that nobody has in all conditions are left out, and the note says so.
    """
    places = [measured.column(condition) for condition in conditions]
    survey = measure == SCORE or measure.startswith(SURVEY)
    if survey or measured.design.episodes == 1:
        return stats.rm_anova(measured.totals(measure)[:, places], ("algorithm",), name=name)
    word = episode_word(measured.design)
    cells = measured.cells(measure)[:, places]
    somebody = ~np.isnan(cells).any(axis=1).all(axis=0) if len(cells) else np.ones(cells.shape[2], dtype=bool)
    dropped = np.flatnonzero(~somebody)
    kept = cells[:, :, somebody]
    if kept.shape[2] < 2:
        found = stats.rm_anova(kept.mean(axis=2) if kept.shape[2] else cells[:, :, 0], ("algorithm",), name=name)
    else:
        found = stats.rm_anova(kept, ("algorithm", word), name=name)
    if not len(dropped):
        return found
    which = ", ".join(str(place + 1) for place in dropped)
    note = f"Left out because nobody has played them in all conditions: {word} {which}."
    return tuple(replace(row, note=f"{note} {row.note}".strip()) for row in found)


def _judged(hypothesis: Hypothesis, planned: bool, found: Finding, alpha: float) -> Result:
    p = found.p if found.p_adjusted is None else found.p_adjusted
    verdict, reason = _verdict(hypothesis, found, p, alpha)
    return Result(
        id=hypothesis.id,
        section="hypothesis",
        question=hypothesis.text,
        finding=found,
        measure=hypothesis.measure,
        compares=hypothesis.compares,
        hypothesis=hypothesis.id,
        planned=planned,
        family=hypothesis.family,
        group=hypothesis.group,
        mark=mark(p),
        verdict=verdict,
        reason=reason,
    )


def _verdict(hypothesis: Hypothesis, found: Finding, p: float | None, alpha: float) -> tuple[str, str]:
    if p is None:
        return UNTESTABLE, found.note or "The test gave no p-value."
    if p >= alpha:
        corrected = found.p is not None and found.p < alpha
        lost = "Holm's correction takes the significance away." if corrected else ""
        return NOT_SUPPORTED, lost
    difference = found.estimate or 0.0
    wrong = {"less": difference > 0, "greater": difference < 0}.get(hypothesis.direction, False)
    if wrong:
        return NOT_SUPPORTED, "The difference is significant, but it points the other way."
    return SUPPORTED, ""


def _beside(hypothesis: Hypothesis, planned: bool, found: Finding) -> Result:
    effect = found.test.removeprefix("RM ANOVA ")
    analysis = hypothesis.test == "rm-anova"
    what = effect.replace(" x ", "-x-") if analysis else "wilcoxon" if found.statistic_name == "W" else "paired-t"
    return Result(
        id=f"{hypothesis.id}/{what}",
        section="anova" if analysis else "companion",
        question=f"{effect} in the same analysis" if analysis else f"{hypothesis.id} by the other paired test",
        finding=found,
        measure=hypothesis.measure,
        compares=hypothesis.compares,
        planned=planned and analysis,
        mark=mark(found.p),
    )


def score_hypotheses(design: StudyDesign) -> Iterator[Hypothesis]:
    """The survey as one number, for every two conditions: always exploratory, unless a plan has it."""
    pairs = contrasts(design)
    for first, second in pairs:
        yield Hypothesis(
            id=f"survey-score-{first}-{second}" if len(pairs) > 1 else "survey-score",
            text=f"The survey score differs between {first} and {second}.",
            measure=SCORE,
            test="paired-t",
            compares=(first, second),
            family="survey-score" if len(pairs) > 1 else "",
        )


# Populations, reliability, order, robustness


def population_results(measured: Measures, alpha: float) -> Iterator[Result]:
    """AI researchers and others: the overall level of regret, and what the first algorithm of a pair spares them."""
    question = researcher_question(measured.design)
    if question is None:
        return
    values = measured.totals(TASK_REGRET)
    pairs = contrasts(measured.design)

    def row(id: str, text: str, sample: Array, compares: tuple[str, ...]) -> Result:
        found = between(measured, sample, question.id, name=f"{id}: task regret", level=1 - alpha)
        return Result(
            id=id,
            section="population",
            question=text,
            finding=found,
            measure=TASK_REGRET,
            compares=compares,
            group=question.id,
            mark=mark(found.p),
        )

    if len(measured.conditions) > 1:
        text = "Mean task regret over all conditions, between the two populations."
        yield row("population/level", text, values.mean(axis=1), measured.conditions)
    for first, second in pairs:
        id = "population/gain" if len(pairs) == 1 else f"population/gain/{first}/{second}"
        gain = values[:, measured.column(second)] - values[:, measured.column(first)]
        text = f"Task regret that {first} spares compared with {second}, between the two populations."
        yield row(id, text, gain, (first, second))


def reliability_results(measured: Measures, alpha: float) -> Iterator[Result]:
    """Cronbach's alpha of the survey after each condition, and of all surveys together."""
    points, items = measured.design.survey.points, len(measured.items)
    every = measured.survey.reshape(-1, items)
    samples = [(condition, measured.survey[:, c]) for c, condition in enumerate(measured.conditions)]
    for condition, answers in [*samples, ("all", every)] if len(samples) > 1 else samples:
        said = f"after {condition}" if condition != "all" else "of all conditions"
        told = answers[~np.isnan(answers).all(axis=1)]  # who was not asked has not left a gap
        found = stats.cronbach_alpha(
            told, reverse=measured.reversed, points=points, name=f"reliability: survey {said}", level=1 - alpha
        )
        if condition == "all" and found.statistic is not None:
            note = "Each participant is in it once per condition, so the interval is narrower than it should be."
            found = replace(found, note=f"{found.note} {note}".strip())
        yield Result(
            id=f"reliability/{condition}",
            section="reliability",
            question=f"Do the survey items {said} measure one thing?",
            finding=found,
            measure="survey",
            compares=measured.conditions if condition == "all" else (condition,),
        )


CHECKED = (TASK_REGRET, GOOD, SCORE)
"""The measures whose order effects and mixed models are shown."""


def order_results(measured: Measures, alpha: float) -> Iterator[Result]:
    """Whether the set (first or second), what was carried over, or the swap of the labels made a difference."""
    design = measured.design
    level = 1 - alpha
    if len(measured.conditions) == 2:
        labels = contrasts(design)[0]
        firsts = [order[0] for order in measured.orders]
        for measure in CHECKED:
            values = measured.totals(measure)
            x, y = (values[:, measured.column(label)] for label in labels)
            found = stats.order_effects(
                x,
                y,
                firsts,
                labels=labels,
                swapped_labels=design.swap_labels,
                name=f"order: {measure_name(design, measure)}",
                level=level,
            )
            for what, row in zip(("condition", "set", "carry-over"), found, strict=True):
                yield _check(f"order/{measure}/{what}", "order", _ORDER[what], row, measure, labels)
    elif len(measured.conditions) > 2:
        for measure in CHECKED:
            sets = measured.by_set(measured.totals(measure))
            (row,) = stats.rm_anova(sets, ("set",), name=f"order: {measure_name(design, measure)}")
            text = "Is there a difference between the first set and the later ones, whatever the condition?"
            yield _check(f"order/{measure}/set", "order", text, row, measure, measured.conditions)
    if design.swap_labels and len(measured.conditions) > 1:
        yield _label_check(measured, level)


_ORDER = {
    "condition": "Is there a difference between the conditions when both orders weigh the same?",
    "set": "Is there a difference between the first and the second set?",
    "carry-over": "Do those who began with one condition differ from those who began with the other?",
}


def _label_check(measured: Measures, level: float) -> Result:
    """The same arm goes by two labels in swapped and other sets; whoever follows rewards alone picks it as often."""
    shares = measured.by_set(measured.first_arm)
    labels = measured.design.seating[measured.design.participant_seat].arms
    row = stats.paired_t(
        shares[:, 0::2].mean(axis=1),
        shares[:, 1::2].mean(axis=1),
        name="labels: share of choices of one and the same arm",
        level=level,
        labels=(f"labelled {labels[0]}", f"labelled {labels[-1]}"),
    )
    text = (
        f"Is the same arm chosen more often when it is labelled {labels[0]!r} than when, in swapped sets, it is "
        f"labelled {labels[-1]!r}?"
    )
    return _check("order/labels", "order", text, row, "first_arm", measured.conditions)


def robustness_results(measured: Measures, alpha: float) -> Iterator[Result]:
    """A mixed-effects model of each measure, with those who have a value in some conditions only."""
    design = measured.design
    level = 1 - alpha
    several = "" if design.episodes == 1 else f" (mean per {episode_word(design)}, over those there are)"
    for measure in CHECKED if len(measured.conditions) > 1 else ():
        values = measured.means_over_episodes(measure)
        name = f"mixed model: {measure_name(design, measure)}{several if measure != SCORE else ''}"
        if len(measured.conditions) == 2:
            labels = contrasts(design)[0]
            x, y = (values[:, measured.column(label)] for label in labels)
            firsts = [order[0] for order in measured.orders]
            found = stats.crossover_model(
                x, y, firsts, labels=labels, swapped_labels=design.swap_labels, name=name, level=level
            )
            terms: Iterable[str] = ("condition", "set", "order")
            compares: tuple[str, ...] = labels
        else:
            found, terms = _several_conditions(measured, values, name, level)
            compares = measured.conditions
        for term, row in zip(terms, found, strict=True):
            text = f"Does {term!r} matter when each participant has a level of their own?"
            yield _check(f"mixed/{measure}/{term}", "robustness", text, row, measure, compares)


def _several_conditions(
    measured: Measures, values: Array, name: str, level: float
) -> tuple[tuple[Finding, ...], list[str]]:
    """Each condition against the first, and each set against the first set."""
    people, sets = len(measured), len(measured.conditions)
    place = np.array([[order.index(c) for c in measured.conditions] for order in measured.orders], dtype=np.int64)
    place = place.reshape(people, sets)
    column = np.broadcast_to(np.arange(sets), (people, sets))
    terms = {
        f"{condition} minus {measured.conditions[0]}": (column == c + 1).astype(float).ravel()
        for c, condition in enumerate(measured.conditions[1:])
    }
    terms |= {f"set {s + 1} minus set 1": (place == s).astype(float).ravel() for s in range(1, sets)}
    who = np.repeat(np.arange(people), sets).tolist()
    return stats.mixed_model(values.ravel(), who, terms, name=name, level=level), list(terms)


def _check(id: str, section: str, text: str, row: Finding, measure: str, compares: tuple[str, ...]) -> Result:
    return Result(
        id=id, section=section, question=text, finding=row, measure=measure, compares=compares, mark=mark(row.p)
    )


# Descriptions and grids


def descriptions(measured: Measures, alpha: float) -> Iterator[Described]:
    """Every measure in every condition, of all who have it; and regret by population."""
    items = [f"{SURVEY}{item}" for item in measured.items]
    for measure in (TASK_REGRET, TEAM_REGRET, GOOD, SCORE, *items):
        values = measured.totals(measure)
        for c, condition in enumerate(measured.conditions):
            yield Described(measure, condition, stats.describe(values[:, c], name=condition, level=1 - alpha))
    question = researcher_question(measured.design)
    if question is not None:
        values, given = measured.totals(TASK_REGRET), measured.group(question.id)
        for c, condition in enumerate(measured.conditions):
            for choice in question.choices:
                sample = values[[answer == choice for answer in given], c]
                made = stats.describe(sample, name=f"{question.id}: {choice}", level=1 - alpha)
                yield Described(TASK_REGRET, condition, made, question.id, choice)


def grids(measured: Measures, alpha: float, measure: str = TASK_REGRET) -> Iterator[Grid]:
    """Within each participant over the episodes, and within each episode over the participants."""
    design = measured.design
    if design.episodes == 1:
        return
    word, cells = episode_word(design), measured.cells(measure)
    shared = design.means.per == "study" or design.means.draw == "fixed"
    note = "" if shared else f"The means differ between participants: {word} k is the k-th one of each participant."
    for pair in contrasts(design):
        x, y = (cells[:, measured.column(condition)] for condition in pair)
        people = [
            (name, _renamed(stats.paired_t(x[i], y[i], name=name, labels=pair, level=1 - alpha), word))
            for i, name in enumerate(measured.participants)
        ]
        episodes = [
            (f"{word} {e + 1}", stats.paired_t(x[:, e], y[:, e], name=f"{word} {e + 1}", labels=pair, level=1 - alpha))
            for e in range(design.episodes)
        ]
        yield _grid("participant", measure, pair, people, "")
        yield _grid(word, measure, pair, episodes, note)


def _grid(by: str, measure: str, pair: tuple[str, str], rows: list[tuple[str, Finding]], note: str) -> Grid:
    corrected = stats.adjusted([found for _, found in rows])
    made = tuple(GridRow(label, row, mark(row.p)) for (label, _), row in zip(rows, corrected, strict=True))
    return Grid(by=by, measure=measure, compares=pair, rows=made, note=note)


def _renamed(found: Finding, word: str) -> Finding:
    """A paired test over the episodes of one participant: its note is about episodes, not people."""
    note = found.note.replace("participants left out", f"{word}s left out")
    note = note.replace("nobody has a value", f"no {word} has a value").replace("for everybody", f"in every {word}")
    note = note.replace("one participant has values", f"one {word} has values")
    return replace(found, note=note)
