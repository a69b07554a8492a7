"""The first try of an arm: every step in order, limits looked at, and the arm at rest whatever happens."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cobandit.robot import JointTrajectory, Outcome
from cobandit.robot.dry_run import dry_run, joint_words
from cobandit.robot.layout import FASTEST, HIGHEST
from tests.robot.test_burger import ScriptedArm

STEPS = ["connect", "prepare", "home", "pick tomato", "place tomato on bottom_bun", "home"]


def moved(joint: int, begin: float, end: float, seconds: float) -> JointTrajectory:
    """One joint from here to there, ten reports at even times."""
    positions = np.zeros((10, 7))
    positions[:, joint] = np.linspace(begin, end, 10)
    return JointTrajectory(np.linspace(0, seconds, 10), positions, np.zeros(10))


def test_every_step_in_order():
    arm = ScriptedArm()
    steps: list[Any] = []
    assert dry_run(arm, steps.append)
    assert arm.actions == [*STEPS, "disconnect"]
    assert [step.ok for step in steps] == [True] * 6


@pytest.mark.parametrize("trouble", ["connect", "pick tomato"])
def test_the_first_trouble_ends_it(trouble):
    arm = ScriptedArm(trouble, Outcome("failed", "No."))
    steps: list[Any] = []
    assert not dry_run(arm, steps.append)
    assert arm.actions == [*STEPS[: STEPS.index(trouble) + 1], "disconnect"]
    assert not steps[-1].ok


def test_a_joint_beyond_its_limits_is_trouble():
    arm = ScriptedArm("home", Outcome("done", "Home.", 1.0, moved(0, 0.0, HIGHEST[0] + 0.1, 9.0)))
    steps: list[Any] = []
    assert not dry_run(arm, steps.append)
    assert steps[-1].outcome.ok
    assert steps[-1].joints == "LIMIT: shoulder_pan went 0.10 rad beyond -1.6056..1.6056"


def test_an_interrupt_stops_the_arm():
    arm = ScriptedArm()

    def interrupt(step) -> None:
        if step.text == "home":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dry_run(arm, interrupt)
    assert arm.actions[-2:] == ["stop", "disconnect"]


class TestWords:
    def test_the_fastest_joint(self):
        assert joint_words(moved(3, 0.0, FASTEST[3] / 2, 1.0)) == "elbow_flex fastest, at 50% of its limit"

    def test_too_fast(self):
        assert joint_words(moved(3, 0.0, FASTEST[3] / 2, 0.25)).startswith("LIMIT: elbow_flex fastest, at 200%")

    def test_reports_at_one_moment_do_no_harm(self):
        assert joint_words(moved(3, 0.0, 1.0, 0.0)).endswith("at 0% of its limit")

    @pytest.mark.parametrize("nothing", [None, JointTrajectory(np.zeros(1), np.zeros((1, 7)), np.zeros(1))])
    def test_nothing_moved(self, nothing):
        assert joint_words(nothing) == ""
