"""The layers of a burger, and stacking with any arm: order, trouble, going on after trouble."""

from __future__ import annotations

import math
import threading
from typing import Any

import pytest

from cobandit.base.errors import InvalidInput
from cobandit.robot import CONFIGURATIONS, NullArm, Observation, Outcome, burger_layers, stack_burger
from cobandit.robot.manual import Desk
from cobandit.robot.stacking import StackingStep
from tests.clients import PATIENCE


class ScriptedArm:
    """Does what it is asked, and notes it; one action may end otherwise."""

    name = "scripted"
    is_connected = True

    def __init__(self, trouble: str | None = None, outcome: Outcome | Exception | None = None) -> None:
        self.trouble, self.outcome = trouble, outcome
        self.actions: list[str] = []

    def _do(self, action: str) -> Outcome:
        self.actions.append(action)
        if action == self.trouble:
            if isinstance(self.outcome, Exception):
                raise self.outcome
            assert self.outcome is not None
            return self.outcome
        return Outcome("done", action, 1.0)

    def connect(self) -> Outcome:
        return self._do("connect")

    def disconnect(self) -> None:
        self.actions.append("disconnect")

    def get_observation(self) -> Observation:
        return Observation((), 0.0)

    def prepare(self) -> Outcome:
        return self._do("prepare")

    def pick(self, item: str) -> Outcome:
        return self._do(f"pick {item}")

    def place(self, item, stack) -> Outcome:
        return self._do(f"place {item} on {stack[-1]}")

    def await_person(self, item, stack) -> Outcome:
        return self._do(f"person {item} on {stack[-1]}")

    def home(self) -> Outcome:
        return self._do("home")

    def stop(self) -> Outcome:
        return self._do("stop")


class TestLayers:
    def test_every_burger_has_all_fillings_in_its_own_order(self):
        burgers = [tuple(layer.item for layer in burger_layers(arms)) for arms in CONFIGURATIONS]
        assert len(set(burgers)) == 4
        for burger in burgers:
            assert set(burger) == {"patty", "cheese", "tomato", "lettuce", "top_bun"}
            assert burger[-1] == "top_bun"

    @pytest.mark.parametrize(
        ("arms", "items"),
        [((0, 0), "patty tomato cheese lettuce"), ((1, 0), "cheese tomato patty lettuce")],
    )
    def test_the_person_has_layers_one_and_three(self, arms, items):
        layers = burger_layers(arms)
        assert [layer.item for layer in layers[:4]] == items.split()
        assert [layer.by for layer in layers] == ["person", "robot", "person", "robot", "robot"]

    @pytest.mark.parametrize(
        "wrong", [(), (0,), (0, 1, 0), (0, 2), (-1, 0), (0.5, 0), (math.nan, 0), "01", None, 3, (True, 0)]
    )
    def test_bad_configurations(self, wrong):
        with pytest.raises(InvalidInput, match=r"arm"):
            burger_layers(wrong)
        with pytest.raises(InvalidInput, match=r"arm"):
            stack_burger(ScriptedArm(), wrong)


