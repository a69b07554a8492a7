"""Methods and results as paragraphs in the style of the APA, written from the design and the numbers alone.

Every paragraph about simulated participants says that they are simulated. A p-value and whatever cannot exceed 1 has no
zero before the point; statistics have two decimals, p-values three.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cobandit.analysis.findings import SUPPORTED, UNTESTABLE, Grid, Result, measure_name
from cobandit.analysis.plan import GOOD, SCORE, SURVEY, TASK_REGRET, TEAM_REGRET, episode_word, good_word
from cobandit.base.numbers import APA, count
from cobandit.stats import Description, Finding
from cobandit.studies.design import AgentChoice, Seat, StudyDesign

if TYPE_CHECKING:
    from cobandit.analysis.analysis import Analysis

LABELS = {
    "partner-aware-ucb": "Partner-Aware UCB",
    "partner-aware-ts": "Partner-Aware Thompson Sampling",
    "naive-ucb": "Naive UCB",
    "naive-ts": "Naive Thompson Sampling",
    "very-naive-ucb": "Very Naive UCB",
    "knowledge-gradient": "Knowledge Gradient",
    "optimal": "Optimal",
    "mucb-intervals": "mUCB-Intervals",
    "mdsee": "mDSEE",
}
"""How agents are called in a text."""

_RULES = {
    "unfinished": "had not finished",
    "attention-failed": "failed an attention check",
    "quiz-attempts": "needed too many attempts at the quiz",
    "too-fast": "chose too fast",
    "listed": "listed by name",
}


class Paragraph(NamedTuple):
    """A heading and what stands under it."""

    title: str
    text: str


# Numbers


def number(value: float, decimals: int | None = None) -> str:
    """A number with two decimals, large ones with fewer and with commas."""
    return APA.format(value, decimals)


def share(value: float, decimals: int = 2) -> str:
    """A number that cannot exceed 1: without the zero before the point."""
    made = number(value, decimals)
    return made.replace("0.", ".", 1) if made.startswith(("0.", "-0.")) else made


def p_value(p: float) -> str:
    """``p = .002``, ``p < .001``, ``p > .999``."""
    if p < 0.001:
        return "p < .001"
    return "p > .999" if p > 0.999 else f"p = {share(p, 3)}"


def statistic(found: Finding) -> str:
    """``t(57) = 3.21``, ``F(1, 23) = 28.26``, ``W = 172``."""
    if found.statistic is None:
        return ""
    df = "" if found.df is None else f"({', '.join(_freedom(value) for value in found.df)})"
    value = number(found.statistic, 1 if found.statistic_name == "W" else 2)
    return f"{found.statistic_name}{df} = {value.removesuffix('.0') if found.statistic_name == 'W' else value}"


def _freedom(value: float) -> str:
    return f"{value:.0f}" if abs(value - round(value)) < 1e-9 else f"{value:.2f}"


_EFFECTS = {"Hedges g": "g", "rank-biserial correlation": "r_rb", "generalised eta squared": "generalised eta squared"}
_WITHOUT_ZERO = ("rank-biserial correlation", "generalised eta squared", "Cronbach alpha")


def effect(found: Finding) -> str:
    """``d_z = 0.42, 95% CI [0.15, 0.69]``; empty where there is none."""
    if found.effect is None or not found.effect_name:
        return ""
    form = share if found.effect_name in _WITHOUT_ZERO else number
    made = f"{_EFFECTS.get(found.effect_name, found.effect_name)} = {form(found.effect)}"
    return made + _interval(found, found.low, found.high, form)


def _interval(found: Finding, low: float | None, high: float | None, form: Any = number) -> str:
    if low is None or high is None:
        return ""
    return f", {100 * found.level:g}% CI [{form(low)}, {form(high)}]"


def numbers(found: Finding) -> str:
    """The whole chain: statistic, p-value, corrected p-value, effect with interval."""
    parts = [statistic(found)]
    if found.p is not None:
        parts.append(p_value(found.p))
    if found.p_adjusted is not None:
        parts.append(f"Holm-corrected {p_value(found.p_adjusted)}")
    parts.append(effect(found))
    return ", ".join(part for part in parts if part)


def _mean(description: Description) -> str:
    if description.mean is None:
        return "(no values)"
    spread = "" if description.sd is None else f", SD = {number(description.sd)}"
    return f"(M = {number(description.mean)}{spread})"


def listed(parts: Iterable[str]) -> str:
    """``a, b and c``."""
    names = list(parts)
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def condition_label(design: StudyDesign, name: str) -> str:
    """A condition as a text calls it: the agent's name, where the condition goes by it."""
    known = {condition.name: condition.agent for condition in design.conditions}
    return LABELS.get(name, name) if known.get(name) == name else name


