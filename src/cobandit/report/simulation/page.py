"""The page of an experiment: its claims with their verdicts, and every panel with chart, numbers and bounds."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, permutations
from pathlib import Path

from cobandit import __version__
from cobandit.base.errors import InvalidInput
from cobandit.base.numbers import PAGE, count, percent
from cobandit.experiments.claims import Quantity, Verdict
from cobandit.experiments.diagnosis import diagnose_panel
from cobandit.experiments.figures import PANELS, STANDOFF, THEORY
from cobandit.experiments.run import PanelResult
from cobandit.experiments.store import this_machine
from cobandit.report.kit.drawing import Drawing, chart_data
from cobandit.report.kit.html import FIGURES, OUTCOMES, Frame, dated, figure_kinds, named_facts, write_html
from cobandit.report.simulation.drawing import BOUNDS, drawing_of, final_rows
from cobandit.report.simulation.figures import panel_pictures, write_panel_figures

NAME = "report.html"

FEW_RUNS = 1_000
"""Below this number of runs the page says what heavy tails do to a mean."""


def write_report(
    results: Sequence[PanelResult],
    out: str | os.PathLike[str],
    about: Mapping[str, object] | None = None,
    *,
    diagnose: bool = False,
) -> Path:
    """Write ``out/figures/*.pdf``, ``.svg``, ``.png`` and ``out/report.html``, and return the path of the page.

    ``about`` contains facts that are not in the results: ``when`` the report was made (default: now), ``executor``
    (where the runs were played), ``machine``, ``command``, ``version``; ``title`` and ``lead`` replace the headline and
    the line below it. Any other key is shown unchanged. ``diagnose`` plays the first runs of every curve again and
    explains for each panel why its teams lost. Equal results and facts give equal files.
    """
    _check(results)
    write_panel_figures(results, Path(out) / FIGURES)
    return write_page(results, Path(out), dated(about), diagnose=diagnose)


def write_page(
    results: Sequence[PanelResult], out: Path, about: Mapping[str, object], *, diagnose: bool = False
) -> Path:
    """Write the page alone; figures are linked if they lie in ``out/figures``."""
    _check(results)
    drawings = [drawing_of(result) for result in results]
    paper = all(result.panel.name in (*PANELS, THEORY, STANDOFF) for result in results)
    runs = min(result.runs for result in results)
    frame = Frame(
        title=str(about.get("title", "Bandit teams: the paper's figures" if paper else "Bandit teams: a sweep")),
        lead=str(about.get("lead", _lead(results))),
        version=str(about.get("version", __version__)),
        scripts=("report.js",),
        data={"panels": [chart_data(drawing) for drawing in drawings]},
    )
    content = {
        "paper": paper,
        "few_runs": count(runs, "run") if runs < FEW_RUNS else None,
        "enough_runs": f"{FEW_RUNS:,}",
        "facts": _facts(results, {"version": __version__, "machine": this_machine()} | dict(about)),
        "counts": _counts(results),
        "panels": [
            _panel(result, drawing, out) | {"causes": _causes(result) if diagnose else None}
            for result, drawing in zip(results, drawings, strict=True)
        ],
        "first_curve": results[0].curves[0].curve.name,
    }
    return write_html(out / NAME, "simulation/report.html", frame, content)


def _check(results: Sequence[PanelResult]) -> None:
    if not results:
        raise InvalidInput("results is empty; at least one panel is needed for a report.")


# Numbers


def _interval(finding: Quantity) -> str:
    """Return an estimate with its limits; a number alone if it is no estimate."""
    if finding.low == finding.high:
        return PAGE.format(finding.value)
    if not (math.isfinite(finding.low) and math.isfinite(finding.high)):
        return f"{PAGE.format(finding.value)} (no interval)"
    numbers = (finding.value, finding.low, finding.high)
    decimals = PAGE.decimals_for(numbers)
    return "{} ({} to {})".format(*(PAGE.format(number, decimals) for number in numbers))


def _ranging(numbers: Iterable[int], noun: str) -> str:
    """Return one number, or the range of several."""
    known = sorted(set(numbers))
    return count(known[0], noun) if len(known) == 1 else f"{known[0]:,} to {known[-1]:,} {noun}s"


# The top of the page


def _lead(results: Sequence[PanelResult]) -> str:
    counts = _counts(results)
    total = sum(counts.values())
    runs = _ranging((result.runs for result in results), "run")
    judged = ", ".join(f"{counts[outcome]} {word}" for outcome, (_, _, word) in OUTCOMES.items() if counts[outcome])
    claims = f"; {count(total, 'claim')} checked: {judged}" if total else ""
    return f"{count(len(results), 'panel')}, {runs} for each curve{claims}"


def _counts(results: Sequence[PanelResult]) -> dict[str, int]:
    """Return how many claims have which outcome."""
    counts: Counter[str] = Counter(verdict.outcome for result in results for verdict in result.verdicts)
    return {outcome: counts[outcome] for outcome in OUTCOMES}


def _facts(results: Sequence[PanelResult], about: Mapping[str, object]) -> dict[str, object]:
    given = named_facts(about)
    engines = sorted({curve.engine for result in results for curve in result.curves})
    known = {
        "Made": given.get("Made"),
        "Version": given["Version"],
        "Runs": _ranging((result.runs for result in results), "run") + " for each curve",
        "Rounds": _ranging((result.settings.horizon_of(result.panel) for result in results), "round"),
        "Seed": ", ".join(str(seed) for seed in sorted({result.settings.seed for result in results})),
        "Index": ", ".join(sorted({result.settings.index for result in results})),
        **({"Arms": "relabelled at random in each run"} if results[0].settings.relabel else {}),
        "Engine": f"{' and '.join(engines)}, {sum(result.seconds for result in results):.1f} s in all",
    }
    return known | given


# Claims


def deciding(verdict: Verdict) -> Quantity:
    """Return the number that settled a verdict: of several comparisons the one nearest to the wrong side, or
    beyond it.
    """
    findings = verdict.findings
    if verdict.kind in ("beats", "rises"):
        return max(findings, key=lambda f: f.low if verdict.outcome == "does not hold" else f.high)
    if verdict.kind == "no difference":
        *gaps, margin = findings
        if verdict.outcome == "does not hold":
            gaps = [f for f in gaps if (f.low > 0 or f.high < 0) and abs(f.value) > margin.value]
            return max(gaps, key=lambda f: abs(f.value))
        return max(gaps, key=lambda f: max(abs(f.low), abs(f.high)))
    return findings[0]


def _named(name: str, result: PanelResult) -> str:
    """Return a finding's name with the curves' labels in place of their ids."""
    labels = {played.curve.name: played.curve.label for played in result.curves}
    names = {f"growth of {a}": f"growth of {label}" for a, label in labels.items()}
    names |= {f"bound, {kind}": label for kind, label in BOUNDS.items()}
    names |= {f"{a} - {b}": f"{labels[a]} minus {labels[b]}" for a, b in permutations(labels, 2)}
    return names.get(name, name)


def _claim(verdict: Verdict, result: PanelResult) -> dict[str, object]:
    """Return a claim with its verdict, the number that decides it, and all its numbers."""
    finding = deciding(verdict)
    bound = f"; bound {PAGE.format(verdict.findings[1].value)}" if verdict.kind == "below bound" else ""
    undecided = verdict.outcome == "undecided"
    return {
        "text": verdict.claim,
        "outcome": verdict.outcome,
        "word": f"undecided at {count(verdict.runs, 'run')}" if undecided else verdict.outcome,
        "decided_by": "growth" if finding.name.startswith("growth of ") else _named(finding.name, result),
        "deciding": _interval(finding) + bound,
        "numbers": [(_named(f.name, result), _interval(f)) for f in verdict.findings],
        "rule": verdict.rule,
        "note": verdict.note,
    }


# One panel


def _panel(result: PanelResult, drawing: Drawing, out: Path) -> dict[str, object]:
    claims = [_claim(verdict, result) for verdict in result.verdicts]
    return {
        "name": drawing.name,
        "title": result.panel.title,
        "varies": result.panel.varies,
        "fixed": drawing.fixed,
        "rounds": count(drawing.horizon, "round"),
        "runs": count(drawing.runs, "run"),
        "labels": ", ".join(line.label for line in drawing.lines),
        "pictures": panel_pictures(drawing),
        "legend": [*drawing.lines, *drawing.finite_levels],
        "figure_kinds": figure_kinds(drawing.name, out),
        "levels": drawing.levels,
        "empty_bounds": _empty_bounds(drawing),
        "horizon": f"{drawing.horizon:,}",
        "claims": claims,
        # Neighbours with the same rule and note share these.
        "claims_by_rule": [list(group) for _, group in groupby(claims, key=lambda c: (c["rule"], c["note"]))],
        "finals": {regret: _finals(drawing, regret) for regret in ("team", "task")},
    }


def _empty_bounds(drawing: Drawing) -> list[str]:
    """Return the bounds that say nothing yet at this horizon: they lie above what losing every round would cost."""
    most = next((level.value for level in drawing.levels if level.name == "linear"), math.inf)
    return [level.label for level in drawing.levels if level.value > most]


def _finals(drawing: Drawing, regret: str) -> list[tuple[str, ...]]:
    """Return the rows of one regret in the table of final values."""
    return final_rows((drawing if regret == "team" else drawing.in_task_regret()).lines)


def _causes(result: PanelResult) -> dict[str, object] | None:
    """Return why the teams of a panel lost, as a table; nothing where no curve is one of a bandit."""
    counted = diagnose_panel(result)
    if not counted:
        return None
    names = list(dict.fromkeys(name for each in counted.values() for name in each.causes))
    lost = {curve: dict(zip(each.causes, each.regret[-1].tolist(), strict=True)) for curve, each in counted.items()}
    decimals = PAGE.decimals_for(value for causes in lost.values() for value in causes.values())
    labels = {played.curve.name: played.curve.label for played in result.curves}
    rows = [
        (
            labels[curve],
            *(PAGE.format(lost[curve].get(name, math.nan), decimals) for name in names),
            *(f"{percent(share)} %" for share in each.locked[-1]),
        )
        for curve, each in counted.items()
    ]
    runs = count(min(each.runs for each in counted.values()), "run")
    lock = next(iter(counted.values())).lock_rounds
    heads = ["Curve", *names, "locked on the best", "on another"]
    return {"heads": heads, "rows": rows, "runs": runs, "lock_rounds": lock}
