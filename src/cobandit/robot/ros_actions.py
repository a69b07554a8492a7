"""Goals of an arm's action servers behind rosbridge: by topics on ROS 1, by the protocol's action operations on ROS 2.

Both give goals with the same codes, so the driver need not know which ROS the robot has. Nothing is sent again when a
connection comes back: an old goal would move the arm.
"""

from __future__ import annotations

import threading
import uuid
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import roslibpy

from cobandit.base.json_types import JsonObject

PREEMPTED, SUCCEEDED, ABORTED, REJECTED, RECALLED = 2, 3, 4, 5, 8
"""How goals end, in the numbers of actionlib (ROS 1)."""

_OF_ROS_2 = {4: SUCCEEDED, 5: PREEMPTED, 6: ABORTED}
"""The codes of action_msgs/GoalStatus that end a goal."""

TRAJECTORY, GRIPPER = "FollowJointTrajectory", "GripperCommand"
"""The two actions of the package control_msgs that an arm needs."""


@dataclass
class Goal:
    """One goal that was sent; ``code`` is how it ended, in the numbers of actionlib."""

    name: str
    seen: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    code: int | None = None
    result: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""

    def end(self, code: int, result: Mapping[str, Any], text: str) -> None:
        """Record the end of the goal."""
        self.code, self.result, self.text = code, result, text
        self.seen.set()
        self.ended.set()

    @property
    def reason(self) -> str:
        """What the robot said about the end, in brackets; empty if it said nothing."""
        said = (self.text or str(self.result.get("error_string", ""))).strip()
        return f" ({said})" if said else ""


class Action(ABC):
    """One action server behind the bridge. ``server`` is its name."""

    reports_goals: bool
    """Whether the server reports each goal that it has taken up, so that silence means that it has not."""
    cancel_may_miss: bool
    """Whether a cancel can come too early for a goal that was just sent, and has to be repeated until the goal ends."""

    def __init__(self, server: str) -> None:
        self.server = server

    @abstractmethod
    def send(self, goal: Mapping[str, Any]) -> Goal:
        """Send a goal; times in it are seconds as floats, under names that end in ``_s``."""

    @abstractmethod
    def cancel(self) -> None:
        """Cancel all goals of the server, also those of other clients."""


class Ros1Action(Action):
    """An action server of ROS 1: goals, cancels, results and status lists are topics."""

    reports_goals = True
    cancel_may_miss = False  # topics arrive in order

    def __init__(self, ros: roslibpy.Ros, server: str, kind: str) -> None:
        super().__init__(server)
        self._goal: Goal | None = None
        message_type = f"control_msgs/{kind}Action"

        def topic(name: str, of_type: str) -> roslibpy.Topic:
            return roslibpy.Topic(ros, f"{server}/{name}", of_type, reconnect_on_close=False)

        self._goals = topic("goal", f"{message_type}Goal")
        self._cancels = topic("cancel", "actionlib_msgs/GoalID")
        self._results = topic("result", f"{message_type}Result")
        self._status = topic("status", "actionlib_msgs/GoalStatusArray")
        self._goals.advertise()
        self._cancels.advertise()
        self._results.subscribe(self._on_result)
        self._status.subscribe(self._on_status)

    def send(self, goal: Mapping[str, Any]) -> Goal:
        """Publish a goal."""
        self._goal = sent = Goal(f"cobandit-{uuid.uuid4()}")
        stamp = {"secs": 0, "nsecs": 0}
        message = {"goal_id": {"stamp": stamp, "id": sent.name}, "goal": with_times(goal, "secs", "nsecs")}
        self._goals.publish(roslibpy.Message(message))
        return sent

    def cancel(self) -> None:
        """Publish an empty goal id, which means all goals."""
        self._cancels.publish(roslibpy.Message({"stamp": {"secs": 0, "nsecs": 0}, "id": ""}))

    def _on_result(self, message: Mapping[str, Any]) -> None:
        goal, status = self._goal, message["status"]
        if goal is not None and status["goal_id"]["id"] == goal.name:
            goal.end(int(status["status"]), message.get("result", {}), str(status.get("text", "")))

    def _on_status(self, message: Mapping[str, Any]) -> None:
        """Record a sign of life only: a status list may be older than the result, and results contain their own
        status.
        """
        goal = self._goal
        if goal is None:
            return
        for status in message["status_list"]:
            if status["goal_id"]["id"] == goal.name:
                goal.seen.set()
                if int(status["status"]) == REJECTED:  # some servers send no result for what they reject
                    goal.end(REJECTED, {}, str(status.get("text", "")))


