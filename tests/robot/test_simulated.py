"""The simulated arm: burgers that stand, limits that are kept, trouble that is a result."""

from __future__ import annotations

import math
import threading
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.robot import CONFIGURATIONS, SimulatedArm, burger_layers, simulate_burger, stack_burger
from cobandit.robot.layout import FASTEST, HIGHEST, ITEMS, LOWEST, Layout
from cobandit.robot.planning import PERIOD
from tests.clients import PATIENCE

STACK = ("bottom_bun", "patty", "tomato", "cheese", "lettuce", "top_bun")


class ClumsyArm(SimulatedArm):
    """Looks past its items for a while."""

    def __init__(self, misses: int) -> None:
        super().__init__(seed=2)
        self.misses = misses

    def see(self, item):
        place = super().see(item)
        if item != "bottom_bun" and self.misses:
            self.misses -= 1
            return place + np.array([-0.03, -0.08])
        return place


def connected(arm: SimulatedArm) -> SimulatedArm:
    assert arm.connect().ok
    return arm


@pytest.fixture(scope="module")
def burger():
    """One whole burger: the arm after it, and what it answered."""
    arm = connected(SimulatedArm(seed=4))
    return arm, stack_burger(arm, (0, 0))


class TestBurger:
    def test_stands(self, burger):
        arm, stacking = burger
        assert (stacking.status, stacking.layers) == ("done", 5)
        arm.settle(0.5)
        assert arm.stands(STACK)
        assert not arm.stands(STACK[::-1])

    def test_limits_of_joints_and_speeds_are_kept(self, burger):
        _, stacking = burger
        paths = [step.outcome.trajectory for step in stacking.steps if step.action in ("pick", "place", "home")]
        assert len(paths) == 8
        for path in paths:
            assert np.all((path.positions >= LOWEST) & (path.positions <= HIGHEST))
            np.testing.assert_allclose(np.diff(path.times), PERIOD)
            assert np.all(np.abs(np.diff(path.positions, axis=0)) / PERIOD <= FASTEST)

    def test_slower_is_slower(self):
        arms = [connected(SimulatedArm(seed=1, speed=speed)) for speed in (1.0, 0.5)]
        outcomes = [arm.pick("tomato") for arm in arms]
        assert all(outcome.ok for outcome in outcomes)
        assert outcomes[1].duration > 1.5 * outcomes[0].duration
        assert outcomes[1].trajectory is not None
        fastest = np.abs(np.diff(outcomes[1].trajectory.positions, axis=0)).max(axis=0) / PERIOD
        assert np.all(fastest <= 0.5 * FASTEST)

    def test_one_seed_is_one_burger_to_the_last_bit(self):
        first, second, other = (simulate_burger((1, 0), seed, noise=0.005) for seed in (8, 8, 9))
        assert first.to_bytes() == second.to_bytes()
        assert not np.array_equal(first.poses[: other.frames], other.poses[: first.frames])
        assert len(first.to_bytes()) <= 60_000

    def test_each_burger_of_an_arm_is_laid_out_anew(self):
        arm = connected(SimulatedArm(seed=1))
        places = []
        for _ in range(2):
            assert arm.prepare().ok
            places.append(arm.get_observation().items["tomato"])
        assert places[0] != places[1]
        again = connected(SimulatedArm(seed=1))
        again.prepare()
        assert again.get_observation().items["tomato"] == places[0]

    def test_the_captions_tell_the_layers(self):
        recording = simulate_burger((0, 1), 3)
        assert recording.status == "done"
        places = [event.item for event in recording.events if event.action in ("person", "place")]
        assert places == [layer.item for layer in burger_layers((0, 1))]
        frames = [event.frame for event in recording.events]
        assert frames == sorted(frames)
        assert frames[-1] == recording.frames - 1
        top = recording.positions("top_bun")[-1]
        assert math.dist(top[:2], Layout().plate) < 0.02


@pytest.mark.slow
@pytest.mark.parametrize(
    ("noise", "height", "least"), [pytest.param(0.0, 0.0, 8, marks=pytest.mark.long), (0.005, 0.002, 7)]
)
def test_burgers_stand(noise, height, least):
    """A part of the thousand that `make bench-robot` stacks."""
    recordings = [simulate_burger(CONFIGURATIONS[seed % 4], 5000 + seed, noise, height) for seed in range(8)]
    assert sum(recording.status == "done" for recording in recordings) >= least
    assert max(len(recording.to_bytes()) for recording in recordings) <= 60_000