def _who(analysis: Analysis, many: int | None = None) -> str:
    word = "simulated participant" if analysis.simulated else "participant"
    return f"{word}s" if many is None else count(many, word)


def _sentence(text: str) -> str:
    made = text.strip()
    return made if not made or made[-1] in ".!?" else f"{made}."


def _told(analysis: Analysis, paragraphs: Iterable[Paragraph]) -> tuple[Paragraph, ...]:
    """The paragraphs that say something; one that has not said that people are simulated says so now."""
    made = []
    for title, text in paragraphs:
        said = " ".join(text.split())
        if said and analysis.simulated and "simulated" not in said:
            said = f"{said} All participants were simulated."
        if said:
            made.append(Paragraph(title, said))
    return tuple(made)


def joined(paragraphs: Sequence[Paragraph]) -> str:
    """Paragraphs as plain text, an empty line between them."""
    return "\n\n".join(f"{title}. {text}" for title, text in paragraphs)


# Methods


def methods(analysis: Analysis) -> tuple[Paragraph, ...]:
    """The methods section."""
    return _told(
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
    text = f"{_who(analysis, flow.began)} began the study"
    text += (
        f"; {flow.excluded} were excluded and {flow.analysed} analysed." if flow.excluded else "; all were analysed."
    )
    if flow.began == 0:
        text = f"No {_who(analysis)} began the study."
    if analysis.simulated:
        return text + (
            " They are programs that choose by a rule; their answers to questions are made up. Their data say how the "
            "design and the analysis work, and nothing about people."
        )
    parts = []
    for question in analysis.design.demographics:
        given = [answer for answer in analysis.measures.group(question.id) if answer is not None]
        if not given or question.answer == "text":
            continue
        if question.answer == "whole":
            ages = np.array(given, dtype=np.float64)
            spread = f", SD = {number(float(ages.std(ddof=1)))}" if len(ages) > 1 else ""
            parts.append(
                f"{question.id}: M = {number(float(ages.mean()))}{spread}, range {ages.min():g} to {ages.max():g}"
            )
        else:
            counts = Counter(given)
            parts.append(f"{question.id}: {', '.join(f'{counts[c]} {c}' for c in question.choices if counts[c])}")
    return text + (f" Of those analysed, {'; '.join(parts)}." if parts else "")


def _settings(choice: AgentChoice) -> str:
    options = choice.options.to_dict()
    return ", ".join(
        f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}" for name, value in options.items()
    )


