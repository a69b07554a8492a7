"""Colours: each algorithm has its own in every figure."""

from __future__ import annotations

from dataclasses import replace

from cobandit.agents import AGENTS
from cobandit.analysis import analyse_data
from cobandit.report.kit.palette import ALGORITHMS, COLOURS, algorithm_numbers, colour_of
from cobandit.report.study.figures.base import condition_numbers
from cobandit.report.study.figures.regret import regret_drawing
from cobandit.studies import load_design, rehearsed_data


def test_an_algorithm_has_one_place_whatever_its_company() -> None:
    aware, naive = "partner-aware-ucb", "naive-ucb"
    assert algorithm_numbers([naive, aware]) == [1, 0]
    assert algorithm_numbers([aware, "naive-ts", naive]) == [0, 2, 1]
    assert set(ALGORITHMS) <= set(AGENTS)
    assert sorted(ALGORITHMS.values()) == list(range(len(COLOURS)))


def test_a_second_curve_and_a_stranger_take_what_is_free() -> None:
    assert algorithm_numbers(["naive-ucb", "naive-ucb", "naive-ucb"]) == [1, 0, 2]
    assert algorithm_numbers(["", "partner-aware-ucb", "mdsee"]) == [1, 0, 2]
    assert len(set(algorithm_numbers(["mdsee"] * 12))) == 12
    assert algorithm_numbers([]) == []


def test_the_order_of_the_conditions_changes_no_colour() -> None:
    design = load_design("burger")
    turned = replace(design, conditions=design.conditions[::-1])
    colours = []
    for study in (design, turned):
        analysis = analyse_data(rehearsed_data(study, [("softmax", seed, seed % 2) for seed in range(2)]))
        drawing = regret_drawing(analysis)
        assert drawing is not None
        assert [line.number for line in drawing.lines] == condition_numbers(analysis)
        colours.append({line.name: colour_of(line.number) for line in drawing.lines})
    assert colours[0] == colours[1] == {"partner-aware-ucb": COLOURS[0], "naive-ucb": COLOURS[1]}
