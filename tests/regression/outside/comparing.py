"""Recorded and made, side by side; what may differ on purpose is named here and nowhere else."""

from __future__ import annotations

import fnmatch
import gzip
import json
import math
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import admission, burgers, choices, edge, languages, names, payments, pleasant, robot, seats, trust
from .doors import left_out_value

HERE = Path(__file__).parent / "recorded"
CLOSE = 0.0 if os.environ.get("COBANDIT_LAST_BIT") else 1e-9
"""How far, relatively, two numbers may be apart: other versions of SciPy or BLAS add up in another order.

With ``COBANDIT_LAST_BIT=1`` every bit counts, as it should between two versions of the code on one machine.
"""


@dataclass(frozen=True)
class Change:
    """A change that is meant: for the cases of this pattern, what was recorded is turned into what is expected now."""

    cases: str
    turn: Callable[[Any], Any]
    why: str


def without_engines(value: Any) -> Any:
    """Which engine plays a small job hangs on what the process has loaded before, and is no longer compared."""
    if isinstance(value, list):
        return [without_engines(part) for part in value]
    if not isinstance(value, dict):
        return value
    return {
        key: left_out_value(part) if key in ("engine", "engine_reason") else without_engines(part)
        for key, part in value.items()
    }


SEATS = "teams of any size"
LANGUAGE = "a page is in one language"
ROBOT = "a robot may stack the burgers"
FILLINGS = "a burger's layers come from the server, and a design may name four fillings"
SUMMED = "task regret is cumulative everywhere"
PLEASANT = "partners have names, results are told, pages speak four languages"
CHOICES = "plans choose what is marked and which regret is tested"
TRUST = "who does what is written down"
BLIND = "the monitor is blind to conditions until somebody asks"
STATES = "a study has four states, and error pages lead home"
PAYMENTS = "designs may have rules of payment, Markdown and a debriefing"
NAMES = "names of columns are such that R, SPSS and Stata take them"
CHANGES_ON_PURPOSE: tuple[Change, ...] = (
    Change("*", without_engines, "tests share a process"),
    Change("*", seats.over_seats, SEATS),
    Change("* real participant", seats.without_heads, SEATS),
    Change("* rehearsal participant", seats.without_heads, SEATS),
    Change("refused: an unknown design", seats.with_three_seats, "a team of three is shipped"),
    Change("*: study.json", seats.layout_2, SUMMED),
    Change("*: codebook.csv", seats.codebook, SUMMED),
    Change("*: long.csv", seats.summed, SUMMED),
    Change("*: long.parquet", seats.summed_parquet, SUMMED),
    Change("*", burgers.with_layers, FILLINGS),
    Change("messages *", burgers.with_words, FILLINGS),
    Change("messages *", edge.unfilled_texts, "links that nobody has filled in"),
    Change("admin: * live *", edge.with_unfilled, "links that nobody has filled in"),
    Change("admin: * live *", edge.in_pages, "whoever watches does not slow down who plays"),
    Change("admin", edge.with_disk, "free disk space"),
    Change("routes", edge.with_liveness, "liveness and readiness"),
    Change("*small-casino*", edge.own_means, "the means of a casino are a secret of the study"),
    Change("messages *", robot.with_messages, ROBOT),
    Change("routes", robot.with_routes, ROBOT),
    Change("*: an unknown event", robot.with_event, ROBOT),
    Change("* open link de", languages.german_without_scripts, LANGUAGE),
    Change("* open link, browser de", languages.german_without_scripts, LANGUAGE),
    Change("* demo de", languages.german_without_scripts, LANGUAGE),
    Change("refused: an unknown agent", choices.with_new_agents, "agents beyond the paper"),
    Change("refused: an unknown panel", choices.with_standoff, "a panel more is known"),
    Change("*", choices.with_choices, CHOICES),
    Change("study plan three-by-three", choices.plan_lines, CHOICES),
    Change("study plan burger", choices.plan_lines, CHOICES),
    Change("burger*: study.json", choices.stored_plan, CHOICES),
    Change("study power *", choices.with_chance, "power is said in a sentence"),
    Change("*", trust.with_links, TRUST),
    Change("routes", trust.with_routes, TRUST),
    Change("messages *", admission.with_messages, STATES),
    Change("routes", admission.with_route, STATES),
    Change("routes", admission.with_blinding, BLIND),
    Change("admin: * live *", admission.sighted, BLIND),
    Change("admin: * participant *", admission.sighted, BLIND),
    Change("admin: * curves *", admission.coloured, BLIND),
    Change("*: described *", admission.with_reason, STATES),
    Change("admin: *", admission.with_state, STATES),
    Change("admin: closed", admission.with_new_state, STATES),
    Change("admin: opened", admission.with_new_state, STATES),
    Change("list", admission.listed, STATES),
    Change("study check *", admission.checked, STATES),
    Change("burger closed *", admission.leading_home, STATES),
    Change("report, where there is none", admission.leading_home, STATES),
    Change("no such *", admission.leading_home, STATES),
    Change("nobody's link", admission.leading_home, STATES),
    Change("admin, no such *", admission.leading_home, STATES),
    Change("* live", admission.who_may_begin, STATES),
    Change("*", payments.designed, PAYMENTS),
    Change("admin: * payments", payments.with_amounts, PAYMENTS),
    Change("* payments", payments.page, PAYMENTS),
    Change("* payments as a table", payments.table, PAYMENTS),
    Change("*: study.json", names.layout_3, NAMES),
    Change("*: wide.csv", names.wide, NAMES),
    Change("*: wide.parquet", names.wide_parquet, NAMES),
    Change("*: codebook.csv", names.codebook, NAMES),
    Change("messages *", pleasant.with_texts, PLEASANT),
    Change("messages fr", pleasant.french, PLEASANT),
    Change("*", pleasant.with_partners, PLEASANT),
    Change("small-casino*", pleasant.with_results, PLEASANT),
    Change("study new from three-by-three", pleasant.named_example, PLEASANT),
)
"""Every change of behaviour since the recording that is meant, in the order in which they were made."""


