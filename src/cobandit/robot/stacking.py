"""One burger with any arm: the robot's layers by pick and place, the person's waited for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from cobandit.base.checks import whole
from cobandit.robot.burger import BOTTOM_BUN, Configuration, Layer, burger_layers, checked_configuration
from cobandit.robot.driver import Arm, Outcome, Status
from cobandit.robot.manual import NullArm, words

Action = Literal["prepare", "pick", "place", "person", "home"]
By = Literal["person", "robot", "experimenter"]


@dataclass(frozen=True)
class StackingStep:
    """One action of a burger: ``layer`` counts from 0; ``outcome`` is None while it is under way."""

    layer: int
    action: Action
    item: str
    by: By
    text: str
    outcome: Outcome | None = None


@dataclass(frozen=True)
class Stacking:
    """The outcome of a burger: ``layers`` are on the bottom bun; after a failure, continue with ``start=layers``."""

    configuration: Configuration
    status: Status
    message: str
    duration: float
    steps: tuple[StackingStep, ...]
    layers: int


def stack_burger(
    arm: Arm,
    configuration: Sequence[int],
    *,
    on_step: Callable[[StackingStep], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    start: int = 0,
) -> Stacking:
    """Stack one burger; failures of the robot are in the result and raise no error.

    ``on_step`` is called twice for each action: when it begins (without an outcome) and when it has ended.
    ``should_stop`` is called before every action; ``arm.stop()`` ends the current one. ``start`` is the layer to
    continue with after an incomplete burger.
    """
    configuration = checked_configuration(configuration)
    layers = burger_layers(configuration)
    start = whole(0, len(layers))("start", start)
    work = _Work(arm, on_step or (lambda step: None), should_stop or (lambda: False))
    stack = [BOTTOM_BUN, *(layer.item for layer in layers[:start])]
    ready = start > 0 or work.action(0, "prepare", BOTTOM_BUN, "experimenter", ())
    for number in range(start, len(layers)) if ready else ():
        following = layers[number + 1] if number + 1 < len(layers) else None
        if not work.layer(number, layers[number], tuple(stack)):
            break
        stack.append(layers[number].item)
        # The arm leaves the plate when the person comes next, and at the end.
        leaves = layers[number].by == "robot" and (following is None or following.by == "person")
        if leaves and not work.action(number, "home", layers[number].item, "robot", stack):
            break
    message = work.trouble.message if work.trouble else "The burger stands."
    status = work.trouble.status if work.trouble else "done"
    return Stacking(configuration, status, message, work.duration, tuple(work.steps), len(stack) - 1)


class _Work:
    """The actions of one burger: what was done, how long it took, and the first trouble."""

    def __init__(self, arm: Arm, on_step: Callable[[StackingStep], None], should_stop: Callable[[], bool]) -> None:
        self._arm, self._on_step, self._should_stop = arm, on_step, should_stop
        self.steps: list[StackingStep] = []
        self.duration = 0.0
        self.trouble: Outcome | None = None

    def layer(self, number: int, layer: Layer, stack: Sequence[str]) -> bool:
        """Return whether the layer stands."""
        actions: tuple[Action, ...] = ("person",) if layer.by == "person" else ("pick", "place")
        return all(self.action(number, action, layer.item, layer.by, stack) for action in actions)

    def action(self, number: int, action: Action, item: str, by: By, stack: Sequence[str]) -> bool:
        """Return whether the action was done."""
        if self._should_stop():
            self.trouble = Outcome("stopped", "Stopped before the burger was ready.")
            return False
        text = _text(action, item, "The experimenter" if isinstance(self._arm, NullArm) else "Robot")
        step = StackingStep(number, action, item, by, text)
        self._on_step(step)
        outcome = self._outcome(action, item, stack)
        ended = replace(step, outcome=outcome)
        self.steps.append(ended)
        self.duration += outcome.duration
        self._on_step(ended)
        if not outcome.ok:
            self.trouble = outcome
        return outcome.ok

    def _outcome(self, action: Action, item: str, stack: Sequence[str]) -> Outcome:
        try:
            if action == "prepare":
                return self._arm.prepare()
            if action == "pick":
                return self._arm.pick(item)
            if action == "place":
                return self._arm.place(item, stack)
            if action == "person":
                return self._arm.await_person(item, stack)
            return self._arm.home()
        except Exception as error:  # the driver of another package may break the protocol; the round must continue
            return Outcome("failed", f"The driver {self._arm.name!r} broke: {type(error).__name__}: {error}")


def _text(action: Action, item: str, who: str) -> str:
    return {
        "prepare": "Plate and trays are made ready",
        "pick": f"{who} picks the {words(item)}",
        "place": f"{who} places the {words(item)}",
        "person": f"Person places the {words(item)}",
        "home": f"{who} moves out of the way",
    }[action]
