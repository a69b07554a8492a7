"""Checks in addition to the hypotheses: populations, reliability of the survey, order effects, robustness."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from cobandit import stats
from cobandit.analysis.findings import StudyResult, mark, measure_name
from cobandit.analysis.hypotheses import between
from cobandit.analysis.measures import Measures
from cobandit.analysis.plan import GOOD, SCORE, contrasts, episode_word, researcher_question
from cobandit.analysis.tables import Array
from cobandit.analysis.teams import in_units
from cobandit.stats import Finding

CHECKED = (GOOD, SCORE)
"""The measures whose order effects and mixed models are shown, in addition to the regret that the plan chooses."""

_ORDER = {
    "condition": "Is there a difference between the conditions when both orders weigh the same?",
    "set": "Is there a difference between the first and the second set?",
    "carry-over": "Do those who began with one condition differ from those who began with the other?",
}


def population_results(measured: Measures, alpha: float, regret: str) -> Iterator[StudyResult]:
    """Yield tests between AI researchers and others: overall regret, and the regret saved by the first algorithm of a
    pair.

    Welch's test gives the verdict; Student's test, which the paper uses, is reported next to it.
    """
    question = researcher_question(measured.design)
    if question is None:
        return
    values = measured.totals(regret)
    pairs = contrasts(measured.design)
    what = measure_name(measured.design, regret)

    def rows(id: str, text: str, sample: Array, compares: tuple[str, ...]) -> Iterator[StudyResult]:
        mine = [i for i, order in enumerate(measured.orders) if set(order) & set(compares)]
        people, sample = measured.playing(*compares), sample[mine]
        findings = between(people, sample, question.id, name=f"{id}: {what}", level=1 - alpha)
        beside = (f"{id}/student", "companion", f"{id} by Student's t test, as in the paper")
        for (name, section, asked), finding in zip(((id, "population", text), beside), findings, strict=True):
            yield StudyResult(
                id=name,
                section=section,
                question=asked,
                finding=in_units(finding, measured.unit),
                measure=regret,
                compares=compares,
                group=question.id,
                mark=mark(finding.p),
            )

    if len(measured.conditions) > 1:
        text = f"Mean {what} over all conditions, between the two populations."
        level = measured.own_means(values, measured.conditions)
        yield from rows("population/level", text, level, measured.conditions)
    for first, second in pairs:
        if not measured.design.same_people(first, second):
            continue  # different people play them, so there is no gain of a participant
        id = "population/gain" if len(pairs) == 1 else f"population/gain/{first}/{second}"
        gain = values[:, measured.column(second)] - values[:, measured.column(first)]
        text = f"{what.capitalize()} that {first} spares compared with {second}, between the two populations."
        yield from rows(id, text, gain, (first, second))


def reliability_results(measured: Measures, alpha: float) -> Iterator[StudyResult]:
    """Cronbach's alpha of the survey after each condition, and of all surveys together."""
    points, items = measured.design.survey.points, len(measured.items)
    every = measured.survey.reshape(-1, items)
    samples = [(condition, measured.survey[:, c]) for c, condition in enumerate(measured.conditions)]
    for condition, answers in [*samples, ("all", every)] if len(samples) > 1 else samples:
        said = f"after {condition}" if condition != "all" else "of all conditions"
        given = answers[~np.isnan(answers).all(axis=1)]  # who was not asked has not left a gap
        finding = stats.cronbach_alpha(
            given, reverse=measured.reversed, points=points, name=f"reliability: survey {said}", level=1 - alpha
        )
        if condition == "all" and finding.statistic is not None:
            note = "Each participant is in it once per condition, so the interval is narrower than it should be."
            finding = replace(finding, note=f"{finding.note} {note}".strip())
        if measured.teams and finding.statistic is not None:
            note = "Members of a team are counted one by one, as if they were independent: it describes the survey."
            finding = replace(finding, note=f"{finding.note} {note}".strip())
        yield StudyResult(
            id=f"reliability/{condition}",
            section="reliability",
            question=f"Do the survey items {said} measure one thing?",
            finding=finding,
            measure="survey",
            compares=measured.conditions if condition == "all" else (condition,),
        )


def order_results(measured: Measures, alpha: float, regret: str) -> Iterator[StudyResult]:
    """Yield whether the set (first or second), what was carried over, or the swap of the labels made a difference.

    In a design with cells, this is asked of the people of each cell; not where everyone plays a single condition.
    """
    if measured.design.sets == 1:
        return
    for cell, conditions in measured.design.cells.items():
        for row in _order_rows(measured.playing(*conditions), conditions, alpha, regret):
            yield replace(row, id=f"{row.id}/{cell}" if cell else row.id)


def _order_rows(measured: Measures, conditions: tuple[str, ...], alpha: float, regret: str) -> Iterator[StudyResult]:
    design = measured.design
    level = 1 - alpha
    if len(conditions) == 2:
        labels = next(pair for pair in contrasts(design) if set(pair) == set(conditions))
        firsts = [order[0] for order in measured.orders]
        for measure in (regret, *CHECKED):
            values = measured.totals(measure)
            x, y = (values[:, measured.column(label)] for label in labels)
            effects = stats.order_effects(
                x,
                y,
                firsts,
                labels=labels,
                swapped_labels=design.swap_labels,
                name=f"order: {measure_name(design, measure)}",
                level=level,
            )
            for what, effect in zip(("condition", "set", "carry-over"), effects, strict=True):
                row = in_units(effect, measured.unit)
                yield _check(f"order/{measure}/{what}", "order", _ORDER[what], row, measure, labels)
    elif len(conditions) > 2:
        for measure in (regret, *CHECKED):
            sets = measured.by_set(measured.totals(measure))
            (row,) = stats.rm_anova(sets, ("set",), name=f"order: {measure_name(design, measure)}")
            text = "Is there a difference between the first set and the later ones, whatever the condition?"
            row = in_units(row, measured.unit)
            yield _check(f"order/{measure}/set", "order", text, row, measure, conditions)
    if design.swap_labels and len(conditions) > 1:
        yield _label_check(measured, conditions, level)


