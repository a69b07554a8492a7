"""Arms that are described by a file: their geometry against MuJoCo, and a whole slice over ROS 2."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from cobandit.base.errors import InvalidInput
from cobandit.robot import make_arm
from cobandit.robot.kinematics import Kinematics, gripper_down
from cobandit.robot.layout import JOINTS, LIFT, TIP_OFFSET, TORSO, Layout
from cobandit.robot.model import ArmModel, read_chain
from cobandit.robot.rosbridge import RosbridgeArm
from cobandit.robot.simulated import SimulatedArm
from tests.robot.rosbridge_peer import Peer

ARM = """
[arm]
urdf = "arm.urdf"
base = "world"
tip = "tool"
pointing = "x"
closing = "y"
action = "/joint_trajectory_controller/follow_joint_trajectory"
resting = [0.3, -1.0, 0.0, 1.75, 0.0, 0.82, 0.0]

[gripper]
action = "/gripper_controller/gripper_cmd"
joints = ["finger_joint"]
closed = 0.7
open = 0.0
widest = 0.1018
"""


def fetch_urdf() -> str:
    """The simulated arm as a URDF file, with names of its own and one fixed joint on the way."""
    x, y, z = TORSO
    lines = ['<robot name="own"><link name="world"/><link name="torso"/>']
    lines.append(
        f'<joint name="lift" type="fixed"><parent link="world"/><child link="torso"/>'
        f'<origin xyz="{x} {y} {z + LIFT}"/></joint>'
    )
    parent = "torso"
    for number, joint in enumerate(JOINTS, 1):
        axis = " ".join("1" if name == joint.axis else "0" for name in "xyz")
        kind = "revolute" if math.isfinite(joint.high) else "continuous"
        ends = f'lower="{joint.low}" upper="{joint.high}"' if kind == "revolute" else ""
        lines.append(
            f'<link name="link{number}"/><joint name="joint{number}" type="{kind}"><parent link="{parent}"/>'
            f'<child link="link{number}"/><origin xyz="{" ".join(map(str, joint.offset))}" rpy="0 0 0"/>'
            f'<axis xyz="{axis}"/><limit {ends} velocity="{joint.speed}" effort="1"/></joint>'
        )
        parent = f"link{number}"
    lines.append(
        f'<link name="tool"/><joint name="tip" type="fixed"><parent link="{parent}"/><child link="tool"/>'
        f'<origin xyz="{TIP_OFFSET} 0 0"/></joint></robot>'
    )
    return "".join(lines)


def twisted_urdf() -> str:
    """An arm with turned frames and skew axes, as many URDF files have, with masses so that MuJoCo reads it."""
    angles = ["0 0 0.3", "-1.5708 0.1 0", "1.5708 0 0.2", "1.2 0.4 0", "-1.5708 0 0", "1.5708 0 0.7", "1.1 0 0"]
    axes = ["0 0 1", "0 0 1", "0 0 -1", "0 1 0", "0.6 0 0.8", "0 0 1", "1 0 0"]
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    # MuJoCo drops the fixed links at both ends of a chain unless it is told to keep them.
    lines = ['<robot name="twisted"><mujoco><compiler fusestatic="false"/></mujoco><link name="base"/>']
    parent = "base"
    for number, (turn, axis) in enumerate(zip(angles, axes, strict=True), 1):
        lines.append(
            f'<link name="l{number}">{inertial}</link><joint name="j{number}" type="revolute"><parent link="{parent}"/>'
            f'<child link="l{number}"/><origin xyz="0.0{number} 0.1 0.2" rpy="{turn}"/><axis xyz="{axis}"/>'
            f'<limit lower="-3" upper="3" velocity="1" effort="1"/></joint>'
        )
        parent = f"l{number}"
    lines.append(
        f'<link name="tool">{inertial}</link><joint name="tip" type="fixed"><parent link="{parent}"/>'
        '<child link="tool"/><origin xyz="0.01 0.02 0.1" rpy="0.1 0.2 0.3"/></joint></robot>'
    )
    return "".join(lines)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "arm.urdf").write_text(fetch_urdf(), encoding="utf-8")
    (tmp_path / "own.toml").write_text(ARM, encoding="utf-8")
    return tmp_path


class TestGeometry:
    def test_is_that_of_the_arm_that_the_file_describes(self, folder):
        model = ArmModel.from_file(folder / "own.toml")
        ours, theirs = Kinematics(), model.kinematics({})
        assert model.joints == tuple(f"joint{number}" for number in range(1, 8))
        np.testing.assert_array_equal(theirs.low, ours.low)
        np.testing.assert_array_equal(theirs.fastest, ours.fastest)
        np.testing.assert_allclose(theirs.pan_axis, ours.pan_axis)
        poses = np.random.default_rng(4).uniform(-1, 1, (20, 7))
        for mine, other in zip(ours.forward(poses), theirs.forward(poses), strict=True):
            np.testing.assert_allclose(other, mine, atol=1e-12)
        np.testing.assert_allclose(theirs.jacobian(poses), ours.jacobian(poses), atol=1e-12)

    def test_agrees_with_mujoco_for_turned_frames(self, tmp_path):
        mujoco = pytest.importorskip("mujoco")
        urdf = twisted_urdf()
        (tmp_path / "arm.urdf").write_text(urdf, encoding="utf-8")
        table = ARM.replace('"world"', '"base"').replace('"x"', '"z"').replace("0.82", "0.8")
        (tmp_path / "own.toml").write_text(table, encoding="utf-8")
        chain = ArmModel.from_file(tmp_path / "own.toml").kinematics({})
        oracle = mujoco.MjModel.from_xml_string(urdf)
        data = mujoco.MjData(oracle)
        for pose in np.random.default_rng(5).uniform(-2, 2, (20, 7)):
            data.qpos[:] = pose
            mujoco.mj_kinematics(oracle, data)
            tip, rotation = chain.forward(pose)
            np.testing.assert_allclose(tip, data.body("tool").xpos, atol=1e-9)
            turned = data.body("tool").xmat.reshape(3, 3)
            np.testing.assert_allclose(rotation[:, 0], turned[:, 2], atol=1e-9)  # points along z
            np.testing.assert_allclose(rotation[:, 1], turned[:, 1], atol=1e-9)

    def test_a_mount_moves_and_turns_the_arm(self, folder):
        moved = ARM.replace("[gripper]", "mount = [1.0, 0.5, 0.25]\nmount_yaw = 1.5707963267948966\n[gripper]")
        (folder / "moved.toml").write_text(moved, encoding="utf-8")
        here, there = (ArmModel.from_file(folder / name).kinematics({}) for name in ("own.toml", "moved.toml"))
        (x, y, z), _ = here.forward(here.resting)
        np.testing.assert_allclose(there.forward(there.resting)[0], [1 - y, 0.5 + x, 0.25 + z], atol=1e-12)

    def test_inverse_kinematics_reaches_the_trays(self, folder):
        chain = ArmModel.from_file(folder / "own.toml").kinematics({})
        for x, y in Layout().trays.values():
            if math.hypot(x, y) < 0.75:
                joints = chain.solve(chain.resting, np.array([x, y, 0.8]), gripper_down(math.pi / 2))
                np.testing.assert_allclose(chain.forward(joints)[0], [x, y, 0.8], atol=1e-3)


class TestOverRos2:
    def test_an_arm_of_a_file_stacks_a_slice(self, folder):
        model = ArmModel.from_file(folder / "own.toml")
        with Peer(SimulatedArm(seed=3), ros=2, model=model) as peer:
            arm = make_arm("rosbridge", peer.url, model=folder / "own.toml")
            assert isinstance(arm, RosbridgeArm)
            connected = arm.connect()
            assert connected.ok, connected.message
            assert "ROS 2" in connected.message
            for outcome in (arm.pick("tomato"), arm.place("tomato", ("bottom_bun",)), arm.home()):
                assert outcome.ok, outcome.message
            arm.disconnect()
            peer.arm.settle(0.3)
            x, y, _ = peer.arm.get_observation().items["tomato"]
            positions = [goal["command"]["position"] for goal in peer.goals(model.gripper.action)]
        assert math.dist((x, y), Layout().plate) < 0.015
        assert min(positions) == pytest.approx(0.0, abs=0.2)
        assert max(positions) <= 0.7

    def test_another_arm_than_the_file_says(self, folder):
        with Peer(SimulatedArm(seed=3), ros=2) as peer:
            arm = make_arm("rosbridge", peer.url, model=folder / "own.toml")
            assert isinstance(arm, RosbridgeArm)
            arm._patience = 0.5
            outcome = arm.connect()
        assert outcome.status == "lost"
        assert "joint1" in outcome.message


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("[arm]", "[arms]", r"table \[arm\]"),
        ('tip = "tool"', 'tip = "hand"', "no chain"),
        ('urdf = "arm.urdf"', 'urdf = "none.urdf"', "none.urdf"),
        ('pointing = "x"', 'pointing = "w"', "pointing"),
        ('closing = "y"', 'closing = "-x"', "different axes"),
        ("resting = [0.3,", "resting = [9.0,", "within the limits"),
        ("resting = [0.3,", "resting = [", "list of 7"),
        ('joints = ["finger_joint"]', "joints = []", "list of names"),
        ("open = 0.0", "open = 0.7", "must differ"),
        ("open = 0.0", "open = nan", "gripper.open"),
        ("widest = 0.1018", "widest = 0.05", "widest"),
        ("[gripper]", "[gripper]\ncolour = 1", "unknown key 'colour'"),
        ("[arm]", "[arm", "cannot be read"),
    ],
)
def test_bad_files(folder, old, new, words):
    (folder / "bad.toml").write_text(ARM.replace(old, new), encoding="utf-8")
    with pytest.raises(InvalidInput, match=words):
        ArmModel.from_file(folder / "bad.toml")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("</robot>", "", "cannot be read"),
        ('type="revolute"', 'type="prismatic"', "revolute and continuous"),
        ('type="revolute"', 'type="fixed"', "7 turning joints"),
        ('velocity="1.256"', 'velocity="0"', "velocity"),
        ('lower="-1.6056"', 'lower="nan"', "lower"),
        ('lower="-1.6056"', 'lower="3"', "has the limits"),
        ('rpy="0 0 0"', 'rpy="0 0"', "three numbers"),
        ('<axis xyz="0 0 1"/>', '<axis xyz="0 0 0"/>', "an axis"),
    ],
)
def test_bad_urdf(old, new, words):
    with pytest.raises(InvalidInput, match=words):
        read_chain(fetch_urdf().replace(old, new), "world", "tool")


def test_a_model_goes_with_rosbridge_only(folder):
    with pytest.raises(InvalidInput, match="rosbridge"):
        make_arm("null", model=folder / "own.toml")
    with pytest.raises(InvalidInput, match="cannot be read"):
        make_arm("rosbridge", "ws://127.0.0.1:1", model=folder / "missing.toml")