def _design(analysis: Analysis) -> str:
    design = analysis.design
    task = design.task
    conditions = []
    for condition in design.conditions:
        label = condition_label(design, condition.name)
        agent = "" if label != condition.name else f"the agent {condition.agent}"
        inside = ", ".join(part for part in (agent, _settings(condition)) if part)
        conditions.append(f"{label} ({inside})" if inside else label)
    each = count(design.rounds, "round")
    sets = each if design.episodes == 1 else f"{count(design.episodes, episode_word(design))} of {each} each"
    first, *others = [
        (_called(design, seat.name), f"{100 * seat.observability:g}%") for seat in _participant_first(design)
    ]
    whole = listed([f"The participant saw {first[1]}", *(f"{name} {share}" for name, share in others)])
    parts = listed([f"in {first[1]}", *(f"{name} in {share}" for name, share in others)])
    sees = {
        "missed": f"{whole} of the good outcomes; a missed one looked like a bad one.",
        "missed-known": f"The participant saw the outcome {parts} of the rounds, and knew when not.",
        "flipped": f"The participant saw the outcome itself {parts} of the rounds, and otherwise a good one.",
    }[design.observation]
    rule = design.means
    if rule.draw == "fixed":
        drawn = "were given by the design"
    else:
        owner = "for each participant" if rule.per == "participant" else "once for the whole study"
        drawn = f"were drawn uniformly from {rule.low:g} to {rule.high:g} {owner}"
    if len(design.conditions) == 1:
        within = f"Each of the {_who(analysis)} played {sets} with {conditions[0]}."
        luck = ""
    else:
        order = "was counterbalanced" if design.order == "counterbalanced" else "was drawn at random"
        within = (
            f"The design was within subjects: each of the {_who(analysis)} played {sets} with each of "
            f"{len(conditions)} AI algorithms, {listed(conditions)}. The order of the algorithms {order}."
        )
        luck = " The outcomes that every choice would have had were the same in all sets." if design.shared_luck else ""
        if design.swap_labels:
            luck += f" In every second set the labels of {_all_arms(design)} were reversed."
    return (
        f"In every round, {_team(design)} chose at the same time, without knowing {_each_other(design)} "
        f"{'choice' if len(design.seating) == 2 else 'choices'}; the {task.configuration} that they made together was "
        f"{task.good} or {task.bad}. Each of the "
        f"{math.prod(design.arms)} combinations had its own chance of being {task.good}; these chances {drawn}. {sees} "
        f"{within}{luck}"
    )


def _participant_first(design: StudyDesign) -> list[Seat]:
    """The seats, the participant's first: a text speaks of people before it speaks of AIs."""
    return sorted(design.seating, key=lambda seat: seat.player != "participant")


def _called(design: StudyDesign, name: str) -> str:
    """What the text calls an AI: by name only where there are several."""
    return "the AI" if len(design.seating) == 2 else f"the AI {name}"


def _team(design: StudyDesign) -> str:
    """Who plays, each with the choices they have."""
    own, *others = _participant_first(design)
    first = f"the participant ({' or '.join(own.arms)})"
    return listed([first, *(f"{_called(design, seat.name)} ({' or '.join(seat.arms)})" for seat in others)])


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
        steps.append(f"played {many} with {LABELS.get(practice.agent, practice.agent)} that did not count")
    sets = count(len(design.conditions), "set")
    steps.append(f"played {sets} with a survey after each")
    text = f"The {_who(analysis)} {listed(steps)}."
    if design.warm_start is not None:
        warm = design.warm_start
        ais = "the AI" if len(design.seating) == 2 else "the AIs"
        text += (
            f" Before each {'set' if design.episodes == 1 else episode_word(design)} {ais} had played "
            f"{count(warm.rounds, 'round')} with a simulated partner ({LABELS.get(warm.agent, warm.agent)}), which did "
            f"not count."
        )
    if design.attention:
        text += f" The surveys held {count(len(design.attention), 'attention check')}."
    return text


def _measures(analysis: Analysis) -> str:
    design = analysis.design
    survey = design.survey
    reversed_items = [item.id for item in survey.items if item.reversed]
    turned = f" ({listed(reversed_items)} speak against the AI and were turned round)" if reversed_items else ""
    return (
        f"Task regret is the best chance of a good outcome minus that of what was chosen, summed over the "
        f"{count(design.rounds * design.episodes, 'counted round')} of a condition; team regret weighs it by what the "
        f"two observe. The second measure is the number of {good_word(design)}. After each set the {_who(analysis)} "
        f"rated {count(len(survey.items), 'statement')} ({listed(item.id for item in survey.items)}) from 1 "
        f"({survey.low}) to {survey.points} ({survey.high}); the survey score is their mean{turned}."
    )


