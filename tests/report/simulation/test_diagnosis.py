"""Why a team lost, as a figure and in a notebook."""

import xml.etree.ElementTree as ElementTree

import pytest

import cobandit as cb
from cobandit.report import draw_diagnosis
from cobandit.report.simulation.diagnosis import diagnosis_figure

STUCK = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], [0.9, 0.6])


def test_a_figure_shows_every_cause_and_team_action(tmp_path) -> None:
    result = cb.simulate(STUCK, cb.Team.of("naive-ucb"), 60, 10, seed=1, engine="reference", diagnose=True)
    text = draw_diagnosis(result, tmp_path / "why.svg").read_text()
    ElementTree.fromstring(text)
    for word in (*result.diagnostics.causes, "(0, 1)", "agent 1 insists", "on the best", "naive-ucb: 10 runs"):
        assert word in text


def test_of_many_team_actions_the_most_played_are_drawn() -> None:
    problem = cb.Problem.bernoulli("random", [0.9, 0.6, 0.7], arms=(3, 3, 2))
    result = cb.simulate(problem, cb.Team.of("partner-aware-ucb"), 40, 5, seed=1, engine="reference", diagnose=True)
    cells = diagnosis_figure(result.diagnostics, "three").axes[1]
    labels = [text.get_text() for text in cells.get_legend().get_texts()]
    assert len(labels) == 8
    assert labels[-1] == "others"


def test_a_notebook_says_why() -> None:
    result = cb.simulate(STUCK, cb.Team.of("naive-ucb"), 60, 10, seed=1, engine="reference", diagnose=True)
    page = result._repr_html_()
    assert page is not None
    ElementTree.fromstring(page)
    assert "Why the team lost" in page
    assert "wrong row and column" in page
    assert "Agent 0 insisted" in page
    plain = cb.simulate(STUCK, cb.Team.of("naive-ucb"), 60, 10, seed=1, engine="reference")._repr_html_()
    assert plain is not None
    assert "Why the team lost" not in plain


def test_refusals(tmp_path) -> None:
    with pytest.raises(cb.InvalidInput, match="what simulate gives back"):
        draw_diagnosis("why", tmp_path / "why.svg")  # type: ignore[arg-type]
    result = cb.simulate(STUCK, cb.Team.of("naive-ucb"), 5, 1, seed=1, engine="reference")
    with pytest.raises(cb.InvalidInput, match="ends in"):
        draw_diagnosis(result, tmp_path / "why.txt")
