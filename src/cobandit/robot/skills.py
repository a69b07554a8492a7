"""Pick, place and home as sequences of paths and grips: the part that the simulated arm and a real one share.

A driver brings the few things that differ: how a path is followed, how the fingers move, what is seen and felt.
"""

from __future__ import annotations

import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np

from cobandit.base.checks import real
from cobandit.robot.driver import JointTrajectory, Outcome, Status
from cobandit.robot.kinematics import Kinematics, OutOfReach, gripper_down
from cobandit.robot.layout import GRASPED_RADIUS, WIDEST_OPENING, Array, Item, Layout, item_named
from cobandit.robot.manual import words
from cobandit.robot.planning import JointPath, Planner

HOVER = 0.07
"""Height above an item or a stack at which the arm crosses the table."""
ABOVE_UNDERSIDE = 0.0015
"""Of the fingertips in a grasp."""
SQUEEZE = 0.012
"""How far the fingers would close into the item, on each side, were it not there."""
GAP_TOLERANCE = 0.005
"""A finger gap that differs by more from the item's width is a missed grasp."""
RELEASE_ABOVE = 0.004
"""Height of a held item above its stack when it is let go without a touch."""
OPEN_AROUND = 0.010
GUARD = 0.012
"""A guarded descent begins so far above where the stack should be, and ends as far below."""
GUARD_RATE = 0.02
CLEAR = 0.15
"""Height above the trays to which a gripper that was stopped among them rises before it goes anywhere."""
ATTEMPTS = 4
PLACING_YAW = math.pi / 2


class Ended(Exception):
    """The current action cannot continue; the driver converts it to an `Outcome`."""

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self.status: Status = status
        self.message = message


