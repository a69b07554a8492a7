"""Why the teams of a panel lost: counted in the very runs that the panel has."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cobandit.base.errors import InvalidInput
from cobandit.experiments import Processes, Settings, diagnose_panel, panel, run


def test_causes_add_up_to_the_regret_of_the_first_runs(tmp_path: Path) -> None:
    settings = Settings(runs=12, horizon=150, chunk_runs=5, seed=3)
    (result,) = run([panel("sim1-left")], settings, tmp_path, Processes(1))
    counted = diagnose_panel(result, runs=8)
    assert list(counted) == [curve.curve.name for curve in result.curves]
    for curve in result.curves:
        diagnosed = counted[curve.curve.name]
        assert diagnosed.runs == 8
        expected = curve.task_regret[:8].mean(axis=0)
        np.testing.assert_allclose(diagnosed.regret.sum(axis=1), expected, rtol=1e-9, atol=1e-9)
    assert {each.runs for each in diagnose_panel(result).values()} == {12}
    with pytest.raises(InvalidInput, match=r"runs must be .*got 0"):
        diagnose_panel(result, runs=0)


def test_panels_of_markov_problems_have_nothing_to_count(tmp_path: Path) -> None:
    settings = Settings(runs=2, horizon=40)
    (result,) = run([panel("mdp-chain")], settings, tmp_path, Processes(1))
    assert diagnose_panel(result) == {}
