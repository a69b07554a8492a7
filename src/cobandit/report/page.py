"""The report page: one HTML file with everything in it, to be opened offline, sent and printed.

All text that comes from elsewhere (titles, labels, claims, facts) is escaped where it enters, and the data travel as
JSON in which no tag can begin or end. A content policy allows nothing but the scripts of this very file.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import string
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from itertools import groupby, permutations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.base.errors import InvalidInput
from cobandit.base.files import whole_file
from cobandit.experiments.claims import Quantity as Finding
from cobandit.experiments.claims import Verdict
from cobandit.experiments.figures import PANELS, THEORY
from cobandit.experiments.run import PanelResult
from cobandit.experiments.store import this_machine
from cobandit.report.comparison import COLOURS
from cobandit.report.figures import BOUNDS, FORMATS, Drawing, Line, drawing_of, plain
from cobandit.report.stills import dash, stills

NAME = "report.html"
FIGURES = "figures"
"""The folder beside the page in which figures are looked for."""

DIGITS = 5
"""Significant digits of the numbers that are drawn: far more than a screen has points."""

FEW_RUNS = 1_000
"""Below this number of runs the page says what heavy tails do to a mean."""

DARK_COLOURS = ("#5AB0F0", "#FF8B4A", "#2FC79B", "#E8A0C8", "#F2F2F2", "#F2B632", "#A8DDFB", "#9A9A9A")
"""Okabe and Ito's palette once more, lighter, for a dark page; place by place the same hues."""

OUTCOMES = {
    "holds": ("holds", "✓", "hold"),
    "does not hold": ("fails", "✗", "do not hold"),
    "undecided": ("open", "?", "undecided"),
}
"""Class, sign and plural of each verdict; the word is the verdict itself."""

FACTS = {"when": "Made", "version": "Version", "executor": "Run by", "machine": "Machine", "command": "Command"}
"""What the caller may say about the report, and how it is headed; other keys stand under their own name."""

LEVELS = {
    "printed": "Theorem 1 as it is stated, with p<sub>max</sub>² under the second sum",
    "proved": "the same with the p<sub>min</sub>² that its proof needs",
    "safe": "holds in every problem: a repaired bound, or every round lost where that is less",
    "linear": "what T rounds can cost at most, whatever the team does",
}
"""What each bound is."""

DASH = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"


def write_page(results: Sequence[PanelResult], out: Path, about: Mapping[str, Any]) -> Path:
    """Write ``out/report.html`` from the results of some panels, and say where it is.

    ``about`` says what the results do not know: ``when`` the report was made, ``executor`` (where the runs were
    played), ``machine``, ``command``, ``version``; ``title`` and ``lead`` replace the headline and the line under it.
    Any other key is shown as it is. Figures are linked if they lie in ``out/figures``. Equal results and facts give
    equal files.
    """
    if not results:
        raise InvalidInput("results is empty; at least one panel is needed for a report.")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"The folder {str(out)!r} cannot be made: {error.strerror}.") from error
    page = _page(results, out, about)
    with whole_file(out / NAME) as file:
        file.write(page.encode())
    return out / NAME


def _page(results: Sequence[PanelResult], out: Path, about: Mapping[str, Any]) -> str:
    from cobandit import __version__

    drawings = [drawing_of(result) for result in results]
    verdicts = [result.verdicts for result in results]
    paper = all(result.panel.name in (*PANELS, THEORY) for result in results)
    runs = min(result.settings.runs for result in results)
    introduction = _template(
        "introduction.html",
        paper=_template("paper.html") if paper else "",
        tails=_template("tails.html", runs=_counted(runs, "run"), enough=f"{FEW_RUNS:,}") if runs < FEW_RUNS else "",
        facts=_facts(results, {"version": __version__, "machine": this_machine()} | dict(about)),
    )
    parts = [
        introduction,
        _summary(results, verdicts),
        *map(_panel, results, drawings, verdicts, [out / FIGURES] * len(results)),
        _template("data.html", panel=results[0].panel.name, curve=results[0].curves[0].curve.name),
    ]
    return framed(
        title=str(about.get("title", "Bandit teams: the paper's figures" if paper else "Bandit teams: a sweep")),
        lead=str(about.get("lead", _lead(results, verdicts))),
        skip="Skip to the claims",
        version=str(about.get("version", __version__)),
        main="\n".join(parts),
        data={"panels": [plain_data(drawing) for drawing in drawings]},
    )