def _analysis(analysis: Analysis) -> str:
    plan, rules = analysis.plan, analysis.plan.exclusions
    left_out = ["those who had not finished"] if rules.unfinished else []
    left_out += ["those who failed an attention check"] if rules.attention_failed else []
    if rules.quiz_attempts is not None:
        left_out.append(f"those who needed more than {count(rules.quiz_attempts, 'attempt')} at the quiz")
    if rules.fastest_ms is not None:
        left_out.append(f"those whose median reaction time was below {rules.fastest_ms:g} ms")
    if rules.listed:
        left_out.append(f"{len(rules.listed)} listed by name")
    who = f"Excluded were {listed(left_out)}." if left_out else "Nobody was to be excluded."
    tests = (
        "Conditions were compared by paired t tests, with Wilcoxon's signed-rank test (zeros after Pratt) beside them; "
        "groups of people by Welch's t test. p-values have two sides unless stated otherwise, and the level of "
        f"significance was {f'{plan.alpha:g}'.removeprefix('0')}. Where several tests answered one question, Holm's "
        "correction was made. d_z and Hedges' g come with exact intervals from the noncentral t distribution."
    )
    if analysis.section("anova") or any(row.finding.statistic_name == "F" for row in analysis.results):
        tests += (
            " Analyses of variance were for repeated measures, with degrees of freedom corrected after Greenhouse and "
            "Geisser and generalised eta squared as effect size."
        )
    if len(analysis.design.conditions) > 1:
        tests += " Order effects were checked, and a mixed-effects model with a level for each participant as well."
    simulated = " All data are of simulated participants." if analysis.simulated else ""
    return f"{analysis.stored.sentence} {who} {tests}{simulated}"


# Results


def results(analysis: Analysis) -> tuple[Paragraph, ...]:
    """The results section."""
    made = [Paragraph("Participants and exclusions", _flow(analysis))]
    if analysis.deviations:
        made.append(Paragraph("Deviations from the plan", " ".join(map(_sentence, analysis.deviations))))
    topics = {
        "Performance": (TASK_REGRET, TEAM_REGRET, GOOD),
        "Survey": (SCORE, SURVEY),
    }
    for planned in (True, False):
        status = "planned" if planned else "exploratory"
        rows = analysis.planned if planned else analysis.exploratory
        for topic, kinds in topics.items():
            mine = [row for row in rows if row.measure.startswith(kinds) and not row.group]
            tests = [row for row in mine if not _is_anova(row)]
            made.append(Paragraph(f"{topic} ({status})", _answers(analysis, tests)))
            made += [
                Paragraph(f"Analysis of variance ({status})", _variance(analysis, row))
                for row in mine
                if _is_anova(row)
            ]
        groups = [row for row in rows if row.group]
        more = analysis.section("population") if not planned else ()
        told = [_population(analysis, row) for row in (*groups, *more)]
        lead = [f"Among the {_who(analysis)}:"] if told else []
        made.append(Paragraph(f"Populations ({status})", " ".join([*lead, *told])))
    made += [Paragraph(f"Within each {grid.by} (exploratory)", _grid(analysis, grid)) for grid in analysis.grids]
    made.append(Paragraph("Reliability of the survey", _reliability(analysis)))
    made.append(Paragraph("Order and labels", _order(analysis)))
    made.append(Paragraph("Robustness", _robustness(analysis)))
    return _told(analysis, made)


def _is_anova(row: Result) -> bool:
    return row.finding.test.startswith("RM ANOVA")


def _flow(analysis: Analysis) -> str:
    measured = analysis.measures
    flow = measured.flow
    text = f"{_who(analysis, flow.analysed)} {'was' if flow.analysed == 1 else 'were'} analysed"
    text += f", of {flow.began} who began." if flow.began else "; nobody began the study."
    rules = Counter(entry.rule for entry in measured.excluded)
    if rules:
        reasons = listed(f"{rules[rule]} {said}" for rule, said in _RULES.items() if rules[rule])
        text += f" Excluded: {reasons}."
    if measured.gaps:
        people = len({gap.participant for gap in measured.gaps})
        text += (
            f" {count(people, 'analysed participant lacks', 'analysed participants lack')} some data and "
            f"{'is' if people == 1 else 'are'} left out of the tests that need it:"
            f" {' '.join(gap.sentence for gap in measured.gaps[:5])}"
        )
        if len(measured.gaps) > 5:
            text += f" ({len(measured.gaps) - 5} more are listed with the data.)"
    return text


def _subject(design: StudyDesign, measure: str) -> str:
    if measure == GOOD:
        return f"the number of {good_word(design)}"
    if measure.startswith(SURVEY):
        return f"agreement with {measure.removeprefix(SURVEY)!r}"
    return measure_name(design, measure)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _answers(analysis: Analysis, rows: Sequence[Result]) -> str:
    if not rows:
        return ""
    return " ".join([f"Among the {_who(analysis)}:", *(_paired(analysis, row) for row in rows)])


