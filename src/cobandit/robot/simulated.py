"""The simulated arm: MuJoCo steps the arm, the items and what touches; a hand sets the person's layers down."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence

import numpy as np

from cobandit.base.checks import real
from cobandit.base.streams import RobotStream, checked_seed, generator
from cobandit.robot.burger import BOTTOM_BUN, burger_layers, checked_configuration
from cobandit.robot.driver import JointTrajectory, Observation, Outcome
from cobandit.robot.layout import (
    FINGER_GAP,
    FINGERS,
    FRAMES_PER_SECOND,
    HAND_REST,
    ITEMS,
    JOINTS,
    MOVING,
    SHOULDER_OF_HAND,
    Array,
    Item,
    Layout,
    item_named,
)
from cobandit.robot.manual import words
from cobandit.robot.opengl import mujoco
from cobandit.robot.physics import STEP, physics_model
from cobandit.robot.planning import PERIOD, JointPath
from cobandit.robot.recording import Event, Recording, quantised
from cobandit.robot.skills import PickAndPlace
from cobandit.robot.stacking import StackingStep, stack_burger

SUBSTEPS = round(PERIOD / STEP)
PERIODS_PER_FRAME = round(1 / PERIOD / FRAMES_PER_SECOND)
LOOKS = 6
"""Of which the mean is taken, wherever an item is looked for."""
FINGER_RATE = 0.05
"""Metres per second of each finger."""
TRAY_SPREAD = 0.010
HAND_SPREAD, HAND_TURN = 0.003, 0.08
"""How exactly items lie on their trays, and how exactly a person stacks (m, and rad)."""
LARGEST_NOISE = 0.1


class SimulatedArm(PickAndPlace):
    """A Fetch-like arm in a kitchen, in simulated time. One seed gives one world, to the last bit.

    ``noise`` is the standard deviation of each look at an item (m, each axis), ``height_error`` that of the height at
    which the stack is believed to end (m).
    """

    name = "simulated"
    feels_touch = True

    def __init__(
        self,
        seed: int = 0,
        speed: float = 1.0,
        noise: float = 0.0,
        height_error: float = 0.0,
        layout: Layout | None = None,
    ) -> None:
        super().__init__(layout, speed)
        self._noise = real(0, LARGEST_NOISE)("noise", noise)
        self._height_error = real(0, LARGEST_NOISE)("height_error", height_error)
        self.seed = checked_seed(seed)
        self._burgers = 0
        self._connected = False
        self._stepping = threading.RLock()
        self._command: Array = np.zeros(len(JOINTS))
        self._opening = 0.0
        self._hand: Array = np.array(HAND_REST)
        self._plate_looks: list[Array] = []
        self._frames: list[tuple[Array, Array]] = []
        self._kept: list[tuple[float, Array, float]] = []
        self.model = mujoco.MjModel.from_xml_string(physics_model(self.layout))
        self.data = mujoco.MjData(self.model)
        self._joint_at = [int(self.model.joint(joint.name).qposadr[0]) for joint in JOINTS]
        self._finger_at = [int(self.model.joint(name).qposadr[0]) for name in FINGERS]
        self._body = {name: int(self.model.body(name).id) for name in MOVING if name != "hand"}
        self._rows = list(self._body.values())
        self._item_bodies = {self._body[name]: name for name in ITEMS}
        self._reset()

    # ---- the protocol

    @property
    def is_connected(self) -> bool:
        """Whether `connect` was called."""
        return self._connected

    def connect(self) -> Outcome:
        """Make the arm usable, also after a stop; an item in the gripper is put back onto its tray."""
        self._connected = True
        self._stopped.clear()
        if self.held is not None:
            with self._stepping:
                self._put_back(item_named(self.held))
        return Outcome("done", "The simulated arm is ready.")

    def disconnect(self) -> None:
        """Do nothing: there is no connection."""
        self._connected = False

    def get_observation(self) -> Observation:
        """Return joints, finger gap, and the true position of every item."""
        with self._stepping:
            items = {name: tuple(map(float, self.data.xpos[self._body[name]])) for name in ITEMS}
            joints = tuple(map(float, self.data.qpos[self._joint_at]))
            return Observation(joints, self.gap(), items)  # type: ignore[arg-type]

    def prepare(self) -> Outcome:
        """Create a fresh kitchen: every item on its tray, at positions drawn from the next part of the seed."""
        if not self._connected:
            return Outcome("refused", "The arm is not connected: call connect() first.")
        with self._stepping:
            self._burgers += 1
            self._reset()
        return Outcome("done", "Plate, bun and fillings are ready.")

    def await_person(self, item: str, stack: Sequence[str]) -> Outcome:
        """Return a simulated hand takes the item and sets it down."""
        return self._outcome(lambda: self._hand_places(item_named(item), tuple(stack)))

    # ---- what pick and place are made of

    def clock(self) -> float:
        """Simulated seconds."""
        return self._periods * PERIOD

    def joints(self) -> Array:
        """Return the commanded joints."""
        return self._command.copy()

    def follow(self, path: JointPath, until_touch: str | None = None) -> bool:
        """Step the world along a path."""
        for position in path.positions:
            self._command = position
            self._step()
            if until_touch is not None and self._touches(until_touch):
                return True
        return False

    def grip(self, opening: float) -> float:
        """Move the fingers at their speed, then wait until they rest."""
        begin, end = self._opening, max(0.0, (opening - FINGER_GAP) / 2)
        steps = max(1, math.ceil(abs(end - begin) / (FINGER_RATE * PERIOD)))
        for step in range(1, steps + 1):
            self._opening = begin + (end - begin) * step / steps
            self._step()
        self._rest(0.1)
        return self.gap()

    def gap(self) -> float:
        """Return the gap from the finger joints."""
        return float(self.data.qpos[self._finger_at].sum()) + FINGER_GAP

    def see(self, item: str) -> Array:
        """Return the mean of several looks; the plate does not move, so all looks at it count."""
        looks = self._random.normal(0, 1, (LOOKS, 2)) * self._noise
        place: Array = self.data.xpos[self._body[item]][:2] + looks.mean(axis=0)
        if item == "bottom_bun":
            self._plate_looks.append(place)
            place = np.mean(self._plate_looks, axis=0)
        return place

    def stack_height(self, stack: tuple[str, ...]) -> float:
        """Return the height computed from the layers, with the error of the robot's belief."""
        error: float = self._random.normal(0, 1) * self._height_error
        return self.layout.stack_height(stack) + error

    def begin_trajectory(self) -> None:
        """Keep joints from here on."""
        self._kept = []

    def trajectory(self) -> JointTrajectory:
        """Return the joints as they were, once every period."""
        times, positions, gaps = zip(*self._kept, strict=True) if self._kept else ((), np.empty((0, len(JOINTS))), ())
        return JointTrajectory(np.array(times), np.array(positions), np.array(gaps))

    @property
    def frame(self) -> int:
        """The number of the next frame."""
        return len(self._frames)

    def poses(self) -> tuple[Array, Array]:
        """Return positions and quaternions of every frame since `prepare`: (frames, bodies, 3) and (frames,
        bodies, 4).
        """
        return np.array([frame[0] for frame in self._frames]), np.array([frame[1] for frame in self._frames])

    def stands(self, stack: Sequence[str], within: float = 0.02) -> bool:
        """Return whether every layer lies within that distance of the plate's axis, upright and at its height."""
        height = self.layout.base_height
        for name in stack:
            place = self.data.xpos[self._body[name]]
            upright = self.data.xmat[self._body[name]][8] > math.cos(math.radians(6))
            off = math.dist(place[:2], self.layout.plate)
            middle = height + item_named(name).thickness / 2
            if off > within or not upright or abs(place[2] - middle) > 0.004:
                return False
            height += item_named(name).thickness
        return True

    def settle(self, seconds: float) -> None:
        """Advance the simulation with the arm at rest."""
        self._rest(seconds)

    # ---- the world

    def _reset(self) -> None:
        mujoco.mj_resetData(self.model, self.data)
        self._random = generator(self.seed, RobotStream.WORLD, self._burgers)
        self._command = self.home_joints()
        self._opening = 0.05
        self._plate_looks, self._frames, self._kept = [], [], []
        self._periods = 0
        self.held = None
        self._hand = np.array(HAND_REST)
        self.data.qpos[self._joint_at] = self._command
        self.data.qpos[self._finger_at] = self._opening
        for name in ITEMS:
            if name != "bottom_bun":
                at = int(self.model.joint(name).qposadr[0])
                self.data.qpos[at : at + 2] += self._random.uniform(-TRAY_SPREAD, TRAY_SPREAD, 2)
        mujoco.mj_forward(self.model, self.data)
        self._rest(0.3)

    def _put_back(self, item: Item) -> None:
        """Put an item back on its tray, as an experimenter does after a stop."""
        joint = self.model.joint(item.name)
        place, speed = int(joint.qposadr[0]), int(joint.dofadr[0])
        x, y = self.layout.place_of(item.name)
        self.data.qpos[place : place + 7] = x, y, self.layout.base_height + item.thickness / 2, 1, 0, 0, 0
        self.data.qvel[speed : speed + 6] = 0
        mujoco.mj_forward(self.model, self.data)
        self.held = None

    def _step(self) -> None:
        self.check_stopped()
        with self._stepping:
            controls = self.data.ctrl
            controls[:7], controls[7:9] = self._command, self._opening
            controls[9:11] = self._gaze()
            mujoco.mj_step(self.model, self.data, SUBSTEPS)
            self._periods += 1
            self._kept.append((self.clock(), self.data.qpos[self._joint_at].copy(), self.gap()))
            if self._periods % PERIODS_PER_FRAME == 0:
                self._frames.append(self._frame())

    def _rest(self, seconds: float) -> None:
        for _ in range(round(seconds / PERIOD)):
            self._step()

    def _gaze(self) -> tuple[float, float]:
        """Return the head looks at the fingertips, or at the hand while that is at work."""
        target = self.data.xpos[self._body["gripper"]] if self._hand[0] > HAND_REST[0] - 0.05 else self._hand
        x, y, z = target - self.data.xpos[self._body["head_tilt"]]
        wanted = math.atan2(y, x + 0.14), math.atan2(-z, math.hypot(x, y))
        before = self.data.ctrl[9:11]
        return tuple(float(b + max(-0.03, min(0.03, w - b))) for w, b in zip(wanted, before, strict=True))  # type: ignore[return-value]

    def _frame(self) -> tuple[Array, Array]:
        x, y = SHOULDER_OF_HAND
        half = math.atan2(self._hand[1] - y, self._hand[0] - x) / 2 + math.pi / 2
        turn = [math.cos(half), 0.0, 0.0, math.sin(half)]
        return (
            np.concatenate([self.data.xpos[self._rows], [self._hand]]),
            np.concatenate([self.data.xquat[self._rows], [turn]]),
        )

    def _touches(self, item: str) -> bool:
        """Return whether an item touches another item, plate or table."""
        own = self._body[item]
        pairs = self.model.geom_bodyid[self.data.contact.geom]
        return any(
            own in pair and all(body == 0 or body in self._item_bodies for body in pair) for pair in pairs.tolist()
        )

    # ---- the simulated person

    def _hand_places(self, item: Item, stack: tuple[str, ...]) -> str:
        body, joint = self._body[item.name], self.model.joint(item.name)
        begin = self.data.xpos[body].copy()
        shift, turn = self._random.normal(0, HAND_SPREAD, 2), float(self._random.normal(0, HAND_TURN))
        top = self.layout.stack_height(stack) + item.thickness / 2 + 0.0015
        over = np.array([*(np.array(self.layout.plate) + shift), top])
        knots = [begin, begin + np.array([0, 0, 0.09]), over + np.array([0, 0, 0.07]), over]
        grip = np.array([0, 0, item.thickness / 2])
        self._wave(begin + grip, 0.5)
        self.model.body_gravcomp[body] = 1
        try:
            for number, seconds in enumerate((0.35, 0.7, 0.4)):
                self._carry(
                    joint, knots[number], knots[number + 1], seconds, (turn if number else 0.0, number == 1), grip
                )
        finally:
            self.model.body_gravcomp[body] = 0
        self._wave(over + grip + np.array([0.06, 0, 0.05]), 0.25)
        self._wave(np.array(HAND_REST), 0.45)
        return f"The {words(item.name)} was set down."

    def _carry(
        self, joint: object, begin: Array, end: Array, seconds: float, turn: tuple[float, bool], grip: Array
    ) -> None:
        """Move an item in the hand: its position and speed are set, so that it cannot slip or fall."""
        place, speed = int(joint.qposadr[0]), int(joint.dofadr[0])  # type: ignore[attr-defined]
        steps = round(seconds / PERIOD)
        for step in range(steps + 1):
            u = step / steps
            grown = u**3 * (10 - 15 * u + 6 * u * u)
            rate = 30 * u * u * (1 - u) ** 2 / seconds if step < steps else 0.0
            angle, grows = turn
            half = angle * (grown if grows else 1.0) / 2
            self.data.qpos[place : place + 3] = begin + (end - begin) * grown
            self.data.qpos[place + 3 : place + 7] = math.cos(half), 0, 0, math.sin(half)
            self.data.qvel[speed : speed + 3] = (end - begin) * rate
            self.data.qvel[speed + 3 : speed + 6] = 0
            self._hand = begin + (end - begin) * grown + grip
            if step < steps:
                self._step()

    def _wave(self, end: Array, seconds: float) -> None:
        """Move the empty hand."""
        begin, steps = self._hand, round(seconds / PERIOD)
        for step in range(1, steps + 1):
            u = step / steps
            self._hand = begin + (end - begin) * u * u * (3 - 2 * u)
            self._step()


