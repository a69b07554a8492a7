"""A plan as the text of a preregistration."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cobandit.analysis import Exclusions, default_plan, preregistration
from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.cli import app
from cobandit.studies import load_design

BURGER, CASINO = load_design("burger"), load_design("casino")


@pytest.mark.parametrize("form", ["osf", "aspredicted"])
@pytest.mark.parametrize("design", [BURGER, CASINO, load_design("three-by-three")], ids=lambda design: design.name)
def test_everything_that_the_plan_fixes_is_said(design, form) -> None:
    rules = Exclusions(attention_failed=True, quiz_attempts=3, fastest_ms=150.0)
    plan = replace(default_plan(design, 58), alpha=0.01, exclusions=rules, notes="Pilot first.")
    text = preregistration(design, plan, form)
    for hypothesis in plan.hypotheses:
        assert f"- {hypothesis.id}: {hypothesis.text}" in text
        assert text.count(f"- {hypothesis.id}: ") == 2, "the hypothesis, and how it is tested"
    for part in (
        "level of significance is 0.01",
        "58 participants.",
        "more than 3 attempts at the quiz",
        "below 150 ms",
        "failed an attention check",
        "Pilot first.",
        design.digest,
        plan.digest,
    ):
        assert part in text
    assert "None" not in text.replace("None. Answers", "")
    assert "nan" not in text.lower().split()


def test_each_form_has_its_headings() -> None:
    plan = default_plan(BURGER)
    osf, predicted = (preregistration(BURGER, plan, form) for form in ("osf", "aspredicted"))
    assert [line[3:] for line in predicted.splitlines() if line.startswith("## ")] == [
        "1) Data collection", "2) Hypothesis", "3) Dependent variable", "4) Conditions", "5) Analyses",
        "6) Outliers and exclusions", "7) Sample size", "8) Other",
    ]  # fmt: skip
    headings = [line[3:] for line in osf.splitlines() if line.startswith("## ")]
    assert headings[:3] == ["Title", "Hypotheses", "Study type"]
    assert {"Sample size", "Stopping rule", "Statistical models", "Inference criteria", "Data exclusion"} <= set(
        headings
    )
    assert "[How many participants.]" in osf, "what nobody has settled is left open"
    assert "- H1-regret: task regret, Partner-Aware UCB minus Naive UCB, expected to be lower; paired t test" in osf
    assert "H1 (H1-regret, H1-good)" in osf
    assert "Asterisks show uncorrected p-values, as in the paper" in osf


def test_mistakes() -> None:
    with pytest.raises(UnknownName, match="form of a preregistration"):
        preregistration(BURGER, default_plan(BURGER), "zenodo")
    with pytest.raises(InvalidInput, match="this study is 'casino'"):
        preregistration(CASINO, default_plan(BURGER), "osf")


def test_on_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "burger.md"
    done = CliRunner().invoke(app, ["study", "plan", "burger", "--n", "40", "--form", "osf", "--out", str(file)])
    assert done.exit_code == 0
    assert file.read_text(encoding="utf-8") == preregistration(BURGER, default_plan(BURGER, 40), "osf")