def _paired(analysis: Analysis, row: Result) -> str:
    design, found = analysis.design, row.finding
    subject = _subject(design, row.measure)
    first, second = (condition_label(design, name) for name in row.compares)
    values = [_mean(group) for group in found.groups]
    if row.verdict == UNTESTABLE:
        both = f"{first} {values[0]} and {second} {values[1]}"
        return f"{_capital(subject)} was not compared between {both} ({row.id}). {found.note}"
    p = row.p
    significant = p is not None and p < analysis.plan.alpha
    if significant:
        word = "lower" if (found.estimate or 0.0) < 0 else "higher"
        if found.estimate == 0.0:  # a median difference, with a test on ranks
            word = "higher" if (found.effect or 0.0) > 0 else "lower"
        text = f"{_capital(subject)} was {word} with {first} {values[0]} than with {second} {values[1]}"
    else:
        text = f"{_capital(subject)} did not differ significantly between {first} {values[0]} and {second} {values[1]}"
    text += f", {numbers(found)}"
    beside = [other for other in analysis.section("companion") if other.id.rpartition("/")[0] == row.id]
    for other in beside:
        test = "Wilcoxon" if other.finding.statistic_name == "W" else "paired t"
        if other.finding.p is not None:
            text += f" ({test}: {statistic(other.finding)}, {p_value(other.finding.p)})"
    return f"{text}. {_verdict(row)}{_missing(analysis, found)}".strip()


def _verdict(row: Result) -> str:
    if row.verdict == SUPPORTED:
        return f"{row.id} is supported." if row.planned else ""
    if row.planned:
        return f"{row.id} is not supported. {row.reason}".strip()
    return row.reason


def _missing(analysis: Analysis, found: Finding) -> str:
    lost = len(analysis.measures) - found.n
    return f" {lost} of {len(analysis.measures)} had no value in both." if lost > 0 else ""


def _population(analysis: Analysis, row: Result) -> str:
    design, found = analysis.design, row.finding
    labels = [condition_label(design, name) for name in row.compares]
    measure = _subject(design, row.measure)
    if row.id.startswith("population/gain"):
        what = f"The gain in {measure} with {labels[0]} over {labels[1]}"
    elif len(labels) == 1:
        what = f"{_capital(measure)} with {labels[0]}"
    else:
        what = f"{_capital(measure)}, averaged over {listed(labels)},"
    one, other = found.groups
    values = f"{one.name} {_mean(one)}, n = {one.n}, and {other.name} {_mean(other)}, n = {other.n}"
    if found.p is None:
        return f"{what} was not compared between {values}. {found.note}"
    differs = row.p is not None and row.p < analysis.plan.alpha
    said = "differed" if differs else "did not differ significantly"
    return f"{what} {said} between {values}, {numbers(found)}. {_verdict(row)}".strip()


def _variance(analysis: Analysis, row: Result) -> str:
    rows = [row, *(other for other in analysis.section("anova") if other.id.startswith(f"{row.id}/"))]
    factors = rows[-1].finding.test.removeprefix("RM ANOVA ")
    way = "two-way" if len(rows) > 1 else "one-way"
    subject = _subject(analysis.design, row.measure)
    text = f"A {way} repeated-measures analysis of the {_who(analysis)}' {subject} ({factors})"
    parts = []
    for other in rows:
        found = other.finding
        name = found.test.removeprefix("RM ANOVA ")
        if found.p is None:
            parts.append(f"the effect of {name} was not tested ({found.note.rstrip('.')})")
            continue
        significant = found.p < analysis.plan.alpha
        epsilon = found.more.get("epsilon_gg")
        corrected = f", epsilon = {share(epsilon)}" if epsilon is not None and epsilon < 1 else ""
        parts.append(
            f"the effect of {name} was {'' if significant else 'not '}significant, {numbers(found)}{corrected}"
        )
    left = _missing_cells(analysis, row.finding)
    return f"{text}: {'; '.join(parts)}. {_verdict(row)}{left}".strip()


def _missing_cells(analysis: Analysis, found: Finding) -> str:
    lost = len(analysis.measures) - found.n
    return (
        f" {lost} of {len(analysis.measures)} were left out of it, as it needs a value in every cell." if lost else ""
    )


