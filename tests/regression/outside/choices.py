"""What the choices of an analysis have changed of the recordings: marks and regret in designs and plans, the chance."""

from __future__ import annotations

import hashlib
from typing import Any

DESIGN = {"task", "survey", "consent", "limits"}
"""Keys by which a design is known."""

CHOICES = {"marks": "holm", "regret": "task", "hypotheses": ["H1", "H2"]}
LINES = [
    'marks = "holm"                   # asterisks of uncorrected p-values (paper) or of corrected ones (holm)',
    'regret = "task"                  # task, or team: what the team observes of it, the paper\'s R(T)',
]
TESTS = (
    "# test: paired-t, wilcoxon, rm-anova; for two groups of people (group names a question with choices): welch, "
    "student."
)


def with_choices(value: Any) -> Any:
    """Designs say how their plan begins: as before, where nothing else is chosen."""
    if isinstance(value, list):
        return [with_choices(part) for part in value]
    if not isinstance(value, dict):
        return value
    value = {key: with_choices(part) for key, part in value.items()}
    return {"analysis": CHOICES} | value if value.keys() >= DESIGN else value


def plan_lines(written: dict[str, Any]) -> dict[str, Any]:
    """A plan says what is marked and which regret is tested, and knows Student's test."""
    return written | {"plan.toml": _with_lines(written["plan.toml"])}


def _with_lines(plan: list[str]) -> list[str]:
    lines = []
    for line in plan:
        lines.append(TESTS if line.startswith("# test: ") else line)
        if line.startswith("alpha = "):
            lines += LINES
    return lines


def stored_plan(about: dict[str, Any]) -> dict[str, Any]:
    """The plan that is stored with a study, and its digest."""
    text = "\n".join(_with_lines(about["analysis_plan"].split("\n")))
    return about | {"analysis_plan": text, "analysis_plan_sha256": hashlib.sha256(text.encode("utf-8")).hexdigest()}


def with_chance(answer: dict[str, Any]) -> dict[str, Any]:
    """A power analysis says plainly how likely its first test is to be significant."""
    analyses = [{"chance": _chance(analysis)} | analysis for analysis in answer["out"]["analyses"]]
    return answer | {"out": answer["out"] | {"analyses": analyses}}


def _chance(analysis: dict[str, Any]) -> str:
    test = analysis["tests"][0]
    point = test["points"][-1]
    kind = "power" if point["holm"] is None else "holm"
    share, low, high = (100 * point[key] for key in (kind, f"{kind}_low", f"{kind}_high"))
    way = "" if test["hypothesis"]["direction"] == "two-sided" else " in the expected direction"
    missed = "most such studies would not find it" if share < 50 else "the others would miss it"
    return (
        f"With {point['n']:,} simulated participants the chance of a significant {test['hypothesis']['id']}{way} is "
        f"{share:.0f} % ({low:.0f} to {high:.0f} %); {missed}."
    )


def with_standoff(answer: dict[str, Any]) -> dict[str, Any]:
    """One panel more is known, and the Markov problems."""
    return answer | {"err": answer["err"].replace("theorem-1.", "theorem-1, theorem-1-standoff, mdp.")}


def with_new_agents(answer: dict[str, Any]) -> dict[str, Any]:
    """Agents beyond the paper are known."""
    text = answer["err"].replace("optimal,", "steered, elected, bank, handshake, centralised-gittins, optimal,")
    added = "recency-softmax, forgetful-knowledge-gradient, partner-aware-discounted-ucb, partner-aware-sliding-ucb"
    return answer | {"err": text.replace("epsilon-greedy.", f"epsilon-greedy, {added}.")}
