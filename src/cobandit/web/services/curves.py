"""Regret curves while a study runs.

Sums are kept in memory and only ever added to, episode by finished episode; reading happens in threads and never waits
for the participants' writing.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.report.kit.palette import algorithm_numbers
from cobandit.studies.plan import EpisodePlan
from cobandit.web.services.plays import round_regret
from cobandit.web.services.studies import find_study
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.episodes import finished_episodes
from cobandit.web.storage.rounds import arms_by_episode
from cobandit.web.storage.studies import Study

MOST_POINTS = 200
CURVE_SECONDS = 1.5  # what one question for curves may cost; the rest waits for the next
EPISODES_AT_ONCE = 40


@dataclass
class _Sums:
    """The finished episodes of one participant in one condition: their regrets added up, at the points of a curve."""

    total: NDArray[np.float64]
    counted: int = 0
    known: set[int] = field(default_factory=set)


_ByParticipant = dict[tuple[int, str], _Sums]
"""Sums by participant and condition."""


class Curves:
    """The mean cumulative task regret of each condition, over the finished episodes that count."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sums: dict[tuple[int, str], _ByParticipant] = {}
        self._one_at_a_time = asyncio.Lock()

    async def curves(self, number: int, kind: str) -> dict[str, Any]:
        """Curves of people of one kind.

        A participant's curve is the mean over their episodes; mean and standard error are over participants. Where a
        lot is new, ``pending`` says how many episodes are still left out: ask again. ``number`` is the place of the
        condition's algorithm in the palette of all figures.
        """
        study = await find_study(self._database, number)
        async with self._one_at_a_time:
            return await self._database.ask(lambda connection: self._curves(connection, study, kind), heavy=True)

    def _curves(self, connection: Connection, study: Study, kind: str) -> dict[str, Any]:
        points = _points(study.design.rounds)
        sums = self._sums.setdefault((study.id, kind), {})
        pending = _add_finished(connection, study, kind, sums, points)
        places = algorithm_numbers([condition.agent for condition in study.design.conditions])
        conditions = [
            _curve(condition.name, sums) | {"number": place}
            for condition, place in zip(study.design.conditions, places, strict=True)
        ]
        return {"kind": kind, "rounds": points.tolist(), "conditions": conditions, "pending": pending, "blind": False}


def _curve(condition: str, sums: _ByParticipant) -> dict[str, Any]:
    counted = [sums[key] for key in sorted(sums) if key[1] == condition and sums[key].counted]
    curves = np.array([part.total / part.counted for part in counted])
    n = len(counted)
    error = curves.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else None
    return {
        "name": condition,
        "n": n,
        "episodes": sum(part.counted for part in counted),
        "mean": curves.mean(axis=0).tolist() if n else [],
        "se": None if error is None else error.tolist(),
    }


def _add_finished(
    connection: Connection, study: Study, kind: str, sums: _ByParticipant, points: NDArray[np.int64]
) -> int:
    """Add what has been finished since, as far as time allows; how many episodes are left."""
    until = time.monotonic() + CURVE_SECONDS
    finished = finished_episodes(connection, study.id, kind)
    present = {(episode.participant, episode.condition) for episode in finished}
    for gone in [key for key in sums if key not in present]:  # somebody was deleted
        del sums[gone]
    for key in present:
        sums.setdefault(key, _Sums(np.zeros(len(points))))
    new = [episode for episode in finished if episode.id not in sums[episode.participant, episode.condition].known]
    secret = study.secret_for(kind)
    done = 0
    while done < len(new) and time.monotonic() < until:
        batch = new[done : done + EPISODES_AT_ONCE]
        arms_of = arms_by_episode(connection, [episode.id for episode in batch])
        for episode in batch:
            part = sums[episode.participant, episode.condition]
            part.known.add(episode.id)
            arms = arms_of.get(episode.id)
            if arms is None or len(arms) != study.design.rounds:
                continue  # not as it should be; verifying the study tells more
            plan = EpisodePlan(study.design, episode.seed, episode.order_index, episode.number, secret)
            part.total += np.cumsum(round_regret(plan)[tuple(arms.T)])[points - 1]
            part.counted += 1
        done += len(batch)
    return len(new) - done


def _points(length: int) -> NDArray[np.int64]:
    """The rounds at which curves are told, the last one always."""
    return np.unique(np.linspace(1, length, min(length, MOST_POINTS)).round().astype(np.int64))
