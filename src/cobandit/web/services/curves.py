"""Regret curves while a study runs.

Sums are kept in memory and only ever added to, episode by finished episode; reading happens in threads, some of the
time only, and never waits for the participants' writing. Where nothing is new, the last answer is given again.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cobandit.base.json_types import JsonObject
from cobandit.report.kit.palette import algorithm_numbers
from cobandit.studies.design import StudyDesign
from cobandit.studies.plan import EpisodePlan
from cobandit.web.roles import Viewer
from cobandit.web.services.blinding import masks_for, no_curves
from cobandit.web.services.studies import stored_study
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.episodes import FinishedEpisode, FinishedMark, finished_episodes, finished_mark
from cobandit.web.storage.rounds import arms_by_episode
from cobandit.web.storage.studies import Study

MOST_POINTS = 200
CURVE_SECONDS = 1.5  # what one question for curves may take; the rest waits for the next
SHARE_OF_TIME = 0.2  # the share of time spent on it, so that participants hardly notice
EPISODES_AT_ONCE = 5
OVERLAP_MS = 60_000
"""How far back a look for new episodes reaches: a write has its time before it is committed."""


@dataclass
class _Sums:
    """The finished episodes of one participant in one condition: their regrets added up, at the points of a curve."""

    total: NDArray[np.float64]
    counted: int = 0


_ByParticipant = dict[tuple[int, str], _Sums]
"""Sums by participant and condition."""


@dataclass
class _Known:
    """The cached people of one kind in one study; ``waiting`` are finished episodes that are not added yet."""

    sums: _ByParticipant = field(default_factory=dict)
    episodes: dict[int, FinishedEpisode] = field(default_factory=dict)
    waiting: dict[int, FinishedEpisode] = field(default_factory=dict)
    latest: int = 0
    answer: JsonObject | None = None

    @property
    def mark(self) -> FinishedMark:
        """To be compared with that of the database."""
        return FinishedMark(len(self.episodes), sum(self.episodes))

    def look(self, connection: Connection, study: int, kind: str) -> None:
        """Take note of what was finished or deleted since; where nothing was, that is one question."""
        mark = finished_mark(connection, study, kind)
        if mark == self.mark:
            return
        self._note(finished_episodes(connection, study, kind, self.latest - OVERLAP_MS))
        if mark == self.mark:
            return
        # A participant was deleted, or the clock was set back: recompute everything.
        present = finished_episodes(connection, study, kind)
        gone = self.episodes.keys() - {episode.id for episode in present}
        people = {(self.episodes[number].participant, self.episodes[number].condition) for number in gone}
        for key in people:
            self.sums.pop(key, None)
        for number in [n for n, e in self.episodes.items() if (e.participant, e.condition) in people]:
            del self.episodes[number]
            self.waiting.pop(number, None)
        self._note(present)
        self.answer = None

    def _note(self, finished: Iterable[FinishedEpisode]) -> None:
        for episode in finished:
            if episode.id not in self.episodes:
                self.episodes[episode.id] = self.waiting[episode.id] = episode
                self.latest = max(self.latest, episode.finished_at)
                self.answer = None


class Curves:
    """The mean cumulative task regret of each condition, over the finished episodes that count."""

    def __init__(
        self, database: Database, seconds: float = CURVE_SECONDS, share_of_time: float = SHARE_OF_TIME
    ) -> None:
        """``seconds`` is what one question may take, ``share_of_time`` the part of it that is spent on the answer."""
        self._database = database
        self._seconds, self._share_of_time = seconds, share_of_time
        self._known: dict[tuple[int, str], _Known] = {}
        self._one_at_a_time = asyncio.Lock()

    async def curves(self, number: int, kind: str, viewer: Viewer) -> JsonObject:
        """Return the curves of people of one kind; none if the viewer is blind to the conditions.

        A participant's curve is the mean over their episodes; mean and standard error are over participants. If many
        episodes are new, ``pending`` is the number of episodes that are still missing: ask again. ``number`` is the
        place of the condition's algorithm in the palette of all figures.
        """
        async with self._one_at_a_time:
            return await self._database.ask(lambda connection: self.read(connection, number, kind, viewer), heavy=True)

    def read(self, connection: Connection, number: int, kind: str, viewer: Viewer) -> JsonObject:
        """Return the curves synchronously, with the caller's connection; one call at a time."""
        viewer.require("participants")
        study = stored_study(connection, number)
        if masks_for(connection, study, viewer, kind) is not None:
            return no_curves(kind)
        known = self._known.setdefault((study.id, kind), _Known())
        known.look(connection, study.id, kind)
        if known.answer is None:
            points = _points(study.design)
            self._add_waiting(connection, study, kind, known, points)
            places = algorithm_numbers([condition.agent for condition in study.design.conditions])
            conditions = [
                _curve(condition.name, known.sums, len(points)) | {"number": place}
                for condition, place in zip(study.design.conditions, places, strict=True)
            ]
            answer = {"kind": kind, "rounds": points.tolist(), "conditions": conditions, "blind": False}
            answer["pending"] = len(known.waiting)
            if known.waiting:
                return answer
            known.answer = answer
        return known.answer

    def _add_waiting(
        self, connection: Connection, study: Study, kind: str, known: _Known, points: NDArray[np.int64]
    ) -> None:
        """Add what has been finished since, as far as time allows."""
        until, secret = time.monotonic() + self._seconds, study.secret_for(kind)
        while known.waiting:
            start = time.monotonic()
            batch = list(itertools.islice(known.waiting.values(), EPISODES_AT_ONCE))
            arms_of = arms_by_episode(connection, [episode.id for episode in batch])
            for episode in batch:
                del known.waiting[episode.id]
                arms = arms_of.get(episode.id)
                if not isinstance(arms, np.ndarray) or len(arms) != study.design.rounds_of(episode.condition):
                    continue  # not as it should be; verifying the study tells more
                own = points[points <= len(arms)]
                part = known.sums.setdefault((episode.participant, episode.condition), _Sums(np.zeros(len(own))))
                plan = EpisodePlan(study.design, episode.seed, episode.order_index, episode.number, secret)
                part.total += np.cumsum(plan.round_regret(arms))[own - 1]
                part.counted += 1
            rest = (time.monotonic() - start) * (1 / self._share_of_time - 1)
            if time.monotonic() + rest > until:
                return
            if known.waiting:
                time.sleep(rest)


def _curve(condition: str, sums: _ByParticipant, length: int) -> dict[str, object]:
    counted = [sums[key] for key in sorted(sums) if key[1] == condition and sums[key].counted]
    curves = np.array([part.total / part.counted for part in counted])
    n = len(counted)
    error = curves.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else None
    over = [None] * (length - curves.shape[1] if n else 0)  # the episodes of other conditions may be longer
    return {
        "name": condition,
        "n": n,
        "episodes": sum(part.counted for part in counted),
        "mean": curves.mean(axis=0).tolist() + over if n else [],
        "se": None if error is None else error.tolist() + over,
    }


def _points(design: StudyDesign) -> NDArray[np.int64]:
    """Return the rounds at which curves are sampled, always with the last one of each condition."""
    ends = [design.rounds_of(condition.name) for condition in design.conditions]
    even = np.linspace(1, max(ends), min(max(ends), MOST_POINTS)).round()
    return np.unique(np.concatenate([even, ends]).astype(np.int64))
