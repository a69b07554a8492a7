"""A rosbridge of our own over a real WebSocket, in front of a simulated arm: ROS 1 or 2, with the faults of robots."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from http import HTTPStatus
from types import TracebackType
from typing import Any

import numpy as np
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve

from cobandit.robot.model import ArmModel
from cobandit.robot.planning import PERIOD, JointPath
from cobandit.robot.rosbridge import FETCH
from cobandit.robot.simulated import SimulatedArm
from tests.clients import PATIENCE

ACTIVE, PREEMPTED, SUCCEEDED, REJECTED = 1, 2, 3, 5
TORSO_NAME = "torso_lift_joint"


class Peer:
    """Speaks the rosbridge protocol (version 2) as far as the driver does; every trouble is an attribute to be set.

    With ROS 2 it does as rosbridge_suite 2.1: it reads nothing from a connection while a goal of it is under way, and
    ignores a cancel for a goal that is not accepted yet.
    """

    def __init__(self, arm: SimulatedArm, ros: int = 1, model: ArmModel = FETCH) -> None:
        self.arm = arm
        self.ros, self.model = ros, model
        arm.connect()
        self.accepts_late = threading.Event()  # ROS 2: goals wait for it before they are accepted
        self.accepts_late.set()
        self.cancel_service = True  # ROS 2: whether the service that cancels every goal is there
        self.result_may_leave = threading.Event()  # ROS 2: results wait for it
        self.result_may_leave.set()
        self.feedback = True
        self.aborts: dict[str, Any] | None = None  # ROS 2: the result of goals that end as aborted
        self.second_refused = False  # only one connection is accepted
        self.pace = 0.0  # real seconds for each simulated one
        self.rejects = False  # by a result, as most servers do
        self.rejects_silently = False  # by the status list alone
        self.ignores_goals = False
        self.reports_joints = True
        self.late_status = False  # the status list goes on saying "active" after the result
        self.drop_at: int | None = None  # set points until the connection is cut
        self.received: list[dict[str, Any]] = []
        self.busy = threading.Event()
        self.steps = 0
        self._cancelled = threading.Event()
        self._accepted = ""
        self._connections: list[ServerConnection] = []
        self._listed: dict[str, list[dict[str, Any]]] = {model.action: [], model.gripper.action: []}
        self._over = threading.Event()
        self._working = threading.Lock()

    def __enter__(self) -> Peer:
        self._server = serve(self._talk, "127.0.0.1", 0, compression=None, process_request=self._admit)
        self.url = f"ws://127.0.0.1:{self._server.socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._over.set()
        self._cancelled.set()
        self.accepts_late.set()
        self.result_may_leave.set()
        self._server.shutdown()
        self._thread.join(PATIENCE)

    def goals(self, server: str) -> list[dict[str, Any]]:
        """The goals that came for a server, as in the action's definition."""
        if self.ros == 2:
            sent = [message for message in self.received if message["op"] == "send_action_goal"]
            return [message["args"] for message in sent if message["action"] == server]
        sent = [message for message in self.received if message["op"] == "publish"]
        return [message["msg"]["goal"] for message in sent if message["topic"] == f"{server}/goal"]

    def cancels(self, server: str) -> int:
        if self.ros == 2:
            return sum(
                message["op"] == "cancel_action_goal" and message["action"] == server for message in self.received
            )
        return sum(
            message.get("topic") == f"{server}/cancel" and message["op"] == "publish" for message in self.received
        )

    def cancel_all(self) -> None:
        """As if somebody else had cancelled."""
        self._cancelled.set()

    def cut(self) -> None:
        """End the connections without a word."""
        for connection in self._connections:
            with contextlib.suppress(OSError):
                connection.socket.shutdown(socket.SHUT_RDWR)

    def _admit(self, connection: ServerConnection, request: Request) -> Response | None:
        refused = self.second_refused and self._connections
        return connection.respond(HTTPStatus.SERVICE_UNAVAILABLE, "one is enough") if refused else None

    def _talk(self, connection: ServerConnection) -> None:
        self._connections.append(connection)
        reporting = False
        try:
            for text in connection:
                message = json.loads(text)
                self.received.append(message)
                if message["op"] == "subscribe" and not reporting:
                    reporting = True
                    threading.Thread(target=self._report, args=(connection,), daemon=True).start()
                (self._hear_1 if self.ros == 1 else self._hear_2)(connection, message)
        except ConnectionClosed:
            pass
        finally:
            self._connections.remove(connection)

    def _hear_1(self, connection: ServerConnection, message: dict[str, Any]) -> None:
        if message["op"] != "publish":
            return
        server, _, topic = message["topic"].rpartition("/")
        if topic == "cancel":
            self._cancelled.set()
        elif topic == "goal" and not self.ignores_goals:
            threading.Thread(target=self._take, args=(connection, server, message["msg"]), daemon=True).start()

    def _hear_2(self, connection: ServerConnection, message: dict[str, Any]) -> None:
        if message["op"] == "cancel_action_goal" and message["id"] == self._accepted:
            self._cancelled.set()
        elif message["op"] == "call_service":
            known = self.cancel_service and message["service"].endswith("/_action/cancel_goal")
            if known and self._accepted:
                assert not any(message["args"]["goal_info"]["goal_id"]["uuid"])
                self._cancelled.set()
            answer = {"op": "service_response", "service": message["service"], "id": message["id"], "result": known}
            connection.send(json.dumps(answer | {"values": {"return_code": 0} if known else "no such service"}))
        elif message["op"] == "send_action_goal" and not self.ignores_goals:
            self._take_2(connection, message)

    def _take_2(self, connection: ServerConnection, message: dict[str, Any]) -> None:
        """Run a goal; nothing else is read from its connection meanwhile."""
        server = message["action"]
        kind = "FollowJointTrajectory" if server == self.model.action else "GripperCommand"
        assert message["action_type"] == f"control_msgs/action/{kind}"
        common = {"action": server, "id": message["id"]}
        if self.rejects_silently:
            return
        if self.rejects:
            refusal = {"op": "action_result", "values": "Action goal was rejected", "status": 0, "result": False}
            connection.send(json.dumps(common | refusal))
            return
        with self._working:
            self._cancelled.clear()
            self.busy.set()
            self.accepts_late.wait(30)
            self._accepted = message["id"]
            if self.feedback and kind == "FollowJointTrajectory":
                connection.send(json.dumps(common | {"op": "action_feedback", "values": {"joint_names": []}}))
            if self.aborts is not None:
                result = self.aborts
            elif kind == "FollowJointTrajectory":
                result = self._move(connection, message["args"])
            else:
                result = self._grip(message["args"])
            self.busy.clear()
            self._accepted = ""
            cancelled = self._cancelled.is_set()
        self.result_may_leave.wait(30)
        self._say_joints(connection)
        status = 6 if self.aborts is not None else 5 if cancelled else 4
        end = {"op": "action_result", "values": result, "status": status, "result": True}
        connection.send(json.dumps(common | end))

    def _report(self, connection: ServerConnection) -> None:
        """Joint states fifty times a second, the lists of goals ten times."""
        beat = 0
        try:
            while not self._over.is_set():
                if self.reports_joints:
                    self._say_joints(connection)
                if self.ros == 1 and beat % 5 == 0 and not self.ignores_goals:
                    for server, goals in self._listed.items():
                        self._say(connection, f"{server}/status", {"header": {}, "status_list": goals})
                beat += 1
                time.sleep(0.02)
        except ConnectionClosed:
            pass

    def _take(self, connection: ServerConnection, server: str, message: dict[str, Any]) -> None:
        name = message["goal_id"]["id"]
        entry = {"goal_id": {"id": name}, "status": ACTIVE, "text": ""}
        self._listed[server] = [entry]
        try:
            if self.rejects or self.rejects_silently:
                entry.update(status=REJECTED, text="the runstop is pressed")
                if self.rejects:
                    self._say(connection, f"{server}/result", {"status": dict(entry), "result": {}})
                return
            with self._working:
                self._cancelled.clear()
                self.busy.set()
                result = (
                    self._move(connection, message["goal"])
                    if server == self.model.action
                    else self._grip(message["goal"])
                )
                self.busy.clear()
            ended = {**entry, "status": PREEMPTED if self._cancelled.is_set() else SUCCEEDED}
            if not self.late_status:
                entry.update(ended)
            self._say_joints(connection)
            self._say(connection, f"{server}/result", {"status": ended, "result": result})
        except ConnectionClosed:
            pass

    def _move(self, connection: ServerConnection, goal: dict[str, Any]) -> dict[str, Any]:
        trajectory = goal["trajectory"]
        assert trajectory["joint_names"] == list(self.model.joints)
        for position in dense(self.arm.joints(), trajectory["points"]):
            if self._cancelled.is_set():
                break
            if self.drop_at is not None and self.steps >= self.drop_at:
                self.cut()
                raise ConnectionClosed(None, None)
            self.arm.follow(JointPath(np.array([PERIOD]), position[np.newaxis]))
            self.steps += 1
            time.sleep(self.pace * PERIOD)
        return {"error_code": 0, "error_string": ""}

    def _grip(self, goal: dict[str, Any]) -> dict[str, Any]:
        gripper = self.model.gripper
        wanted = (goal["command"]["position"] - gripper.closed_goal) / gripper.goal_per_metre
        gap = self.arm.grip(wanted)
        return {"position": gap, "effort": 20.0, "stalled": abs(gap - wanted) > 0.003, "reached_goal": True}

    def _say_joints(self, connection: ServerConnection) -> None:
        seen = self.arm.get_observation()
        gripper = self.model.gripper
        finger = (seen.gripper - gripper.closed_gap) / gripper.gap_per_joint / len(gripper.joints)
        names = [TORSO_NAME, *self.model.joints, *gripper.joints]
        positions = [0.2, *seen.joints, *(finger for _ in gripper.joints)]
        stamp = {"sec": 7, "nanosec": 0} if self.ros == 2 else {"secs": 7, "nsecs": 0}
        header = {"stamp": stamp, "frame_id": ""}
        self._say(connection, "/joint_states", {"header": header, "name": names, "position": positions})

    @staticmethod
    def _say(connection: ServerConnection, topic: str, message: dict[str, Any]) -> None:
        connection.send(json.dumps({"op": "publish", "topic": topic, "msg": message}))


