"""The world as MuJoCo steps it: the arm, the items, table and trays, with what touches; nothing that is only seen.

The values of contacts, friction and gains are measured: with MuJoCo's own the thin slices slip or tunnel.
"""

from __future__ import annotations

from cobandit.robot.layout import (
    FINGER_GAP,
    FINGER_HALF_LENGTH,
    FINGER_HALF_WIDTH,
    FINGERS,
    GRIPPER_OFFSET,
    HEAD,
    HEAD_JOINTS,
    HEAD_TILT_OFFSET,
    ITEMS,
    JOINTS,
    LIFT,
    TORSO,
    Item,
    Joint,
    Layout,
)

STEP = 0.004
"""Seconds; twice as many steps stack no better and cost twice the time."""
GAINS = (3000, 3000, 1500, 1500, 800, 800, 400)
FORCES = (200, 200, 120, 120, 60, 60, 40)
GRIP_FORCE = 20
_AXES = {"x": "1 0 0", "y": "0 1 0", "z": "0 0 1"}
_CONTACT = 'solref=".01 1" solimp=".95 .99 .001" condim="4"'
_SHELLS = {  # what of each link may touch: a cylinder across the joint or along it, and a capsule to the next
    "shoulder_pan": ("0 0 -.05 0 0 .075", 0.062, "0 0 .05 .10 0 .06", 0.052),
    "shoulder_lift": ("0 -.066 0 0 .066 0", 0.062, ".02 0 0 .15 0 0", 0.050),
    "upperarm_roll": ("-.06 0 0 .06 0 0", 0.052, "0 0 0 .09 0 0", 0.046),
    "elbow_flex": ("0 -.060 0 0 .060 0", 0.057, ".02 0 0 .13 0 0", 0.047),
    "forearm_roll": ("-.06 0 0 .05 0 0", 0.048, "0 0 0 .085 0 0", 0.042),
    "wrist_flex": ("0 -.054 0 0 .054 0", 0.051, ".02 0 0 .105 0 0", 0.044),
    "wrist_roll": ("-.03 0 0 .03 0 0", 0.042, "-.02 0 0 .02 0 0", 0.042),
}


def physics_model(layout: Layout, step: float = STEP) -> str:
    """Return the model in MuJoCo's XML."""
    return f"""<mujoco model="burger">
<compiler angle="radian" autolimits="true"/>
<option timestep="{step}" integrator="implicitfast" cone="elliptic" impratio="10" iterations="50">
  <flag multiccd="enable"/>
</option>
<default>
  <default class="arm"><geom contype="2" conaffinity="1" mass="0"/></default>
  <default class="finger">
    <geom contype="2" conaffinity="1" mass="0" friction="1.2 .01 .002" priority="1" {_CONTACT}/>
  </default>
  <default class="item"><geom contype="1" conaffinity="3" friction=".9 .01 .002" {_CONTACT}/></default>
</default>
<worldbody>
  {_furniture(layout)}
  <body name="torso" pos="{_numbers(TORSO[0], TORSO[1], TORSO[2] + LIFT)}">{_head()}{_arm()}</body>
  {"".join(_item(item, layout) for item in ITEMS.values())}
</worldbody>
<actuator>{_actuators()}</actuator>
</mujoco>"""


def _numbers(*numbers: float) -> str:
    return " ".join(f"{number:.6g}" for number in numbers)


def _furniture(layout: Layout) -> str:
    top, half = layout.table_height, layout.tray_thickness / 2
    x, y = layout.plate
    table = f'<geom class="item" type="box" size=".37 .56 .02" pos=".75 0 {top - 0.02:.6g}"/>'
    plate = f'<geom class="item" type="cylinder" size=".085 {half}" pos="{_numbers(x, y, top + half)}"/>'
    trays = "".join(
        f'<geom class="item" type="box" size=".062 .062 {half}" pos="{_numbers(*place, top + half)}"/>'
        for place in layout.trays.values()
    )
    return table + plate + trays


