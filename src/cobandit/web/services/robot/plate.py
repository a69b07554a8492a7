"""The burger on the plate: one at a time, from the round that asked for it to its end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from cobandit.base.json_types import JsonObject
from cobandit.robot import burger_layers
from cobandit.web.storage.burgers import ASKED, StoredBurger

Standing = Literal["stacking", "stopped", "done", "skipped"]
"""The states of a burger: in progress; stopped until the experimenter decides; ready; skipped."""

STEP, TROUBLE, RETRY, SKIPPED, DONE = "robot-step", "robot-trouble", "robot-retry", "robot-skipped", "robot-done"
STOP, PLACED = "robot-stop", "robot-placed"


@dataclass(frozen=True)
class Burger:
    """One burger: its participant, its round, and its progress.

    ``layers`` are on the bottom bun; ``doing`` is the current action, ``message`` the error.
    """

    participant: int
    public_id: str
    episode: int
    t: int
    configuration: tuple[int, int]
    layers: int = 0
    standing: Standing = "stacking"
    doing: str = ""
    message: str = ""

    @property
    def name(self) -> str:
        """What tells it from every other, for buttons that must not act on the next one."""
        return f"{self.public_id}.{self.episode}.{self.t}"

    @property
    def over(self) -> bool:
        """Whether the participant may continue."""
        return self.standing in ("done", "skipped")

    def to_dict(self) -> JsonObject:
        """Return the data for the console."""
        layers = burger_layers(self.configuration)
        return {
            "name": self.name,
            "participant": self.public_id,
            "episode": self.episode,
            "round": self.t,
            "standing": self.standing,
            "doing": self.doing,
            "message": self.message,
            "layers": [{"item": layer.item, "by": layer.by, "done": i < self.layers} for i, layer in enumerate(layers)],
        }

    @classmethod
    def restored(cls, stored: StoredBurger) -> Burger:
        """Return the newest burger as the log has it; one that was not over has stopped with the server."""
        asked = stored.events[0]
        assert asked.kind == ASKED
        first, second = asked.data["configuration"]
        burger = cls(stored.participant, stored.public_id, asked.data["episode"], asked.data["t"], (first, second))
        for event in stored.events[1:]:
            if event.kind == STEP:
                burger = replace(burger, layers=event.data["layers"])
            elif event.kind in (DONE, SKIPPED):
                burger = replace(burger, standing="done" if event.kind == DONE else "skipped")
        if burger.over:
            return burger
        return replace(burger, standing="stopped", message="The server was restarted while this burger was stacked.")
