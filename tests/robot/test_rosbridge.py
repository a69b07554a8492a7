"""The driver of a real arm, over a real WebSocket, against a bridge in front of the simulated arm."""

from __future__ import annotations

import math
import socket
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

from cobandit.base.errors import InvalidInput
from cobandit.robot import stack_burger
from cobandit.robot.layout import FASTEST, HIGHEST, LOWEST, Layout
from cobandit.robot.rosbridge import FETCH, RosbridgeArm
from cobandit.robot.simulated import SimulatedArm
from tests.clients import PATIENCE
from tests.robot.rosbridge_peer import Peer, seconds

ARM_ACTION, GRIPPER_ACTION = FETCH.action, FETCH.gripper.action


@pytest.fixture(params=[1, 2], ids=["ros1", "ros2"])
def peer(request: pytest.FixtureRequest) -> Iterator[Peer]:
    with Peer(SimulatedArm(seed=3), ros=request.param) as peer:
        yield peer


@pytest.fixture
def peer_2() -> Iterator[Peer]:
    """A robot with ROS 2, for what only its bridge does."""
    with Peer(SimulatedArm(seed=3), ros=2) as peer:
        yield peer


@pytest.fixture
def arm_2(peer_2: Peer) -> Iterator[RosbridgeArm]:
    arm = RosbridgeArm(peer_2.url, speed=1.0, patience=5.0)
    assert arm.connect().ok
    yield arm
    arm.disconnect()


@pytest.fixture
def arm(peer: Peer) -> Iterator[RosbridgeArm]:
    arm = RosbridgeArm(peer.url, speed=1.0, patience=5.0)
    outcome = arm.connect()
    assert outcome.ok, outcome.message
    yield arm
    arm.disconnect()


def in_thread(action):
    """What an action answers, from a thread of its own."""
    answers = []
    thread = threading.Thread(target=lambda: answers.append(action()), daemon=True)
    thread.start()
    return thread, answers


def eventually(holds, seconds=10.0):
    """Whether something comes true in time; what goes over a wire takes a moment."""
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.01)
    return holds()


class TestOneSlice:
    def test_is_picked_and_placed(self, peer, arm):
        picked = arm.pick("tomato")
        assert picked.ok, picked.message
        placed = arm.place("tomato", ("bottom_bun",))
        assert placed.ok, placed.message
        assert arm.home().ok
        peer.arm.settle(0.3)
        x, y, z = peer.arm.get_observation().items["tomato"]
        assert math.dist((x, y), Layout().plate) < 0.015
        assert z == pytest.approx(Layout().stack_height(("bottom_bun",)) + 0.004, abs=0.002)

    def test_a_camera_can_say_where_it_lies(self, peer):
        arm = RosbridgeArm(peer.url, speed=1.0, locate=lambda item: peer.arm.get_observation().items[item][:2])
        assert arm.connect().ok
        assert arm.pick("lettuce").ok
        assert arm.place("lettuce", ("bottom_bun",)).ok
        arm.disconnect()
        assert math.dist(peer.arm.get_observation().items["lettuce"][:2], Layout().plate) < 0.005

    def test_goals_keep_limits_and_begin_and_end_at_rest(self, peer, arm):
        before = np.array(arm.get_observation().joints)
        outcome = arm.pick("tomato")
        assert len(outcome.trajectory) > 3
        assert outcome.trajectory.positions.shape[1] == 7
        for goal in peer.goals(ARM_ACTION):
            points = goal["trajectory"]["points"]
            speeds = np.array([point["velocities"] for point in points])
            positions = np.array([point["positions"] for point in points])
            assert np.all(np.abs(speeds) <= FASTEST)
            assert np.all((positions >= LOWEST) & (positions <= HIGHEST))
            assert not speeds[-1].any()
            assert np.abs(positions[0] - before).max() < 0.2
            before = positions[-1]

    def test_speed_is_a_scale(self, peer):
        durations = []
        for speed in (1.0, 0.5):
            arm = RosbridgeArm(peer.url, speed=speed)
            assert arm.connect().ok
            already = len(peer.goals(ARM_ACTION))
            assert arm.pick("tomato").ok
            last = [goal["trajectory"]["points"][-1] for goal in peer.goals(ARM_ACTION)[already:]]
            durations.append(sum(seconds(point) for point in last))
            assert arm.place("tomato", ("bottom_bun",)).ok
            assert arm.home().ok
            arm.disconnect()
            peer.arm.prepare()
        assert durations[1] == pytest.approx(2 * durations[0], rel=0.1)

    def test_a_broken_camera_is_a_failure(self, peer):
        for locate, words in ((lambda item: {}[item], "KeyError"), (lambda item: (1, float("nan")), "x and y")):
            arm = RosbridgeArm(peer.url, locate=locate)
            assert arm.connect().ok
            outcome = arm.pick("tomato")
            arm.disconnect()
            assert outcome.status == "failed"
            assert words in outcome.message

    def test_an_empty_tray_is_a_missed_grasp(self, peer):
        arm = RosbridgeArm(peer.url, speed=1.0, locate=lambda item: (0.60, 0.12))
        assert arm.connect().ok
        outcome = arm.pick("tomato")
        arm.disconnect()
        assert outcome.status == "failed"
        assert "4 attempts" in outcome.message


