"""The results section of a study, written from the numbers alone.

Every paragraph about simulated participants says that they are simulated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cobandit.analysis.between import anova_factors
from cobandit.analysis.findings import SUPPORTED, UNTESTABLE, Grid, StudyResult, measure_name, measure_phrase
from cobandit.analysis.plan import GOOD, SCALE, SCORE, SURVEY, TASK_REGRET, TEAM_REGRET, episode_word
from cobandit.analysis.words import (
    EXCLUSION_REASONS,
    Paragraph,
    apa_number,
    condition_label,
    interval_text,
    listed,
    mean_and_sd,
    numbers,
    p_value,
    people_word,
    question_text,
    say_simulated,
    sentence,
    share,
    statistic,
    unit_word,
)
from cobandit.base.numbers import count
from cobandit.stats import Finding

if TYPE_CHECKING:
    from cobandit.analysis.analysis import Analysis


def results(analysis: Analysis) -> tuple[Paragraph, ...]:
    """Return the results section."""
    paragraphs = [Paragraph("Participants and exclusions", _flow(analysis))]
    if analysis.deviations:
        paragraphs.append(Paragraph("Deviations from the plan", " ".join(map(sentence, analysis.deviations))))
    topics = {
        "Performance": (TASK_REGRET, TEAM_REGRET, GOOD),
        "Survey": (SCORE, SURVEY),
        "Questionnaires": (SCALE,),
    }
    for planned in (True, False):
        status = "planned" if planned else "exploratory"
        rows = analysis.planned if planned else analysis.exploratory
        for topic, kinds in topics.items():
            mine = [row for row in rows if row.measure.startswith(kinds) and not row.group]
            tests = [row for row in mine if not _is_anova(row)]
            paragraphs.append(Paragraph(f"{topic} ({status})", _answers(analysis, tests)))
            analyses = [_variance(analysis, row) for row in mine if _is_anova(row)]
            paragraphs += [Paragraph(f"Analysis of variance ({status})", " ".join(analyses))] if analyses else []
        groups = [row for row in rows if row.group]
        more = analysis.section("population") if not planned else ()
        sentences = [_population(analysis, row) for row in (*groups, *more)]
        lead = [f"Among the {unit_word(analysis)}:"] if sentences else []
        paragraphs.append(Paragraph(f"Populations ({status})", " ".join([*lead, *sentences])))
    paragraphs += [Paragraph(f"Within each {grid.by} (exploratory)", _grid(analysis, grid)) for grid in analysis.grids]
    paragraphs.append(Paragraph("Reliability of the survey", _reliability(analysis)))
    paragraphs.append(Paragraph("Scales of the questionnaires", _scales(analysis)))
    paragraphs.append(Paragraph("Order and labels", _order(analysis)))
    paragraphs.append(Paragraph("Robustness", _robustness(analysis)))
    return say_simulated(analysis, paragraphs)


def _is_anova(row: StudyResult) -> bool:
    return "ANOVA " in row.finding.test


def _flow(analysis: Analysis) -> str:
    measured = analysis.measures
    flow = measured.flow
    text = f"{people_word(analysis, flow.analysed)} {'was' if flow.analysed == 1 else 'were'} analysed"
    if analysis.design.group is not None:
        text += f" in {unit_word(analysis, len(analysis.units))}"
    text += f", of {flow.began} who began." if flow.began else "; no one began the study."
    rules = Counter(entry.rule for entry in measured.excluded)
    if rules:
        reasons = listed(f"{rules[rule]} {said}" for rule, said in EXCLUSION_REASONS.items() if rules[rule])
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


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _answers(analysis: Analysis, rows: Sequence[StudyResult]) -> str:
    if not rows:
        return ""
    return " ".join([f"Among the {unit_word(analysis)}:", *(_paired(analysis, row) for row in rows)])


def _paired(analysis: Analysis, row: StudyResult) -> str:
    design, finding = analysis.design, row.finding
    subject = measure_phrase(design, row.measure)
    first, second = (condition_label(design, name) for name in row.compares)
    values = [mean_and_sd(group) for group in finding.groups]
    if row.verdict == UNTESTABLE:
        both = f"{first} {values[0]} and {second} {values[1]}"
        return f"{_capital(subject)} was not compared between {both} ({row.id}). {finding.note}"
    p = row.p
    significant = p is not None and p < analysis.plan.alpha
    if significant:
        word = "lower" if (finding.estimate or 0.0) < 0 else "higher"
        if finding.estimate == 0.0:  # a median difference, with a test on ranks
            word = "higher" if (finding.effect or 0.0) > 0 else "lower"
        text = f"{_capital(subject)} was {word} with {first} {values[0]} than with {second} {values[1]}"
    else:
        text = f"{_capital(subject)} did not differ significantly between {first} {values[0]} and {second} {values[1]}"
    text += f", {numbers(finding)}"
    text += _companion_text(analysis, row)
    return f"{text}. {_verdict(row)}{_missing(analysis, row)}".strip()


_TESTS = {"wilcoxon": "Wilcoxon", "paired-t": "paired t", "welch": "Welch's t", "student": "Student's t"}


def _companion_text(analysis: Analysis, row: StudyResult) -> str:
    """Return the other test of the same question, in brackets."""
    text = ""
    for other in analysis.section("companion"):
        id, _, test = other.id.rpartition("/")
        if id == row.id and other.finding.p is not None:
            text += f" ({_TESTS[test]}: {statistic(other.finding)}, {p_value(other.finding.p)})"
    return text


def _verdict(row: StudyResult) -> str:
    if row.verdict == SUPPORTED:
        return f"{row.id} is supported." if row.planned else ""
    if row.planned:
        return f"{row.id} is not supported. {row.reason}".strip()
    return row.reason


def _missing(analysis: Analysis, row: StudyResult) -> str:
    people = len(analysis.units.playing(*row.compares))
    lost = people - row.finding.n
    both = "in both" if analysis.design.same_people(*row.compares) else "in their condition"
    return f" {lost} of {people} had no value {both}." if lost > 0 else ""


def _population(analysis: Analysis, row: StudyResult) -> str:
    design, finding = analysis.design, row.finding
    labels = [condition_label(design, name) for name in row.compares]
    measure = measure_phrase(design, row.measure)
    if row.id.startswith("population/gain"):
        what = f"The gain in {measure} with {labels[0]} over {labels[1]}"
    elif len(labels) == 1:
        what = f"{_capital(measure)} with {labels[0]}"
    else:
        what = f"{_capital(measure)}, averaged over {listed(labels)},"
    first, second = finding.groups
    those = "those who" if analysis.design.group is None else "teams that"
    answers = [repr(group.name.removeprefix(f"{row.group}: ")) for group in (first, second)]
    values = (
        f"{those} answered {answers[0]} {mean_and_sd(first)}, n = {first.n}, and {those} answered {answers[1]} "
        f"{mean_and_sd(second)}, n = {second.n}, to {question_text(design, row.group)}"
    )
    if finding.p is None:
        return f"{what} was not compared between {values}. {finding.note}"
    differs = row.p is not None and row.p < analysis.plan.alpha
    said = "differed" if differs else "did not differ significantly"
    return (
        f"{what} {said} between {values}, {numbers(finding)}{_companion_text(analysis, row)}. {_verdict(row)}".strip()
    )


def _variance(analysis: Analysis, row: StudyResult) -> str:
    rows = [row, *(other for other in analysis.section("anova") if other.id.startswith(f"{row.id}/"))]
    kind, _, factors = rows[-1].finding.test.rpartition("ANOVA ")
    way = "two-way" if len(rows) > 1 else "one-way"
    subject = measure_phrase(analysis.design, row.measure).removeprefix("the ")
    kinds = {"RM ": f"{way} repeated-measures analysis of variance", "Mixed ": "mixed analysis of variance"}
    which = kinds.get(kind, f"{way} analysis of variance between participants")
    factors = " x ".join(anova_factors(analysis.design)) if kind == "Mixed " else factors
    text = f"A {which} of the {unit_word(analysis)}' {subject} ({factors})"
    parts = []
    for other in rows:
        finding = other.finding
        name = finding.test.rpartition("ANOVA ")[2]
        if finding.p is None:
            parts.append(f"the effect of {name} was not tested ({finding.note.rstrip('.')})")
            continue
        significant = finding.p < analysis.plan.alpha
        epsilon = finding.more.get("epsilon_gg")
        corrected = f", epsilon = {share(epsilon)}" if epsilon is not None and epsilon < 1 else ""
        corrected += _welch_anova(finding)
        parts.append(
            f"the effect of {name} was {'' if significant else 'not '}significant, {numbers(finding)}{corrected}"
        )
    left = _missing_cells(analysis, row)
    return f"{text}: {'; '.join(parts)}. {_verdict(row)}{left}".strip()


def _welch_anova(finding: Finding) -> str:
    """Return Welch's test, which accompanies an analysis of variance between people, in brackets."""
    f, df, p = (finding.more.get(f"welch_{name}") for name in ("f", "df_error", "p"))
    if f is None or df is None or p is None:
        return ""
    freedom = f"{int(finding.more['df_effect'] or 0)}, {apa_number(df)}"
    return f" (without equal spreads, Welch's F({freedom}) = {apa_number(f)}, {p_value(p)})"


