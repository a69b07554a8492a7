"""What the service of participants asks of a robot, whatever it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from cobandit.studies import Round, StudyDesign
from cobandit.web.services.people import ActiveParticipant
from cobandit.web.storage.events import Event


def stacks(design: StudyDesign) -> bool:
    """Whether the study has burgers that an arm can stack: the four fillings in an order that both decide."""
    return bool(design.task.fillings)


class Stage(Protocol):
    """A robot beside the bandit: it shows what was decided, and never decides anything."""

    def covers(self, person: ActiveParticipant) -> bool:
        """Whether the robot stacks this person's burgers."""
        ...

    async def view(self, person: ActiveParticipant) -> dict[str, Any]:
        """What the page needs to know of the robot, for the state of somebody who plays."""
        ...

    def admit(self, person: ActiveParticipant, moves: int) -> None:
        """Refuse moves that the robot cannot follow now."""
        ...

    def events(self, person: ActiveParticipant, episode: int, rounds: Sequence[Round], now: int) -> list[Event]:
        """What is stored of the robot in the same transaction as the rounds."""
        ...

    def stored(self, person: ActiveParticipant, events: Sequence[Event]) -> None:
        """The rounds are on disk, and these events with them: the robot may begin."""
        ...

    async def round_view(self, person: ActiveParticipant, episode: int, t: int) -> dict[str, Any]:
        """What is told of the robot with a round."""
        ...

    def dismiss(self, person: ActiveParticipant) -> None:
        """The person is through, and needs the robot no more."""
        ...

    async def placed(self, number: int, person: ActiveParticipant | None = None) -> None:
        """What the robot waits for was set down, by a person or (None) by the experimenter."""
        ...