def simulate_burger(
    configuration: Sequence[int], seed: int, noise: float = 0.0, height_error: float = 0.0, speed: float = 1.0
) -> Recording:
    """Record one burger by a simulated arm and a simulated hand; the same arguments give the same bytes.

    A burger that is not stable (a layer more than 2 cm off the axis, tilted or fallen) has the status "failed".
    """
    configuration = checked_configuration(configuration)
    arm = SimulatedArm(seed, speed, noise, height_error)
    arm.connect()
    events: list[Event] = []

    def caption(step: StackingStep) -> None:
        if step.outcome is None and step.action != "prepare":
            events.append(Event(arm.frame, step.action, step.item, step.by, step.text))

    arm.on_retry = lambda item: events.append(
        Event(arm.frame, "retry", item, "robot", f"Robot missed the {words(item)} and tries again")
    )
    stacking = stack_burger(arm, configuration, on_step=caption)
    arm.settle(0.5)
    layers = burger_layers(configuration)
    stack = [BOTTOM_BUN, *(layer.item for layer in layers[: stacking.layers])]
    status, message = stacking.status, stacking.message
    if status == "done" and not arm.stands(stack):
        status, message = "failed", "The burger was stacked, but a layer lies off the axis."
    events.append(Event(arm.frame - 1, "end", layers[-1].item, "robot", message))
    positions, quaternions = arm.poses()
    poses = quantised(positions, quaternions)
    return Recording(configuration, arm.seed, FRAMES_PER_SECOND, MOVING, poses, tuple(events), status, message)
