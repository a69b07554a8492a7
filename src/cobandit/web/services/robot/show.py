"""Recorded burgers for all: each round takes a recording from the pool, and the log records which."""

from __future__ import annotations

from collections.abc import Sequence

from cobandit.base.json_types import JsonObject
from cobandit.report.kit.assets import library_folder
from cobandit.robot import CONFIGURATIONS
from cobandit.studies import Round
from cobandit.web.refusals import conflict
from cobandit.web.services.people import ActiveParticipant
from cobandit.web.services.robot.pool import Pool, RecordedBurger
from cobandit.web.services.robot.stage import stacks
from cobandit.web.storage.database import Database
from cobandit.web.storage.events import Event, events_of_kind

SHOWN = "robot-recording"
"""The event that says which recording a round has: a film, where its ``seed`` is empty."""


def three_address() -> str | None:
    """Return the address of three.js, which has its version in it; None where it is not installed."""
    folder = library_folder("three")
    return None if folder is None else f"/static/vendor/{folder}/three.module.min.js"


class Show:
    """The simulated arm: recordings from a pool, films where there is none yet."""

    def __init__(self, database: Database, pool: Pool, root: str = "") -> None:
        """Show the recordings of a pool. ``root`` is the path that the server is below."""
        self._database, self._root = database, root
        self.pool = pool

    def covers(self, person: ActiveParticipant) -> bool:
        """Return whether the participant's burgers can be stacked."""
        return stacks(person.study.design)

    async def view(self, person: ActiveParticipant) -> JsonObject:
        """Return the addresses of the kitchen, of a recording that begins with it, and of three.js, which draws both.

        The first two are None while nothing is recorded, the last where three.js is not installed.
        """
        scene, opening = self.addresses() or (None, None)
        return {"kind": "simulated", "scene": scene, "opening": opening, "three": self.three}

    @property
    def three(self) -> str | None:
        """The address of three.js for pages of this server."""
        address = three_address()
        return None if address is None else self._root + address

    def addresses(self) -> list[str]:
        """Return the addresses of the kitchen and of the first recording; empty until they exist."""
        first = next((burger for arms in CONFIGURATIONS if (burger := self.pool.pick("first", arms))), None)
        if first is None or not self.pool.has_scene:
            return []
        return [f"{self._address}/scene.json", self._address_of(first)]

    def admit(self, person: ActiveParticipant, moves: int) -> None:
        """Do nothing: there is no waiting for a recording."""

    def events(self, person: ActiveParticipant, episode: int, rounds: Sequence[Round], now: int) -> list[Event]:
        """Return which recording each round has."""
        return [Event(now, SHOWN, self._chosen(person, episode, r)) for r in rounds]

    def stored(self, person: ActiveParticipant, events: Sequence[Event]) -> None:
        """Store the chosen recording; the page plays it."""
        for event in events:
            person.recordings[event.data["episode"], event.data["t"]] = event.data

    async def round_view(self, person: ActiveParticipant, episode: int, t: int) -> JsonObject:
        """Return the address of a round's recording from the log; None if it is a film."""
        if (episode, t) not in person.recordings:
            stored = await self._database.ask(lambda connection: events_of_kind(connection, person.record.id, SHOWN))
            self.stored(person, stored)
        shown = person.recordings.get((episode, t), {})
        if shown.get("seed") is None or shown["version"] != self.pool.version:
            return {"recording": None}
        burger = RecordedBurger(tuple(shown["configuration"]), shown["seed"], shown["version"])
        return {"recording": self._address_of(burger)}

    def dismiss(self, person: ActiveParticipant) -> None:
        """Do nothing: recordings are shared."""

    async def placed(self, number: int, person: ActiveParticipant | None = None) -> None:
        """Do nothing: a recording waits for no one."""
        raise conflict("not-asked", "This robot waits for nothing.")

    @property
    def _address(self) -> str:
        return f"{self._root}/api/robot/{self.pool.version}"

    def _address_of(self, burger: RecordedBurger) -> str:
        return f"{self._address}/recordings/{burger.name}"

    def _chosen(self, person: ActiveParticipant, episode: int, r: Round) -> JsonObject:
        burger = self.pool.pick(f"{person.record.seed}:{episode}:{r.t}", r.arms)
        shown = {"configuration": list(r.arms), "seed": None} if burger is None else burger.to_dict()
        return {"episode": episode, "t": r.t} | shown