def _label_check(measured: Measures, conditions: tuple[str, ...], level: float) -> StudyResult:
    """Return the check of labels: the same arm has two labels in swapped and other sets.

    Participants who follow only rewards choose it equally often under both labels.
    """
    shares = measured.by_set(measured.first_arm)
    labels = measured.design.seating[measured.design.participant_seat].arms
    named = labels[0], labels[-1]
    first, last = map(repr, named)
    if measured.unit == "team":  # the seats of a team have labels of their own
        named = first, last = "as the first arm", "as the last arm"
    row = stats.paired_t(
        shares[:, 0::2].mean(axis=1),
        shares[:, 1::2].mean(axis=1),
        name="labels: share of choices of one and the same arm",
        level=level,
        labels=(f"labelled {named[0]}", f"labelled {named[1]}"),
    )
    text = (
        f"Is the same arm chosen more often when it is labelled {first} than when, in swapped sets, it is "
        f"labelled {last}?"
    )
    row = in_units(row, measured.unit)
    return _check("order/labels", "order", text, row, "first_arm", conditions)


def robustness_results(measured: Measures, alpha: float, regret: str) -> Iterator[StudyResult]:
    """Yield a mixed-effects model of each measure, with those who have a value in some conditions only."""
    design = measured.design
    level = 1 - alpha
    several = "" if design.episodes == 1 else f" (mean per {episode_word(design)}, over those there are)"
    for measure in (regret, *CHECKED) if design.sets > 1 else ():
        values = measured.means_over_episodes(measure)
        name = f"mixed model: {measure_name(design, measure)}{several if measure != SCORE else ''}"
        if len(measured.conditions) == 2 and not measured.teams:
            labels = contrasts(design)[0]
            x, y = (values[:, measured.column(label)] for label in labels)
            firsts = [order[0] for order in measured.orders]
            fitted = stats.crossover_model(
                x, y, firsts, labels=labels, swapped_labels=design.swap_labels, name=name, level=level
            )
            terms: Iterable[str] = ("condition", "set", "order")
            compares: tuple[str, ...] = labels
        else:
            fitted, terms = _several_conditions(measured, values, name, level, survey=measure == SCORE)
            compares = measured.conditions
        for term, row in zip(terms, fitted, strict=True):
            owner = (
                "each team and each of its members have levels" if measured.teams else "each participant has a level"
            )
            text = f"Does {term!r} matter when {owner} of their own?"
            yield _check(f"mixed/{measure}/{term}", "robustness", text, row, measure, compares)


def _several_conditions(
    measured: Measures, values: Array, name: str, level: float, *, survey: bool
) -> tuple[tuple[Finding, ...], list[str]]:
    """Return each condition against the first, and each set against the first set.

    Members of a team share the outcome of a condition that they play together, but not their answers to a ``survey``.
    """
    people, sets = len(measured), len(measured.conditions)
    known = [dict(zip(order, range(sets), strict=False)) for order in measured.orders]
    place = np.array([[places.get(c, 0) for c in measured.conditions] for places in known], dtype=np.int64)
    place = place.reshape(people, sets)
    column = np.broadcast_to(np.arange(sets), (people, sets))
    terms = {
        f"{condition} minus {measured.conditions[0]}": (column == c + 1).astype(float).ravel()
        for c, condition in enumerate(measured.conditions[1:])
    }
    terms |= {f"set {s + 1} minus set 1": (place == s).astype(float).ravel() for s in range(1, measured.design.sets)}
    if measured.teams:
        return _of_teams(measured, values, terms, name, level, survey=survey), list(terms)
    who = np.repeat(np.arange(people), sets).tolist()
    return stats.mixed_model(values.ravel(), who, terms, name=name, level=level), list(terms)


def _of_teams(
    measured: Measures, values: Array, terms: dict[str, Array], name: str, level: float, *, survey: bool
) -> tuple[Finding, ...]:
    """Return the model with levels of teams and of people; the outcome of people who play together is one
    observation.
    """
    alone = [measured.design.condition(condition).alone for condition in measured.conditions]
    members: dict[str, list[str]] = {}
    for who, team in zip(measured.participants, measured.teams, strict=True):
        members.setdefault(team, []).append(who)
    chosen, teams, people = [], [], []
    for i, (who, team) in enumerate(zip(measured.participants, measured.teams, strict=True)):
        for c in range(len(measured.conditions)):
            together = not survey and not alone[c]
            if together and who != members[team][0]:
                continue  # counted with the first member
            chosen.append(i * len(measured.conditions) + c)
            teams.append(team)
            people.append(tuple(members[team]) if together else (who,))
    used = {term: column[chosen] for term, column in terms.items()}
    return stats.team_mixed_model(values.ravel()[chosen], teams, people, used, name=name, level=level)


def _check(id: str, section: str, text: str, row: Finding, measure: str, compares: tuple[str, ...]) -> StudyResult:
    return StudyResult(
        id=id, section=section, question=text, finding=row, measure=measure, compares=compares, mark=mark(row.p)
    )
