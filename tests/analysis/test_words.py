"""How texts call agents and conditions."""

from __future__ import annotations

import dataclasses

import pytest

import cobandit as cb
from cobandit.analysis.findings import StudyResult, mark
from cobandit.analysis.plan import AnalysisPlan
from cobandit.analysis.words import agent_label, condition_label, p_cells
from cobandit.base.numbers import DASH
from cobandit.base.records import Table
from cobandit.stats import Finding
from cobandit.studies import load_design


@pytest.mark.parametrize("name", cb.AGENTS)
def test_every_registered_agent_has_its_label(name):
    assert agent_label(name) == cb.AGENTS[name].label != name


def test_an_agent_that_is_not_registered_keeps_its_name():
    assert agent_label("my_agents:Mine") == "my_agents:Mine"


def test_a_condition_has_the_label_of_the_agent_whose_name_it_has():
    design = load_design("casino")
    first, *others = design.conditions
    renamed = dataclasses.replace(first, name="softmax", agent="softmax", options=Table())
    design = dataclasses.replace(design, conditions=(renamed, *others))
    assert condition_label(design, "softmax") == "Softmax"
    design = dataclasses.replace(design, conditions=(dataclasses.replace(renamed, name="blue"), *others))
    assert condition_label(design, "blue") == "blue"


@pytest.mark.parametrize(("marks", "cells"), [("paper", [".022*", ".219"]), ("holm", [".022", ".219"])])
def test_a_mark_stands_beside_the_p_value_that_it_is_about(marks, cells):
    finding = Finding(name="x", test="paired t", n=8, p=0.022, p_adjusted=0.219)
    counted = finding.p if marks == "paper" else finding.p_adjusted
    row = StudyResult(id="H", section="hypothesis", question="?", finding=finding, measure="good", mark=mark(counted))
    assert p_cells(row, AnalysisPlan(study="x", marks=marks)) == cells
    alone = dataclasses.replace(row, finding=dataclasses.replace(finding, p_adjusted=None), mark="*")
    assert p_cells(alone, AnalysisPlan(study="x", marks=marks)) == [".022*", DASH]