class Ros2Action(Action):
    """An action server of ROS 2, by the operations ``send_action_goal``, ``cancel_action_goal`` and ``action_result``.

    As it is started by default, rosbridge_suite 2.x reads nothing more from a connection while a goal of it is under
    way. Cancels therefore take a connection of their own, ``second``.
    """

    reports_goals = False  # feedback is optional, and the bridge does not forward that a goal was accepted
    cancel_may_miss = True

    def __init__(self, ros: roslibpy.Ros, second: roslibpy.Ros, server: str, kind: str) -> None:
        super().__init__(server)
        self._ros, self._second = ros, second
        self._type = f"control_msgs/action/{kind}"
        self._goal: Goal | None = None
        self._cancel_all = roslibpy.Service(
            second, f"{server}/_action/cancel_goal", "action_msgs/srv/CancelGoal", reconnect_on_close=False
        )

    def send(self, goal: Mapping[str, Any]) -> Goal:
        """Send a goal and ask for its feedback."""
        self._goal = sent = Goal(f"cobandit-{uuid.uuid4()}")
        message = {
            "op": "send_action_goal",
            "id": sent.name,
            "action": self.server,
            "action_type": self._type,
            "args": with_times(goal, "sec", "nanosec"),
            "feedback": True,
        }

        def on_end(answer: Mapping[str, Any]) -> None:
            values = answer.get("values")
            code = _OF_ROS_2.get(answer["status"].value, REJECTED)
            result = values if isinstance(values, Mapping) else {}
            sent.end(code, result, values if isinstance(values, str) else "")

        self._ros.call_async_action(roslibpy.Message(message), on_end, lambda _: sent.seen.set(), on_end)
        return sent

    def cancel(self) -> None:
        """Cancel the last goal, and ask the server itself to cancel every goal.

        The bridge ignores a cancel that arrives before the server has accepted the goal, and knows only goals of its
        own clients. The server's own service has neither gap: an empty id and an empty time mean all goals.
        """
        if self._goal is not None and not self._goal.ended.is_set():
            message = {"op": "cancel_action_goal", "id": self._goal.name, "action": self.server}
            self._second.send_on_ready(roslibpy.Message(message))
        every = {"goal_info": {"goal_id": {"uuid": [0] * 16}, "stamp": {"sec": 0, "nanosec": 0}}}
        self._cancel_all.call(roslibpy.ServiceRequest(every), lambda _: None, lambda _: None)


def with_times(message: Mapping[str, Any], seconds: str, nanoseconds: str) -> JsonObject:
    """Return a message with its times as ROS writes them: ``goal_time_s: 1.5`` becomes a ``goal_time`` of two integers.

    ROS 1 calls them ``secs`` and ``nsecs``, ROS 2 ``sec`` and ``nanosec``.
    """
    converted: JsonObject = {}
    for name, value in message.items():
        if name.endswith("_s"):
            whole = round(value * 1e9)
            converted[name.removesuffix("_s")] = {seconds: whole // 10**9, nanoseconds: whole % 10**9}
        elif isinstance(value, Mapping):
            converted[name] = with_times(value, seconds, nanoseconds)
        elif isinstance(value, list):
            converted[name] = [
                with_times(part, seconds, nanoseconds) if isinstance(part, Mapping) else part for part in value
            ]
        else:
            converted[name] = value
    return converted
