"""A robot arm that stacks burgers: the protocol of drivers, a simulated Fetch, a client for real ones, recordings.

The simulated arm needs the extra ``robot`` (MuJoCo), a real one behind rosbridge the extra ``ros``. Each name is loaded
when it is first used. Paper: Experiments, the burger study in the lab.

>>> from cobandit.robot import burger_layers
>>> [layer.item for layer in burger_layers((0, 0))]
['patty', 'tomato', 'cheese', 'lettuce', 'top_bun']
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cobandit.base.lazy import lazy_names

if TYPE_CHECKING:
    from cobandit.robot.burger import CONFIGURATIONS as CONFIGURATIONS
    from cobandit.robot.burger import Layer as Layer
    from cobandit.robot.burger import burger_layers as burger_layers
    from cobandit.robot.driver import Arm as Arm
    from cobandit.robot.driver import JointTrajectory as JointTrajectory
    from cobandit.robot.driver import Observation as Observation
    from cobandit.robot.driver import Outcome as Outcome
    from cobandit.robot.driver import make_arm as make_arm
    from cobandit.robot.layout import Layout as Layout
    from cobandit.robot.manual import AsksPeople as AsksPeople
    from cobandit.robot.manual import NullArm as NullArm
    from cobandit.robot.manual import Request as Request
    from cobandit.robot.names import known_arms as known_arms
    from cobandit.robot.names import require_arm as require_arm
    from cobandit.robot.recording import Event as Event
    from cobandit.robot.recording import Recording as Recording
    from cobandit.robot.rosbridge import RosbridgeArm as RosbridgeArm
    from cobandit.robot.scene import scene_description as scene_description
    from cobandit.robot.simulated import SimulatedArm as SimulatedArm
    from cobandit.robot.simulated import simulate_burger as simulate_burger
    from cobandit.robot.stacking import Stacking as Stacking
    from cobandit.robot.stacking import StackingStep as StackingStep
    from cobandit.robot.stacking import stack_burger as stack_burger

__all__ = [
    "CONFIGURATIONS",
    "Arm",
    "AsksPeople",
    "Event",
    "JointTrajectory",
    "Layer",
    "Layout",
    "NullArm",
    "Observation",
    "Outcome",
    "Recording",
    "Request",
    "RosbridgeArm",
    "SimulatedArm",
    "Stacking",
    "StackingStep",
    "burger_layers",
    "known_arms",
    "make_arm",
    "require_arm",
    "scene_description",
    "simulate_burger",
    "stack_burger",
]

_HOMES = {
    "CONFIGURATIONS": "cobandit.robot.burger",
    "Arm": "cobandit.robot.driver",
    "AsksPeople": "cobandit.robot.manual",
    "Event": "cobandit.robot.recording",
    "JointTrajectory": "cobandit.robot.driver",
    "Layer": "cobandit.robot.burger",
    "Layout": "cobandit.robot.layout",
    "NullArm": "cobandit.robot.manual",
    "Observation": "cobandit.robot.driver",
    "Outcome": "cobandit.robot.driver",
    "Recording": "cobandit.robot.recording",
    "Request": "cobandit.robot.manual",
    "RosbridgeArm": "cobandit.robot.rosbridge",
    "SimulatedArm": "cobandit.robot.simulated",
    "Stacking": "cobandit.robot.stacking",
    "StackingStep": "cobandit.robot.stacking",
    "burger_layers": "cobandit.robot.burger",
    "known_arms": "cobandit.robot.names",
    "make_arm": "cobandit.robot.driver",
    "require_arm": "cobandit.robot.names",
    "scene_description": "cobandit.robot.scene",
    "simulate_burger": "cobandit.robot.simulated",
    "stack_burger": "cobandit.robot.stacking",
}
"""Where each public name lives."""

_EXTRAS = {"RosbridgeArm": "ros", "SimulatedArm": "robot", "simulate_burger": "robot"}
"""The extras that names need."""

__getattr__ = lazy_names(__name__, _HOMES, extras=_EXTRAS)