def _missing_cells(analysis: Analysis, row: StudyResult) -> str:
    people = len(analysis.units.playing(*row.compares))
    lost = people - row.finding.n
    return f" {lost} of {people} were left out of it, as it needs a value in every cell." if lost else ""


def _grid(analysis: Analysis, grid: Grid) -> str:
    design = analysis.design
    first, second = (condition_label(design, name) for name in grid.compares)
    rows = len(grid.rows)
    by_unit = grid.by == analysis.units.unit
    over = f"the {episode_word(design)}s" if by_unit else f"the {unit_word(analysis)}"
    what = unit_word(analysis, rows) if by_unit else count(rows, grid.by)
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
        if row.measure != "survey":
            continue
        finding = row.finding
        said = (
            "over all surveys"
            if len(row.compares) > 1
            else f"after {condition_label(analysis.design, row.compares[0])}"
        )
        if finding.statistic is None:
            parts.append(f"{said} it was not computed ({finding.note.rstrip('.')})")
        else:
            interval = interval_text(finding, finding.low, finding.high, share)
            parts.append(f"{said} it was {share(finding.statistic)}{interval} (n = {finding.n})")
    if not parts:
        return ""
    flipped = [item.id for item in analysis.design.survey.items if item.reversed]
    turned = f", with {listed(flipped)} turned round" if flipped else ""
    return f"Cronbach's alpha of the answers of the {people_word(analysis)}{turned}: {'; '.join(parts)}."


