"""Tables on narrow screens: they fold, and no name or number is lost."""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

from cobandit.cli import app
from cobandit.cli.compare import TEAMS

SMALL = ("--engine", "reference", "--runs", "4", "--horizon", "20")


def screen(width: int, *words: str) -> str:
    environment = {"COLUMNS": str(width), "NO_COLOR": "1", "FORCE_COLOR": None, "PY_COLORS": None}
    done = CliRunner().invoke(app, list(words), env=environment, catch_exceptions=False, prog_name="cobandit")
    assert done.exit_code == 0
    return done.stdout


@pytest.mark.parametrize("width", [40, 60])
def test_a_comparison_keeps_every_name_and_number(width):
    text = screen(width, "compare", *SMALL)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    for name in TEAMS:
        assert re.search(rf"^{name}\b", text, re.MULTILINE)
    numbers = set(re.findall(r"\d+\.\d+", screen(100, "compare", *SMALL).partition("growth")[2]))
    assert numbers <= set(re.findall(r"\d+\.\d+", text))


def test_rows_of_numbers_say_what_they_are():
    text = screen(40, "simulate", *SMALL, "--checkpoints", "2")
    assert max(map(len, text.splitlines())) <= 40
    assert "round 10" in text
    assert re.search(r"^  task regret mean ± se +\d", text, re.MULTILINE)
    assert re.search(r"^  team regret median +\d", text, re.MULTILINE)


def test_a_table_that_fits_stays_a_table():
    assert "───" in screen(80, "compare", *SMALL)


@pytest.mark.parametrize("width", [40, 60])
def test_options_of_agents_keep_their_names(width):
    text = screen(width, "agents", "forgetful-knowledge-gradient")
    for option in ("prior_mean", "noise_sd", "discount", "recall"):
        assert re.search(rf"^ +{option} ", text, re.MULTILINE)
    assert "…" not in text
