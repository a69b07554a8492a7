"""Layers that people place: a request waits until a person confirms or skips it, and an arm that only makes
requests.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from cobandit.robot.driver import Observation, Outcome
from cobandit.robot.layout import item_named

Answer = Literal["confirmed", "skipped", "stopped"]
Asked = Literal["person", "experimenter"]


@dataclass(frozen=True)
class Request:
    """Something a person is asked to do; ``number`` tells one request from the next."""

    number: int
    text: str
    item: str
    by: Asked


class Desk:
    """Where one thread asks for something to be done by hand, and any other answers."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._request: Request | None = None
        self._answer: Answer | None = None
        self._count = 0

    @property
    def request(self) -> Request | None:
        """The open request, or None; one that was answered is not open any more."""
        with self._changed:
            return self._request if self._answer is None else None

    def ask(self, text: str, item: str, by: Asked, timeout: float | None) -> Answer | None:
        """Ask, and wait for the answer; return None if there is no answer in time."""
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
        """Return the open request, waiting for one if there is none; None if none came in time."""
        with self._changed:
            self._changed.wait_for(lambda: self.request is not None, timeout)
            return self.request


class AsksPeople:
    """The part of a driver that waits for people: its requests, and the answers, from any thread.

    The lab's console and the terminal show the requests of any driver that inherits this class.
    """

    def __init__(self) -> None:
        self.desk = Desk()

    @property
    def request(self) -> Request | None:
        """The open request to place an item."""
        return self.desk.request

    def confirm(self, number: int | None = None) -> bool:
        """Confirm that the item was placed. Return False if that request is no longer open."""
        return self.desk.answer("confirmed", number)

    def skip(self, number: int | None = None) -> bool:
        """Skip the item. Return False if that request is no longer open."""
        return self.desk.answer("skipped", number)


class NullArm(AsksPeople):
    """No robot: the experimenter gets requests to place items, and confirms or skips them from any thread.

    A confirmed layer is "done", a skipped one "failed", and one that waits when `stop` is called "stopped".
    """

    name = "null"

    def __init__(self, timeout: float | None = None) -> None:
        super().__init__()
        self._timeout = timeout
        self._connected = False
        self._stopped = False

    @property
    def is_connected(self) -> bool:
        """Whether it was connected; there is nothing to lose."""
        return self._connected

    def connect(self) -> Outcome:
        """Make the arm usable again after a stop; there is no connection."""
        self._connected, self._stopped = True, False
        return Outcome("done", "No robot: the experimenter places the robot's layers.")

    def disconnect(self) -> None:
        """Release the threads that wait for an answer."""
        self.desk.answer("stopped")
        self._connected = False

    def get_observation(self) -> Observation:
        """Return an empty observation, because nothing is measured."""
        return Observation((), 0.0)

    def prepare(self) -> Outcome:
        """Ask the experimenter to lay out the next burger, and wait."""
        return self._refusal() or ask_to_prepare(self.desk, self._timeout)

    def pick(self, item: str) -> Outcome:
        """Do nothing: the experimenter picks and places in one step."""
        return self._refusal() or Outcome("done", f"The {words(item)} is for the experimenter to place.")

    def place(self, item: str, stack: Sequence[str]) -> Outcome:
        """Ask the experimenter, and wait."""
        return self._refusal() or ask_for(self.desk, item, stack, "experimenter", self._timeout)

    def await_person(self, item: str, stack: Sequence[str]) -> Outcome:
        """Ask for the person's layer, and wait."""
        return self._refusal() or ask_for(self.desk, item, stack, "person", self._timeout)

    def home(self) -> Outcome:
        """Do nothing: there is no arm to move."""
        return self._refusal() or Outcome("done", "No robot is in the way.")

    def stop(self) -> Outcome:
        """End the wait that is under way, if any, and every later one until `connect`."""
        self._stopped = True
        waited = self.desk.answer("stopped")
        return Outcome("done", "The wait was ended." if waited else "Nothing was under way.")

    def _refusal(self) -> Outcome | None:
        if not self._connected:
            return Outcome("refused", "The arm is not connected: call connect() first.")
        return Outcome("stopped", "Stopped: call connect() to continue.") if self._stopped else None


def ask_for(desk: Desk, item: str, stack: Sequence[str], by: Asked, timeout: float | None) -> Outcome:
    """Ask for one layer at the desk, and tell how it went."""
    layer = item_named(item).name
    who = "The participant" if by == "person" else "The experimenter"
    onto = f" onto the {words(stack[-1])}" if stack else ""
    return _asked(desk, f"{who} places the {words(layer)}{onto}.", layer, by, timeout)


def ask_to_prepare(desk: Desk, timeout: float | None) -> Outcome:
    """Ask the experimenter for an empty plate with its bottom bun, and full trays."""
    text = "The experimenter puts a bottom bun on the empty plate, and every filling and the top bun on its tray."
    return _asked(desk, text, "bottom_bun", "experimenter", timeout)


def _asked(desk: Desk, text: str, item: str, by: Asked, timeout: float | None) -> Outcome:
    began = time.monotonic()
    answer = desk.ask(text, item, by, timeout)
    waited = time.monotonic() - began
    if answer == "confirmed":
        return Outcome("done", f"The {words(item)} was placed by hand.", waited)
    if answer == "skipped":
        return Outcome("failed", f"The {words(item)} was skipped.", waited)
    if answer == "stopped":
        return Outcome("stopped", f"Stopped while waiting for the {words(item)}.", waited)
    return Outcome("failed", f"The {words(item)} was not confirmed within {timeout:g} s.", waited)


def words(item: str) -> str:
    """Return an item as a sentence calls it."""
    return item.replace("_", " ")
