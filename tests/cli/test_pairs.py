"""Two people in one team from end to end: bots play as pairs over HTTP; their data are verified and exported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cobandit.studies import load_design, read_export


@pytest.mark.parametrize(
    "name", ["burger-pair", pytest.param("casino-pair", marks=[pytest.mark.long])], ids=["burger", "casino"]
)
def test_bots_play_as_pairs(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    design = load_design(name)
    database = ("--database", "sqlite:///pairs.sqlite")

    def done(*words: str) -> str:
        result = run("study", *words)
        assert result.exit_code == 0, result.output
        return str(result.stdout)

    checked = done("check", name)
    assert "teams of 2 people, who play together in: human" in checked
    assert "without a team after 300 s: AIs play the free seats; if a member leaves: an AI takes over" in checked
    assert "rehearsed one simulated team" in checked
    assert "not translated" not in checked
    assert "4 of 4" in done("simulate", name, "--participants", "4", "--behaviour", "softmax,epsilon-greedy", *database)
    assert "no difference" in done("verify", name, *database)
    done("export", name, "--kind", "rehearsal", "--format", "csv", "--out", "csv", *database)
    rounds = read_export("csv")[1]["long"]
    together = rounds["condition"] == "human"
    assert len(rounds["t"]) == 4 * 3 * design.episodes * design.rounds
    for seat in range(2):
        assert set(rounds[f"by_{seat}"][together]) == {"person"}
        mine = ~together & (rounds["seat"] == seat)
        assert set(rounds[f"by_{seat}"][mine]) == {"person"}
        assert set(rounds[f"by_{1 - seat}"][mine]) == {"agent"}
    # Both members of a team have the same rounds where they play together.
    for team in set(rounds["team"]):
        first, second = (together & (rounds["team"] == team) & (rounds["seat"] == seat) for seat in range(2))
        for column in ("t", "arm_0", "arm_1", "reward", "seen_0", "seen_1"):
            np.testing.assert_array_equal(rounds[column][first], rounds[column][second])
