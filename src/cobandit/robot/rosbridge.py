"""A real Fetch, or any arm that takes its actions, over rosbridge: the planning is the simulated arm's own.

A goal is one short path; nothing is queued, and after a lost connection nothing is sent again by itself, so the arm
comes to rest at the end of the path that is under way. Where items lie is the `Layout`'s word, or that of ``locate``.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import roslibpy

from cobandit.base.checks import real, short_repr
from cobandit.base.errors import InvalidInput
from cobandit.robot.driver import JointTrajectory, Observation, Outcome
from cobandit.robot.kinematics import Kinematics
from cobandit.robot.layout import FINGER_GAP, JOINTS, LIFT, Array, Layout
from cobandit.robot.manual import AsksPeople, ask_for, ask_to_prepare
from cobandit.robot.planning import JointPath, Planner
from cobandit.robot.skills import Ended, PickAndPlace

logging.getLogger("roslibpy").addHandler(logging.NullHandler())  # what it would say on stderr is told by us

ARM_ACTION, ARM_TYPE = "/arm_controller/follow_joint_trajectory", "control_msgs/FollowJointTrajectoryAction"
GRIPPER_ACTION, GRIPPER_TYPE = "/gripper_controller/gripper_action", "control_msgs/GripperCommandAction"
JOINT_NAMES = tuple(f"{joint.name}_joint" for joint in JOINTS)
FINGER_NAMES = ("r_gripper_finger_joint", "l_gripper_finger_joint")
TORSO_NAME = "torso_lift_joint"
GRIP_EFFORT = 20.0
POINT_EVERY = 5
"""Set points between two points of a goal: ten a second, with speeds; the robot's controller fills in the rest."""
DRIFT = 0.05
"""Joints that are farther (rad) from where they were sent were moved by somebody else: plan from where they are."""
POINTS_DOWN = -0.85
"""Of the gripper's direction, its part along z: within 32 degrees of straight down."""

PREEMPTED, SUCCEEDED, ABORTED, REJECTED, RECALLED = 2, 3, 4, 5, 8
_ENDS = {PREEMPTED, SUCCEEDED, ABORTED, REJECTED, RECALLED}


@dataclass
class _Goal:
    """One goal under way; ``code`` is how it ended, in the numbers of actionlib."""

    name: str
    seen: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    code: int | None = None
    result: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""


class _Action:
    """One action server behind the bridge: goals go out, their status and results come in."""

    def __init__(self, ros: roslibpy.Ros, server: str, kind: str) -> None:
        self.server = server
        self._goal: _Goal | None = None
        # Nothing may be sent again when a connection comes back: an old goal would move the arm.
        self._goals = roslibpy.Topic(ros, f"{server}/goal", f"{kind}Goal", reconnect_on_close=False)
        self._cancels = roslibpy.Topic(ros, f"{server}/cancel", "actionlib_msgs/GoalID", reconnect_on_close=False)
        self._results = roslibpy.Topic(ros, f"{server}/result", f"{kind}Result", reconnect_on_close=False)
        self._status = roslibpy.Topic(
            ros, f"{server}/status", "actionlib_msgs/GoalStatusArray", reconnect_on_close=False
        )
        self._goals.advertise()
        self._cancels.advertise()
        self._results.subscribe(self._on_result)
        self._status.subscribe(self._on_status)

    def send(self, goal: Mapping[str, Any]) -> _Goal:
        self._goal = sent = _Goal(f"cobandit-{uuid.uuid4()}")
        stamp = {"secs": 0, "nsecs": 0}
        message = {"goal_id": {"stamp": stamp, "id": sent.name}, "goal": dict(goal)}
        self._goals.publish(roslibpy.Message(message))
        return sent

    def cancel(self) -> None:
        """Whatever the server is doing, for us or for others."""
        self._cancels.publish(roslibpy.Message({"stamp": {"secs": 0, "nsecs": 0}, "id": ""}))

    def _on_result(self, message: Mapping[str, Any]) -> None:
        goal, status = self._goal, message["status"]
        if goal is not None and status["goal_id"]["id"] == goal.name:
            goal.code, goal.text = int(status["status"]), str(status.get("text", ""))
            goal.result = message.get("result", {})
            goal.seen.set()
            goal.ended.set()

    def _on_status(self, message: Mapping[str, Any]) -> None:
        """Only a sign of life: a list may be older than the result, and results carry their own status."""
        goal = self._goal
        if goal is None:
            return
        for status in message["status_list"]:
            if status["goal_id"]["id"] == goal.name:
                goal.seen.set()
                if int(status["status"]) == REJECTED:  # some servers send no result for what they reject
                    goal.code, goal.text = REJECTED, str(status.get("text", ""))
                    goal.ended.set()


