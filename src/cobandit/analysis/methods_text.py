"""The methods section of a study, written from its design alone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from cobandit.analysis.between import variance_test
from cobandit.analysis.plan import episode_word, good_total
from cobandit.analysis.words import (
    Paragraph,
    agent_label,
    apa_number,
    cells_text,
    condition_label,
    exclusion_rules,
    listed,
    loss_words,
    marks_note,
    means_origin,
    people_word,
    say_simulated,
    unit_note,
    unit_word,
)
from cobandit.base.numbers import count
from cobandit.studies.design import MeansRule, Seat, StudyDesign

if TYPE_CHECKING:
    from cobandit.analysis.analysis import Analysis


def methods(analysis: Analysis) -> tuple[Paragraph, ...]:
    """Return the methods section."""
    return say_simulated(
        analysis,
        [
            Paragraph("Participants", _participants(analysis)),
            Paragraph("Task and design", _design(analysis)),
            Paragraph("Procedure", _procedure(analysis)),
            Paragraph("Measures", _measures(analysis)),
            Paragraph("Analysis", _analysis(analysis)),
        ],
    )


def _participants(analysis: Analysis) -> str:
    flow = analysis.measures.flow
    text = f"{people_word(analysis, flow.began)} began the study"
    teams = f" in {unit_word(analysis, len(analysis.units))}" if analysis.design.group is not None else ""
    text += (
        f"; {flow.excluded} were excluded and {flow.analysed} analysed{teams}."
        if flow.excluded
        else f"; all were analysed{teams}."
    )
    if flow.began == 0:
        text = f"No {people_word(analysis)} began the study."
    if analysis.simulated:
        return text + (
            " They are programs that choose by a rule; their answers to questions are made up. Their data say how the "
            "design and the analysis work, and nothing about people."
        )
    parts = []
    for question in analysis.design.demographics:
        if question.answer == "text":
            continue
        given = [answer for answer in analysis.measures.group(question.id) if answer is not None]
        if not given:
            continue
        if question.answer == "whole":
            ages = np.array(given, dtype=np.float64)
            spread = f", SD = {apa_number(float(ages.std(ddof=1)))}" if len(ages) > 1 else ""
            mean = f"M = {apa_number(float(ages.mean()))}{spread}"
            parts.append(f"{question.text!r} {mean}, range {ages.min():g} to {ages.max():g}")
        else:
            counts = Counter(given)
            parts.append(f"{question.text!r} {', '.join(f'{counts[c]} {c!r}' for c in question.choices if counts[c])}")
    return text + (f" Answers of those analysed: {'; '.join(parts)}." if parts else "")


def _design(analysis: Analysis) -> str:
    design = analysis.design
    task = design.task
    conditions = []
    for condition in design.conditions:
        label = condition_label(design, condition.name)
        agent = "" if label != condition.name or label == condition.agent else f"the agent {condition.agent}"
        inside = ", ".join(part for part in (agent, condition.settings, *condition.differences) if part)
        conditions.append(f"{label} ({inside})" if inside else label)
    each = design.rounds_words if task.steps == 1 else f"{design.rounds_words} of one layer"
    sets = each if design.episodes == 1 else f"{count(design.episodes, episode_word(design))} of {each} each"
    if len(design.cells) > 1:
        within, luck = _cells(analysis, sets, conditions)
    elif len(design.conditions) == 1:
        within = f"Each of the {people_word(analysis)} played {sets} with {conditions[0]}."
        luck = ""
    else:
        order = "was counterbalanced" if design.order == "counterbalanced" else "was drawn at random"
        order += "" if design.group is None else " for each team"
        within = (
            _parts_of_teams(design, sets, conditions, order)
            if design.group is not None
            else (
                f"The design was within subjects: each of the {people_word(analysis)} played {sets} with each of "
                f"{len(conditions)} AI algorithms, {listed(conditions)}. The order of the algorithms {order}."
            )
        )
        luck = " The outcomes that every choice would have had were the same in all sets." if design.shared_luck else ""
        if design.swap_labels:
            luck += f" In every second set the labels of {_all_arms(design)} were reversed."
    moment = "In every round" if task.steps == 1 else f"A {task.configuration} had {task.steps} layers. In every layer"
    known = "" if task.steps == 1 else "; the layers below were known"
    rated = f"the {task.configuration} that they chose together"
    rated = rated if task.steps == 1 else f"the finished {task.configuration}"
    rated = rated if design.rewards.graded else f"the outcome of {rated}"
    means = f"{_mean_word(design)} {_drawn(design)}.{_drifts(design)}"
    return (
        f"{moment}, {_team(design)} chose at the same time, without knowing {_each_other(design)} "
        f"{'choice' if len(design.seating) == 2 else 'choices'}{known}; {rated} "
        f"{_outcome(design)}. Each of the "
        f"{math.prod(design.arms) ** task.steps} combinations had {means} {_sight(design)}{_hidden(design)}"
        f"{_delay(design)}{_leader(design)} {within}{luck}"
    )


def _hidden(design: StudyDesign) -> str:
    """Return whether the choices of others stayed unknown, as a sentence; empty, where they were known."""
    hides = {design.problem_of(condition.name).hides_actions for condition in design.conditions}
    some = " in some conditions" if len(hides) > 1 else ""
    return f" The choices of others were never shown{some}." if True in hides else ""


def _delay(design: StudyDesign) -> str:
    """Return how much later choices and outcomes were known, as a sentence; empty, where that was immediately."""
    delays = list(dict.fromkeys(design.problem_of(condition.name).delay for condition in design.conditions))
    if not any(delays):
        return ""
    late = f"{count(delays[0], 'round')}" if len(delays) == 1 else f"{' or '.join(map(str, delays))} rounds"
    some = " (depending on the condition)" if len(delays) > 1 else ""
    return f" Choices and outcomes of a round were known {late} later{some}."


def _leader(design: StudyDesign) -> str:
    """Return that the leader was drawn, as a sentence; empty, where it was known (or a condition says so)."""
    return " Which of them led was drawn for each episode." if design.roles == "drawn" else ""


def _groups(design: StudyDesign, said: Callable[[str], str]) -> dict[str, list[str]]:
    """Return the texts about the conditions, each with the names of those that it is true of."""
    groups: dict[str, list[str]] = {}
    for condition in design.conditions:
        groups.setdefault(said(condition.name), []).append(condition.name)
    return groups


def _labels(design: StudyDesign, names: Iterable[str]) -> str:
    return listed(condition_label(design, name) for name in names)


def _in_groups(design: StudyDesign, said: Callable[[str], str]) -> str:
    """Return one text about all conditions, or each text with its conditions."""
    groups = _groups(design, said)
    if len(groups) == 1:
        return next(iter(groups))
    return ", and ".join(f"{text} in {_labels(design, names)}" for text, names in groups.items())


def _sight(design: StudyDesign) -> str:
    """Return what each seat saw of the outcomes, as sentences: one for each observation model."""
    groups = _groups(design, design.observation_of)
    texts = [_sees(design, observation, names) for observation, names in groups.items()]
    if len(texts) == 1:
        return texts[0]
    owners = [_labels(design, names) for names in groups.values()]
    return " ".join(f"In {owner}, {text[:1].lower()}{text[1:]}" for owner, text in zip(owners, texts, strict=True))


def _sees(design: StudyDesign, observation: str, names: Sequence[str]) -> str:
    seen = _shares(design, names)
    first, *others = [(_called(design, seat.name), seen[seat.name]) for seat in _participant_first(design)]
    subject = "The participant" if design.group is None else f"The seat {design.seating[0].name!r}"
    whole = listed([f"{subject} saw {first[1]}", *(f"{name} {share}" for name, share in others)])
    parts = listed([f"in {first[1]}", *(f"{name} in {share}" for name, share in others)])
    return {
        "missed": f"{whole} of the good outcomes; a missed one looked like a bad one.",
        "missed-known": f"{subject} saw the outcome {parts} of the rounds, and knew when not.",
        "flipped": f"{subject} saw the outcome itself {parts} of the rounds, and otherwise a good one.",
        "noisy": _noise(design, names),
    }[observation]


def _shares(design: StudyDesign, names: Sequence[str]) -> dict[str, str]:
    """Return the share of outcomes that each seat sees, with all values where conditions differ."""
    every = [design.observability_of(name) for name in names]
    return {
        seat.name: " or ".join(dict.fromkeys(f"{100 * levels[i]:g}%" for levels in every))
        + (" (depending on the condition)" if len({levels[i] for levels in every}) > 1 else "")
        for i, seat in enumerate(design.seating)
    }


def _cells(analysis: Analysis, sets: str, conditions: list[str]) -> tuple[str, str]:
    """Return who played what in a design with factors between participants, and what was the same in all sets."""
    design = analysis.design
    labels = dict(zip((condition.name for condition in design.conditions), conditions, strict=True))
    kind = "between subjects" if design.sets == 1 else "mixed"
    text = f"The design was {kind}: {cells_text(design, labels)}."
    if design.sets == 1:
        return f"{text} Each of the {people_word(analysis)} played {sets}.", ""
    order = "was counterbalanced" if design.order == "counterbalanced" else "was drawn at random"
    text += f" Each of the {people_word(analysis)} played {sets} in each condition of one cell; their order {order}."
    luck = " The outcomes that every choice would have had were the same in all sets." if design.shared_luck else ""
    if design.swap_labels:
        luck += f" In every second set the labels of {_all_arms(design)} were reversed."
    return text, luck


def _outcome(design: StudyDesign) -> str:
    if not design.rewards.graded:
        return f"was {design.task.good!r} or {design.task.bad!r}"
    return f"paid {_in_groups(design, lambda name: design.rewards_of(name).said)}"


def _mean_word(design: StudyDesign) -> str:
    if design.rewards.graded:
        return "its own mean score; these means"
    return f"its own chance of {design.task.good!r}; these chances"


def _drawn(design: StudyDesign) -> str:
    """Return where the means come from; with the conditions, where these differ."""
    return f"were {_in_groups(design, lambda name: means_origin(design, design.means_of(name)))}"


def _drifts(design: StudyDesign) -> str:
    """Return sentences about means that change within an episode, or nothing."""
    groups = _groups(design, lambda name: _drift(design.means_of(name)))
    if len(groups) == 1:
        return next(iter(groups))
    return "".join(
        f"{drift.removesuffix('.')} in {_labels(design, names)}." for drift, names in groups.items() if drift
    )


def _drift(rule: MeansRule) -> str:
    """Return a sentence about means that change within an episode, or nothing."""
    if rule.drift == "random-walk":
        return f" From round to round each of them changed at random (SD = {rule.step:g})."
    if rule.drift == "piecewise":
        places = listed([str(t) for t in rule.changes_at])
        return (
            f" They changed in round {places}." if len(rule.changes_at) == 1 else f" They changed in rounds {places}."
        )
    return ""


def _noise(design: StudyDesign, names: Sequence[str]) -> str:
    noises = [design.condition(name).noise or design.rewards.noise for name in names]
    each = [" or ".join(dict.fromkeys(f"{sd:g}" for sd in of_seat)) for of_seat in zip(*noises, strict=True)]
    pairs = zip(design.seating, each, strict=False)
    return f"Each seat saw the score with noise, SD = {listed([f'{sd} ({seat.name})' for seat, sd in pairs])}."


def _parts_of_teams(design: StudyDesign, sets: str, conditions: list[str], order: str) -> str:
    """Return who played with whom in the conditions of a study with teams."""
    labels = dict(zip((condition.name for condition in design.conditions), conditions, strict=True))
    together = [labels[condition.name] for condition in design.conditions if not condition.alone]
    alone = [labels[condition.name] for condition in design.conditions if condition.alone]
    text = f"The design was within teams of {len(design.participant_seats)} people, with {sets} in each condition."
    if together:
        text += (
            f" In {listed(together)} the members played together; the agent in brackets chose only in place of "
            "a member who had left or had missed the time limit."
        )
    if alone:
        text += f" In {listed(alone)} each member played alone in their own seat, and the AI in the others."
    return f"{text} The order of the conditions {order}."


def _participant_first(design: StudyDesign) -> list[Seat]:
    """Return the seats with the participant's first: the text describes people before AIs."""
    return sorted(design.seating, key=lambda seat: seat.player != "participant")


