"""The casino study with the bank as a third condition: planned, and known to the power analysis."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import cobandit as cb
from cobandit.analysis import default_plan, power_analysis

DESIGN = Path(__file__).parents[2] / "examples" / "casino-bank.toml"


def test_the_bank_is_planned_beside_the_papers_two():
    design, shipped = cb.studies.load_design(DESIGN), cb.studies.load_design("casino")
    assert [condition.name for condition in design.conditions] == ["naive-ucb", "partner-aware-ucb", "bank"]
    assert design.conditions[:2] == shipped.conditions
    assert dict(design.condition("bank").options.pairs) == {"sight": 0.4}
    assert design.observability == shipped.observability
    assert len(design.partners) == 3
    directions = {
        hypothesis.compares: hypothesis.direction
        for hypothesis in default_plan(design).hypotheses
        if hypothesis.measure == "task_regret" and hypothesis.test == "paired-t"
    }
    assert directions == {
        ("partner-aware-ucb", "naive-ucb"): "less",
        ("bank", "naive-ucb"): "less",
        ("bank", "partner-aware-ucb"): "two-sided",
    }


@pytest.mark.parametrize("language", ["en", "de", "fr", "es"])
def test_its_words_fit_its_numbers_in_every_language(language):
    design = cb.studies.load_design(DESIGN)
    assert design.languages == cb.studies.load_design("casino").languages
    last = design.texts(language)["task.instructions.4"]
    assert re.findall(r"\d+", last) == ["48", "1000", "16", "16", "16"]


def test_the_power_of_its_comparisons():
    design = replace(cb.studies.load_design(DESIGN), rounds=60, episodes=2)
    result = power_analysis(design, "recency-softmax", participants=[6], simulations=4, seed=1)
    tested = {curve.hypothesis.compares for curve in result.curves}
    assert {("bank", "naive-ucb"), ("bank", "partner-aware-ucb")} <= tested
