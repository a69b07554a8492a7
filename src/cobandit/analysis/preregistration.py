"""A plan as a preregistration: what the forms of OSF and of AsPredicted ask for, written from plan and design.

What only the researchers know (who, where, why this n) is left open in square brackets.
"""

from __future__ import annotations

from cobandit.analysis.between import anova_factors
from cobandit.analysis.findings import measure_phrase
from cobandit.analysis.plan import ANOVAS, AnalysisPlan, Hypothesis, episode_word, good_total
from cobandit.analysis.words import (
    condition_label,
    exclusion_rules,
    listed,
    loss_words,
    marks_note,
    means_origin,
    question_text,
    regret_note,
    strata_words,
    unit_note,
)
from cobandit.base.checks import one_of
from cobandit.base.numbers import count
from cobandit.studies.design import StudyDesign

FORMS = ("osf", "aspredicted")
"""The forms: OSF Preregistration, and AsPredicted."""

_TESTS = {
    "paired-t": "paired t test, reported with Wilcoxon's signed-rank test",
    "wilcoxon": "Wilcoxon's signed-rank test, reported with the paired t test",
    "rm-anova": "repeated-measures analysis of variance, degrees of freedom after Greenhouse and Geisser",
    "welch": "Welch's t test, reported with Student's",
    "student": "Student's t test, reported with Welch's",
    "anova": "analysis of variance between participants, reported with Welch's",
    "mixed-anova": "mixed analysis of variance (type III), degrees of freedom after Greenhouse and Geisser",
}


def preregistration(design: StudyDesign, plan: AnalysisPlan, form: str) -> str:
    """Return the plan of a study as Markdown, under the headings of a form: "osf" or "aspredicted"."""
    one_of(FORMS, "form of a preregistration")("form", form)
    plan.checked(design)
    parts = (_osf if form == "osf" else _aspredicted)(design, plan)
    head = f"# {design.title}: preregistration ({'OSF' if form == 'osf' else 'AsPredicted'})"
    return "\n\n".join([head, *(f"## {title}\n\n{text}" for title, text in parts)]) + "\n"


def _osf(design: StudyDesign, plan: AnalysisPlan) -> list[tuple[str, str]]:
    return [
        ("Title", design.title),
        ("Hypotheses", _hypotheses(plan)),
        ("Study type", _study_type(design)),
        ("Blinding", _blinding(design)),
        ("Study design", _study_design(design)),
        ("Randomization", _order(design)),
        ("Existing data", _existing(plan)),
        ("Data collection procedures", "[Who takes part, how they are recruited and what they are paid.]"),
        ("Sample size", _sample(design, plan)),
        ("Sample size rationale", "[Why this number; `cobandit study power` simulates whole studies.]"),
        ("Stopping rule", "[When data collection ends.]"),
        ("Manipulated variables", _manipulated(design)),
        ("Measured variables", _measured(design)),
        ("Indices", _indices(design)),
        ("Statistical models", _models(design, plan)),
        ("Transformations", _transformations(design)),
        ("Inference criteria", _inference(plan)),
        ("Data exclusion", _exclusion(design, plan)),
        ("Missing data", _missing(design)),
        ("Exploratory analysis", "Every test that is not listed above is reported as exploratory."),
        ("Other", _other(design, plan)),
    ]


def _aspredicted(design: StudyDesign, plan: AnalysisPlan) -> list[tuple[str, str]]:
    return [
        ("1) Data collection", _existing(plan)),
        ("2) Hypothesis", _hypotheses(plan)),
        ("3) Dependent variable", f"{_measured(design)} {_indices(design)}"),
        ("4) Conditions", f"{_study_design(design)} {_order(design)}"),
        ("5) Analyses", f"{_models(design, plan)}\n\n{_inference(plan)}"),
        ("6) Outliers and exclusions", f"{_exclusion(design, plan)} {_missing(design)}"),
        ("7) Sample size", _sample(design, plan)),
        ("8) Other", _other(design, plan)),
    ]


def _hypotheses(plan: AnalysisPlan) -> str:
    return "\n".join(f"- {hypothesis.id}: {hypothesis.text}" for hypothesis in plan.hypotheses) or "None."


def _study_type(design: StudyDesign) -> str:
    if len(design.cells) > 1:
        many = "one condition" if design.sets == 1 else f"the {design.sets} conditions of one cell"
        return f"Experiment: every participant plays {many}."
    if design.group is None:
        return "Experiment: every participant plays with each of the algorithms."
    return (
        f"Experiment in teams of {len(design.participant_seats)} people: every team plays together in "
        f"{_together(design)}, and every member alone with an AI in {_alone(design)}."
    )


