"""The interface between the participant service and a robot of any kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from cobandit.base.json_types import JsonObject
from cobandit.studies import Round, StudyDesign
from cobandit.web.services.people import ActiveParticipant
from cobandit.web.storage.events import Event


def stacks(design: StudyDesign) -> bool:
    """Return whether the study has burgers that an arm can stack: the four fillings in an order that both decide."""
    return bool(design.task.fillings)


class Stage(Protocol):
    """A robot in addition to the bandit: it shows decisions, and never makes any."""

    def covers(self, person: ActiveParticipant) -> bool:
        """Return whether the robot stacks this person's burgers."""
        ...

    async def view(self, person: ActiveParticipant) -> JsonObject:
        """Return the robot's part of the state of an active participant."""
        ...

    def admit(self, person: ActiveParticipant, moves: int) -> None:
        """Refuse moves that the robot cannot follow now."""
        ...

    def events(self, person: ActiveParticipant, episode: int, rounds: Sequence[Round], now: int) -> list[Event]:
        """Return the robot's events to store in the same transaction as the rounds."""
        ...

    def stored(self, person: ActiveParticipant, events: Sequence[Event]) -> None:
        """Start the robot: the rounds and these events are on disk."""
        ...

    async def round_view(self, person: ActiveParticipant, episode: int, t: int) -> JsonObject:
        """Return the robot's part of a round."""
        ...

    def dismiss(self, person: ActiveParticipant) -> None:
        """Release the robot: the participant has finished."""
        ...

    async def placed(self, number: int, person: ActiveParticipant | None = None) -> None:
        """Confirm that the awaited item was placed, by a person or (None) by the experimenter."""
        ...