class TestWholeBurger:
    def test_with_a_person_who_confirms(self, peer):
        arm = RosbridgeArm(peer.url, speed=1.0, locate=lambda item: peer.arm.get_observation().items[item][:2])
        assert arm.connect().ok
        thread, answers = in_thread(lambda: stack_burger(arm, (0, 1)))
        stack = ["bottom_bun"]
        request = arm.desk.wait_for_request(10)
        assert request is not None
        assert request.item == "bottom_bun"
        assert arm.confirm()
        for item, robot in (("patty", "lettuce"), ("cheese", "tomato")):
            request = arm.desk.wait_for_request(60)
            assert request is not None
            assert (request.item, request.by) == (item, "person")
            assert peer.arm.await_person(item, tuple(stack)).ok
            assert not arm.confirm(request.number - 1)
            assert arm.confirm(request.number)
            stack += [item, robot]
        thread.join(PATIENCE)
        assert answers[0].status == "done", answers[0].message
        peer.arm.settle(0.5)
        assert peer.arm.stands(["bottom_bun", "patty", "lettuce", "cheese", "tomato", "top_bun"])
        arm.disconnect()


class TestTrouble:
    def test_stop_in_mid_motion_cancels_and_holds(self, peer, arm):
        peer.pace = 1.0
        thread, answers = in_thread(lambda: arm.pick("lettuce"))
        assert peer.busy.wait(PATIENCE)
        assert eventually(lambda: peer.steps >= 20)
        assert arm.stop().ok
        thread.join(PATIENCE)
        assert answers[0].status == "stopped"
        assert peer.cancels(ARM_ACTION) >= 1
        steps, goals = peer.steps, len(peer.goals(ARM_ACTION))
        assert arm.pick("lettuce").status == "stopped"
        assert arm.home().status == "stopped"
        time.sleep(0.2)
        assert (peer.steps, len(peer.goals(ARM_ACTION))) == (steps, goals)
        peer.pace = 0.0
        assert arm.connect().ok
        assert arm.home().ok

    def test_a_stop_ends_a_wait_for_a_person(self, arm):
        thread, answers = in_thread(lambda: arm.await_person("patty", ("bottom_bun",)))
        assert arm.desk.wait_for_request(10) is not None
        arm.stop()
        thread.join(PATIENCE)
        assert answers[0].status == "stopped"

    def test_somebody_else_cancels(self, peer, arm):
        peer.pace = 1.0
        thread, answers = in_thread(lambda: arm.pick("tomato"))
        assert peer.busy.wait(PATIENCE)
        peer.cancel_all()
        thread.join(PATIENCE)
        assert answers[0].status == "stopped"
        assert "another client" in answers[0].message

    def test_lost_in_mid_motion(self, peer, arm):
        peer.drop_at = 15
        outcome = arm.pick("tomato")
        assert outcome.status == "lost"
        assert not arm.is_connected
        assert arm.home().status == "refused"
        assert arm.stop().status == "lost"
        peer.drop_at = None
        goals = len(peer.goals(ARM_ACTION))
        assert arm.connect().ok
        time.sleep(0.2)
        assert len(peer.goals(ARM_ACTION)) == goals  # nothing of before is sent again
        assert arm.home().ok

    def test_lost_while_a_person_is_waited_for(self, peer, arm):
        thread, answers = in_thread(lambda: arm.await_person("patty", ("bottom_bun",)))
        assert arm.desk.wait_for_request(10) is not None
        peer.cut()
        thread.join(PATIENCE)
        assert answers[0].status == "lost"

    def test_a_refused_goal(self, peer, arm):
        peer.rejects = True
        outcome = arm.pick("tomato")
        assert outcome.status == "refused"
        assert ("runstop" if peer.ros == 1 else "rejected") in outcome.message

    def test_a_goal_refused_by_the_status_list_alone(self):
        with Peer(SimulatedArm(seed=3)) as peer:
            arm = RosbridgeArm(peer.url, speed=1.0)
            assert arm.connect().ok
            peer.rejects_silently = True
            outcome = arm.pick("tomato")
            arm.disconnect()
        assert outcome.status == "refused"
        assert "runstop" in outcome.message

    def test_a_late_status_does_no_harm(self, peer, arm):
        peer.late_status = True
        assert arm.pick("tomato").ok
        assert arm.home().ok

    def test_a_goal_that_nobody_takes_up(self, peer):
        arm = RosbridgeArm(peer.url, speed=1.0, patience=0.5)
        assert arm.connect().ok
        peer.ignores_goals = True
        outcome = arm.home()
        assert outcome.status == "failed"
        assert "never taken up" in outcome.message
        assert eventually(lambda: peer.cancels(ARM_ACTION) == 1)
        arm.disconnect()


