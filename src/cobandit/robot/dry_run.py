"""A first try of an arm: home, one slice picked and placed, home, each step told, with the limits looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cobandit.robot.driver import Arm, JointTrajectory, Outcome
from cobandit.robot.layout import FASTEST, HIGHEST, JOINTS, LOWEST

QUARTER = 0.25
"""The speed of a first try."""
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
    """Whether the arm did all steps within its limits; the first that goes wrong ends the try."""
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
            step = DryStep(text, outcome, joint_words(outcome.trajectory))
            on_step(step)
            if not step.ok:
                return False
        return True
    except BaseException:
        arm.stop()  # Ctrl-C, too, must leave the arm at rest
        raise
    finally:
        arm.disconnect()


def joint_words(trajectory: JointTrajectory | None) -> str:
    """How near a movement came to the limits of the joints; begins with LIMIT where it went beyond one."""
    if trajectory is None or len(trajectory) < 2:
        return ""
    positions, times = trajectory.positions, trajectory.times
    beyond = np.maximum(LOWEST - positions, positions - HIGHEST).max(axis=0)
    spans = np.diff(times)[:, np.newaxis]
    speeds = np.abs(np.diff(positions, axis=0)) / np.where(spans > 0, spans, np.inf) / FASTEST
    fastest = int(speeds.max(axis=0).argmax())
    if beyond.max() > SLACK:
        joint = JOINTS[int(beyond.argmax())]
        return f"LIMIT: {joint.name} went {beyond.max():.2f} rad beyond {joint.low:g}..{joint.high:g}"
    part = float(speeds.max())
    words = f"{JOINTS[fastest].name} fastest, at {part:.0%} of its limit"
    return f"LIMIT: {words}" if part > 1 + SLACK else words
