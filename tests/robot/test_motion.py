"""Kinematics against MuJoCo's, and paths within the limits of the joints."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.robot.kinematics import RESTING, Kinematics, OutOfReach, gripper_down
from cobandit.robot.layout import FASTEST, HIGHEST, JOINTS, LOWEST, TIP_OFFSET, Layout, item_named
from cobandit.robot.physics import physics_model
from cobandit.robot.planning import PERIOD, Planner

DOWN = math.pi / 2


@pytest.fixture(scope="module")
def world():
    model = mujoco.MjModel.from_xml_string(physics_model(Layout()))
    return model, mujoco.MjData(model)


@pytest.fixture(scope="module")
def home() -> np.ndarray:
    return Kinematics().solve(RESTING, np.array(Layout().home), gripper_down(DOWN))


@pytest.mark.parametrize("seed", range(5))
def test_tip_and_jacobian_are_those_of_mujoco(world, seed):
    model, data = world
    joints = np.random.default_rng(seed).uniform(-1.2, 1.2, 7)
    data.qpos[[model.joint(joint.name).qposadr[0] for joint in JOINTS]] = joints
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    last = model.body("wrist_roll").id
    rotation = data.xmat[last].reshape(3, 3)
    tip = data.xpos[last] + TIP_OFFSET * rotation[:, 0]
    moves, turns = np.zeros((3, model.nv)), np.zeros((3, model.nv))
    mujoco.mj_jac(model, data, moves, turns, tip, last)
    columns = [model.joint(joint.name).dofadr[0] for joint in JOINTS]
    ours, turned = Kinematics().forward(joints)
    np.testing.assert_allclose(ours, tip, atol=1e-12)
    np.testing.assert_allclose(turned, rotation, atol=1e-12)
    np.testing.assert_allclose(Kinematics().jacobian(joints), np.vstack([moves, turns])[:, columns], atol=1e-12)


def test_many_poses_at_once_are_single_ones(home):
    poses = home + np.random.default_rng(1).normal(0, 0.1, (6, 7))
    tips, rotations = Kinematics().forward(poses)
    for pose, tip, rotation in zip(poses, tips, rotations, strict=True):
        single, turned = Kinematics().forward(pose)
        np.testing.assert_array_equal(tip, single)
        np.testing.assert_array_equal(rotation, turned)


@pytest.mark.parametrize("item", ["tomato", "lettuce", "top_bun"])
def test_every_tray_is_reached_within_limits(home, item):
    layout = Layout()
    goal = np.array([*layout.place_of(item), layout.base_height + 0.07])
    joints = Kinematics().solve(home, goal, gripper_down(DOWN))
    tip, rotation = Kinematics().forward(joints)
    np.testing.assert_allclose(tip, goal, atol=1e-3)
    np.testing.assert_allclose(rotation, gripper_down(DOWN), atol=0.01)
    assert (joints >= LOWEST - 1e-9).all()
    assert (joints <= HIGHEST + 1e-9).all()


@pytest.mark.parametrize("goal", [(1.6, 0.0, 0.8), (0.5, 0.3, 2.5), (-0.6, 0.0, 0.8)])
def test_out_of_reach(home, goal):
    with pytest.raises(OutOfReach):
        Kinematics().solve(home, np.array(goal), gripper_down(DOWN))


class TestPaths:
    GOALS = ((0.54, 0.28, 0.80, 2.0), (0.66, 0.0, 0.83, DOWN), (0.56, -0.28, 0.80, 1.1), (0.69, 0.25, 0.80, 1.9))

    @pytest.mark.parametrize("speed", [1.0, 0.25])
    def test_keep_limits_and_end_where_they_should(self, home, speed):
        planner, joints = Planner(Kinematics(), speed), home
        for x, y, z, yaw in self.GOALS:
            path = planner.move(joints, np.array([x, y, z]), yaw)
            all_points = np.concatenate([[joints], path.positions])
            speeds = np.diff(all_points, axis=0) / PERIOD
            assert np.all(np.abs(speeds) <= speed * FASTEST)
            assert np.all((all_points >= LOWEST) & (all_points <= HIGHEST))
            assert np.abs(speeds[[0, -1]]).max() < 0.1 * np.abs(speeds).max()
            tip, reached = planner.pose(path.positions[-1])
            np.testing.assert_allclose(tip, (x, y, z), atol=1e-3)
            assert reached == pytest.approx(yaw, abs=0.01)
            joints = path.positions[-1]

    def test_short_ones_are_straight(self, home):
        planner = Planner(Kinematics())
        above = planner.move(home, np.array([0.54, 0.28, 0.80]), 2.0).positions[-1]
        path = planner.move(above, np.array([0.54, 0.28, 0.73]), 2.0)
        tips, _ = planner.kinematics.forward(path.positions)
        np.testing.assert_allclose(tips[:, :2], [[0.54, 0.28]] * len(tips), atol=5e-4)

    def test_a_descent_has_one_rate(self, home):
        planner = Planner(Kinematics(), 0.5)
        path = planner.descend(home, 0.02, 0.02)
        tips, _ = planner.kinematics.forward(path.positions)
        assert path.duration == pytest.approx(2.0)
        np.testing.assert_allclose(-np.diff(tips[:, 2]) / PERIOD, 0.01, rtol=0.05)


class TestLayouts:
    def test_heights(self):
        layout = Layout(table_height=0.8)
        assert layout.base_height == pytest.approx(0.806)
        assert layout.stack_height(("bottom_bun", "patty")) == pytest.approx(0.838)

    @pytest.mark.parametrize(
        "wrong",
        [
            {"table_height": math.nan},
            {"table_height": 5},
            {"plate": (0.6,)},
            {"plate": (0.6, math.inf)},
            {"home": (0, 0)},
            {"trays": {}},
            {"trays": {"patty": "here"}},
        ],
    )
    def test_bad_ones(self, wrong):
        with pytest.raises(InvalidInput):
            Layout(**wrong)

    @pytest.mark.parametrize("name", ["tomatoe", "", None, 3])
    def test_unknown_items(self, name):
        with pytest.raises(UnknownName, match="item"):
            item_named(name)