def dense(begin: np.ndarray, points: list[dict[str, Any]]) -> np.ndarray:
    """Set points between the points of a goal, by cubics through positions and speeds, as a controller does."""
    times = [0.0, *(seconds(point) for point in points)]
    positions = np.array([begin, *(p["positions"] for p in points)])
    speeds = np.array([np.zeros_like(begin), *(p["velocities"] for p in points)])
    at = np.arange(1, round(times[-1] / PERIOD) + 1) * PERIOD
    left = np.clip(np.searchsorted(times, at, side="right") - 1, 0, len(points) - 1)
    spans = np.diff(times)[left][:, np.newaxis]
    u = np.clip((at[:, np.newaxis] - np.array(times)[left][:, np.newaxis]) / spans, 0, 1)
    p, q, s, t = positions[left], positions[left + 1], speeds[left] * spans, speeds[left + 1] * spans
    return p + u * (s + u * ((3 * (q - p) - 2 * s - t) + u * (2 * (p - q) + s + t)))


def seconds(point: dict[str, Any]) -> float:
    """The time of a point of a goal, in the form of either ROS."""
    whole, rest = point["time_from_start"].values()
    assert set(point["time_from_start"]) in ({"secs", "nsecs"}, {"sec", "nanosec"})
    return float(whole + 1e-9 * rest)