def _grid(analysis: Analysis, grid: Grid) -> str:
    design = analysis.design
    first, second = (condition_label(design, name) for name in grid.compares)
    rows = len(grid.rows)
    over = f"the {episode_word(design)}s" if grid.by == "participant" else f"the {_who(analysis)}"
    what = _who(analysis, rows) if grid.by == "participant" else count(rows, grid.by)
    text = (
        f"{_capital(measure_name(design, grid.measure))} was lower with {first} than with {second} for {grid.lower} of "
        f"{what} (paired t tests over {over}), significantly so for {grid.significant} (p < .05, of these "
        f"{grid.strong} with p < .005; after Holm's correction over all {rows}: {grid.corrected})."
    )
    if grid.opposed:
        text += f" It was significantly higher for {grid.opposed}."
    if grid.untested:
        text += f" {grid.untested} could not be tested."
    return f"{text} {grid.note}"


def _reliability(analysis: Analysis) -> str:
    parts = []
    for row in analysis.section("reliability"):
        found = row.finding
        said = (
            "over all surveys"
            if len(row.compares) > 1
            else f"after {condition_label(analysis.design, row.compares[0])}"
        )
        if found.statistic is None:
            parts.append(f"{said} it was not computed ({found.note.rstrip('.')})")
        else:
            interval = _interval(found, found.low, found.high, share)
            parts.append(f"{said} it was {share(found.statistic)}{interval} (n = {found.n})")
    if not parts:
        return ""
    flipped = [item.id for item in analysis.design.survey.items if item.reversed]
    turned = f", with {listed(flipped)} turned round" if flipped else ""
    return f"Cronbach's alpha of the answers of the {_who(analysis)}{turned}: {'; '.join(parts)}."


def _order(analysis: Analysis) -> str:
    rows = analysis.section("order")
    if not rows:
        return ""
    alpha = analysis.plan.alpha
    said = [f"The order of the conditions was checked in the data of the {_who(analysis)}."]
    swapped = False
    for row in rows:
        found = row.finding
        if row.id.endswith("/condition"):
            continue  # the condition effect is told with the hypotheses
        if row.id == "order/labels":
            one, other = found.groups
            subject = "the share of choices of one and the same arm"
            where = f"when it was {one.name} {_mean(one)} and when it was {other.name} {_mean(other)}"
        else:
            carried = row.id.endswith("/carry-over")
            subject = _subject(analysis.design, row.measure)
            where = "between those who met the conditions in one or the other order" if carried else "between the sets"
            swapped |= not carried and analysis.design.swap_labels and len(row.compares) == 2
        if found.p is None:
            said.append(f"{_capital(subject)} was not compared {where}. {found.note}")
        else:
            word = "differed" if found.p < alpha else "did not differ significantly"
            said.append(f"{_capital(subject)} {word} {where}, {numbers(found)}.")
    if swapped:
        said.append(
            "The labels are swapped with the second set, so its effect and that of the swap cannot be told apart."
        )
    return " ".join(said)


def _robustness(analysis: Analysis) -> str:
    rows = [row for row in analysis.section("robustness") if "set" not in row.id.split("/")[-1].split()[0]]
    rows = [row for row in rows if not row.id.endswith("/order")]
    if not rows:
        return ""
    said = [f"Mixed-effects models with a level for each of the {_who(analysis)}, which also use incomplete data:"]
    for row in rows:
        found = row.finding
        term = row.id.split("/")[-1]
        labels = [condition_label(analysis.design, name) for name in row.compares]
        what = f"{labels[0]} minus {labels[1]}" if term == "condition" else term
        per = "" if analysis.design.episodes == 1 or row.measure == SCORE else f" per {episode_word(analysis.design)}"
        subject = f"{_capital(_subject(analysis.design, row.measure))}{per} ({what})"
        if found.p is None or found.estimate is None:
            said.append(f"{subject} could not be fitted. {found.note}")
        else:
            interval = _interval(found, found.estimate_low, found.estimate_high)
            said.append(f"{subject}: b = {number(found.estimate)}{interval}, {statistic(found)}, {p_value(found.p)}.")
    return " ".join(said)
