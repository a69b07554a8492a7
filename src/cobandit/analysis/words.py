"""Numbers and words in the style of the APA, as every paragraph, table and page uses them.

A p-value and whatever cannot exceed 1 has no zero before the point; statistics have two decimals, p-values three.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from cobandit.agents.lookup import known_class
from cobandit.base.numbers import APA, DASH, count
from cobandit.stats import Description, Finding
from cobandit.studies.design import MeansRule, StudyDesign

if TYPE_CHECKING:
    from cobandit.analysis.analysis import Analysis
    from cobandit.analysis.findings import StudyResult
    from cobandit.analysis.plan import AnalysisPlan, Exclusions

EXCLUSION_REASONS = {
    "removed": "removed by a researcher",
    "unfinished": "had not finished",
    "attention-failed": "failed an attention check",
    "quiz-attempts": "needed too many attempts at the quiz",
    "too-fast": "chose too fast",
    "listed": "listed by name in the plan",
    "incomplete-team": "in a team that lacks a member",
}
"""Why participants are excluded, by the rule, after their number."""


class Paragraph(NamedTuple):
    """A heading with its text."""

    title: str
    text: str


def apa_number(value: float, decimals: int | None = None) -> str:
    """Return a number with two decimals, large ones with fewer and with commas."""
    return APA.format(value, decimals)


def share(value: float, decimals: int = 2) -> str:
    """Return a number that cannot exceed 1: without the zero before the point."""
    text = apa_number(value, decimals)
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def p_value(p: float) -> str:
    """``p = .002``, ``p < .001``, ``p > .999``."""
    if p < 0.001:
        return "p < .001"
    return "p > .999" if p > 0.999 else f"p = {share(p, 3)}"


def result_cells(row: StudyResult) -> list[str]:
    """Return a result as the cells of a table: id, n, statistic, p-value with its mark, effect, verdict."""
    finding = row.finding
    p = "-" if row.p is None else p_value(row.p).removeprefix("p ").removeprefix("= ")
    effect = "-" if finding.effect is None else apa_number(finding.effect)
    verdict = row.verdict if row.planned or row.p is None else ""
    return [row.id, str(finding.n), statistic(finding) or "-", f"{p}{row.mark}", effect, verdict]


def p_cells(row: StudyResult, plan: AnalysisPlan) -> list[str]:
    """Return the p-value of a result and that after Holm's correction, the one that the plan marks with its mark."""
    plain, corrected = (
        DASH if p is None else p_value(p).removeprefix("p ").removeprefix("= ")
        for p in (row.finding.p, row.finding.p_adjusted)
    )
    on_plain = plan.marks == "paper" or row.finding.p_adjusted is None
    return [plain + row.mark, corrected] if on_plain else [plain, corrected + row.mark]


def statistic(finding: Finding) -> str:
    """``t(57) = 3.21``, ``F(1, 23) = 28.26``, ``W = 172``."""
    if finding.statistic is None:
        return ""
    df = "" if finding.df is None else f"({', '.join(_freedom(value) for value in finding.df)})"
    value = apa_number(finding.statistic, 1 if finding.statistic_name == "W" else 2)
    return f"{finding.statistic_name}{df} = {value.removesuffix('.0') if finding.statistic_name == 'W' else value}"


def _freedom(value: float) -> str:
    return APA.format(value, 0 if abs(value - round(value)) < 1e-9 else 2).replace(",", "")


_EFFECTS = {"Hedges g": "g", "rank-biserial correlation": "r_rb", "generalised eta squared": "generalised eta squared"}

_WITHOUT_ZERO = ("rank-biserial correlation", "generalised eta squared", "Cronbach alpha")


def effect(finding: Finding) -> str:
    """``d_z = 0.42, 95% CI [0.15, 0.69]``; empty where there is none."""
    if finding.effect is None or not finding.effect_name:
        return ""
    form = share if finding.effect_name in _WITHOUT_ZERO else apa_number
    value = f"{_EFFECTS.get(finding.effect_name, finding.effect_name)} = {form(finding.effect)}"
    return value + interval_text(finding, finding.low, finding.high, form)