class TestTrouble:
    def test_a_missed_grasp_is_seen_and_tried_again(self):
        arm = connected(ClumsyArm(2))
        retries: list[str] = []
        arm.on_retry = retries.append
        outcome = arm.pick("tomato")
        assert outcome.ok
        assert "attempt 3" in outcome.message
        assert retries == ["tomato", "tomato"]

    def test_a_grasp_that_never_works_is_a_failure(self):
        arm = connected(ClumsyArm(99))
        stacking = stack_burger(arm, (0, 0))
        assert (stacking.status, stacking.layers) == ("failed", 1)
        assert "could not be grasped" in stacking.message

    def test_out_of_reach_is_a_failure(self):
        trays = MappingProxyType({**Layout().trays, "tomato": (1.3, 0.3)})
        arm = connected(SimulatedArm(layout=Layout(trays=trays)))
        outcome = arm.pick("tomato")
        assert outcome.status == "failed"
        assert "reach" in outcome.message

    def test_stop_from_another_thread_holds(self):
        arm = connected(SimulatedArm())
        arm.prepare()
        began, results = threading.Event(), []
        step = lambda step: began.set() if step.action == "pick" else None  # noqa: E731
        thread = threading.Thread(target=lambda: results.append(stack_burger(arm, (0, 0), on_step=step)), daemon=True)
        thread.start()
        assert began.wait(PATIENCE)
        assert arm.stop().ok
        thread.join(PATIENCE)
        assert results[0].status == "stopped"
        joints = arm.get_observation().joints
        assert arm.home().status == "stopped"
        assert arm.get_observation().joints == joints
        assert arm.connect().ok
        assert arm.home().ok

    def test_a_burger_goes_on_after_a_stop_with_a_slice_in_the_gripper(self):
        arm: Any = connected(SimulatedArm(seed=6))
        follow = arm.follow

        def stop_low(path, until_touch=None):
            if until_touch is not None:
                arm.follow = follow
                arm.stop()
            return follow(path, until_touch)

        arm.follow = stop_low
        stopped = stack_burger(arm, (0, 0))
        assert (stopped.status, stopped.layers, stopped.steps[-1].action) == ("stopped", 1, "place")
        assert arm.connect().ok
        rest = stack_burger(arm, (0, 0), start=stopped.layers)
        assert (rest.status, rest.layers) == ("done", 5), rest.message
        arm.settle(0.5)
        assert arm.stands(STACK)

    def test_what_makes_no_sense_is_refused(self):
        arm = connected(SimulatedArm())
        assert arm.place("tomato", ("bottom_bun",)).status == "refused"
        assert arm.pick("cheese").status == "refused"
        assert arm.pick("bottom_bun").status == "refused"
        assert arm.pick("tomato").ok
        assert arm.pick("lettuce").status == "refused"
        assert arm.place("lettuce", ("bottom_bun",)).status == "refused"

    def test_not_connected(self):
        arm = SimulatedArm()
        outcomes = (
            arm.prepare(),
            arm.pick("tomato"),
            arm.place("tomato", ()),
            arm.home(),
            arm.await_person("patty", ("bottom_bun",)),
        )
        assert {outcome.status for outcome in outcomes} == {"refused"}

    def test_unknown_items(self):
        arm = connected(SimulatedArm())
        with pytest.raises(UnknownName, match="Did you mean 'tomato'"):
            arm.pick("tomatoe")
        with pytest.raises(UnknownName):
            arm.await_person("ham", ("bottom_bun",))

    @pytest.mark.parametrize(
        "option",
        [
            {"noise": -0.1},
            {"noise": math.nan},
            {"noise": 5.0},
            {"height_error": "1"},
            {"speed": 0},
            {"speed": 2},
            {"seed": -1},
        ],
    )
    def test_bad_options(self, option):
        with pytest.raises(InvalidInput):
            SimulatedArm(**option)
        with pytest.raises(InvalidInput):
            simulate_burger((0, 0), **{"seed": 0, **option})

    def test_everything_is_seen(self):
        seen = SimulatedArm().get_observation()
        assert set(seen.items) == set(ITEMS)
        assert len(seen.joints) == 7
        assert seen.gripper == pytest.approx(0.1018, abs=1e-3)
