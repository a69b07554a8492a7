"""The help of the commands fits a terminal of 80 columns."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from cobandit.cli import app


@pytest.mark.parametrize("group", ["", "mdp", "robot", "study", "study accounts"])
def test_no_summary_of_a_command_is_cut(group: str) -> None:
    shown = CliRunner().invoke(app, [*group.split(), "--help"], env={"COLUMNS": "80"}).stdout
    summaries = shown.partition("Commands:\n")[2].splitlines()
    assert len(summaries) >= 2
    assert not [line for line in summaries if line.endswith("...") or line.startswith("    ")]