def expected(case: str, recorded: Any) -> Any:
    """What a case must give today."""
    for change in CHANGES_ON_PURPOSE:
        if fnmatch.fnmatchcase(case, change.cases):
            recorded = change.turn(recorded)
    return recorded


def differences(wanted: Any, made: Any, where: str = "") -> Iterator[str]:
    """Where two values differ, one line each."""
    if isinstance(wanted, dict) and isinstance(made, dict):
        for key in [*wanted, *(key for key in made if key not in wanted)]:
            if key not in made:
                yield f"{where}.{key}: missing"
            elif key not in wanted:
                yield f"{where}.{key}: new"
            else:
                yield from differences(wanted[key], made[key], f"{where}.{key}")
    elif isinstance(wanted, list) and isinstance(made, list):
        if len(wanted) != len(made):
            yield f"{where}: {len(made)} entries in place of {len(wanted)}"
        for place, (one, other) in enumerate(zip(wanted, made, strict=False)):
            yield from differences(one, other, f"{where}[{place}]")
    elif not _same(wanted, made):
        yield f"{where}: {made!r} in place of {wanted!r}"


def _same(wanted: Any, made: Any) -> bool:
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (wanted, made))
    if not numbers:
        return type(wanted) is type(made) and bool(wanted == made)
    if math.isnan(wanted) or math.isnan(made):
        return math.isnan(wanted) and math.isnan(made)
    return bool(wanted == made) or math.isclose(wanted, made, rel_tol=CLOSE, abs_tol=CLOSE / 1000)


def as_stored(value: Any) -> Any:
    """A value as it comes back from a file."""
    return json.loads(json.dumps(value))


def load(group: str) -> dict[str, Any]:
    """What was recorded of a group of cases, by the name of the case."""
    made: dict[str, Any] = json.loads(gzip.decompress((HERE / f"{group}.json.gz").read_bytes()))
    return made


def keep(group: str, cases: dict[str, Any]) -> int:
    """Write what was recorded; gives the size in bytes. The same cases give the same file."""
    packed = gzip.compress(json.dumps(cases, ensure_ascii=False, separators=(",", ":")).encode(), 9, mtime=0)
    HERE.mkdir(exist_ok=True)
    (HERE / f"{group}.json.gz").write_bytes(packed)
    return len(packed)