def framed(
    *,
    title: str,
    lead: str,
    skip: str,
    version: str,
    main: str,
    data: Mapping[str, Any],
    styles: Sequence[str] = ("report.css",),
    scripts: Sequence[str] = ("report.js",),
) -> str:
    """A page around its main part, which is HTML with an element ``#summary``; everything else is text.

    ``data`` is what the charts are drawn from; ``styles`` and ``scripts`` name static files.
    """
    library, script = _library(), "\n".join(map(_static, scripts))
    return _template(
        "page.html",
        title=_words(title),
        lead=_words(lead),
        skip=_words(skip),
        version=_words(version),
        policy="default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
        f"script-src {_fingerprint(library)} {_fingerprint(script)}; base-uri 'none'; form-action 'none'",
        style="\n".join([_static("vendor/uplot/uPlot.min.css"), _palette(), *map(_static, styles)]),
        main=main,
        json=_json(data),
        library=library,
        script=script,
    )


# Text and numbers


def _words(text: object) -> str:
    """Any text, safe to stand between tags or in a quoted attribute."""
    return escape(plain(str(text)).replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"))


def _places(values: Iterable[float]) -> int:
    """Decimals with which the largest of some numbers has three digits or so."""
    size = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    return 0 if size >= 100 else 1 if size >= 10 else 2


def _number(value: float, places: int | None = None) -> str:
    """A number for people."""
    if not math.isfinite(value):
        return DASH
    return f"{value:z,.{_places([value]) if places is None else places}f}".replace("-", MINUS)


def _interval(finding: Finding) -> str:
    """An estimate with its limits; a number alone if it is no estimate."""
    if finding.low == finding.high:
        return _number(finding.value)
    if not (math.isfinite(finding.low) and math.isfinite(finding.high)):
        return f"{_number(finding.value)} (no interval)"
    numbers = (finding.value, finding.low, finding.high)
    return "{} ({} to {})".format(*(_number(number, _places(numbers)) for number in numbers))


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _ranging(numbers: Iterable[int], noun: str) -> str:
    """One number, or the range of several."""
    known = sorted(set(numbers))
    return _counted(known[0], noun) if len(known) == 1 else f"{known[0]:,} to {known[-1]:,} {noun}s"


# The top of the page


def _lead(results: Sequence[PanelResult], verdicts: Sequence[Sequence[Verdict]]) -> str:
    counts = _counts(verdicts)
    total = sum(counts.values())
    runs = _ranging((result.settings.runs for result in results), "run")
    judged = ", ".join(f"{counts[outcome]} {word}" for outcome, (_, _, word) in OUTCOMES.items() if counts[outcome])
    found = f"; {_counted(total, 'claim')} checked: {judged}" if total else ""
    return f"{_counted(len(results), 'panel')}, {runs} for each curve{found}"


def _counts(verdicts: Sequence[Sequence[Verdict]]) -> dict[str, int]:
    return {
        outcome: sum(verdict.outcome == outcome for judged in verdicts for verdict in judged) for outcome in OUTCOMES
    }


def _facts(results: Sequence[PanelResult], about: Mapping[str, Any]) -> str:
    told = {FACTS.get(key, key): value for key, value in about.items() if key not in ("title", "lead")}
    engines = sorted({curve.engine for result in results for curve in result.curves})
    known = {
        "Made": told.get("Made"),
        "Version": told["Version"],
        "Runs": _ranging((result.settings.runs for result in results), "run") + " for each curve",
        "Rounds": _ranging((result.settings.horizon_of(result.panel) for result in results), "round"),
        "Seed": ", ".join(str(seed) for seed in sorted({result.settings.seed for result in results})),
        "Index": ", ".join(sorted({result.settings.index for result in results})),
        "Engine": f"{' and '.join(engines)}, {sum(result.seconds for result in results):.1f} s in all",
    }
    return fact_list(known | told)


def fact_list(facts: Mapping[str, Any]) -> str:
    """The entries of a list of facts, without those that are None."""
    rows = {head: _words(value) for head, value in facts.items() if value is not None}
    if "Command" in rows:
        rows["Command"] = f'<code tabindex="0">{escape(str(facts["Command"]))}</code>'
    return "\n".join(f"<dt>{_words(head)}</dt><dd>{value}</dd>" for head, value in rows.items())


def _badge(verdict: Verdict) -> str:
    kind, sign, _ = OUTCOMES[verdict.outcome]
    word = f"undecided at {_counted(verdict.runs, 'run')}" if kind == "open" else verdict.outcome
    return f'<span class="badge {kind}"><span aria-hidden="true">{sign}</span> {word}</span>'


def _summary(results: Sequence[PanelResult], verdicts: Sequence[Sequence[Verdict]]) -> str:
    counts = _counts(verdicts)
    total = sum(counts.values())
    if not total:
        links = "".join(f'<li><a href="#{r.panel.name}">{_words(r.panel.title)}</a></li>' for r in results)
        return f'<section id="summary"><h2>The panels</h2><p>No claims were made.</p><ul>{links}</ul></section>'
    filters = [_filter("", f"All {total}", pressed=True)]
    for outcome, (_, sign, word) in OUTCOMES.items():
        filters.append(_filter(outcome, f'<span aria-hidden="true">{sign}</span> {counts[outcome]} {word}'))
    return _template(
        "summary.html",
        all=_counted(total, "claim"),
        filters="".join(filters),
        bodies="\n".join(map(_summary_rows, results, verdicts)),
        **{kind: str(counts[outcome]) for outcome, (kind, _, _) in OUTCOMES.items()},
    )


def _filter(outcome: str, inner: str, *, pressed: bool = False) -> str:
    state = "true" if pressed else "false"
    return f'<button type="button" class="switch" data-outcome="{outcome}" aria-pressed="{state}">{inner}</button>'


def _summary_rows(result: PanelResult, verdicts: Sequence[Verdict]) -> str:
    name, title = result.panel.name, _words(result.panel.title)
    head = f'<a href="#{name}">{title}</a> <span class="soft">{name}</span>'
    rows = [f'<tr class="group-row"><th colspan="3" scope="rowgroup">{head}</th></tr>']
    for verdict in verdicts:
        found = deciding(verdict)
        limit = f"; bound {_number(verdict.findings[1].value)}" if verdict.kind == "below bound" else ""
        what = "growth" if found.name.startswith("growth of ") else _named(found.name, result)
        rows.append(
            f'<tr data-outcome="{verdict.outcome}"><td>{_words(verdict.claim)}</td><td>{_badge(verdict)}</td>'
            f'<td><span class="soft">{_words(what)}:</span> {_interval(found)}{limit}</td></tr>'
        )
    return f"<tbody>{''.join(rows)}</tbody>" if verdicts else ""


def deciding(verdict: Verdict) -> Finding:
    """The number that settled a verdict: of several comparisons the one nearest to the wrong side, or beyond it."""
    found = verdict.findings
    if verdict.kind in ("beats", "rises"):
        return max(found, key=lambda f: f.low if verdict.outcome == "does not hold" else f.high)
    if verdict.kind == "no difference":
        *gaps, margin = found
        if verdict.outcome == "does not hold":
            gaps = [f for f in gaps if (f.low > 0 or f.high < 0) and abs(f.value) > margin.value]
            return max(gaps, key=lambda f: abs(f.value))
        return max(gaps, key=lambda f: max(abs(f.low), abs(f.high)))
    return found[0]


def _named(name: str, result: PanelResult) -> str:
    """A finding's name with the curves' labels in place of their ids."""
    labels = {one.curve.name: one.curve.label for one in result.curves}
    names = {f"growth of {a}": f"growth of {label}" for a, label in labels.items()}
    names |= {f"bound, {kind}": label for kind, label in BOUNDS.items()}
    names |= {f"{a} - {b}": f"{labels[a]} minus {labels[b]}" for a, b in permutations(labels, 2)}
    return names.get(name, name)


# One panel


def _panel(result: PanelResult, drawing: Drawing, verdicts: Sequence[Verdict], figures: Path) -> str:
    return _template(
        "panel.html",
        name=drawing.name,
        title=_words(drawing.title),
        varies=_words(result.panel.varies),
        fixed=_words(drawing.fixed),
        rounds=_counted(drawing.horizon, "round"),
        runs=_counted(drawing.runs, "run"),
        labels=escape(", ".join(line.label for line in drawing.lines)),
        stills=stills(drawing),
        figures=figure_links(drawing.name, figures),
        theory=_theory(drawing),
        claims=f"<div><h3>What it must show</h3>{_verdicts(result, verdicts)}</div>" if verdicts else "",
        finals=_finals(drawing, "team") + _finals(drawing, "task"),
    )


def figure_links(name: str, figures: Path, tag: str = "figcaption", look: str = "on-screen") -> str:
    """Links to the figures for print that lie in the folder beside the page."""
    found = [kind for kind in FORMATS if (figures / f"{name}.{kind}").is_file()]
    if not found:
        return ""
    links = ", ".join(f'<a href="{FIGURES}/{name}.{kind}">{kind.upper()}</a>' for kind in found)
    return f'<{tag} class="{look}">As a figure for print: {links}</{tag}>'


def _verdicts(result: PanelResult, verdicts: Sequence[Verdict]) -> str:
    """Every claim with all its numbers; neighbours with the same rule and note share these."""
    items = []
    for (rule, note), judged in groupby(verdicts, key=lambda verdict: (verdict.rule, verdict.note)):
        lines = []
        for verdict in judged:
            found = "; ".join(f"{_words(_named(f.name, result))}: {_interval(f)}" for f in verdict.findings)
            lines.append(f'<p class="claim">{_badge(verdict)} {_words(verdict.claim)}</p><p>{found}.</p>')
        lines.append(f'<p class="soft">Rule: {_words(rule)}.</p>')
        if note:
            lines.append(f'<p class="soft">Note: {_words(note)}</p>')
        items.append(f"<li>{''.join(lines)}</li>")
    return f'<ul class="verdicts">{"".join(items)}</ul>'


def _finals(drawing: Drawing, regret: str) -> str:
    """The rows of one regret in the table of final values."""
    rows = [f'<tr><th colspan="5" scope="rowgroup">{regret.capitalize()} regret</th></tr>']
    finals = [_final(line, line.factor if regret == "team" else 1.0) for line in drawing.lines]
    places = _places(value for final in finals for value in final)
    for line, final in zip(drawing.lines, finals, strict=True):
        mean, se, median, q10, q90 = (_number(value, places) for value in final)
        cells = (mean if se == DASH else f"{mean} ± {se}", median, f"{q10} to {q90}", _growth(line))
        rows.append(
            f'<tr><th scope="row">{escape(line.label)}</th>'
            + "".join(f'<td class="number">{cell}</td>' for cell in cells)
            + "</tr>"
        )
    return f'<tbody data-regret="{regret}">{"".join(rows)}</tbody>'


def _final(line: Line, scale: float) -> list[float]:
    return [scale * float(stat[-1]) for stat in (line.mean, line.se, line.median, line.q10, line.q90)]


def _growth(line: Line) -> str:
    half = float(line.mean[int(np.searchsorted(line.rounds, line.rounds[-1] / 2))])
    return _number(float(line.mean[-1]) / half, 2) if half > 0.0 else DASH


def _theory(drawing: Drawing) -> str:
    if not drawing.levels:
        return ""
    rows = "".join(
        f'<tr><th scope="row">{level.label}</th><td class="number">{_number(level.value)}</td>'
        f"<td>{LEVELS[level.name]}</td></tr>"
        for level in drawing.levels
    )
    most = next(level.value for level in drawing.levels if level.name == "linear")
    empty = [f"the {level.label}" for level in drawing.levels if level.value > most]
    note = (
        f"<p>At T = {drawing.horizon:,} {' and '.join(empty)} lie above what losing every round would cost: true, but "
        "saying nothing yet. They grow with log T and that cost with T, so they begin to speak at longer horizons.</p>"
    )
    return _template("theory.html", rows=rows, note=note if empty else "")


# What the script and the style sheet need


def _json(data: Mapping[str, Any]) -> str:
    """The data as JSON that can stand in a page: no tag begins or ends in it."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def plain_data(drawing: Drawing) -> dict[str, Any]:
    """A drawing as the script takes it."""
    return {
        "name": drawing.name,
        "horizon": drawing.horizon,
        "rounds": drawing.lines[0].rounds.tolist(),
        "curves": [
            {
                "label": line.label,
                "number": line.number,
                "dash": dash(line.number),
                "factor": line.factor,
                "mean": _rounded(line.mean),
                "se": _rounded(line.se) if np.isfinite(line.se).all() else None,
                "median": _rounded(line.median),
                "q10": _rounded(line.q10),
                "q90": _rounded(line.q90),
            }
            for line in drawing.lines
        ],
        "levels": [
            {
                "label": level.label,
                "number": level.number,
                "dash": dash(level.number),
                "factor": level.factor,
                "value": level.value,
                "sloping": level.sloping,
            }
            for level in drawing.levels
            if math.isfinite(level.value) and level.factor > 0.0
        ],
    }


def _rounded(values: NDArray[np.float64]) -> list[float | int]:
    """Numbers as short as they can be drawn from."""
    short = [float(f"{value:.{DIGITS}g}") for value in values.tolist()]
    return [int(value) if value.is_integer() else value for value in short]


def _palette() -> str:
    """The colours of the curves as properties of the style sheet."""
    light, dark = (
        " ".join(f"--c{number}: {colour};" for number, colour in enumerate(colours))
        for colours in (COLOURS, DARK_COLOURS)
    )
    return (
        f":root {{ {light} }}\n"
        f'@media screen and (prefers-color-scheme: dark) {{ :root:not([data-theme="light"]) {{ {dark} }} }}\n'
        f'@media screen {{ :root[data-theme="dark"] {{ {dark} }} }}'
    )


def _library() -> str:
    return f"/*!\n{_static('vendor/uplot/LICENSE').strip()}\n*/\n{_static('vendor/uplot/uPlot.iife.min.js')}"


def _fingerprint(script: str) -> str:
    """What a content policy calls this script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def _static(name: str) -> str:
    return (files("cobandit.report") / "static" / name).read_text(encoding="utf-8")


def _template(name: str, /, **values: str) -> str:
    text = (files("cobandit.report") / "templates" / name).read_text(encoding="utf-8")
    return string.Template(text).substitute(values)