def _scales(analysis: Analysis) -> str:
    """Return the scores of the scales in words, each with its reliability."""
    parts = []
    alphas = {(row.measure, *row.compares): row.finding for row in analysis.section("reliability")}
    for entry in analysis.described:
        if not entry.measure.startswith(SCALE) or entry.description.mean is None:
            continue
        when = (
            f"after {condition_label(analysis.design, entry.condition)}"
            if entry.condition
            else f"({entry.description.name})"
        )
        key = (entry.measure, entry.condition) if entry.condition else (entry.measure,)
        reliability = alphas.get(key)
        alpha = (
            "" if reliability is None or reliability.statistic is None else f", alpha = {share(reliability.statistic)}"
        )
        numbers_text = f"{mean_and_sd(entry.description)}, n = {entry.description.n}{alpha}"
        parts.append(f"{entry.measure.removeprefix(SCALE)} {when}: {numbers_text}")
    return f"Mean scores of the scales, reversed items turned round: {'; '.join(parts)}." if parts else ""


def _order(analysis: Analysis) -> str:
    rows = analysis.section("order")
    if not rows:
        return ""
    alpha = analysis.plan.alpha
    said = [f"The order of the conditions was checked in the data of the {unit_word(analysis)}."]
    swapped = False
    for row in rows:
        finding = row.finding
        id = row.id
        cell = next((name for name in analysis.design.cells if name and id.endswith(f"/{name}")), "")
        id = id.removesuffix(f"/{cell}") if cell else id
        if id.endswith("/condition"):
            continue  # the condition effect is reported with the hypotheses
        if id == "order/labels":
            first, second = finding.groups
            subject = "the share of choices of one and the same arm"
            where = f"when it was {first.name} {mean_and_sd(first)} and when it was {second.name} {mean_and_sd(second)}"
        else:
            carried = id.endswith("/carry-over")
            subject = measure_phrase(analysis.design, row.measure)
            those = "those who" if analysis.design.group is None else "teams that"
            where = f"between {those} met the conditions in one or the other order" if carried else "between the sets"
            swapped |= not carried and analysis.design.swap_labels and len(row.compares) == 2
        where += f" in the cell {cell}" if cell else ""
        if finding.p is None:
            said.append(f"{_capital(subject)} was not compared {where}. {finding.note}")
        else:
            word = "differed" if finding.p < alpha else "did not differ significantly"
            said.append(f"{_capital(subject)} {word} {where}, {numbers(finding)}.")
    if swapped:
        said.append(
            "The labels are swapped with the second set, so its effect and that of the swap cannot be separated."
        )
    return " ".join(said)


def _robustness(analysis: Analysis) -> str:
    rows = [row for row in analysis.section("robustness") if "set" not in row.id.split("/")[-1].split()[0]]
    rows = [row for row in rows if not row.id.endswith("/order")]
    if not rows:
        return ""
    owners = f"each of the {people_word(analysis)}"
    if analysis.design.group is not None:
        owners = f"each of the {unit_word(analysis)} and each member, in which a game of several people counts once"
    said = [f"Mixed-effects models with a level for {owners}, which also use incomplete data:"]
    for row in rows:
        finding = row.finding
        term = row.id.split("/")[-1]
        labels = [condition_label(analysis.design, name) for name in row.compares]
        what = f"{labels[0]} minus {labels[1]}" if term == "condition" else term
        per = "" if analysis.design.episodes == 1 or row.measure == SCORE else f" per {episode_word(analysis.design)}"
        subject = f"{_capital(measure_phrase(analysis.design, row.measure))}{per} ({what})"
        if finding.p is None or finding.estimate is None:
            said.append(f"{subject} could not be fitted. {finding.note}")
        else:
            interval = interval_text(finding, finding.estimate_low, finding.estimate_high)
            said.append(
                f"{subject}: b = {apa_number(finding.estimate)}{interval}, {statistic(finding)}, {p_value(finding.p)}."
            )
    return " ".join(said)
