"""A robot arm that stacks burgers: the protocol of drivers, a simulated Fetch, a client for real ones, recordings.

The simulated arm needs the extra ``robot`` (MuJoCo), a real one behind rosbridge the extra ``ros``. Each name is loaded
when it is first used. Paper: Experiments, the burger study in the lab.

>>> from cobandit.robot import burger_layers
>>> [layer.item for layer in burger_layers((0, 0))]
['patty', 'tomato', 'cheese', 'lettuce', 'top_bun']
"""

from __future__ import annotations

from cobandit.base.lazy import lazy_package

__getattr__, __dir__ = lazy_package(
    __name__, extras={"RosbridgeArm": "ros", "SimulatedArm": "robot", "simulate_burger": "robot"}
)
