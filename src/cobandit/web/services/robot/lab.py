"""One arm in a lab: one participant at a time, one burger after the other, and an experimenter who can always step in.

The arm is asked from a thread of its own, which waits for the robot; everything else happens in the event loop. What
happens is in the log before the next thing begins: a server that starts again finds the burger it left.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cobandit.base.json_types import JsonObject
from cobandit.robot import Arm, AsksPeople, NullArm, Request, StackingStep, stack_burger
from cobandit.studies import Round
from cobandit.web.refusals import Refused, conflict
from cobandit.web.services.people import ActiveParticipant
from cobandit.web.services.robot.plate import DONE, PLACED, RETRY, SKIPPED, STEP, STOP, TROUBLE, Burger
from cobandit.web.services.robot.stage import stacks
from cobandit.web.storage.burgers import ASKED, newest_burger
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.events import Event, add_events
from cobandit.web.storage.values import now_ms

log = logging.getLogger("cobandit.web")

NOTES = 50
"""How many lines of what happened the console shows."""


class Lab:
    """The arm of a lab, who has it, and the burger on its plate."""

    def __init__(self, database: Database, arm: Arm) -> None:
        self._database = database
        self.arm = arm
        self._lock = threading.Lock()
        self._burger: Burger | None = None
        self._holder: tuple[str, int] | None = None  # whose turn it is, and when they were last heard of (ms)
        self._closing = threading.Event()
        self._halted = threading.Event()  # STOP was pressed: nothing moves until the experimenter confirms
        self._skipping: str | None = None
        self._notes: list[tuple[int, str]] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._worker = concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="arm")
        self._connection = "not connected yet"

    # The server's life

    async def start(self) -> None:
        """Find the burger that was left, and reach for the robot."""
        self._loop = asyncio.get_running_loop()
        stored = await self._database.ask(newest_burger)
        if stored is not None:
            burger = Burger.restored(stored)
            if not burger.over:
                self._burger, self._holder = burger, (burger.public_id, now_ms())
                self._say(burger.message)
        self._worker.submit(self._connect)

    def stop(self) -> None:
        """Release the robot; a burger in progress is stopped, and continues after the next start."""
        self._closing.set()
        self.arm.stop()
        self._worker.shutdown(wait=True)
        self.arm.disconnect()

    # For participants

    def covers(self, person: ActiveParticipant) -> bool:
        """Return whether the participant's burgers can be stacked; simulated participants are excluded."""
        return stacks(person.study.design) and person.record.kind != "rehearsal"

    async def view(self, person: ActiveParticipant) -> JsonObject:
        """Return whether the person may play, waits for their burger, or for the robot."""
        return {"kind": "lab", "wait": self._wait(person)} | self._progress(person)

    def admit(self, person: ActiveParticipant, moves: int) -> None:
        """Admit one burger at a time, and only of the participant whose turn it is."""
        wait = self._wait(person)
        if wait == "busy":
            raise conflict("robot-busy", "A burger is being stacked for another participant.")
        if wait is not None or moves > 1:
            raise conflict("robot-stacking", "The burger is being stacked: one after the other.")

    def events(self, person: ActiveParticipant, episode: int, rounds: Sequence[Round], now: int) -> list[Event]:
        """Return the burger that the round asks for."""
        return [Event(now, ASKED, {"episode": episode, "t": r.t, "configuration": list(r.arms)}) for r in rounds]

    def stored(self, person: ActiveParticipant, events: Sequence[Event]) -> None:
        """Start the arm: the round is on disk."""
        for event in events:
            first, second = event.data["configuration"]
            record = person.record
            burger = Burger(record.id, record.public_id, event.data["episode"], event.data["t"], (first, second))
            with self._lock:
                self._burger = burger
            self._say(f"Burger {burger.t} of {burger.public_id} was chosen.")
            self._worker.submit(self._stack, burger)

    async def round_view(self, person: ActiveParticipant, episode: int, t: int) -> JsonObject:
        """Return nothing: participants see the real robot."""
        return {}

    async def placed(self, number: int, person: ActiveParticipant | None = None) -> None:
        """Confirm that the requested item is on the plate: by the experimenter, for any participant, or by the
        person.
        """
        request = self._request()
        with self._lock:
            burger = self._burger
        theirs = person is None or (
            request is not None
            and request.by == "person"
            and burger is not None
            and burger.participant == person.record.id
        )
        if not theirs or not isinstance(self.arm, AsksPeople) or not self.arm.confirm(number):
            raise conflict("not-asked", "This is not waited for any more.")
        if burger is not None:
            await self._log(burger, PLACED, {"by": "experimenter" if person is None else "participant"})

    def dismiss(self, person: ActiveParticipant) -> None:
        """Release the robot for the next participant."""
        with self._lock:
            if self._holder is not None and self._holder[0] == person.record.public_id:
                self._holder = None

    def _wait(self, person: ActiveParticipant) -> str | None:
        """Return what the person waits for: None, "stacking", "stopped" or "busy"; a person who may play gets the
        robot.
        """
        now, public_id = now_ms(), person.record.public_id
        patience = 1000 * person.study.design.limits.idle_seconds
        with self._lock:
            burger = self._burger
            stacking = burger is not None and not burger.over
            holder, heard = self._holder or (public_id, now)
            if holder != public_id and (stacking or now - heard < patience):
                return "busy"
            self._holder = (public_id, now)
            if not stacking or burger is None:
                return None
            return "stopped" if burger.standing == "stopped" else "stacking"

    def _progress(self, person: ActiveParticipant) -> JsonObject:
        """Return how far the person's burger is, and whether they are to place something."""
        with self._lock:
            burger = self._burger
        if burger is None or burger.over or burger.participant != person.record.id:
            return {"burger": None}
        request = self._request()
        asked = None if request is None or request.by != "person" else {"number": request.number, "item": request.item}
        view = burger.to_dict()
        return {"burger": {"layers": view["layers"], "place": asked}}

    # For the experimenter

    def state(self) -> JsonObject:
        """Return the data for the console."""
        request = self._request()
        with self._lock:
            burger, holder, notes = self._burger, self._holder, list(self._notes)
        return {
            "arm": self.arm.name,
            "connected": self.arm.is_connected,
            "connection": self._connection,
            "halted": self._halted.is_set(),
            "holder": None if holder is None else holder[0],
            "burger": None if burger is None or burger.over else burger.to_dict(),
            "request": None if request is None else {"number": request.number, "text": request.text, "by": request.by},
            "notes": [{"at": at, "text": text} for at, text in reversed(notes)],
        }

    async def halt(self) -> None:
        """Stop the arm immediately during any action; the log is written afterwards."""
        pressed = now_ms()
        self._halted.set()
        await asyncio.to_thread(self.arm.stop)
        with self._lock:
            burger = self._burger
        self._say("STOP was pressed.")
        if burger is not None and not burger.over:
            await self._log(burger, STOP, {}, pressed)

    async def retry(self) -> None:
        """Let the arm move again: a stopped burger continues at its current layer."""
        with self._lock:
            burger = self._burger
            stopped = burger is not None and burger.standing == "stopped"
            if not stopped and not self._halted.is_set():
                raise conflict("not-stopped", "Nothing is stopped, so there is nothing to try again.")
            self._halted.clear()
            if burger is not None and stopped:
                burger = self._burger = replace(burger, standing="stacking", message="")
        self._say("Stacking continues.")
        if burger is not None and stopped:
            await self._log(burger, RETRY, {"layers": burger.layers})
            self._worker.submit(self._stack, burger)

    async def skip(self, name: str) -> None:
        """Skip the burger: the round stays valid, and the participant continues."""
        with self._lock:
            burger = self._named(name)
            if self._skipping == name:
                raise conflict("skipped", "This burger is being skipped already.")
            under_way = burger.standing == "stacking"
            self._skipping = name
        if under_way:
            await asyncio.to_thread(self.arm.stop)  # the thread ends the burger
        else:
            await self._finish(burger, skipped=True)

    async def release(self) -> None:
        """Let the next participant have the robot."""
        with self._lock:
            if self._burger is not None and not self._burger.over:
                raise conflict("robot-stacking", "A burger is on the plate: skip it first.")
            self._holder = None
        self._say("The next participant may begin.")

    async def connect(self) -> None:
        """Reach for the robot again."""
        self._worker.submit(self._connect)

    def _named(self, name: str) -> Burger:
        if self._burger is None or self._burger.over or self._burger.name != name:
            raise conflict("no-burger", "This burger is over already.")
        return self._burger

    def _request(self) -> Request | None:
        return self.arm.request if isinstance(self.arm, AsksPeople) else None

    # In the arm's thread

    def _connect(self) -> bool:
        outcome = self.arm.connect()
        self._connection = outcome.message
        self._say(outcome.message)
        return outcome.ok

    def _stack(self, burger: Burger) -> None:
        try:
            self._stack_burger(burger)
        except Exception:  # after any error, the experimenter must be able to continue
            log.exception("Stacking failed")
            self._set(burger.name, standing="stopped", message="Something went wrong on the server; see its log.")

    def _stack_burger(self, burger: Burger) -> None:
        if self._halted.is_set():
            self._trouble(burger, "stopped", "STOP was pressed: nothing moves until you press Continue.", burger.layers)
            return
        if not self._connect():  # after a stop, an arm moves again when it is connected again
            self._trouble(burger, "lost", self._connection, burger.layers)
            return
        result = stack_burger(
            self.arm,
            burger.configuration,
            on_step=lambda step: self._watch(burger, step),
            should_stop=lambda: self._interrupted(burger),
            start=burger.layers,
        )
        self._set(burger.name, layers=result.layers)
        if self._skipping == burger.name:
            self._wait_for(self._finish(burger, skipped=True))
        elif result.status == "done":
            self._wait_for(self._finish(burger, skipped=False))
        elif not self._closing.is_set():
            self._trouble(burger, result.status, f"{result.message}{self._in_gripper()}", result.layers)

    def _in_gripper(self) -> str:
        """Return instructions about a slice that was in the gripper when the arm stopped."""
        held: str | None = getattr(self.arm, "held", None)
        if held is None:
            return ""
        return f" It holds the {held.replace('_', ' ')}: put it back onto its tray before the arm continues."

    def _interrupted(self, burger: Burger) -> bool:
        return self._closing.is_set() or self._halted.is_set() or self._skipping == burger.name

    def _watch(self, burger: Burger, step: StackingStep) -> None:
        """Record that one action begins or has ended."""
        if step.outcome is None:
            self._set(burger.name, doing=step.text)
            return
        self._set(burger.name, doing="")
        if step.outcome.ok:
            layers = step.layer + (1 if step.action in ("place", "person", "home") else 0)
            self._set(burger.name, layers=layers)
            if not (isinstance(self.arm, NullArm) and step.action in ("pick", "home")):  # no action was taken yet
                self._say(f"{step.text}: done.")
            data = {"layers": layers, "action": step.action, "item": step.item}
            self._wait_for(self._log(burger, STEP, data | {"seconds": round(step.outcome.duration, 2)}))

    def _trouble(self, burger: Burger, status: str, message: str, layers: int) -> None:
        self._wait_for(self._log(burger, TROUBLE, {"status": status, "message": message, "layers": layers}))
        self._set(burger.name, standing="stopped", doing="", message=message)
        self._say(message)

    def _wait_for(self, doing: Any) -> None:
        assert self._loop is not None
        asyncio.run_coroutine_threadsafe(doing, self._loop).result()

    # The log

    async def _finish(self, burger: Burger, *, skipped: bool) -> None:
        await self._log(burger, SKIPPED if skipped else DONE, {})
        self._set(burger.name, standing="skipped" if skipped else "done", doing="", message="")
        self._say(f"Burger {burger.t} of {burger.public_id} {'was skipped' if skipped else 'is ready'}.")
        with self._lock:
            self._skipping = None

    async def _log(self, burger: Burger, kind: str, data: JsonObject, at: int | None = None) -> None:
        event = Event(now_ms() if at is None else at, kind, {"episode": burger.episode, "t": burger.t} | data)

        def job(connection: Connection) -> None:
            add_events(connection, burger.participant, [event])

        try:
            await self._database.commit(job)
        except Refused as error:  # the robot must not stand still because of the log
            log.error("An event of the robot was not stored: %s %s (%s)", kind, event.data, error.__cause__)

    def _set(self, name: str, **changes: Any) -> None:
        with self._lock:
            if self._burger is not None and self._burger.name == name:
                self._burger = replace(self._burger, **changes)

    def _say(self, text: str) -> None:
        with self._lock:
            self._notes = [*self._notes[1 - NOTES :], (now_ms(), text)]
