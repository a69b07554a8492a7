"""Layers that people set down: a request that waits until somebody confirms or skips it, and the arm made of nothing else."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from cobandit.robot.driver import Observation, Outcome

Answer = Literal["confirmed", "skipped", "stopped"]


@dataclass(frozen=True)
class Request:
    """Something a person is asked to do; ``number`` tells one request from the next."""

    number: int
    text: str
    item: str
    by: Literal["person", "experimenter"]


class Desk:
    """Where one thread asks for something to be done by hand, and any other answers."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._request: Request | None = None
        self._answer: Answer | None = None
        self._count = 0

    @property
    def request(self) -> Request | None:
        """What is asked for now; None while nothing is."""
        with self._changed:
            return self._request

    def ask(self, text: str, item: str, by: Literal["person", "experimenter"], timeout: float | None) -> Answer | None:
        """Ask, and wait for the answer; None when nobody answered in time."""
        with self._changed:
            self._count += 1
            self._request, self._answer = Request(self._count, text, item, by), None
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._answer is not None, timeout)
            self._request = None
            self._changed.notify_all()
            return self._answer

    def answer(self, answer: Answer, number: int | None = None) -> bool:
        """Answer the request of that number (None: whichever is open); False where it is not open any more."""
        with self._changed:
            if self._request is None or self._answer is not None or number not in (None, self._request.number):
                return False
            self._answer = answer
            self._changed.notify_all()
            return True

    def wait_for_request(self, timeout: float) -> Request | None:
        """The open request, waiting for one if need be; None when none came in time."""
        with self._changed:
            self._changed.wait_for(lambda: self._request is not None and self._answer is None, timeout)
            return self._request


class NullArm:
    """No robot: the experimenter is told what to place, and confirms or skips it from any thread.

    A confirmed layer is "done", a skipped one "failed", and one under way when `stop` comes "stopped".
    """

    name = "null"

    def __init__(self, timeout: float | None = None) -> None:
        self.desk = Desk()
        self._timeout = timeout
        self._connected = False

    @property
    def is_connected(self) -> bool:
        """Whether it was connected; there is nothing to lose."""
        return self._connected

    def connect(self) -> Outcome:
        """Nothing to reach."""
        self._connected = True
        return Outcome("done", "No robot: the experimenter places the robot's layers.")

    def disconnect(self) -> None:
        """Let go of whoever waits."""
        self.desk.answer("stopped")
        self._connected = False

    def get_observation(self) -> Observation:
        """Nothing is measured."""
        return Observation((), 0.0)

    @property
    def request(self) -> Request | None:
        """What somebody is asked to place now."""
        return self.desk.request

    def confirm(self, number: int | None = None) -> bool:
        """It was placed. False where that request is not open any more."""
        return self.desk.answer("confirmed", number)

    def skip(self, number: int | None = None) -> bool:
        """It will not be placed. False where that request is not open any more."""
        return self.desk.answer("skipped", number)

    def pick(self, item: str) -> Outcome:
        """Nothing yet: the experimenter takes and places in one go."""
        return self._refusal() or Outcome("done", f"The {words(item)} is for the experimenter to place.")

    def place(self, item: str, stack: Sequence[str]) -> Outcome:
        """Ask the experimenter, and wait."""
        return self._refusal() or ask_for(self.desk, item, stack, "experimenter", self._timeout)

    def await_person(self, item: str, stack: Sequence[str]) -> Outcome:
        """Ask for the person's layer, and wait."""
        return self._refusal() or ask_for(self.desk, item, stack, "person", self._timeout)

    def home(self) -> Outcome:
        """Nothing stands in the way."""
        return self._refusal() or Outcome("done", "No robot is in the way.")

    def stop(self) -> Outcome:
        """End the wait that is under way, if any."""
        waited = self.desk.answer("stopped")
        return Outcome("done", "The wait was ended." if waited else "Nothing was under way.")

    def _refusal(self) -> Outcome | None:
        return None if self._connected else Outcome("refused", "The arm is not connected: call connect() first.")


def ask_for(
    desk: Desk, item: str, stack: Sequence[str], by: Literal["person", "experimenter"], timeout: float | None
) -> Outcome:
    """Ask for one layer at the desk, and tell how it went."""
    began = time.monotonic()
    who = "The participant" if by == "person" else "The experimenter"
    onto = f" onto the {words(stack[-1])}" if stack else ""
    answer = desk.ask(f"{who} places the {words(item)}{onto}.", item, by, timeout)
    waited = time.monotonic() - began
    if answer == "confirmed":
        return Outcome("done", f"The {words(item)} was placed by hand.", waited)
    if answer == "skipped":
        return Outcome("failed", f"The {words(item)} was skipped.", waited)
    if answer == "stopped":
        return Outcome("stopped", f"Stopped while waiting for the {words(item)}.", waited)
    return Outcome("failed", f"Nobody confirmed the {words(item)} within {timeout:g} s.", waited)


def words(item: str) -> str:
    """An item as a sentence calls it."""
    return item.replace("_", " ")