def _together(design: StudyDesign) -> str:
    return listed(condition_label(design, entry.name) for entry in design.conditions if not entry.alone) or "no part"


def _alone(design: StudyDesign) -> str:
    return listed(condition_label(design, entry.name) for entry in design.conditions if entry.alone) or "no part"


def _blinding(design: StudyDesign) -> str:
    if design.group is None:
        return "Participants do not know which algorithm their partner plays. [Who else is blind?]"
    return (
        "Participants know whether they play with people or with an AI, but not which algorithm the AI plays. "
        "[Who else is blind?]"
    )


def _manipulated(design: StudyDesign) -> str:
    if len(design.cells) > 1:
        factors = [
            f"{factor.name} ({factor.assignment} participants: "
            f"{listed(dict.fromkeys(levels[factor.name] for levels in design.levels.values()))})"
            for factor in design.factors
        ]
        return f"{'; '.join(factors)}. Conditions: {_conditions(design)}."
    if design.group is None:
        return f"The algorithm of the AI: {_conditions(design)}."
    return f"With whom people play: the members of the team ({_together(design)}) or an AI; {_conditions(design)}."


def _transformations(design: StudyDesign) -> str:
    other = "AI" if design.group is None else "partner"
    return f"None. Answers to items that speak against the {other} are turned round in the score alone."


def _exclusion(design: StudyDesign, plan: AnalysisPlan) -> str:
    return exclusion_rules(plan.exclusions, teams=design.group is not None)


def _conditions(design: StudyDesign) -> str:
    described = []
    for condition in design.conditions:
        parts = [f"{name} {value}" for name, value in condition.options.to_dict().items()]
        own = condition.observability
        parts += [f"observability {' and '.join(f'{share:g}' for share in own)}"] if own else []
        parts += [f"means {means_origin(design, condition.means)}"] if condition.means is not None else []
        options = ", ".join(parts + condition.differences)
        label = condition_label(design, condition.name)
        described.append(f"{label} ({options})" if options else label)
    return listed(described)


def _study_design(design: StudyDesign) -> str:
    each = design.rounds_words
    sets = each if design.episodes == 1 else f"{count(design.episodes, episode_word(design))} of {each}"
    within = "Within subjects" if len(design.conditions) > 1 else "One condition"
    if len(design.cells) > 1:
        within = "Between subjects" if design.sets == 1 else "Mixed"
    team = " x ".join(map(str, design.arms))
    layers = design.task.steps
    states = f" in each of {layers} layers, which are rewarded together," if layers > 1 else ""
    warm = ""
    if design.warm_start is not None:
        warm = f" Before each, the AI has played {count(design.warm_start.rounds, 'round')} with a simulated partner."
    hidden = " The choices of others are never shown." if design.actions == "hidden" else ""
    leader = " Which of them leads is drawn for each episode." if design.roles == "drawn" else ""
    late = f" Choices and outcomes are known {count(design.delay, 'round')} later." if design.delay else ""
    return (
        f"{within}: {sets} with {_conditions(design)}, on a task of {team} arms{states} in which both choose at the "
        f"same time.{hidden}{late}{leader}{warm}"
    )


def _order(design: StudyDesign) -> str:
    if len(design.conditions) == 1:
        return "There is one order."
    if len(design.cells) > 1:
        return _cells(design)
    order = "counterbalanced" if design.order == "counterbalanced" else "drawn at random"
    swapped = " All labels are swapped in every second set." if design.swap_labels else ""
    luck = " The outcomes that every choice would have are the same in all sets." if design.shared_luck else ""
    if design.group is not None:
        return f"The order of the conditions is {order}, team by team; seats are drawn.{luck}{swapped}"
    return f"The order of the algorithms is {order}{strata_words(design)}.{luck}{swapped}"


def _cells(design: StudyDesign) -> str:
    """Return how people are assigned to cells, and in which order they play the conditions of their cell."""
    labels = {name: condition_label(design, name) for names in design.cells.values() for name in names}
    cells = [f"{cell} ({listed(labels[name] for name in names)})" for cell, names in design.cells.items()]
    text = (
        f"Each participant is assigned to the cell with the fewest finished and active people{strata_words(design)}, "
        f"ties at random; the cells are {listed(cells)}."
    )
    quotas = dict(design.quotas.pairs)
    if quotas:
        text += f" Quotas: {', '.join(f'{cell} {number}' for cell, number in quotas.items())}."
    if design.sets == 1:
        return text
    order = "counterbalanced" if design.order == "counterbalanced" else "drawn at random"
    swapped = " All labels are swapped in every second set." if design.swap_labels else ""
    return f"{text} The order of the conditions within a cell is {order}.{swapped}"


