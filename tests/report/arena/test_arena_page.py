"""The page of an arena as a file; what a browser makes of it is in tests/browser."""

from __future__ import annotations

import pytest

from cobandit.experiments import Arena
from cobandit.experiments.arena import SETTINGS
from cobandit.report import write_arena_report
from cobandit.report.arena.page import heat_step, ratio_words
from cobandit.stats import Interval
from tests.arena_results import invented


@pytest.fixture(scope="module")
def arena():
    return invented(Arena.of())


def test_everything_is_on_one_page(arena, tmp_path):
    path = write_arena_report(arena, tmp_path, {"when": "today", "command": "cobandit arena <b>"})
    page = path.read_text()
    assert path == tmp_path / "report.html"
    for setting in SETTINGS:
        assert f'<details id="{setting.name}">' in page
    assert "no default of any agent was tuned on these" in page
    assert "Held-out settings" in page
    assert "<h3>Markov decision processes</h3>" in page
    assert "Ratio of medians to partner-aware UCBVI" in page
    assert "Human-like leaders" in page
    assert "the Bayes-optimal single brain: reward 8.039" in page
    assert "cobandit arena &lt;b&gt;" in page
    assert "<script" not in page
    assert page.count('class="badge ') == len(arena.verdicts)
    assert (
        write_arena_report(arena, tmp_path / "again", {"when": "today", "command": "cobandit arena <b>"}).read_text()
        == page
    )


def test_a_part_has_a_page_too(tmp_path):
    page = write_arena_report(invented(Arena.of(["large"])), tmp_path).read_text()
    assert "30 x 30 arms" in page
    assert "Human-like leaders" not in page
    assert "UCBVI</th>" not in page


@pytest.mark.parametrize(("ratio", "step"), [(0.1, 0), (0.5, 0), (0.6, 1), (1.0, 4), (1.1, 5), (9.0, 8)])
def test_colours_go_by_the_ratio(ratio, step):
    assert heat_step(ratio) == step


def test_a_ratio_without_limits_is_a_number_alone():
    assert ratio_words(Interval(0.5, 0.25, 1.0)) == "0.50 (0.25 to 1.00)"
    assert ratio_words(Interval(0.5, float("-inf"), float("inf"))) == "0.50"
    assert ratio_words(Interval(float("nan"), 0.0, 0.0)) == ratio_words(None) == "\N{EN DASH}"
