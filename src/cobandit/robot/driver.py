"""What every robot arm can do, whatever moves it: the protocol of drivers, its results, and drivers by name.

One thread calls a driver, one call at a time; any thread may call `Arm.stop`, and `manual.AsksPeople.confirm` and
`manual.AsksPeople.skip` of drivers that wait for people, at any time. Every fault of a robot is an `Outcome`, never an
exception.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol, get_args, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from cobandit.base import plugins
from cobandit.base.checks import real, short_repr
from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.base.extras import require_extras
from cobandit.base.streams import checked_seed
from cobandit.robot.names import known_arms

Status = Literal["done", "failed", "stopped", "refused", "lost"]
"""How an action ended: as requested; tried and not achieved; stopped by a person; not begun; without the robot."""

STATUSES: tuple[Status, ...] = get_args(Status)


@dataclass(frozen=True, eq=False)
class JointTrajectory:
    """Where the joints were: ``times`` (F,) in seconds, ``positions`` (F, 7) in radians, ``gripper`` (F,) in metres."""

    times: NDArray[np.float64]
    positions: NDArray[np.float64]
    gripper: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.times)


@dataclass(frozen=True, eq=False)
class Outcome:
    """How one action of an arm ended; ``duration`` is in seconds of the robot's own time."""

    status: Status
    message: str
    duration: float = 0.0
    trajectory: JointTrajectory | None = None

    @property
    def ok(self) -> bool:
        """Whether it was done as asked."""
        return self.status == "done"


@dataclass(frozen=True)
class Observation:
    """What an arm knows now: its joints (rad), the opening between its fingers (m), and items it sees (m)."""

    joints: tuple[float, ...]
    gripper: float
    items: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)


@runtime_checkable
class Arm(Protocol):
    """A robot arm that stacks. ``stack`` names the items on the plate, from below, with the bottom bun."""

    name: str

    @property
    def is_connected(self) -> bool:
        """Whether the robot can be asked for something now."""
        ...

    def connect(self) -> Outcome:
        """Get ready, also after a stop; "lost" where the robot cannot be reached."""
        ...

    def disconnect(self) -> None:
        """Let the robot go; never fails."""
        ...

    def get_observation(self) -> Observation:
        """Return the positions of the joints and of the items."""
        ...

    def prepare(self) -> Outcome:
        """Wait until the plate has its bottom bun and every tray its item."""
        ...

    def pick(self, item: str) -> Outcome:
        """Take an item from its tray and lift it."""
        ...

    def place(self, item: str, stack: Sequence[str]) -> Outcome:
        """Set the held item down on the stack and let it go."""
        ...

    def await_person(self, item: str, stack: Sequence[str]) -> Outcome:
        """Wait until the person has put their item on the stack."""
        ...

    def home(self) -> Outcome:
        """Go out of the person's way."""
        ...

    def stop(self) -> Outcome:
        """Stop immediately, from any thread: the current action and every later one end as "stopped", until `connect`
        is called.
        """
        ...


def make_arm(
    name: str, url: str | None = None, speed: float = 1.0, seed: int = 0, model: str | Path | None = None
) -> Arm:
    """Return a driver by its name, not yet connected.

    ``url`` is for robots behind an address (``ws://192.168.1.20:9090``), ``speed`` the fraction of the allowed joint
    speeds that is used, ``seed`` for what a simulated arm draws; ``model`` is a file that describes an arm behind
    rosbridge other than a Fetch. Other packages bring drivers by entry points in the group ``cobandit.arms``: a class
    or function that takes ``url``, ``speed`` and ``seed`` by name.
    """
    speed = real(0, 1, above=True)("speed", speed)
    seed = checked_seed(seed)
    if url is not None and not isinstance(url, str):
        raise InvalidInput(f"url must be an address as text, or None, got {short_repr(url)}.")
    if model is not None:
        if name != "rosbridge":
            raise InvalidInput(f"model describes an arm behind rosbridge; leave it out for {short_repr(name)}.")
        return _rosbridge(url, speed, seed, model)
    if isinstance(name, str) and name in _MAKERS:
        return _MAKERS[name](url, speed, seed)
    plugin = plugins.find_plugin(plugins.ARMS, name)
    if plugin is None:
        raise UnknownName("robot arm", name, known_arms())
    arm = _of_plugin(plugin, url, speed, seed)
    if not isinstance(arm, Arm):
        raise plugin.error(f"made {short_repr(arm)}, which lacks a part of the protocol cobandit.robot.Arm")
    return arm


def _of_plugin(plugin: plugins.Plugin, url: str | None, speed: float, seed: int) -> object:
    maker = plugin.load()
    if not callable(maker):
        raise plugin.error(f"is {short_repr(maker)}; a class or a function that makes an arm is needed")
    try:
        return maker(url=url, speed=speed, seed=seed)
    except Exception as error:
        raise plugin.error(f"made no arm: {type(error).__name__}: {error}") from error


def _simulated(url: str | None, speed: float, seed: int) -> Arm:
    require_extras("The simulated arm", robot=True)
    from cobandit.robot.simulated import SimulatedArm

    if url is not None:
        raise InvalidInput(f"url is {short_repr(url)}; the simulated arm has no address, so leave it out.")
    return SimulatedArm(seed=seed, speed=speed)


def _rosbridge(url: str | None, speed: float, seed: int, model: str | Path | None = None) -> Arm:
    require_extras("A robot behind rosbridge", ros=True)
    from cobandit.robot.model import ArmModel
    from cobandit.robot.rosbridge import FETCH, RosbridgeArm

    if url is None:
        raise InvalidInput("A robot behind rosbridge needs its address, such as ws://192.168.1.20:9090, as url.")
    return RosbridgeArm(url, speed=speed, model=FETCH if model is None else ArmModel.from_file(model))


def _null(url: str | None, speed: float, seed: int) -> Arm:
    from cobandit.robot.manual import NullArm

    if url is not None:
        raise InvalidInput(f"url is {short_repr(url)}; without a robot there is no address, so leave it out.")
    return NullArm()


_MAKERS: dict[str, Callable[[str | None, float, int], Arm]] = {
    "simulated": _simulated,
    "rosbridge": _rosbridge,
    "null": _null,
}