def interval_text(finding: Finding, low: float | None, high: float | None, form: Any = apa_number) -> str:
    """``, 95% CI [0.15, 0.69]``; empty where there is none."""
    if low is None or high is None:
        return ""
    return f", {100 * finding.level:g}% CI [{form(low)}, {form(high)}]"


def numbers(finding: Finding) -> str:
    """Return the whole chain: statistic, p-value, corrected p-value, effect with interval."""
    parts = [statistic(finding)]
    if finding.p is not None:
        parts.append(p_value(finding.p))
    if finding.p_adjusted is not None:
        parts.append(f"Holm-corrected {p_value(finding.p_adjusted)}")
    parts.append(effect(finding))
    return ", ".join(part for part in parts if part)


def mean_and_sd(description: Description) -> str:
    """``(M = 2.70, SD = 1.20)``."""
    if description.mean is None:
        return "(no values)"
    spread = "" if description.sd is None else f", SD = {apa_number(description.sd)}"
    return f"(M = {apa_number(description.mean)}{spread})"


def listed(parts: Iterable[str]) -> str:
    """``a, b and c``."""
    names = list(parts)
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def agent_label(name: str) -> str:
    """Return how a text calls an agent: by its label, or by its name where it has none or is not registered."""
    kind = known_class(name)
    return name if kind is None else kind.label or name


def condition_label(design: StudyDesign, name: str) -> str:
    """Return how a text calls a condition: by the agent's label, where the condition has the agent's name."""
    agents = {condition.name: condition.agent for condition in design.conditions if not condition.agents}
    return agent_label(name) if agents.get(name) == name else name


def means_origin(design: StudyDesign, rule: MeansRule) -> str:
    """Return where the means come from that follow a rule: after "were"."""
    if rule.draw == "fixed":
        return "given by the design"
    own = "for each participant" if design.group is None else "for each team"
    owner = own if rule.per == "participant" else "once for the whole study"
    return f"drawn uniformly from {rule.low:g} to {rule.high:g} {owner}"


def question_text(design: StudyDesign, id: str) -> str:
    """Return a question about the person in quotes, as prose refers to it."""
    return repr(next((question.text for question in design.demographics if question.id == id), id))


def loss_words(design: StudyDesign) -> str:
    """Return what a round adds to task regret."""
    if design.task.steps > 1:
        return "the best chance of a good outcome that could still be reached before a choice minus that after it"
    best = "mean score" if design.rewards.graded else "chance of a good outcome"
    return f"the best {best} minus that of what was chosen"


def regret_note(design: StudyDesign, plan: AnalysisPlan) -> str:
    """Return which regret is tested, and what the other one would change: nothing but the unit."""
    if len(set(design.team_factors.values())) > 1:
        factors = listed(
            f"{factor:g} in {condition_label(design, name)}" for name, factor in design.team_factors.items()
        )
        return (
            f"Team regret, the paper's R(T), is task regret times what the team observes, which differs between the "
            f"conditions: {factors}. The plan chooses {plan.regret} regret."
        )
    factor = next(iter(design.team_factors.values()))
    return (
        f"Team regret, the paper's R(T), is {factor:g} times task regret in this design, so both "
        f"have the same test statistics, p-values and effect sizes. The plan chooses {plan.regret} regret."
    )


def cells_text(design: StudyDesign, labels: dict[str, str]) -> str:
    """Return which people play which conditions, in a design between subjects; ``labels`` are by condition."""
    cells = [
        f"{cell} ({listed(labels[name] for name in names)})" if design.sets > 1 else labels[names[0]]
        for cell, names in design.cells.items()
    ]
    between = listed(factor.name for factor in design.factors if factor.assignment == "between")
    quotas = dict(design.quotas.pairs)
    planned = f" (planned: {', '.join(f'{cell} {number}' for cell, number in quotas.items())})" if quotas else ""
    return (
        f"{between} was varied between participants: {listed(cells)}. Each participant was assigned to the cell with "
        f"the fewest finished and active people{planned}{strata_words(design)}"
    )


def strata_words(design: StudyDesign) -> str:
    """Return the end of a sentence on assignment: within which strata it was done; empty without any."""
    texts = design.texts()
    asked = listed(f"“{texts[f'demographics.{id}']}”" for id in design.strata)
    return f", among people with the same answer to {asked}" if design.strata else ""