def _existing(plan: AnalysisPlan) -> str:
    if plan.late:
        return f"{count(plan.late, 'participant')} had started when this plan was stored."
    return "No data have been collected for this study yet."


def _sample(design: StudyDesign, plan: AnalysisPlan) -> str:
    if design.group is None:
        return "[How many participants.]" if plan.n is None else f"{plan.n} participants."
    size = len(design.participant_seats)
    if plan.n is None:
        return f"[How many participants, in teams of {size}.]"
    return f"{plan.n} participants in {count(plan.n // size, 'team')} of {size}."


def _measured(design: StudyDesign) -> str:
    survey = design.survey
    return (
        f"Task regret ({loss_words(design)}) and team regret (what the team "
        f"observes of it), summed over the counted rounds of a condition; {good_total(design)}; agreement "
        f"with {count(len(survey.items), 'statement')} ({listed(item.id for item in survey.items)}) from 1 "
        f"({survey.low}) to {survey.points} ({survey.high}) after each set."
    )


def _indices(design: StudyDesign) -> str:
    against = [item.id for item in design.survey.items if item.reversed]
    turned = f", with {listed(against)} turned round" if against else ""
    return f"The survey score is the mean of all statements{turned}; its reliability is Cronbach's alpha."


def _models(design: StudyDesign, plan: AnalysisPlan) -> str:
    tests = "\n".join(f"- {hypothesis.id}: {_test(design, hypothesis)}" for hypothesis in plan.hypotheses) or "None."
    return tests if design.group is None else f"{unit_note(design)}\n\n{tests}"


def _test(design: StudyDesign, hypothesis: Hypothesis) -> str:
    labels = [condition_label(design, name) for name in hypothesis.compares]
    what = measure_phrase(design, hypothesis.measure)
    sides = f"one-sided ({hypothesis.direction})" if hypothesis.one_sided else "two-sided"
    if hypothesis.group:
        groups = listed(map(repr, hypothesis.groups)) if hypothesis.groups else "the first two answers"
        asked = question_text(design, hypothesis.group)
        who = f"{what} with {listed(labels)}, between those who answer {groups} to {asked}"
    elif hypothesis.test in ANOVAS:
        within, cells = anova_factors(design)
        about = {"between": f", the effect of {cells}", "interaction": f", the interaction of {within} and {cells}"}
        return f"{what} over {listed(labels)}{about.get(hypothesis.effect, '')}; {_TESTS[hypothesis.test]}."
    else:
        expected = {"less": "lower", "greater": "higher"}.get(hypothesis.direction)
        who = f"{what}, {labels[0]} minus {labels[1]}" + (f", expected to be {expected}" if expected else "")
    return f"{who}; {_TESTS[hypothesis.test]}, {sides}."


def _inference(plan: AnalysisPlan) -> str:
    families: dict[str, list[str]] = {}
    for hypothesis in plan.hypotheses:
        if hypothesis.family:
            families.setdefault(hypothesis.family, []).append(hypothesis.id)
    shared = [f"{family} ({', '.join(ids)})" for family, ids in families.items() if len(ids) > 1]
    holm = f" Holm's correction is made within each family: {'; '.join(shared)}." if shared else ""
    return (
        f"The level of significance is {plan.alpha:g}. A hypothesis counts as supported if its p-value, corrected "
        f"where a correction is made, lies below it and the difference points the expected way.{holm} "
        f"{marks_note(plan)}"
    )


def _missing(design: StudyDesign) -> str:
    word = "episodes" if episode_word(design) == "episode" else "casinos"
    who = "participants" if design.group is None else "teams"
    both = "their condition" if design.sets == 1 and len(design.cells) > 1 else "both conditions"
    return f"A total needs all its {word}; {who} without a value in {both} are left out of it."


def _other(design: StudyDesign, plan: AnalysisPlan) -> str:
    notes = f" {plan.notes}" if plan.notes else ""
    return (
        f"Design {design.name}, version {design.version}, SHA-256 {design.digest}; content of the plan, SHA-256 "
        f"{plan.digest}. {regret_note(design, plan)}{notes}"
    )