class TestRos2:
    def test_is_told_apart_from_ros_1(self, peer, arm):
        assert arm.ros == peer.ros
        assert f"(ROS {peer.ros})" in arm.connect().message

    def test_goals_have_the_form_of_ros_2(self, peer_2, arm_2):
        assert arm_2.home().ok
        goal = peer_2.goals(ARM_ACTION)[0]
        assert set(goal["goal_time_tolerance"]) == {"sec", "nanosec"}
        assert "seq" not in goal["trajectory"]["header"]  # ROS 2 refuses fields that a message does not have
        sent = next(message for message in peer_2.received if message["op"] == "send_action_goal")
        assert sent["feedback"] is True
        assert not [m for m in peer_2.received if m["op"] in ("advertise", "publish")]

    @pytest.mark.parametrize("service", [True, False])
    def test_a_stop_before_the_goal_is_accepted(self, peer_2, arm_2, service):
        """The bridge ignores a cancel that comes too early, so the driver repeats it."""
        peer_2.cancel_service = service
        peer_2.accepts_late.clear()
        peer_2.pace = 1.0
        thread, answers = in_thread(arm_2.home)
        assert peer_2.busy.wait(PATIENCE)
        assert arm_2.stop().ok
        assert eventually(lambda: peer_2.cancels(ARM_ACTION) >= 2)
        peer_2.accepts_late.set()
        thread.join(PATIENCE)
        assert answers[0].status == "stopped"
        assert eventually(lambda: not peer_2.busy.is_set())
        assert peer_2.steps < 20

    def test_a_gripper_without_feedback(self, peer_2, arm_2):
        peer_2.feedback = False
        assert arm_2.pick("tomato").ok
        assert peer_2.goals(GRIPPER_ACTION)

    def test_a_late_result_does_no_harm(self, peer_2):
        arm = RosbridgeArm(peer_2.url, speed=1.0, patience=0.5)
        assert arm.connect().ok
        peer_2.result_may_leave.clear()
        outcome = arm.home()
        assert outcome.status == "failed"
        assert "did not end in time" in outcome.message
        assert eventually(lambda: peer_2.cancels(ARM_ACTION) == 1)
        peer_2.result_may_leave.set()
        assert arm.pick("lettuce").ok
        arm.disconnect()

    def test_a_goal_refused_without_an_answer(self, peer_2):
        """rosbridge_suite 2.1 sends no result for a goal that the server rejects."""
        arm = RosbridgeArm(peer_2.url, speed=1.0, patience=0.5)
        assert arm.connect().ok
        peer_2.rejects_silently = True
        outcome = arm.home()
        arm.disconnect()
        assert outcome.status == "failed"
        assert "never taken up" in outcome.message

    def test_an_aborted_goal_is_a_failure(self, peer_2, arm_2):
        peer_2.aborts = {"error_code": -4, "error_string": "path tolerance violated"}
        outcome = arm_2.home()
        assert outcome.status == "failed"
        assert "path tolerance" in outcome.message

    def test_a_stalled_gripper_is_no_failure(self, peer_2, arm_2):
        peer_2.aborts = {"stalled": True, "position": 0.07}
        assert arm_2.grip(0.05) == pytest.approx(arm_2.gap())

    def test_a_bridge_without_a_second_connection_cannot_stop_the_arm(self, peer_2):
        peer_2.second_refused = True
        arm = RosbridgeArm(peer_2.url, patience=1.0)
        outcome = arm.connect()
        assert outcome.status == "lost"
        assert "second connection" in outcome.message
        assert not arm.is_connected


class TestConnecting:
    def test_nothing_there(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        arm = RosbridgeArm(f"ws://127.0.0.1:{port}", patience=0.5)
        outcome = arm.connect()
        assert outcome.status == "lost"
        assert "no rosbridge" in outcome.message
        assert not arm.is_connected
        assert arm.pick("tomato").status == "refused"
        assert arm.prepare().status == "refused"

    def test_no_joint_states(self, peer):
        peer.reports_joints = False
        arm = RosbridgeArm(peer.url, patience=0.4)
        outcome = arm.connect()
        assert outcome.status == "lost"
        assert "joint states" in outcome.message
        arm.disconnect()

    def test_an_arm_that_is_not_above_the_table_cannot_begin(self, peer):
        arm = RosbridgeArm(peer.url, layout=Layout(table_height=1.0, home=(0.5, 0.36, 1.2)))
        outcome = arm.connect()
        assert outcome.status == "refused"
        assert "point down" in outcome.message
        assert not arm.is_connected

    @pytest.mark.parametrize(
        "url", ["", "localhost:9090", "http://localhost:9090", "ws://", "ws://host:99999", 9090, None]
    )
    def test_bad_addresses(self, url):
        with pytest.raises(InvalidInput, match="ws://"):
            RosbridgeArm(url)

    @pytest.mark.parametrize("option", [{"speed": 0}, {"speed": 1.5}, {"speed": math.nan}, {"patience": -1}])
    def test_bad_options(self, option):
        with pytest.raises(InvalidInput):
            RosbridgeArm("ws://127.0.0.1:9090", **option)