class PickAndPlace(ABC):
    """What all arms with joints have in common. Subclasses bring `follow`, `grip` and the rest that is abstract."""

    name: str
    feels_touch: ClassVar[bool] = False
    """Whether `follow` can end at the first touch."""
    widest: float = WIDEST_OPENING
    """The largest opening between the fingers, in metres."""

    def __init__(self, layout: Layout | None = None, speed: float = 1.0) -> None:
        self.layout = layout or Layout()
        self.planner = Planner(Kinematics(), real(0, 1, above=True)("speed", speed))
        self.held: str | None = None
        self.on_retry: Callable[[str], None] = lambda item: None
        self._stopped = threading.Event()

    # ---- what a driver brings

    @property
    @abstractmethod
    def is_connected(self) -> bool:
        """Whether the robot can be asked for something now."""

    @abstractmethod
    def clock(self) -> float:
        """Return the robot's own time, in seconds."""

    @abstractmethod
    def joints(self) -> Array:
        """Return the joints as they were last commanded; a path begins there."""

    @abstractmethod
    def follow(self, path: JointPath, until_touch: str | None = None) -> bool:
        """Move along a path; with ``until_touch`` (the held item) end when it touches something. Whether it did."""

    @abstractmethod
    def grip(self, opening: float) -> float:
        """Open or close the fingers to an opening, in metres, and give the one that was reached."""

    @abstractmethod
    def gap(self) -> float:
        """Return the opening between the fingers."""

    @abstractmethod
    def see(self, item: str) -> Array:
        """Return the position of an item on the table: x, y."""

    def stack_height(self, stack: tuple[str, ...]) -> float:
        """Return the top of the stack as the robot believes it to be."""
        return self.layout.stack_height(stack)

    @abstractmethod
    def begin_trajectory(self) -> None:
        """Begin an action: record from here."""

    @abstractmethod
    def trajectory(self) -> JointTrajectory | None:
        """Return the joints since `begin_trajectory`."""

    # ---- what every driver then has

    def pick(self, item: str) -> Outcome:
        """Take an item from its tray and lift it; a missed grasp is seen by the finger gap and tried again."""
        return self._outcome(lambda: self._pick(item_named(item)))

    def place(self, item: str, stack: Sequence[str]) -> Outcome:
        """Set the held item down on the stack and let it go."""
        return self._outcome(lambda: self._place(item_named(item), tuple(item_named(name).name for name in stack)))

    def home(self) -> Outcome:
        """Move the arm to a position where it is in no one's way."""
        return self._outcome(self._home)

    def stop(self) -> Outcome:
        """Stop immediately, from any thread; nothing moves again before `Arm.connect`."""
        self._stopped.set()
        return Outcome("done", "Stopped; connect() lets the arm move again.")

    def home_joints(self) -> Array:
        """Return the joints at home, always the same ones."""
        kinematics = self.planner.kinematics
        return kinematics.solve(kinematics.resting, np.array(self.layout.home), gripper_down(PLACING_YAW))

    def check_stopped(self) -> None:
        """End the current action if the arm was stopped."""
        if self._stopped.is_set():
            raise Ended("stopped", "The arm was stopped.")

    def _outcome(self, action: Callable[[], str]) -> Outcome:
        if not self.is_connected:
            return Outcome("refused", "The arm is not connected: call connect() first.")
        if self._stopped.is_set():
            return Outcome("stopped", "The arm was stopped: connect() lets it move again.")
        began = self.clock()
        self.begin_trajectory()
        status: Status = "done"
        try:
            message = action()
        except Ended as end:
            status, message = end.status, end.message
        except OutOfReach:
            status, message = "failed", "That place is out of the arm's reach: move it nearer to the robot."
        return Outcome(status, message, self.clock() - began, self.trajectory())

    def _pick(self, item: Item) -> str:
        if item.radius > GRASPED_RADIUS or item.square:
            raise Ended("refused", f"The {words(item.name)} is too wide for the fingers.")
        if self.held is not None:
            raise Ended("refused", f"The gripper holds the {words(self.held)} already.")
        for attempt in range(1, ATTEMPTS + 1):
            if self._grasp(item):
                self.held = item.name
                return f"Picked the {words(item.name)}" + (f" at attempt {attempt}." if attempt > 1 else ".")
            self.grip(self.widest)
            self.on_retry(item.name)
        raise Ended("failed", f"The {words(item.name)} could not be grasped in {ATTEMPTS} attempts.")

    def _grasp(self, item: Item) -> bool:
        x, y = self.see(item.name)
        shoulder_x, shoulder_y = self.planner.kinematics.pan_axis
        yaw = math.atan2(y - shoulder_y, x - shoulder_x) + math.pi / 2
        floor = self.layout.base_height
        above = np.array([x, y, floor + item.thickness + HOVER])
        if self.gap() < self.widest - 0.004:
            self.grip(self.widest)
        self._rise()
        self._go(above, yaw)
        self._go(np.array([x, y, floor + ABOVE_UNDERSIDE]), yaw, 0.55)
        self.grip(2 * max(0.0, item.radius - SQUEEZE))
        self._go(above, yaw, 0.55)
        return abs(self.gap() - 2 * item.radius) < GAP_TOLERANCE

    def _place(self, item: Item, stack: tuple[str, ...]) -> str:
        if self.held != item.name:
            held = "nothing" if self.held is None else f"the {words(self.held)}"
            raise Ended("refused", f"The gripper holds {held}, not the {words(item.name)}: pick it first.")
        x, y = self.see("bottom_bun")
        height = self.stack_height(stack)
        above = np.array([x, y, height + HOVER])
        self._rise()
        self._go(above, PLACING_YAW)
        if abs(self.gap() - 2 * item.radius) >= GAP_TOLERANCE:
            self.held = None
            raise Ended("failed", f"The {words(item.name)} was lost on the way.")
        release = height + ABOVE_UNDERSIDE
        if self.feels_touch:
            self._go(np.array([x, y, release + GUARD]), PLACING_YAW, 0.5)
            self.follow(self.planner.descend(self.joints(), 2 * GUARD, GUARD_RATE), until_touch=item.name)
        else:
            self._go(np.array([x, y, release + RELEASE_ABOVE]), PLACING_YAW, 0.7)
        self.grip(min(self.widest, 2 * (item.radius + OPEN_AROUND)))
        self.held = None
        self._go(above, PLACING_YAW, 0.45)
        return f"Placed the {words(item.name)}."

    def _rise(self) -> None:
        """Straight up out of trays and stack, where an earlier movement was stopped among them."""
        tip, yaw = self.planner.pose(self.joints())
        if tip[2] < self.layout.base_height + HOVER - 0.01:
            self._go(np.array([tip[0], tip[1], self.layout.base_height + CLEAR]), yaw)

    def _home(self) -> str:
        self._rise()
        self._go(np.array(self.layout.home), PLACING_YAW)
        return "Out of the way."

    def _go(self, tip: Array, yaw: float, shortest: float = 0.25) -> None:
        self.check_stopped()
        self.follow(self.planner.move(self.joints(), tip, yaw, shortest))