def _called(design: StudyDesign, name: str) -> str:
    """Return what the text calls an AI: its name only if there are several."""
    if design.group is not None:
        return f"the seat {name!r}"
    return "the AI" if len(design.seating) == 2 else f"the AI {name}"


def _team(design: StudyDesign) -> str:
    """Return a description of the players and their choices."""
    own, *others = _participant_first(design)
    who = "the participant" if design.group is None else _called(design, own.name)
    first = f"{who} ({_choices(design, own)})"
    return listed([first, *(f"{_called(design, seat.name)} ({_choices(design, seat)})" for seat in others)])


def _choices(design: StudyDesign, seat: Seat) -> str:
    """Return the labels of a seat's arms; those of every layer, where the task has several."""
    place = design.seating.index(seat)
    layers = [seat.arms, *(sides[place] for sides in design.task.layers)]
    return ", then ".join(" or ".join(labels) for labels in layers)


def _each_other(design: StudyDesign) -> str:
    return "the other's" if len(design.seating) == 2 else "the others'"


def _all_arms(design: StudyDesign) -> str:
    return "both agents' arms" if len(design.seating) == 2 else "all arms"


def _procedure(analysis: Analysis) -> str:
    design = analysis.design
    steps = ["gave consent"]
    if design.demographics:
        steps.append("answered questions about themselves")
    steps.append("read the instructions")
    if design.quiz:
        steps.append(f"answered {count(len(design.quiz), 'question')} on them until all answers were right")
    if design.practice is not None:
        practice = design.practice
        many = f"{count(practice.episodes, 'practice ' + episode_word(design))} of {count(practice.rounds, 'round')}"
        steps.append(f"played {many} with {agent_label(practice.agent)} that did not count")
    if design.group is not None:
        steps.append("waited for their team")
    sets = count(design.sets, "set")
    steps.append(f"played {sets} with a survey after each")
    text = f"The {people_word(analysis)} {listed(steps)}."
    if design.warm_start is not None:
        warm = design.warm_start
        ais = "the AI" if len(design.seating) == 2 else "the AIs"
        text += (
            f" Before each {'set' if design.episodes == 1 else episode_word(design)} {ais} had played "
            f"{count(warm.rounds, 'round')} with a simulated partner ({agent_label(warm.agent)}), which did "
            f"not count."
        )
    if design.attention:
        text += f" The surveys held {count(len(design.attention), 'attention check')}."
    return text


