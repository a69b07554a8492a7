"""How texts call agents and conditions."""

from __future__ import annotations

import dataclasses

import pytest

import cobandit as cb
from cobandit.analysis.words import agent_label, condition_label
from cobandit.base.records import Table
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