class TestStacking:
    def test_the_order_of_actions(self):
        arm = ScriptedArm()
        stacking = stack_burger(arm, (0, 1))
        assert arm.actions == [
            "prepare",
            "person patty on bottom_bun",
            "pick lettuce",
            "place lettuce on patty",
            "home",
            "person cheese on lettuce",
            "pick tomato",
            "place tomato on cheese",
            "pick top_bun",
            "place top_bun on tomato",
            "home",
        ]
        assert (stacking.status, stacking.layers, stacking.duration) == ("done", 5, 11.0)
        assert stacking.configuration == (0, 1)

    def test_steps_are_told_when_they_begin_and_when_they_end(self):
        steps: list[StackingStep] = []
        stacking = stack_burger(ScriptedArm(), (0, 0), on_step=steps.append)
        assert [step.outcome is None for step in steps] == [True, False] * 11
        assert [step for step in steps if step.outcome is not None] == list(stacking.steps)
        assert steps[4].text == "Robot picks the tomato"

    @pytest.mark.parametrize("status", ["failed", "stopped", "refused", "lost"])
    def test_trouble_ends_it_there_and_one_can_go_on(self, status):
        arm = ScriptedArm("pick lettuce", Outcome(status, "Trouble.", 2.0))
        stacking = stack_burger(arm, (0, 0))
        assert (stacking.status, stacking.message, stacking.layers) == (status, "Trouble.", 3)
        assert arm.actions[-1] == "pick lettuce"
        again = ScriptedArm()
        rest = stack_burger(again, (0, 0), start=stacking.layers)
        assert again.actions[0] == "pick lettuce"
        assert (rest.status, rest.layers) == ("done", 5)

    def test_a_broken_driver_is_a_result(self):
        stacking = stack_burger(ScriptedArm("pick tomato", RuntimeError("cable")), (0, 0))
        assert stacking.status == "failed"
        assert "scripted" in stacking.message
        assert "cable" in stacking.message

    def test_nothing_is_begun_once_it_should_stop(self):
        arm = ScriptedArm()
        stacking = stack_burger(arm, (0, 0), should_stop=lambda: len(arm.actions) >= 3)
        assert stacking.status == "stopped"
        assert len(arm.actions) == 3

    @pytest.mark.parametrize("start", [-1, 6, 1.5, "1", None])
    def test_bad_starts(self, start):
        with pytest.raises(InvalidInput, match="start"):
            stack_burger(ScriptedArm(), (0, 0), start=start)


class TestNullArm:
    def stacked(self, arm, answer):
        """A burger in a thread of its own, every request answered."""
        results = []
        thread = threading.Thread(target=lambda: results.append(stack_burger(arm, (1, 1))), daemon=True)
        thread.start()
        asked: list[Any] = []
        while thread.is_alive():
            request = arm.desk.wait_for_request(0.05)
            if request is not None and request.number not in {earlier.number for earlier in asked}:
                asked.append(request)
                answer(request)
        return results[0], asked

    def test_tells_the_experimenter_what_to_place(self):
        arm = NullArm()
        assert arm.connect().ok
        stacking, asked = self.stacked(arm, lambda request: arm.confirm(request.number))
        assert stacking.status == "done"
        assert [(request.item, request.by) for request in asked] == [
            ("bottom_bun", "experimenter"),
            ("cheese", "person"),
            ("lettuce", "experimenter"),
            ("patty", "person"),
            ("tomato", "experimenter"),
            ("top_bun", "experimenter"),
        ]
        assert asked[2].text == "The experimenter places the lettuce onto the cheese."
        assert arm.request is None

    def test_a_skipped_layer_ends_the_burger(self):
        arm = NullArm()
        arm.connect()
        stacking, _ = self.stacked(
            arm, lambda request: (arm.skip if request.item == "lettuce" else arm.confirm)(request.number)
        )
        assert (stacking.status, stacking.layers) == ("failed", 1)
        assert "skipped" in stacking.message

    def test_a_stop_holds_until_it_is_connected_again(self):
        arm = NullArm()
        arm.connect()
        stacking, _ = self.stacked(
            arm, lambda request: arm.stop() if request.item == "cheese" else arm.confirm(request.number)
        )
        assert stacking.status == "stopped"
        assert arm.place("tomato", ("bottom_bun",)).status == "stopped"
        arm.connect()
        assert arm.pick("tomato").ok

    def test_an_answered_request_is_not_open_any_more(self):
        desk = Desk()
        asking = threading.Thread(target=desk.ask, args=("Place the tomato.", "tomato", "experimenter", None))
        asking.start()
        request = desk.wait_for_request(PATIENCE)
        assert request is not None
        with desk._changed:  # the thread that has asked does not know the answer yet
            assert desk.answer("confirmed", request.number)
            assert desk.request is None
            assert not desk.answer("confirmed", request.number)
        asking.join()

    def test_late_answers_do_not_count(self):
        arm = NullArm(timeout=0.01)
        arm.connect()
        assert not arm.confirm()
        outcome = arm.place("tomato", ("bottom_bun",))
        assert outcome.status == "failed"
        assert "within 0.01 s" in outcome.message
        assert not arm.confirm(1)
        assert not arm.skip()

    def test_not_connected(self):
        arm = NullArm()
        assert not arm.is_connected
        outcomes = arm.pick("tomato"), arm.place("tomato", ()), arm.prepare(), arm.home(), arm.await_person("patty", ())
        assert {outcome.status for outcome in outcomes} == {"refused"}