def _measures(analysis: Analysis) -> str:
    design = analysis.design
    survey = design.survey
    reversed_items = [item.id for item in survey.items if item.reversed]
    turned = (
        f" ({listed(reversed_items)} speak against the {_other(design)} and were turned round)"
        if reversed_items
        else ""
    )
    many = design.most_rounds * design.episodes
    rounds = count(many, "counted round") if design.even_rounds else "counted rounds"
    members = "the two" if len(design.seating) == 2 else "all members of the team"
    return (
        f"Task regret is {loss_words(design)}, summed over the "
        f"{rounds} of a condition; team regret weighs it by what "
        f"{members} observe (the paper's R(T)), and here the tests are about {analysis.plan.regret} regret. The second "
        f"measure is {good_total(design)}. After each set the "
        f"{people_word(analysis)} rated {count(len(survey.items), 'statement')} "
        f"({'; '.join(f'{item.id}: {item.text!r}' for item in survey.items)}) from 1 ({survey.low}) to "
        f"{survey.points} ({survey.high}); the survey score is their mean{turned}."
    )


def _compared(design: StudyDesign) -> str:
    """Return by which tests conditions and groups of people are compared."""
    if design.sets == 1 and len(design.cells) > 1:
        return "Conditions, which different people played, were compared by Welch's and Student's t tests."
    return (
        "Conditions were compared by paired t tests and by Wilcoxon's signed-rank test (zeros after Pratt); groups of "
        "people by Welch's and Student's t tests."
    )