def _head() -> str:
    light = '<inertial pos="0 0 0" mass=".5" diaginertia=".002 .002 .002"/>'
    joint = '<joint name="{}" axis="{}" damping="1" armature=".05"/>'
    return (
        f'<body name="head_pan" pos="{_numbers(*HEAD)}" gravcomp="1">{light}{joint.format("head_pan", _AXES["z"])}'
        f'<body name="head_tilt" pos="{_numbers(*HEAD_TILT_OFFSET)}" gravcomp="1">{light}'
        f"{joint.format('head_tilt', _AXES['y'])}</body></body>"
    )


def _arm() -> str:
    links = "".join(_link(joint) for joint in JOINTS)
    return f"{links}{_gripper()}{'</body>' * len(JOINTS)}"


def _link(joint: Joint) -> str:
    limits = 'limited="false"' if joint.high == float("inf") else f'range="{_numbers(joint.low, joint.high)}"'
    across, wide, along, narrow = _SHELLS[joint.name]
    return (
        f'<body name="{joint.name}" pos="{_numbers(*joint.offset)}" gravcomp="1">'
        f'<inertial pos=".08 0 0" mass="{joint.mass}" diaginertia=".01 .01 .004"/>'
        f'<joint name="{joint.name}" axis="{_AXES[joint.axis]}" {limits} damping="6" armature=".3"/>'
        f'<geom class="arm" type="cylinder" fromto="{across}" size="{wide}"/>'
        f'<geom class="arm" type="capsule" fromto="{along}" size="{narrow}"/>'
    )


def _gripper() -> str:
    fingers = ""
    for name, side in zip(FINGERS, (1, -1), strict=True):
        size = _numbers(FINGER_HALF_LENGTH, FINGER_HALF_WIDTH, 0.011)
        fingers += (
            f'<body name="{name}" pos="0 {side * FINGER_GAP / 2} 0" gravcomp="1">'
            f'<inertial pos="0 {side * 0.006} 0" mass=".2" diaginertia=".0001 .0001 .0001"/>'
            f'<joint name="{name}" type="slide" axis="0 {side} 0" range="0 .05" damping="20" armature=".5"/>'
            f'<geom class="finger" type="box" size="{size}" pos="0 {side * FINGER_HALF_WIDTH} 0"/></body>'
        )
    return (
        f'<body name="gripper" pos="{GRIPPER_OFFSET} 0 0" gravcomp="1">'
        '<inertial pos="-.09 0 0" mass="1.5" diaginertia=".0024 .0019 .0013"/>'
        '<geom class="arm" type="box" size=".048 .066 .036" pos="-.090 0 0"/>'
        f"{fingers}</body>"
    )


def _item(item: Item, layout: Layout) -> str:
    half = item.thickness / 2
    shape, size = ("box", (item.radius, item.radius, half)) if item.square else ("cylinder", (item.radius, half))
    x, y = layout.place_of(item.name)
    return (
        f'<body name="{item.name}" pos="{_numbers(x, y, layout.base_height + half)}"><freejoint name="{item.name}"/>'
        f'<geom class="item" type="{shape}" size="{_numbers(*size)}" mass="{item.mass}"/></body>'
    )


def _actuators() -> str:
    """Return the actuators in the order of the controls: seven joints, two fingers, two of the head."""
    line = '<position joint="{}" kp="{}" kv="{}" forcerange="-{} {}"/>'
    arm = "".join(
        line.format(joint.name, gain, gain / 15, force, force)
        for joint, gain, force in zip(JOINTS, GAINS, FORCES, strict=True)
    )
    fingers = "".join(line.format(name, 3000, 60, GRIP_FORCE, GRIP_FORCE) for name in FINGERS)
    return arm + fingers + "".join(line.format(name, 60, 6, 20, 20) for name in HEAD_JOINTS)
