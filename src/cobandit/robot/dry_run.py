"""A first test of an arm: home, pick and place one slice, home; each step is reported, and limits are checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cobandit.robot.driver import Arm, JointTrajectory, Outcome
from cobandit.robot.kinematics import Kinematics
from cobandit.robot.skills import PickAndPlace

SLACK = 0.02
"""How far (rad) measured joints may lie beyond a limit before it counts: sensors are not exact."""


@dataclass(frozen=True)
class DryStep:
    """One step of the try, and what its joints did, in words."""

    text: str
    outcome: Outcome
    joints: str

    @property
    def ok(self) -> bool:
        """Whether it was done within the limits."""
        return self.outcome.ok and not self.joints.startswith("LIMIT")


def dry_run(arm: Arm, on_step: Callable[[DryStep], None], item: str = "tomato") -> bool:
    """Return whether the arm did all steps within its limits; the first that goes wrong ends the try."""
    steps: list[tuple[str, Callable[[], Outcome]]] = [
        ("connect", arm.connect),
        ("make plate and trays ready", arm.prepare),
        ("home", arm.home),
        (f"pick the {item}", lambda: arm.pick(item)),
        (f"place the {item} on the bottom bun", lambda: arm.place(item, ("bottom_bun",))),
        ("home again", arm.home),
    ]
    try:
        for text, action in steps:
            outcome = action()
            limits = arm.planner.kinematics if isinstance(arm, PickAndPlace) else Kinematics()
            step = DryStep(text, outcome, joint_words(outcome.trajectory, limits))
            on_step(step)
            if not step.ok:
                return False
        return True
    except BaseException:
        arm.stop()  # Ctrl-C, too, must leave the arm at rest
        raise
    finally:
        arm.disconnect()


def joint_words(trajectory: JointTrajectory | None, limits: Kinematics | None = None) -> str:
    """Return how near a movement came to the limits of the joints, by default Fetch's.

    The text begins with LIMIT where the movement went beyond one.
    """
    limits = Kinematics() if limits is None else limits
    if trajectory is None or len(trajectory) < 2:
        return ""
    positions, times = trajectory.positions, trajectory.times
    beyond = np.maximum(limits.low - positions, positions - limits.high).max(axis=0)
    spans = np.diff(times)[:, np.newaxis]
    speeds = np.abs(np.diff(positions, axis=0)) / np.where(spans > 0, spans, np.inf) / limits.fastest
    fastest = int(speeds.max(axis=0).argmax())
    if beyond.max() > SLACK:
        joint = int(beyond.argmax())
        span = f"{limits.low[joint]:g}..{limits.high[joint]:g}"
        return f"LIMIT: {limits.names[joint]} went {beyond.max():.2f} rad beyond {span}"
    part = float(speeds.max())
    words = f"{limits.names[fastest]} fastest, at {part:.0%} of its limit"
    return f"LIMIT: {words}" if part > 1 + SLACK else words
