"""A rosbridge of our own over a real WebSocket, in front of a simulated arm: as a Fetch would, with its troubles."""

from __future__ import annotations

import json
import socket
import threading
import time
from types import TracebackType
from typing import Any

import numpy as np
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

from cobandit.robot.layout import FINGER_GAP
from cobandit.robot.planning import PERIOD, JointPath
from cobandit.robot.rosbridge import ARM_ACTION, FINGER_NAMES, GRIPPER_ACTION, JOINT_NAMES, TORSO_NAME
from cobandit.robot.simulated import SimulatedArm

ACTIVE, PREEMPTED, SUCCEEDED, REJECTED = 1, 2, 3, 5


class Peer:
    """Speaks the rosbridge protocol (version 2) as far as the driver does; every trouble is an attribute to be set."""

    def __init__(self, arm: SimulatedArm) -> None:
        self.arm = arm
        arm.connect()
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
        self._listed: dict[str, list[dict[str, Any]]] = {ARM_ACTION: [], GRIPPER_ACTION: []}
        self._over = threading.Event()
        self._working = threading.Lock()

    def __enter__(self) -> Peer:
        self._server = serve(self._talk, "127.0.0.1", 0, compression=None)
        self.url = f"ws://127.0.0.1:{self._server.socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._over.set()
        self._cancelled.set()
        self._server.shutdown()
        self._thread.join(10)

    def goals(self, server: str) -> list[dict[str, Any]]:
        sent = [message for message in self.received if message["op"] == "publish"]
        return [message["msg"] for message in sent if message["topic"] == f"{server}/goal"]

    def cancels(self, server: str) -> int:
        return sum(
            message.get("topic") == f"{server}/cancel" and message["op"] == "publish" for message in self.received
        )

    def cancel_all(self) -> None:
        """As if somebody else had cancelled."""
        self._cancelled.set()

    def cut(self) -> None:
        """End the connection without a word."""
        self._connection.socket.shutdown(socket.SHUT_RDWR)

    def _talk(self, connection: ServerConnection) -> None:
        self._connection = connection
        threading.Thread(target=self._report, args=(connection,), daemon=True).start()
        try:
            for text in connection:
                message = json.loads(text)
                self.received.append(message)
                if message["op"] != "publish":
                    continue
                server, _, topic = message["topic"].rpartition("/")
                if topic == "cancel":
                    self._cancelled.set()
                elif topic == "goal" and not self.ignores_goals:
                    threading.Thread(target=self._take, args=(connection, server, message["msg"]), daemon=True).start()
        except ConnectionClosed:
            pass

    def _report(self, connection: ServerConnection) -> None:
        """Joint states fifty times a second, the lists of goals ten times."""
        beat = 0
        try:
            while not self._over.is_set():
                if self.reports_joints:
                    self._say_joints(connection)
                if beat % 5 == 0 and not self.ignores_goals:
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
                    self._move(connection, message["goal"]) if server == ARM_ACTION else self._grip(message["goal"])
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
        assert trajectory["joint_names"] == list(JOINT_NAMES)
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
        wanted = goal["command"]["position"]
        gap = self.arm.grip(wanted)
        return {"position": gap, "effort": 20.0, "stalled": abs(gap - wanted) > 0.003, "reached_goal": True}

    def _say_joints(self, connection: ServerConnection) -> None:
        seen = self.arm.get_observation()
        finger = (seen.gripper - FINGER_GAP) / 2
        names = [TORSO_NAME, *JOINT_NAMES, *FINGER_NAMES]
        self._say(connection, "/joint_states", {"name": names, "position": [0.2, *seen.joints, finger, finger]})

    @staticmethod
    def _say(connection: ServerConnection, topic: str, message: dict[str, Any]) -> None:
        connection.send(json.dumps({"op": "publish", "topic": topic, "msg": message}))


def dense(begin: np.ndarray, points: list[dict[str, Any]]) -> np.ndarray:
    """Set points between the points of a goal, by cubics through positions and speeds, as a controller does."""
    times = [0.0, *(p["time_from_start"]["secs"] + 1e-9 * p["time_from_start"]["nsecs"] for p in points)]
    positions = np.array([begin, *(p["positions"] for p in points)])
    speeds = np.array([np.zeros_like(begin), *(p["velocities"] for p in points)])
    at = np.arange(1, round(times[-1] / PERIOD) + 1) * PERIOD
    left = np.clip(np.searchsorted(times, at, side="right") - 1, 0, len(points) - 1)
    spans = np.diff(times)[left][:, np.newaxis]
    u = np.clip((at[:, np.newaxis] - np.array(times)[left][:, np.newaxis]) / spans, 0, 1)
    p, q, s, t = positions[left], positions[left + 1], speeds[left] * spans, speeds[left + 1] * spans
    return p + u * (s + u * ((3 * (q - p) - 2 * s - t) + u * (2 * (p - q) + s + t)))
