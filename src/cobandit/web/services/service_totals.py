"""What services of a study did and cost so far: summed up once for each finished episode, and kept."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from cobandit.base.json_types import JsonObject
from cobandit.studies.service_tables import most_moves
from cobandit.studies.service_use import RecordedUse, recorded_use, services_of
from cobandit.web.storage.database import Connection
from cobandit.web.storage.service_records import count_by_episode, service_records
from cobandit.web.storage.studies import Study

Player = tuple[str, str]
"""The kind of a service, and its model or address."""


@dataclass
class Totals:
    """The sums over the moves of one service; ``takeovers`` are those in which it failed and an agent played."""

    used: RecordedUse = field(default_factory=RecordedUse)
    takeovers: int = 0

    def add(self, other: Totals) -> None:
        """Add other sums."""
        self.used.add(other.used)
        self.takeovers += other.takeovers

    def to_dict(self) -> JsonObject:
        """Return the sums as plain data."""
        sums = self.used.to_dict()
        return {"moves": sums.pop("moves"), "takeovers": self.takeovers} | sums


def summed(rows: Iterable[JsonObject]) -> dict[Player, Totals]:
    """Return the sums over stored records (`service_records`), by service."""
    by_player: dict[Player, Totals] = defaultdict(Totals)
    for row in rows:
        details = row["record"]
        player = str(details.get("kind", "")), str(details.get("model") or details.get("url") or "")
        by_player[player].add(Totals(recorded_use([details]), int(row["by"] == "takeover")))
    return dict(by_player)


def listed(by_player: dict[Player, Totals]) -> list[JsonObject]:
    """Return the sums as rows, sorted by service."""
    return [{"kind": kind, "player": player} | by_player[kind, player].to_dict() for kind, player in sorted(by_player)]


class ServiceTotals:
    """The sums of the studies of one process. An episode is summed up again only when it has new records."""

    def __init__(self) -> None:
        self._known: dict[int, dict[int, tuple[int, dict[Player, Totals]]]] = {}
        self._lock = threading.Lock()

    def read(self, connection: Connection, study: Study) -> dict[Player, Totals]:
        """Return the sums of a study, rehearsals included: those cost the same."""
        with self._lock:
            known, counts = self._known.get(study.id, {}), count_by_episode(connection, study.id)
            current = {number: known[number] for number, count in counts.items() if known.get(number, (0,))[0] == count}
            for number, count in counts.items():
                if number not in current:
                    rows = service_records(connection, study.id, episode=number)
                    current[number] = count, summed(rows)
            self._known[study.id] = current
            whole: dict[Player, Totals] = defaultdict(Totals)
            for _, by_player in current.values():
                for player, totals in by_player.items():
                    whole[player].add(totals)
            return dict(whole)

    def view(self, connection: Connection, study: Study, *, blind: bool) -> JsonObject | None:
        """Return what services did, and the cap; None where the design has none.

        A blind account gets the sums without names, because a name may tell a condition.
        """
        seats = services_of(study.design)
        if not seats:
            return None
        by_player, whole = self.read(connection, study), Totals()
        for totals in by_player.values():
            whole.add(totals)
        limits = [limit for use in seats if (limit := most_moves(use.options)) is not None]
        return whole.to_dict() | {
            "max_moves": min(limits, default=None),
            "players": None if blind else listed(by_player),
        }