class RosbridgeArm(PickAndPlace, AsksPeople):
    """An arm behind rosbridge. People's layers are asked for at a `manual.Desk` and confirmed from any thread.

    ``url`` is that of rosbridge, such as ``ws://192.168.1.20:9090``; ``speed`` the fraction of allowed joint speeds;
    ``patience`` how many seconds the robot may stay silent; ``locate`` gives (x, y) of an item where a camera knows it.
    """

    name = "rosbridge"

    def __init__(
        self,
        url: str,
        speed: float = 0.25,
        layout: Layout | None = None,
        patience: float = 5.0,
        locate: Callable[[str], Sequence[float]] | None = None,
    ) -> None:
        PickAndPlace.__init__(self, layout, speed)
        AsksPeople.__init__(self)
        self._url = _checked_url(url)
        self._speed = float(speed)
        self._patience = real(0, 600, above=True)("patience", patience)
        self._locate = locate
        self._ros: roslibpy.Ros | None = None
        self._arm: _Action | None = None
        self._gripper: _Action | None = None
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
            return Outcome("lost", f"No joint states came from {self._url} within {self._patience:g} s.")
        self.planner = Planner(Kinematics(self._measured.get(TORSO_NAME, LIFT)), self._speed)
        self._command = None
        if trouble := self._unfit():
            self.disconnect()
            return Outcome("refused", trouble, time.monotonic() - began)
        self.held = None
        self._stopped.clear()
        return Outcome("done", f"Connected to {self._url}.", time.monotonic() - began)

    def disconnect(self) -> None:
        """Let go of the bridge; whoever waits for a person is let go too."""
        self.desk.answer("stopped")
        ros, self._ros = self._ros, None
        if ros is not None and ros.is_connected:
            with contextlib.suppress(roslibpy.core.RosTimeoutError):  # it is gone already
                ros.close(self._patience)

    def get_observation(self) -> Observation:
        """The joints as they were last reported."""
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
        """Seconds."""
        return time.monotonic()

    def joints(self) -> Array:
        """Where they were sent, or, if somebody moved them, where they are."""
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
                "header": {"seq": 0, "stamp": {"secs": 0, "nsecs": 0}, "frame_id": ""},
                "joint_names": list(JOINT_NAMES),
                "points": trajectory_points(path),
            },
            "path_tolerance": [],
            "goal_tolerance": [],
            "goal_time_tolerance": {"secs": 1, "nsecs": 0},
        }
        ended = self._run(self._arm, goal, path.duration)
        if ended.code != SUCCEEDED:
            raise Ended("failed", f"The robot gave up a movement{_reason(ended)}.")
        self._command = path.positions[-1]
        return False

    def grip(self, opening: float) -> float:
        """Send the opening; fingers that meet something before it are no failure, so the gap is what counts."""
        goal = {"command": {"position": float(opening), "max_effort": GRIP_EFFORT}}
        ended = self._run(self._gripper, goal, 2.0)
        if ended.code != SUCCEEDED and not ended.result.get("stalled"):
            raise Ended("failed", f"The robot's gripper gave up{_reason(ended)}.")
        with self._changed:  # the gap as it is after the result, not the one reported before
            reports = self._finger_reports
            self._changed.wait_for(lambda: self._finger_reports > reports or self._lost.is_set(), self._patience)
        return self.gap()

    def gap(self) -> float:
        """From the finger joints."""
        with self._changed:
            return sum(self._measured.get(name, 0.0) for name in FINGER_NAMES) + FINGER_GAP

    def see(self, item: str) -> Array:
        """Where ``locate`` sees it, else where the layout has it."""
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
        """The joints as the robot reported them."""
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
        self._measured = {}
        ros = roslibpy.Ros(self._url, transport="asyncio")
        ros.factory.maxRetries = 0  # a connection that comes back by itself would surprise those beside the arm
        try:
            ros.run(self._patience)
        except roslibpy.core.RosTimeoutError:
            ros.on_ready(ros.close)  # should it still come, nobody waits for it
            return f"There is no rosbridge at {self._url}: nothing answered within {self._patience:g} s."
        self._ros = ros
        ros.on("close", lambda *_: self._on_close(lost))
        self._arm, self._gripper = _Action(ros, ARM_ACTION, ARM_TYPE), _Action(ros, GRIPPER_ACTION, GRIPPER_TYPE)
        states = roslibpy.Topic(ros, "/joint_states", "sensor_msgs/JointState", reconnect_on_close=False)
        states.subscribe(self._on_joint_states)
        return ""

    def _on_close(self, lost: threading.Event) -> None:
        lost.set()
        self.desk.answer("stopped")
        with self._changed:
            self._changed.notify_all()

    def _on_joint_states(self, message: Mapping[str, Any]) -> None:
        """Fetch reports base, arm and gripper in messages of their own, so names are looked up in each."""
        with self._changed:
            self._measured.update(zip(message["name"], map(float, message["position"]), strict=False))
            self._finger_reports += FINGER_NAMES[0] in message["name"]
            if self._kept is not None and JOINT_NAMES[0] in message["name"]:
                joints = np.array([self._measured.get(name, np.nan) for name in JOINT_NAMES])
                gap = sum(self._measured.get(name, 0.0) for name in FINGER_NAMES) + FINGER_GAP
                self._kept.append((time.monotonic(), joints, gap))
            self._changed.notify_all()

    def _joints_measured(self) -> Array | None:
        with self._changed:
            if not all(name in self._measured for name in JOINT_NAMES):
                return None
            return np.array([self._measured[name] for name in JOINT_NAMES])

    def _wait_for_joints(self) -> bool:
        wanted = {*JOINT_NAMES, *FINGER_NAMES}
        with self._changed:
            return self._changed.wait_for(lambda: wanted <= set(self._measured), self._patience)

    def _unfit(self) -> str:
        """Why the arm cannot begin from where it is; nothing if it can."""
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
        """The answer of the desk, unless it ended because the robot went away."""
        if outcome.status == "stopped" and self._lost.is_set():
            return Outcome("lost", "The connection to the robot was lost.", outcome.duration)
        return outcome

    def _run(self, action: _Action | None, goal: Mapping[str, Any], seconds: float) -> _Goal:
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
                sent.ended.wait(1.0)  # the cancel went out with the stop; its answer is not needed
                break
            now = time.monotonic()
            if now > late or (now > silent and not sent.seen.is_set()):
                action.cancel()
                silence = "did not end in time" if sent.seen.is_set() else "was never taken up"
                raise Ended("failed", f"A goal for {action.server} {silence}; it was cancelled.")
        self.check_stopped()
        if sent.code == REJECTED:
            raise Ended("refused", f"The robot refused a goal for {action.server}{_reason(sent)}.")
        if sent.code in (PREEMPTED, RECALLED):
            raise Ended("stopped", f"A goal for {action.server} was cancelled by somebody else{_reason(sent)}.")
        return sent


def trajectory_points(path: JointPath) -> list[dict[str, Any]]:
    """The points of a goal: positions and speeds, ten a second; at rest at the end."""
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
            "time_from_start": _ros_time(float(path.times[number])),
        }
        for number in chosen
    ]


def _ros_time(seconds: float) -> dict[str, int]:
    nanoseconds = round(seconds * 1e9)
    return {"secs": nanoseconds // 10**9, "nsecs": nanoseconds % 10**9}


def _reason(goal: _Goal) -> str:
    said = goal.text or str(goal.result.get("error_string", ""))
    return f" ({said.strip()})" if said.strip() else ""


def _checked_url(url: object) -> str:
    """The address of a bridge; a typing slip is told before anything is connected."""
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
