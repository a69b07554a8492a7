"""A team of three from end to end: played by bots over HTTP, exported, verified, analysed, and its power computed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cobandit.studies import load_design, read_export


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.usefixtures("svg_alone")
def test_from_the_design_to_the_findings(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    design = load_design("three-seats")
    database = ("--database", "sqlite:///three.sqlite")

    def done(*words: str) -> str:
        result = run("study", *words)
        assert result.exit_code == 0, result.output
        return str(result.stdout)

    assert "2 x 2 x 2 arms" in done("check", "three-seats")
    done("simulate", "three-seats", "--participants", "6", "--behaviour", "softmax,knowledge-gradient", *database)
    assert "no difference" in done("verify", "three-seats", *database).lower()
    for format in ("csv", "parquet"):
        done("export", "three-seats", "--kind", "rehearsal", "--format", format, "--out", format, *database)
    (_, in_csv, _), (_, in_parquet, _) = read_export("csv"), read_export("parquet")
    for name, column in in_csv["long"].items():
        np.testing.assert_array_equal(column, in_parquet["long"][name], err_msg=name)
    assert len(in_csv["long"]["t"]) == 6 * 2 * design.rounds
    assert set(in_csv["long"]["label_2"]) <= {"Caramel", "Berries"}
    assert (in_csv["long"]["predicted_2_1"][in_csv["long"]["condition"] == "aware"] >= 0).all()
    done("analyse", "csv", "--out", "findings")
    methods = Path("findings/methods.md").read_text()
    assert "the AI Topping (Nuts or Wafers) and the AI Sauce (Caramel or Berries)" in methods
    assert "The participant saw 100%, the AI Topping 80% and the AI Sauce 50% of the good outcomes" in methods
    done("power", "three-seats", "--participants", "10", "--simulations", "20", "--out", "power", "--seed", "1")
    assert json.loads(Path("power/power.json").read_text())
