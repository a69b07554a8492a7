"""A real Fetch, or another arm with seven joints, over rosbridge: the planning is the simulated arm's own.

ROS 1 and ROS 2 are both supported; the form of the first joint states tells which one a robot has.

A goal is one short path; nothing is queued, and after a lost connection nothing is sent again by itself, so the arm
comes to rest at the end of the path that is under way. Where items lie is the `Layout`'s word, or that of ``locate``.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import roslibpy

from cobandit.base.checks import real, short_repr
from cobandit.base.errors import InvalidInput
from cobandit.robot.driver import JointTrajectory, Observation, Outcome
from cobandit.robot.layout import Array, Layout
from cobandit.robot.manual import AsksPeople, ask_for, ask_to_prepare
from cobandit.robot.model import ArmModel
from cobandit.robot.planning import JointPath, Planner
from cobandit.robot.ros_actions import (
    GRIPPER,
    PREEMPTED,
    RECALLED,
    REJECTED,
    SUCCEEDED,
    TRAJECTORY,
    Action,
    Goal,
    Ros1Action,
    Ros2Action,
)
from cobandit.robot.skills import Ended, PickAndPlace

logging.getLogger("roslibpy").addHandler(logging.NullHandler())  # we report its errors ourselves, instead of stderr

FETCH = ArmModel()
POINT_EVERY = 5
"""Set points between two points of a goal: ten a second, with speeds; the robot's controller fills in the rest."""
DRIFT = 0.05
"""Joints that are farther (rad) from their target were moved externally: plan from their measured positions."""
POINTS_DOWN = -0.85
"""Of the gripper's direction, its part along z: within 32 degrees of straight down."""


