"""An analysis plan as a TOML file with comments, to be read and edited."""

from __future__ import annotations

import json
from typing import Any

from cobandit.analysis.plan import BETWEEN, TAKEOVER_SHARE, AnalysisPlan

_HEAD = """\
# Analysis plan of the study {study!r}. Every key is a field of AnalysisPlan; an unknown key is refused.
# Store it before the first participant: cobandit study plan {study} --set FILE.toml
# Its SHA-256 is fixed when the first person gives consent; all other tests are reported as exploratory.
"""
_N = "# n = 58                         # planned number of participants; the report lists another number as a deviation"
_RULES = {
    "unfinished": "true: leave out participants who have not finished; false: keep their data",
    "attention_failed": "true: leave out participants who failed an attention check",
    "quiz_attempts": "leave out participants who needed more attempts at the quiz",
    "fastest_ms": "leave out participants with a lower median reaction time (counted rounds)",
}
_TEAM_RULES = {
    "incomplete_teams": "true: leave out participants whose team lacks a member or has an excluded one",
    "takeover_share": "episodes of people count up to this share of rounds in which an AI took over",
}
_EXAMPLES = {"quiz_attempts": 3, "fastest_ms": 150, "takeover_share": TAKEOVER_SHARE}
_ABOUT_HYPOTHESES = """\
# measure: task_regret, team_regret, good (summed over the counted rounds), survey:<item> or survey-score.
# test: paired-t, wilcoxon, rm-anova; for two groups of people (group names a question with choices): welch, student.
# direction: what is expected of the first condition; the p-value has two sides unless one_sided = true.
# family: tests that answer one question; Holm's correction is made over them.
"""


_ABOUT_CELLS = """\
# Conditions of different people: welch, student (without group), anova; with conditions within people: mixed-anova,
# whose effect is within (of what people meet), between (of the cells) or interaction (one depends on the other).
"""


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # JSON and TOML share their escapes, except one that only TOML requires.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    return repr(value)


def _line(key: str, value: Any, comment: str = "") -> str:
    line = f"{key} = {_toml(value)}"
    return f"{line:<32} # {comment}" if comment else line


def plan_toml(plan: AnalysisPlan) -> str:
    """Return the plan as a TOML file with comments, to be read and edited; `parse_plan` gives an equal plan back."""
    lines = [_HEAD.format(study=plan.study).rstrip(), _line("study", plan.study)]
    lines.append(_line("alpha", plan.alpha, "level of significance of every test"))
    lines.append(_line("marks", plan.marks, "asterisks of uncorrected p-values (paper) or of corrected ones (holm)"))
    lines.append(_line("regret", plan.regret, "task, or team: what the team observes of it, the paper's R(T)"))
    lines.append(_N if plan.n is None else _line("n", plan.n, "planned number of participants"))
    lines.append(_line("notes", plan.notes, "" if plan.notes else "anything else that readers should know"))
    if plan.late:
        lines.append(_line("late", plan.late, "people who had started when it was stored; written by the program"))
    lines += ["", "[exclusions]"]
    teams = plan.exclusions.takeover_share is not None or not plan.exclusions.incomplete_teams
    for key, comment in (_RULES | (_TEAM_RULES if teams else {})).items():
        value = getattr(plan.exclusions, key)
        lines.append(_line(f"# {key}", _EXAMPLES[key], comment) if value is None else _line(key, value, comment))
    for person in plan.exclusions.listed:
        lines += ["", "[[exclusions.listed]]", _line("participant", person.participant), _line("reason", person.reason)]
    lines += ["", _ABOUT_HYPOTHESES.rstrip()]
    unpaired = {"anova", "mixed-anova", *BETWEEN}
    if any(hypothesis.test in unpaired and not hypothesis.group for hypothesis in plan.hypotheses):
        lines.append(_ABOUT_CELLS.rstrip())
    for hypothesis in plan.hypotheses:
        settled = hypothesis.essence()
        lines += ["", "[[hypotheses]]", *(_line(key, settled[key]) for key in hypothesis.to_dict() if key in settled)]
    return "\n".join(lines) + "\n"
