"""The report of an analysed human-AI study: figures for print, and one HTML file with everything in it.

The page is in the order in which a reviewer reads: who took part and who was left out, what was planned, what was
found, the words for a paper, the figures, the checks. It says of every result whether it was planned, and at the very
top whether the participants were people. What could not be tested or drawn is told in a sentence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

from cobandit.analysis import Analysis
from cobandit.analysis import StudyResult as Result
from cobandit.analysis.findings import NOT_SUPPORTED, SUPPORTED, UNTESTABLE, measure_name
from cobandit.analysis.plan_state import CHANGED, LATE, OPEN, PLANNED, UNPLANNED
from cobandit.analysis.words import Paragraph, condition_label, count, effect, number, numbers, p_value, statistic
from cobandit.base.errors import InvalidInput
from cobandit.base.extras import require_extras
from cobandit.base.files import whole_file
from cobandit.experiments.store import this_machine
from cobandit.report.figures import FORMATS, save_figure
from cobandit.report.page import (
    DASH,
    FACTS,
    FIGURES,
    MINUS,
    NAME,
    OUTCOMES,
    _filter,
    _template,
    _words,
    fact_list,
    figure_links,
    framed,
    plain_data,
)
from cobandit.report.stills import stills
from cobandit.report.study_figures import (
    NARROW,
    SPACE,
    WIDE,
    NotDrawn,
    Plate,
    drawn_svg,
    inline_svg,
    interval,
    regret_drawing,
    study_figures,
    task_drawing,
)
from cobandit.stats import Finding

VERDICTS = {SUPPORTED: "holds", NOT_SUPPORTED: "does not hold", UNTESTABLE: "undecided"}
"""Which verdict of a simulation looks like which one of a hypothesis."""

BANNERS = {
    "rehearsal": "<strong>SIMULATED PARTICIPANTS.</strong> No person took part. Everything on this page comes from "
    "programs that choose by a rule, and their answers to questions are made up. It shows how the design and the "
    "analysis work, and says nothing about people.",
    "demo": "<strong>VISITORS OF THE DEMO.</strong> These people tried the study out; they were not its participants. "
    "The numbers show how the design and the analysis work, and are no results of a study.",
    "real": "<strong>Real participants.</strong> Simulated ones and visitors of the demo are not among them.",
}
"""What the top of the page says about the participants, by their kind."""

NOBODY = "<strong>No participants.</strong> Nobody has begun, so there is nothing to report yet."

KINDS = {"rehearsal": "SIMULATED", "demo": "visitors of the demo", "real": "real"}

PLANS = {
    PLANNED: ("holds", "fixed before the first participant"),
    OPEN: ("holds", "stored before any real participant"),
    LATE: ("does not hold", "stored too late"),
    CHANGED: ("does not hold", "not the plan that was stored"),
    UNPLANNED: ("undecided", "no plan was stored"),
}
"""How the plan is headed, by its status."""

RULES = {
    "unfinished": "had not finished",
    "attention-failed": "failed an attention check",
    "quiz-attempts": "needed too many attempts at the quiz",
    "too-fast": "chose too fast",
    "listed": "are listed by name in the plan that was followed",
}

FEW = 12
"""Sentences that are listed without a box around them."""

CONTENTS = {
    "participants": "Participants",
    "plan": "Plan",
    "summary": "Hypotheses",
    "results": "Results",
    "words": "Paragraphs",
    "figures": "Figures",
    "checks": "Checks",
    "left-out": "Left out",
    "made": "How it was made",
}

CHECKS = {
    "reliability": (
        "Does the survey measure one thing?",
        "Cronbach's alpha after each condition, and over all surveys; reversed items are turned round.",
    ),
    "order": (
        "Order and labels",
        "Whether it matters which condition came first, which set it was, and, where labels are swapped, how an arm is "
        "labelled. Carry-over compares those who began with one condition and with the other.",
    ),
    "robustness": (
        "Mixed-effects model",
        "The same comparison with a level for each participant, the set and the order; it also uses those who have a "
        "value in some conditions only.",
    ),
}
"""The checks, by section of the analysis: heading and explanation."""


def write_study_report(analysis: Analysis, folder: Path, about: Mapping[str, Any] | None = None) -> Path:
    """Write ``folder/figures/*.pdf``, ``.svg``, ``.png`` and ``folder/report.html``; where the page is.

    ``about`` says what the analysis does not know: ``when`` the report was made, the ``command``, ``machine``,
    ``version``; ``title`` and ``lead`` replace the headline and the line under it. Any other key is shown as it is.
    Equal analyses and facts give equal files.
    """
    if not isinstance(analysis, Analysis):
        raise InvalidInput(f"The analysis is a {type(analysis).__name__}; what `analyse` gives is needed.")
    require_extras("Drawing the figures of a study", plot=True)
    out = Path(folder)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"The folder {str(out)!r} cannot be made: {error.strerror}.") from error
    plates = study_figures(analysis)
    pictures = {plate.name: _written(plate, out / FIGURES) for plate in plates if isinstance(plate, Plate)}
    for plate in plates:
        if isinstance(plate, NotDrawn):  # what an earlier report drew here is out of date
            for kind in FORMATS:
                (out / FIGURES / f"{plate.name}.{kind}").unlink(missing_ok=True)
    page = _page(analysis, plates, pictures, out, dict(about or {}))
    with whole_file(out / NAME) as file:
        file.write(page.encode())
    return out / NAME


def _written(plate: Plate, folder: Path) -> str:
    """The figure in its files; and as a part of the page, for wide screens and for narrow ones."""
    written = save_figure(lambda: plate.draw(WIDE), folder, plate.name)
    if plate.name == "regret":
        return ""  # the page has charts of its own for it
    wide = written["svg"].read_text(encoding="utf-8")
    label = f"{plate.title}. {plate.caption}"
    return "\n".join(
        inline_svg(svg, plate.name, label, kind) for svg, kind in ((wide, "wide"), (drawn_svg(plate, NARROW), "narrow"))
    )


def _page(
    analysis: Analysis,
    plates: Sequence[Plate | NotDrawn],
    pictures: Mapping[str, str],
    out: Path,
    about: dict[str, Any],
) -> str:
    from cobandit import __version__

    of_whom = ": results of simulated participants" if analysis.simulated else ": results"
    drawing = regret_drawing(analysis)
    main = [
        _top(analysis),
        _hypotheses(analysis),
        _results(analysis),
        _template(
            "study-words.html",
            results=_paragraphs(analysis.results_parts),
            methods=_paragraphs(analysis.methods_parts),
        ),
        _figures(analysis, plates, pictures, out),
        _checks(analysis),
        _left_out(analysis, plates),
        _template("study-made.html", facts=fact_list(_facts(analysis, {"version": __version__} | about))),
    ]
    return framed(
        title=str(about.get("title", analysis.design.title + of_whom)),
        lead=str(about.get("lead", _lead(analysis))),
        skip="Skip to the hypotheses",
        version=str(about.get("version", __version__)),
        main="\n".join(main),
        data={"panels": [] if drawing is None else [plain_data(drawing) | {"regret": "task"}]},
        styles=("report.css", "study.css"),
        scripts=("report.js", "study.js"),
    )


# Texts and tables


def _text(text: object) -> str:
    """Any text as it is, safe between tags."""
    return escape(str(text))


def _minus(text: str) -> str:
    return text.replace("-", MINUS)


def _count(analysis: Analysis, many: int) -> str:
    return count(many, "simulated participant" if analysis.simulated else "participant")


def _list(sentences: Iterable[str], otherwise: str) -> str:
    """Sentences as a list, or what is said where there is none."""
    items = "".join(f"<li>{_text(sentence)}</li>" for sentence in sentences)
    return f'<ul class="plainlist">{items}</ul>' if items else f"<p>{_text(otherwise)}</p>"


def _boxed(sentences: Sequence[str], what: str, otherwise: str) -> str:
    """A list; a long one in a box of its own, all of which is printed."""
    made = _list(sentences, otherwise)
    if len(sentences) <= FEW:
        return made
    label = f"All {len(sentences)} {what}"
    return f'<p>{label}:</p><div class="scroll long" tabindex="0" role="region" aria-label="{label}">{made}</div>'


def _badge(look: str, text: str) -> str:
    kind, sign, _ = OUTCOMES[look]
    return f'<span class="badge {kind}"><span aria-hidden="true">{sign}</span> {_text(text)}</span>'


def _scrolled(label: str, table: str) -> str:
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{_words(label)}">{table}</div>'


# The top


def _lead(analysis: Analysis) -> str:
    flow = analysis.measures.flow
    verdicts = Counter(row.verdict for row in analysis.planned)
    found = (
        f"{count(len(analysis.planned), 'planned hypothesis', 'planned hypotheses')}, {verdicts[SUPPORTED]} supported"
        if analysis.planned
        else "nothing was planned, every result is exploratory"
    )
    return f"{_count(analysis, flow.analysed)} analysed of {flow.began} who began; {found}"


def _top(analysis: Analysis) -> str:
    flow, stored = analysis.measures.flow, analysis.stored
    look, heading = PLANS[stored.status]
    rules = Counter(entry.rule for entry in analysis.measures.excluded)
    reasons = [f"{many} {RULES.get(rule, rule)}" for rule, many in rules.items()]
    excluded = (
        f'<p>Excluded: {_text("; ".join(reasons))}. Each is named under <a href="#left-out">what was left out</a>.</p>'
        if reasons
        else "<p>Nobody who began was excluded.</p>"
    )
    plan = _text(stored.sentence)
    if stored.digest is not None:
        plan += f" SHA-256 of the stored plan: <code>{_text(stored.digest)}</code>."
    return _template(
        "study-top.html",
        kind=analysis.kind,
        banner=BANNERS[analysis.kind] if flow.began or analysis.simulated else NOBODY,
        contents="".join(f'<li><a href="#{id}">{text}</a></li>' for id, text in CONTENTS.items()),
        analysed=f"{_text(_count(analysis, flow.analysed))} {'is' if flow.analysed == 1 else 'are'} analysed, of "
        f"{flow.began:,} who began." + (" There is nothing to test or to draw." if not flow.analysed else ""),
        flow=_flow(analysis),
        exclusions=excluded,
        status=_badge(look, heading),
        plan=plan,
        deviations=_list(
            analysis.deviations,
            "There are no deviations from the plan."
            if stored.plan is not None
            else "As there was no plan to follow, there is nothing to deviate from.",
        ),
        facts=fact_list(_glance(analysis)),
    )


def _flow(analysis: Analysis) -> str:
    flow = analysis.measures.flow
    stages = {
        "In the data": flow.in_tables,
        "Of another kind (real, simulated, demo)": -flow.of_another_kind,
        "Invited, never begun": -flow.not_begun,
        "Began": flow.began,
        "Excluded": -flow.excluded,
        "Analysed": flow.analysed,
    }
    rows = "".join(
        f'<tr><th scope="row">{head}</th><td class="number">{_minus(f"{many:,}")}</td></tr>'
        for head, many in stages.items()
    )
    return f'<table class="final flow"><caption>From the data to the tests</caption><tbody>{rows}</tbody></table>'


def _glance(analysis: Analysis) -> dict[str, Any]:
    design = analysis.design
    sets = f"{design.rounds:,}" if design.episodes == 1 else f"{design.episodes} episodes of {design.rounds:,}"

    def told(rows: Sequence[Result]) -> str | None:
        verdicts = Counter(row.verdict for row in rows)
        return ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in VERDICTS if verdicts[verdict]) or None

    return {
        "Study": f"{design.name}, version {design.version}",
        "Participants": KINDS[analysis.kind] if analysis.measures.flow.began else "nobody yet",
        "Analysed": f"{analysis.measures.flow.analysed:,}",
        "Excluded": f"{analysis.measures.flow.excluded:,}",
        "Conditions": ", ".join(condition_label(design, name) for name in analysis.measures.conditions),
        "Rounds": f"{sets} in each condition",
        "Plan": PLANS[analysis.stored.status][1],
        "Planned": told(analysis.planned) or "nothing",
        "Exploratory": told(analysis.exploratory),
        "Deviations": f"{len(analysis.deviations)}",
    }


# Hypotheses and results


def _hypotheses(analysis: Analysis) -> str:
    rows = (*analysis.planned, *analysis.exploratory)
    verdicts = Counter(row.verdict for row in rows)
    filters = [_filter("", f"All {len(rows)}", pressed=True)]
    for verdict, look in VERDICTS.items():
        sign = OUTCOMES[look][1]
        filters.append(_filter(verdict, f'<span aria-hidden="true">{sign}</span> {verdicts[verdict]} {verdict}'))
    groups = {
        "Planned: asked for by a plan that was fixed before the data": analysis.planned,
        "Exploratory: not planned before the data": analysis.exploratory,
    }
    bodies = "\n".join(_hypothesis_rows(head, found) for head, found in groups.items())
    return _template(
        "study-hypotheses.html",
        counts=_counts(analysis),
        alpha=f"{analysis.plan.alpha:g}".removeprefix("0"),
        filters="".join(filters),
        bodies=bodies,
    )


def _counts(analysis: Analysis) -> str:
    said = []
    for word, rows in (("planned", analysis.planned), ("exploratory", analysis.exploratory)):
        verdicts = Counter(row.verdict for row in rows)
        if rows:
            said.append(
                f"Of {count(len(rows), f'{word} hypothesis', f'{word} hypotheses')}, "
                f"<strong>{verdicts[SUPPORTED]}</strong> {'is' if verdicts[SUPPORTED] == 1 else 'are'} supported, "
                f"<strong>{verdicts[NOT_SUPPORTED]}</strong> not, and <strong>{verdicts[UNTESTABLE]}</strong> cannot "
                f"be tested."
            )
        else:
            said.append(f"There are no {word} hypotheses.")
    return " ".join(said)


def _hypothesis_rows(head: str, rows: Sequence[Result]) -> str:
    made = [f'<tr class="group-row"><th colspan="3" scope="rowgroup">{_text(head)}</th></tr>']
    for row in rows:
        found = numbers(row.finding)
        parts = [_stats(found)] if found else []
        parts += [f'<span class="soft">{_text(row.reason)}</span>'] if row.reason else []
        made.append(
            f'<tr data-outcome="{row.verdict}"><td><a href="#{_anchor(row)}"><strong>{_text(row.id)}</strong></a> '
            f"{_text(row.question)}</td><td>{_badge(VERDICTS[row.verdict], row.verdict)}</td>"
            f"<td>{' '.join(parts)}</td></tr>"
        )
    if not rows:
        made.append('<tr data-outcome=""><td colspan="3">There are none.</td></tr>')
    return f"<tbody>{''.join(made)}</tbody>"


def _anchor(row: Result) -> str:
    return "result-" + re.sub(r"[^A-Za-z0-9_-]+", "-", row.id)


_SYMBOLS = re.compile(r"(?<![\w.])(d_z|g_z|r_rb|SD|M|t|F|W|p|g|z|b)(?=\(| = | &lt; | &gt; )")


def _stats(text: str) -> str:
    """Numbers in the style of the APA as HTML: symbols in italics, small indices, a true minus."""
    made = _SYMBOLS.sub(lambda found: f"<i>{found[1].partition('_')[0]}</i>{_small(found[1])}", escape(text))
    made = re.sub(r"(?<=[= \[])-(?=[\d.])", MINUS, made)
    return re.sub(r" (=|&lt;|&gt;) ", rf"{SPACE}\1{SPACE}", made)


def _small(symbol: str) -> str:
    index = symbol.partition("_")[2]
    return f"<sub>{index}</sub>" if index else ""


def _paragraphs(parts: Iterable[Paragraph]) -> str:
    """Paragraphs with their headings; what stands between the tags is the text itself, to the letter."""
    made = []
    for title, text in parts:
        body = _SYMBOLS.sub(r"<i>\1</i>", _text(text))
        made.append(f"<p><strong>{_text(title)}.</strong> {body}</p>")
    return "\n".join(made)


HEADS = ("Result", "Test", "n", "Statistic", "df", "p", "p, corrected", "Difference", "Effect")


def _results(analysis: Analysis) -> str:
    planned = [_family(analysis, row) for row in analysis.planned]
    others = [_family(analysis, row) for row in analysis.exploratory]
    more = analysis.section("population")
    first = (
        _result_table("Planned results", [("", [row for rows in planned for row in rows])])
        if planned
        else f"<p>There are no planned results. {_text(analysis.stored.sentence)}</p>"
    )
    groups = [("Hypotheses", [row for rows in others for row in rows])] if others else []
    groups += [("Populations", list(more))] if more else []
    second = _result_table("Exploratory results", groups) if groups else "<p>There are no exploratory results.</p>"
    return (
        '<section id="results"><h2>Results</h2>'
        '<p class="soft">A difference is the first condition or group minus the second, in the units of the measure; '
        f"in brackets {100 * (1 - analysis.plan.alpha):g}&nbsp;% intervals. Corrected: by Holm's method within a "
        "family. One asterisk: p&nbsp;&lt;&nbsp;.05, two: p&nbsp;&lt;&nbsp;.005, of the corrected p-value if there is "
        f"one. {DASH}: there is no such number; the note says why, if it should be there.</p>"
        f"<h3>Planned</h3>{first}<h3>Exploratory</h3>{second}"
        f"<h3>Means and spreads</h3>{_descriptions(analysis)}</section>"
    )


def _family(analysis: Analysis, row: Result) -> list[Result]:
    """A hypothesis's result, and those that stand beside it."""
    return [row, *(one for one in analysis.section("companion", "anova") if one.id.rpartition("/")[0] == row.id)]


def _result_table(caption: str, groups: Sequence[tuple[str, Sequence[Result]]]) -> str:
    heads = "".join(f'<th scope="col">{head}</th>' for head in HEADS[:2])
    heads += "".join(f'<th scope="col" class="number">{head}</th>' for head in HEADS[2:])
    bodies = []
    for title, rows in groups:
        top = f'<tr class="group-row"><th colspan="{len(HEADS)}" scope="rowgroup">{title}</th></tr>' if title else ""
        mixed = any(row.planned for row in rows)
        bodies.append(f"<tbody>{top}{''.join(_result_row(row, mixed) for row in rows)}</tbody>")
    inner = f'<caption class="hidden">{caption}</caption><thead><tr>{heads}</tr></thead>{"".join(bodies)}'
    return _scrolled(caption, f'<table class="results">{inner}</table>')


def _result_row(row: Result, among_planned: bool) -> str:
    found = row.finding
    beside = row.section in ("companion", "anova")
    family = f" (family {row.family})" if row.family else ""
    note = f'<span class="note">{_text(found.note)}</span>' if found.note else ""
    sided = "" if found.alternative == "two-sided" else f", one-sided ({found.alternative})"
    apart = " (not planned)" if among_planned and not row.planned else ""
    head = f"<strong>{_text(row.id)}</strong>{_text(family)} {_text(row.question + apart)}{note}"
    cells = [
        f"{found.n}",
        _statistic(found),
        _freedom(found),
        _p(found.p, "" if found.p_adjusted is not None else row.mark),
        _p(found.p_adjusted, row.mark),
        _difference(found),
        _effect(found),
    ]
    return (
        f'<tr id="{_anchor(row)}" class="{"beside" if beside else "answer"}"><th scope="row">{head}</th>'
        f'<td class="test">{_text(found.test + sided)}</td>'
        + "".join(
            f'<td class="number{" empty" if cell == DASH else ""}" data-head="{head}">{cell}</td>'
            for head, cell in zip(HEADS[2:], cells, strict=True)
        )
        + "</tr>"
    )


def _statistic(found: Finding) -> str:
    text = statistic(replace(found, df=None))
    return _stats(text) if text else DASH


def _freedom(found: Finding) -> str:
    if found.df is None:
        return DASH
    return ", ".join(f"{value:.0f}" if abs(value - round(value)) < 1e-9 else f"{value:.2f}" for value in found.df)


def _p(p: float | None, mark: str) -> str:
    if p is None:
        return DASH
    return _text(p_value(p).removeprefix("p ").removeprefix("= ") + f" {mark}".rstrip())


def _difference(found: Finding) -> str:
    if found.estimate is None:
        return DASH
    limits = interval(found.estimate_low, found.estimate_high)
    what = f'<span class="what">{_text(found.estimate_name)}</span>' if " minus " in found.estimate_name else ""
    return _minus(number(found.estimate)) + _limits(limits) + what


def _limits(text: str) -> str:
    return "" if text in ("", DASH) else f' <span class="limits">{_minus(text)}</span>'


def _effect(found: Finding) -> str:
    name, _, limits = effect(found).partition(", ")
    if not name:
        return DASH
    name = name.replace("generalised eta squared", "\N{GREEK SMALL LETTER ETA}²").replace("Cronbach alpha", "alpha")
    return _stats(name) + _limits(limits.partition("CI ")[2])


def _descriptions(analysis: Analysis) -> str:
    design = analysis.design
    rows = []
    for one in analysis.described:
        found = one.description
        who = f" ({one.question}: {one.answer})" if one.question else ""
        spread = "" if found.sd is None else number(found.sd)
        rows.append(
            (
                f"{measure_name(design, one.measure)}{who}",
                condition_label(design, one.condition),
                f"{found.n}",
                DASH if found.mean is None else number(found.mean),
                spread or DASH,
                DASH if found.se is None else number(found.se),
                DASH if found.median is None else number(found.median),
                interval(found.low, found.high),
                found.note,
            )
        )
    level = f"{100 * (1 - analysis.plan.alpha):g} % interval"
    heads = ("Measure", "Condition", "n", "M", "SD", "s.e.", "Median", level, "Note")
    return _data_table("Means and spreads of every measure", heads, rows)


def _data_table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of texts; columns that hold words stand to the left, and a column without content is left out."""
    kept = [k for k in range(len(heads)) if k == 0 or any(row[k] for row in rows)]
    wordy = {k for k in kept if any(re.search(r"[A-Za-z]{2}", row[k]) and "=" not in row[k] for row in rows)}
    long = {k for k in wordy if any(len(row[k]) > 40 for row in rows)}

    def kind(k: int) -> str:
        return f' class="{"words long" if k in long else "words" if k in wordy else "number"}"'

    top = "".join(f'<th scope="col"{kind(k) if k else ""}>{_text(heads[k])}</th>' for k in kept)
    body = "".join(
        f'<tr><th scope="row">{_text(row[0])}</th>'
        + "".join(f"<td{kind(k)}>{_text(row[k] if k in wordy else _minus(row[k]))}</td>" for k in kept[1:])
        + "</tr>"
        for row in rows
    )
    inner = f"<caption>{_text(caption)}</caption><thead><tr>{top}</tr></thead><tbody>{body}</tbody>"
    return _scrolled(caption, f'<table class="data">{inner}</table>')


# Figures


def _figures(analysis: Analysis, plates: Sequence[Plate | NotDrawn], pictures: Mapping[str, str], out: Path) -> str:
    made = [_figure(analysis, plate, pictures, out) for plate in plates]
    return f'<section id="figures"><h2>Figures</h2>{"".join(made)}</section>'


def _figure(analysis: Analysis, plate: Plate | NotDrawn, pictures: Mapping[str, str], out: Path) -> str:
    title = f"<h3>{_text(plate.title)}</h3>"
    if isinstance(plate, NotDrawn):
        return f'{title}<p class="undrawn" id="figure-{plate.name}">Not drawn. {_text(plate.reason)}</p>'
    rows = [tuple(row) for row in plate.rows]
    folded = (
        f"<details><summary>The numbers behind it</summary>"
        f"{_data_table(f'{plate.title}: the numbers', plate.columns, rows)}</details>"
    )
    files = figure_links(plate.name, out / FIGURES, "p", "soft files on-screen")
    parts = {"name": plate.name, "caption": _stats(plate.caption), "files": files, "numbers": folded}
    drawing = regret_drawing(analysis) if plate.name == "regret" else None
    if drawing is None:
        return title + _template("study-figure.html", pictures=pictures[plate.name], **parts)
    labels = ", ".join(line.label for line in drawing.lines)
    return title + _template(
        "study-regret.html",
        labels=escape(labels),
        stills=stills(task_drawing(drawing), "task", "participants"),
        **parts,
    )


# Checks, and what was left out


def _checks(analysis: Analysis) -> str:
    parts = []
    for section, (title, text) in CHECKS.items():
        rows = analysis.section(section)
        body = (
            _result_table(title, [("", rows)])
            if rows
            else f"<p>{'There is one condition only' if len(analysis.measures.conditions) < 2 else 'The design'} "
            "gives nothing to check here.</p>"
        )
        parts.append(f'<h3>{title}</h3><p class="soft">{text}</p>{body}')
    return f'<section id="checks"><h2>Checks (exploratory)</h2>{"".join(parts)}</section>'


def _left_out(analysis: Analysis, plates: Sequence[Plate | NotDrawn]) -> str:
    measured = analysis.measures
    untested = [
        f"{row.id}: {row.finding.note or row.reason or 'the method gave no p-value.'}"
        for row in analysis.results
        if row.finding.p is None and row.section != "reliability"
    ]
    untested += [
        f"{row.id}: {row.finding.note or 'alpha could not be computed.'}"
        for row in analysis.section("reliability")
        if row.finding.statistic is None
    ]
    undrawn = [f"{plate.title}: {plate.reason}" for plate in plates if isinstance(plate, NotDrawn)]
    gaps = [gap.sentence for gap in measured.gaps]
    parts = [
        ("People who were excluded", "exclusions", analysis.exclusions, "Nobody was excluded."),
        ("People who are in, but lack something", "gaps", gaps, "Everybody who is analysed has whole data."),
        ("Tests that could not be made", "tests", untested, "Every test could be made."),
        ("Figures that could not be drawn", "figures", undrawn, "Every figure could be drawn."),
        ("Notes", "notes", analysis.notes, "There is nothing else to say."),
    ]
    made = "".join(f"<h3>{title}</h3>{_boxed(entries, what, empty)}" for title, what, entries, empty in parts)
    return f'<section id="left-out"><h2>What was left out, and why</h2>{made}</section>'


def _facts(analysis: Analysis, about: Mapping[str, Any]) -> dict[str, Any]:
    design, stored = analysis.design, analysis.stored
    told = {FACTS.get(key, key): value for key, value in about.items() if key not in ("title", "lead")}
    versions = dict(analysis.versions)
    analysed = versions.pop("analysed_with", None)
    known = {
        "Made": told.get("Made"),
        "Version": told.get("Version"),
        "Study": f"{design.name}, version {design.version}",
        "Design": f"SHA-256 {design.digest}",
        "Plan": "no stored plan" if stored.digest is None else f"SHA-256 {stored.digest}",
        "Plan fixed at": stored.fixed_at,
        "Participants": KINDS[analysis.kind],
        "Data written by": ", ".join(f"{name} {version}" for name, version in versions.items()) or "not known",
        "Analysed with": None if analysed is None else f"cobandit {analysed}",
        "Machine": this_machine(),
    }
    return known | told
