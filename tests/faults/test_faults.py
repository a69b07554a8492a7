"""Whatever happens on the way: no acknowledged round is lost, none is doubled, and the log is that of a quiet run.

The bots send no ``POST /api/participants/{token}/robot/placed``: servers without a robot answer it with 404, and an arm
serves one participant at a time, so that a crowd of bots would wait for each other. It stores no round: it confirms a
layer to the arm, once for each number of a request. tests/web/services/robot/test_lab.py tests it without faults.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cobandit.studies import StudyDesign
from tests.faults import harness

pytestmark = [pytest.mark.slow, pytest.mark.long]  # test_history.py meets the same faults


def check(outcome: Any, quiet: Any, faults: int, burger: StudyDesign) -> None:
    print(f"\n{outcome}")
    assert sum(outcome.faults.values()) >= faults
    assert outcome.wrong == []
    assert all(result.finished for result in outcome.results)
    assert harness.lost_or_changed(outcome) == []
    rounds = {(token, made.episode, made.t) for token, made in outcome.told}
    assert len(rounds) == len(outcome.told)  # nobody was sent back to play a round again
    assert sum(len(rounds) for rounds in outcome.stored.values()) == len(outcome.results) * 2 * burger.rounds
    for part, rows in quiet.log.items():
        assert outcome.log[part] == rows, part
    assert outcome.differences == []


def test_a_quiet_run(quiet: Any, burger: StudyDesign, size: tuple[int, int]) -> None:
    check(quiet, quiet, 0, burger)
    assert len(quiet.told) == size[1] * 2 * burger.rounds  # each round acknowledged once
    assert all(result.retries == result.conflicts == 0 for result in quiet.results)
    assert len({row[2] for row in quiet.log["people"]}) == size[1]  # nobody plays somebody else's game


def test_faults(
    start: Callable[..., Any],
    burger: StudyDesign,
    tmp_path: Path,
    quiet: Any,
    size: tuple[int, int],
) -> None:
    faults, bots = size
    server = start(f"sqlite:///{tmp_path / 'studies.sqlite'}", burger)
    outcome = harness.run(server, burger, bots, harness.drawn(faults, quiet.requests, seed=1), seed=2)
    check(outcome, quiet, faults, burger)
    assert outcome.starts == 1 + outcome.faults["kill"]
    assert set(outcome.faults) == set(harness.KINDS)


def test_faults_with_two_workers_on_postgresql(
    start: Callable[..., Any],
    burger: StudyDesign,
    postgresql: str,
    quiet: Any,
    size: tuple[int, int],
) -> None:
    faults, bots = size
    server = start(postgresql, burger, workers=2)
    outcome = harness.run(server, burger, bots, harness.drawn(faults, quiet.requests, seed=3), seed=4)
    check(outcome, quiet, faults, burger)
    assert outcome.faults["kill"] > 0