def marks_note(plan: AnalysisPlan) -> str:
    """Return a note that says which p-values the asterisks mark."""
    if plan.marks == "paper":
        return (
            "Asterisks show uncorrected p-values, as in the paper (one: p < .05, two: p < .005); the verdicts use "
            "p-values after Holm's correction."
        )
    return "Asterisks (one: p < .05, two: p < .005) show p-values after Holm's correction, if one was made."


def people_word(analysis: Analysis, many: int | None = None) -> str:
    """Return ``participants`` or ``simulated participants``, with their number if it is given."""
    word = "simulated participant" if analysis.simulated else "participant"
    return f"{word}s" if many is None else count(many, word)


def unit_word(analysis: Analysis, many: int | None = None) -> str:
    """Return the word for the units of the tests, ``simulated teams`` or as `people_word`, with their number if
    given.
    """
    if analysis.design.group is None:
        return people_word(analysis, many)
    word = "simulated team" if analysis.simulated else "team"
    return f"{word}s" if many is None else count(many, word)


def unit_note(design: StudyDesign) -> str:
    """Return what one value of a test stands for in a study with teams, and why."""
    together = [condition_label(design, entry.name) for entry in design.conditions if not entry.alone]
    alone = [condition_label(design, entry.name) for entry in design.conditions if entry.alone]
    parts = [f"{listed(together)}, played together, gives one value per team"] if together else []
    parts += [f"{listed(alone)}, which each member plays alone, the mean of the members"] if alone else []
    return (
        f"The unit of all tests is the team of {len(design.participant_seats)} people, since people of one team are "
        f"not independent of each other: {'; '.join(parts)}. Answers to surveys are averaged over the members. Where "
        "groups of people are compared, a team counts if all its members gave the same answer."
    )


def sentence(text: str) -> str:
    """Return a text that ends as a sentence does."""
    stripped = text.strip()
    return stripped if not stripped or stripped[-1] in ".!?" else f"{stripped}."


def say_simulated(analysis: Analysis, paragraphs: Iterable[Paragraph]) -> tuple[Paragraph, ...]:
    """Return the paragraphs that say something; one that has not said that people are simulated says so now."""
    telling = []
    for title, text in paragraphs:
        said = " ".join(text.split())
        if said and analysis.simulated and "simulated" not in said:
            said = f"{said} All participants were simulated."
        if said:
            telling.append(Paragraph(title, said))
    return tuple(telling)


def joined(paragraphs: Sequence[Paragraph]) -> str:
    """Join paragraphs as plain text, with an empty line between them."""
    return "\n\n".join(f"{title}. {text}" for title, text in paragraphs)


def markdown(title: str, paragraphs: Sequence[Paragraph]) -> str:
    """Return paragraphs as a Markdown file under one heading."""
    return "\n\n".join([f"# {title}", *(f"**{name}.** {text}" for name, text in paragraphs)]) + "\n"


def exclusion_rules(rules: Exclusions, *, teams: bool = False) -> str:
    """Return the sentences that name the rules of exclusion, in studies with ``teams`` those about them too."""
    excluded = ["who had not finished"] if rules.unfinished else []
    excluded += ["who failed an attention check"] if rules.attention_failed else []
    if rules.quiz_attempts is not None:
        excluded.append(f"who needed more than {count(rules.quiz_attempts, 'attempt')} at the quiz")
    if rules.fastest_ms is not None:
        excluded.append(f"whose median reaction time was below {rules.fastest_ms:g} ms")
    if rules.listed:
        excluded.append(f"who are listed by name ({len(rules.listed)})")
    if teams and rules.incomplete_teams:
        excluded.append("whose team lacks a member or has an excluded one")
    text = f"Excluded: participants {listed(excluded)}." if excluded else "No rule excludes participants."
    if not teams:
        return text
    if rules.takeover_share is None:
        return f"{text} Rounds in which an AI chose in place of a person count like all others."
    return (
        f"{text} An episode that people play together counts only if an AI chose in place of one of them in at most "
        f"{100 * rules.takeover_share:g}% of its rounds."
    )