def _other(design: StudyDesign) -> str:
    return "AI" if design.group is None else "partner"


def _analysis(analysis: Analysis) -> str:
    plan = analysis.plan
    tests = (
        f"{_compared(analysis.design)} p-values are two-sided unless stated "
        "otherwise, and the level of significance was "
        f"{f'{plan.alpha:g}'.removeprefix('0')}. Where several tests answered one question, Holm's "
        f"correction was made. {marks_note(plan)} d_z and Hedges' g come with exact intervals from the noncentral t "
        "distribution."
    )
    if analysis.section("anova") or any(row.finding.statistic_name == "F" for row in analysis.results):
        kinds = {
            "rm-anova": "for repeated measures",
            "anova": "between participants",
            "mixed-anova": "mixed (type III)",
        }
        kind = variance_test(analysis.design)
        how = "" if kind == "anova" else "degrees of freedom corrected after Greenhouse and Geisser and "
        tests += f" Analyses of variance were {kinds[kind]}, with {how}generalised eta squared as effect size."
    if analysis.design.sets > 1:
        levels = "each participant" if analysis.design.group is None else "each team and each of its members"
        tests += f" Order effects were checked, and a mixed-effects model with a level for {levels} as well."
    teams = analysis.design.group is not None
    if teams:
        tests = f"{unit_note(analysis.design)} {tests}"
    simulated = " All data are of simulated participants." if analysis.simulated else ""
    return f"{analysis.stored.sentence} {exclusion_rules(plan.exclusions, teams=teams)} {tests}{simulated}"