class RosbridgeArm(PickAndPlace, AsksPeople):
    """An arm behind rosbridge. People's layers are asked for at a `manual.Desk` and confirmed from any thread.

    ``url`` is that of rosbridge, such as ``ws://192.168.1.20:9090``; ``speed`` the fraction of allowed joint speeds;
    ``patience`` how many seconds the robot may stay silent; ``locate`` gives (x, y) of an item where a camera knows it;
    ``model`` describes an arm other than a Fetch. ``ros`` is 1 or 2 once the robot has reported its joints.
    """

    name = "rosbridge"

    def __init__(
        self,
        url: str,
        speed: float = 0.25,
        layout: Layout | None = None,
        patience: float = 5.0,
        locate: Callable[[str], Sequence[float]] | None = None,
        model: ArmModel = FETCH,
    ) -> None:
        PickAndPlace.__init__(self, layout, speed)
        AsksPeople.__init__(self)
        self._url = _checked_url(url)
        self._speed = float(speed)
        self._patience = real(0, 600, above=True)("patience", patience)
        self._locate = locate
        self.model, self.widest = model, model.gripper.widest
        self.planner = Planner(model.kinematics({}), self._speed)
        self.ros: int | None = None
        self._ros: roslibpy.Ros | None = None
        self._second: roslibpy.Ros | None = None
        self._arm: Action | None = None
        self._gripper: Action | None = None
        self._lost = threading.Event()
        self._changed = threading.Condition()
        self._measured: dict[str, float] = {}
        self._finger_reports = 0
        self._kept: list[tuple[float, Array, float]] | None = None
        self._command: Array | None = None

    # ---- the protocol

    @property
    def is_connected(self) -> bool:
        """Whether the bridge is there."""
        return self._ros is not None and not self._lost.is_set() and bool(self._ros.is_connected)

    def connect(self) -> Outcome:
        """Reach the bridge, read the joints, and free the arm after a stop; refused where it cannot begin.

        What the gripper held when it was stopped must have been put back onto its tray by hand.
        """
        began = time.monotonic()
        if not self.is_connected and (trouble := self._reach()):
            return Outcome("lost", trouble, time.monotonic() - began)
        if not self._wait_for_joints():
            self.disconnect()
            return Outcome("lost", self._joints_missing())
        if self._arm is None and (trouble := self._open_actions()):
            self.disconnect()
            return Outcome("lost", trouble, time.monotonic() - began)
        self.planner = Planner(self.model.kinematics(self._measured), self._speed)
        self._command = None
        if trouble := self._unfit():
            self.disconnect()
            return Outcome("refused", trouble, time.monotonic() - began)
        self.held = None
        self._stopped.clear()
        return Outcome("done", f"Connected to {self._url} (ROS {self.ros}).", time.monotonic() - began)

    def disconnect(self) -> None:
        """Disconnect from the bridge, and release threads that wait for a person."""
        self.desk.answer("stopped")
        connections = (self._ros, self._second)
        self._ros = self._second = self._arm = self._gripper = None
        for ros in connections:
            if ros is not None and ros.is_connected:
                with contextlib.suppress(roslibpy.core.RosTimeoutError):  # it is gone already
                    ros.close(self._patience)

    def get_observation(self) -> Observation:
        """Return the joints as they were last reported."""
        joints = self._joints_measured()
        return Observation(() if joints is None else tuple(map(float, joints)), self.gap())

    def prepare(self) -> Outcome:
        """Ask the experimenter to lay out the next burger, and wait."""
        self.held = None
        return self._refusal() or self._answered(ask_to_prepare(self.desk, None))

    def await_person(self, item: str, stack: Sequence[str]) -> Outcome:
        """Ask for the person's layer, and wait."""
        return self._refusal() or self._answered(ask_for(self.desk, item, stack, "person", None))

    def stop(self) -> Outcome:
        """Cancel whatever the robot's controllers are doing, and end every wait; `connect` lets the arm move again."""
        outcome = super().stop()
        self.desk.answer("stopped")
        with self._changed:
            self._changed.notify_all()
        if not self.is_connected:
            return Outcome("lost", "The robot is not connected: use the stop button on the robot.")
        for action in (self._arm, self._gripper):
            if action is not None:
                action.cancel()
        return outcome

    # ---- what pick and place are made of

    def clock(self) -> float:
        """Return the time in seconds."""
        return time.monotonic()

    def joints(self) -> Array:
        """Return the commanded joints, or the measured ones if they were moved externally."""
        measured = self._joints_measured()
        if measured is None:
            raise Ended("lost", "The robot has not said where its joints are.")
        if self._command is None or float(np.abs(measured - self._command).max()) > DRIFT:
            return measured
        return self._command

    def follow(self, path: JointPath, until_touch: str | None = None) -> bool:
        """Send the path as one goal, and wait for its end."""
        self._command = None
        goal = {
            "trajectory": {
                "header": {"stamp_s": 0.0, "frame_id": ""},
                "joint_names": list(self.model.joints),
                "points": trajectory_points(path),
            },
            "path_tolerance": [],
            "goal_tolerance": [],
            "goal_time_tolerance_s": 1.0,
        }
        ended = self._run(self._arm, goal, path.duration)
        if ended.code != SUCCEEDED or ended.result.get("error_code", 0) != 0:
            raise Ended("failed", f"The robot gave up a movement{ended.reason}.")
        self._command = path.positions[-1]
        return False

    def grip(self, opening: float) -> float:
        """Send the opening; fingers that meet something before it are no failure, so the gap is what counts."""
        gripper = self.model.gripper
        goal = {"command": {"position": gripper.goal(opening), "max_effort": gripper.effort}}
        ended = self._run(self._gripper, goal, 2.0)
        if ended.code != SUCCEEDED and not ended.result.get("stalled"):
            raise Ended("failed", f"The robot's gripper gave up{ended.reason}.")
        with self._changed:  # the gap as it is after the result, not the one reported before
            reports = self._finger_reports
            self._changed.wait_for(lambda: self._finger_reports > reports or self._lost.is_set(), self._patience)
        return self.gap()

    def gap(self) -> float:
        """Return the gap from the finger joints."""
        with self._changed:
            return self.model.gripper.gap(self._measured)

    def see(self, item: str) -> Array:
        """Return the position from ``locate``, else the one of the layout."""
        try:
            place = np.array(self._locate(item) if self._locate else self.layout.place_of(item), dtype=np.float64)
        except Exception as error:  # the lab's own code, in the middle of a movement
            raise Ended("failed", f"locate broke for the {item}: {type(error).__name__}: {error}") from error
        if place.shape != (2,) or not np.all(np.isfinite(place)):
            raise Ended("failed", f"locate gave {short_repr(place.tolist())} for the {item}; x and y are needed.")
        return place

    def begin_trajectory(self) -> None:
        """Keep what the robot reports from here on."""
        with self._changed:
            self._kept = []

    def trajectory(self) -> JointTrajectory | None:
        """Return the joints as the robot reported them."""
        with self._changed:
            reports, self._kept = self._kept, None
        if not reports:
            return None
        times, positions, gaps = zip(*reports, strict=True)
        return JointTrajectory(np.array(times) - times[0], np.array(positions), np.array(gaps))

    # ---- the bridge

    def _reach(self) -> str:
        """Connect; what went wrong, or nothing."""
        self._lost = lost = threading.Event()
        self._measured, self.ros = {}, None
        self._arm = self._gripper = self._second = None
        ros = self._opened(lost)
        if ros is None:
            return f"There is no rosbridge at {self._url}: nothing answered within {self._patience:g} s."
        self._ros = ros
        # Both ROS 1 and ROS 2 know the type by this name.
        states = roslibpy.Topic(ros, "/joint_states", "sensor_msgs/JointState", reconnect_on_close=False)
        states.subscribe(self._on_joint_states)
        return ""

    def _opened(self, lost: threading.Event) -> roslibpy.Ros | None:
        """Return a connection, or None if nothing answered; when it closes, the robot is lost."""
        ros = roslibpy.Ros(self._url, transport="asyncio")
        ros.factory.maxRetries = 0  # an automatic reconnection would surprise the people next to the arm
        try:
            ros.run(self._patience)
        except roslibpy.core.RosTimeoutError:
            ros.on_ready(ros.close)  # close a connection that is established too late
            return None
        ros.on("close", lambda *_: self._on_close(lost))
        return ros

    def _open_actions(self) -> str:
        """Begin with the action servers, of ROS 1 or 2; what went wrong, or nothing."""
        names = ((self.model.action, TRAJECTORY), (self.model.gripper.action, GRIPPER))
        if self.ros == 1:
            self._arm, self._gripper = (Ros1Action(self._ros, *name) for name in names)
            return ""
        self._second = self._opened(self._lost)
        if self._second is None:
            return f"rosbridge at {self._url} accepts no second connection, which is needed to stop the arm."
        self._arm, self._gripper = (Ros2Action(self._ros, self._second, *name) for name in names)
        return ""

    def _on_close(self, lost: threading.Event) -> None:
        lost.set()
        self.desk.answer("stopped")
        with self._changed:
            self._changed.notify_all()

    def _on_joint_states(self, message: Mapping[str, Any]) -> None:
        """Fetch reports base, arm and gripper in messages of their own, so names are looked up in each."""
        with self._changed:
            if self.ros is None:
                # ROS 2 counts time in "sec" and "nanosec", ROS 1 in "secs" and "nsecs".
                self.ros = 2 if "sec" in message.get("header", {}).get("stamp", {}) else 1
            self._measured.update(zip(message["name"], map(float, message["position"]), strict=False))
            self._finger_reports += self.model.gripper.joints[0] in message["name"]
            names = self.model.joints
            if self._kept is not None and names[0] in message["name"]:
                joints = np.array([self._measured.get(name, np.nan) for name in names])
                self._kept.append((time.monotonic(), joints, self.model.gripper.gap(self._measured)))
            self._changed.notify_all()

    def _joints_measured(self) -> Array | None:
        with self._changed:
            if not all(name in self._measured for name in self.model.joints):
                return None
            return np.array([self._measured[name] for name in self.model.joints])

    def _wait_for_joints(self) -> bool:
        wanted = {*self.model.joints, *self.model.gripper.joints}
        with self._changed:
            return self._changed.wait_for(lambda: wanted <= set(self._measured), self._patience)

    def _joints_missing(self) -> str:
        """Return why connecting failed without joint states, or without some of the joints."""
        with self._changed:
            missing = [name for name in (*self.model.joints, *self.model.gripper.joints) if name not in self._measured]
        if self.ros is None:
            return f"No joint states came from {self._url} within {self._patience:g} s."
        return f"The joint states from {self._url} lack {', '.join(missing)}: is this the right arm file?"

    def _unfit(self) -> str:
        """Return why the arm cannot begin from where it is; nothing if it can."""
        tip, rotation = self.planner.kinematics.forward(self.joints())
        if rotation[2, 0] > POINTS_DOWN or tip[2] < self.layout.table_height:
            return "The gripper must point down, above the table: bring it there with the robot's own software first."
        return ""

    def _refusal(self) -> Outcome | None:
        if not self.is_connected:
            return Outcome("refused", "The arm is not connected: call connect() first.")
        return (
            Outcome("stopped", "The arm was stopped: connect() lets it move again.") if self._stopped.is_set() else None
        )

    def _answered(self, outcome: Outcome) -> Outcome:
        """Return the answer of the desk, unless it ended because the robot went away."""
        if outcome.status == "stopped" and self._lost.is_set():
            return Outcome("lost", "The connection to the robot was lost.", outcome.duration)
        return outcome

    def _run(self, action: Action | None, goal: Mapping[str, Any], seconds: float) -> Goal:
        """Send a goal and wait for its end, for as long as it should take and then the patience."""
        self.check_stopped()
        if action is None or not self.is_connected:
            raise Ended("lost", "The connection to the robot is lost.")
        sent = action.send(goal)
        late = time.monotonic() + seconds + self._patience
        silent = time.monotonic() + self._patience
        while not sent.ended.wait(0.02):
            if self._lost.is_set():
                raise Ended("lost", "The connection to the robot was lost; it ends the movement that was under way.")
            if self._stopped.is_set():
                self._see_cancelled(action, sent)
                break
            now = time.monotonic()
            if now > late or (action.reports_goals and now > silent and not sent.seen.is_set()):
                action.cancel()
                silence = "did not end in time" if sent.seen.is_set() else "was never taken up"
                raise Ended("failed", f"A goal for {action.server} {silence}; it was cancelled.")
        self.check_stopped()
        if sent.code == REJECTED:
            raise Ended("refused", f"The robot refused a goal for {action.server}{sent.reason}.")
        if sent.code in (PREEMPTED, RECALLED):
            raise Ended("stopped", f"A goal for {action.server} was cancelled by another client{sent.reason}.")
        return sent

    def _see_cancelled(self, action: Action, sent: Goal) -> None:
        """Wait a second for the end of a goal after a stop, whose cancel may have come before the goal was accepted."""
        for _ in range(10):
            if sent.ended.wait(0.1) or self._lost.is_set():
                return
            if action.cancel_may_miss:
                action.cancel()


def trajectory_points(path: JointPath) -> list[dict[str, Any]]:
    """Return the points of a goal: positions and speeds, ten a second; at rest at the end."""
    speeds = np.gradient(path.positions, path.times, axis=0)
    speeds[-1] = 0
    last = len(path.times) - 1
    chosen = sorted({*range(POINT_EVERY - 1, last, POINT_EVERY), last})
    return [
        {
            "positions": path.positions[number].tolist(),
            "velocities": speeds[number].tolist(),
            "accelerations": [],
            "effort": [],
            "time_from_start_s": float(path.times[number]),
        }
        for number in chosen
    ]


def _checked_url(url: object) -> str:
    """Check the address of a bridge before connecting."""
    needed = "an address such as ws://192.168.1.20:9090 is needed."
    if not isinstance(url, str):
        raise InvalidInput(f"url is {short_repr(url)}; {needed}")
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("ws", "wss") and bool(parts.hostname) and (parts.port or 9090) > 0
    except ValueError:
        good = False
    if not good:
        raise InvalidInput(f"url is {short_repr(url)}; {needed}")
    return url
