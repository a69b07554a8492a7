"""Rounds as they are stored: no other module of the server knows in which columns a round stands."""

from __future__ import annotations

import itertools
import json
import operator
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, bindparam, func, select

from cobandit.engine.trajectory import NOBODY
from cobandit.studies import Round
from cobandit.studies.rounds import Arms, By, Evidence, Predictions, Seen
from cobandit.web.storage.episodes import plays
from cobandit.web.storage.schema import rounds


@dataclass(frozen=True)
class Move:
    """One choice as it came: for which round, which arm, its key, and how long it took."""

    t: int
    arm: int
    key: str
    ms: int | None = None


@dataclass(frozen=True)
class StoredRound:
    """A round as a researcher sees it, with the tuples over the seats of `Round`."""

    t: int
    arms: Arms
    reward: float
    seen: Seen
    predictions: Predictions
    at: int
    ms: int | None


@dataclass(frozen=True)
class EpisodeCounts:
    """The rounds of an episode counted by team action: how many and their rewards; and how long they took."""

    cells: dict[tuple[int, ...], tuple[int, float]] = field(default_factory=dict)
    ms: int = 0
    timed: int = 0

    @property
    def good(self) -> float:
        """The rewards of all rounds."""
        return sum(reward for _, reward in self.cells.values())


# A study has few different arms, sights and predictions, so each is put into text, and read out of it, once.


@lru_cache(maxsize=4096)
def _text(column: str, over_seats: Arms | Seen | Predictions) -> str:
    """Return the text of a column; its name keeps (1, 0) and (1.0, 0.0) apart, which are equal but not the same in
    JSON.
    """
    return json.dumps(over_seats, separators=(",", ":"))


@lru_cache(maxsize=4096)
def _over_seats(text: str) -> tuple[Any, ...]:
    return tuple(tuple(part) if isinstance(part, list) else part for part in json.loads(text))


def round_row(episode_id: int, r: Round, move: Move, now: int) -> tuple[Any, ...]:
    """Return every value of a round in the order of the table's columns."""
    return (
        episode_id,
        r.t,
        _text("arms", r.arms),
        r.reward,
        _text("seen", r.seen),
        _text("predictions", r.predictions),
        r.hash,
        move.key,
        now,
        move.ms,
    )


def stored_round(row: Any, previous: str, by: By, evidence: Evidence) -> Round:
    """Return a round of a team out of a row of the table."""
    over_seats = _over_seats(row.arms), row.reward, _over_seats(row.seen), _over_seats(row.predictions)
    return Round(row._mapping["t"], *over_seats, previous, row.hash, by, evidence)


_CONTENTS = (rounds.c.t, rounds.c.arms, rounds.c.reward, rounds.c.seen, rounds.c.predictions)
_LOG = (
    select(*_CONTENTS, rounds.c.hash, rounds.c.key)
    .where(rounds.c.episode_id == bindparam("episode"))
    .order_by(rounds.c.t)
)


def load_rounds(connection: Connection, episode_id: int, start: str) -> tuple[list[Round], list[str]]:
    """Return the rounds of an episode, and the keys they came with; ``start`` is the hash before them."""
    log: list[Round] = []
    keys: list[str] = []
    previous = start
    rows: Any = connection.execute(_LOG, {"episode": episode_id})
    for t, arms, reward, seen, predictions, own_hash, key in rows:
        over_seats = _over_seats(arms), reward, _over_seats(seen), _over_seats(predictions)
        log.append(Round(t, *over_seats, previous, own_hash))
        keys.append(key)
        previous = own_hash
    return log, keys


_ARMS = select(rounds.c.arms).where(rounds.c.episode_id == bindparam("episode")).order_by(rounds.c.t)

_COLUMNS = ("t", "arms", "reward", "seen", "predictions", "at", "ms", "hash")
_NAMES = (*_COLUMNS[:-3], "answered_at", "reaction_ms", "hash")


def round_columns(
    connection: Connection, people: Sequence[int], *, chained: bool = True
) -> dict[int, dict[str, Sequence[Any]]]:
    """Return the rounds of some people, by episode and column by column, as `studies.data.EpisodeData.of_columns` names
    them.

    Without ``chained`` the hashes are not read, and are empty.
    """
    theirs = select(plays.c.id).where(plays.c.participant_id.in_(people))
    names = _COLUMNS if chained else _COLUMNS[:-1]
    query = select(rounds.c.episode_id, *(rounds.c[name] for name in names))
    ordered = query.where(rounds.c.episode_id.in_(theirs)).order_by(rounds.c.episode_id, rounds.c.t)
    # All rows together: fetching them one by one costs a third of an export.
    by_episode = itertools.groupby(connection.execute(ordered).all(), operator.itemgetter(0))
    return {number: _named_columns(tuple(zip(*part, strict=True))) for number, part in by_episode}


def _named_columns(columns: tuple[tuple[Any, ...], ...]) -> dict[str, Sequence[Any]]:
    """Return columns of the database as `studies.data.EpisodeData` stores them, with numbers in arrays."""
    named: dict[str, Any] = dict(zip(_NAMES, columns[1:], strict=False))
    named.setdefault("hash", ("",) * len(named["t"]))
    for name, kind in (("t", np.int64), ("reward", np.float64), ("answered_at", np.int64)):
        named[name] = _array(named[name], kind)
    if None not in named["reaction_ms"]:
        named["reaction_ms"] = _array(named["reaction_ms"], np.float64)
    for name, kind, missing in (
        ("arms", np.int64, np.nan),
        ("seen", np.float64, np.nan),
        ("predictions", np.int64, NOBODY),
    ):
        named[name] = _seat_arrays(named[name], kind, missing)
    return named


def _array(values: Sequence[Any], kind: type[np.generic]) -> Sequence[Any]:
    """Return numbers as an array; other values stay unchanged, and `studies.data.EpisodeData.of_columns` reports
    them.
    """
    array = np.array(values)
    same = array.dtype.kind == "i" or array.dtype == kind
    return array.astype(kind) if same and array.ndim == 1 else values  # type: ignore[return-value]


def _seat_arrays(texts: Sequence[str], kind: type[np.generic], missing: float) -> Any:
    """Return the values over the seats, round by round; each of the few different texts is read once."""
    places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    read = [_over_seats(text) for text in places]
    try:
        rows = np.array([_without_none(values, missing) for values in read])
        if rows.dtype.kind != "i" and rows.dtype != kind:
            raise ValueError
    except ValueError:  # a varying number of seats, or values that are not numbers: the caller reports them
        return [_over_seats(text) for text in texts]
    return rows.astype(kind)[np.fromiter(map(places.__getitem__, texts), np.int64, len(texts))]


def _without_none(values: Any, missing: float) -> Any:
    if isinstance(values, tuple):
        return [_without_none(part, missing) for part in values]
    return missing if values is None else values


NO_ROUNDS: dict[str, Sequence[Any]] = dict.fromkeys(_NAMES, ())
"""The columns of an episode without rounds."""


def rounds_from(connection: Connection, episode_id: int, first: int, limit: int) -> list[StoredRound]:
    """Return some rounds of an episode, from a round on."""
    rows = connection.execute(
        select(*_CONTENTS, rounds.c.at, rounds.c.ms)
        .where(rounds.c.episode_id == episode_id, rounds.c.t >= first)
        .order_by(rounds.c.t)
        .limit(limit)
    )
    return [
        StoredRound(t, _over_seats(arms), reward, _over_seats(seen), _over_seats(predictions), at, ms)
        for t, arms, reward, seen, predictions, at, ms in rows
    ]


def arms_by_episode(connection: Connection, episode_ids: Sequence[int]) -> dict[int, NDArray[np.int64]]:
    """Return the arms of every round of some episodes, rounds by seats; columns of numbers, since there may be a
    million.
    """
    columns = ((number, connection.scalars(_ARMS, {"episode": number}).all()) for number in episode_ids)
    return {number: _seat_arrays(texts, np.int64, np.nan) for number, texts in columns if texts}


def counts_by_episode(connection: Connection, participant: int) -> dict[int, EpisodeCounts]:
    """Return the rounds of a participant counted, by the number of the episode in the database."""
    cells: dict[int, dict[tuple[int, ...], tuple[int, float]]] = defaultdict(dict)
    times: dict[int, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for episode_id, count, reward, ms, timed, arms in connection.execute(
        select(
            rounds.c.episode_id,
            func.count(),
            func.sum(rounds.c.reward),
            func.coalesce(func.sum(rounds.c.ms), 0),
            func.count(rounds.c.ms),
            rounds.c.arms,
        )
        .join(plays, plays.c.id == rounds.c.episode_id)
        .where(plays.c.participant_id == participant)
        .group_by(rounds.c.episode_id, rounds.c.arms)
    ):
        cells[episode_id][_over_seats(arms)] = int(count), float(reward)
        earlier_ms, earlier_timed = times[episode_id]
        times[episode_id] = earlier_ms + int(ms), earlier_timed + int(timed)
    return {episode_id: EpisodeCounts(counted, *times[episode_id]) for episode_id, counted in cells.items()}


def successes_of(connection: Connection, people: Sequence[int], practice: str) -> dict[int, int]:
    """Return how often the teams of some people were successful (r* = 1) in rounds that count, by participant.

    ``practice`` is the condition of episodes that do not count.
    """
    query = (
        select(plays.c.participant_id, func.count())
        .join(rounds, rounds.c.episode_id == plays.c.id)
        .where(
            plays.c.participant_id.in_(people),
            plays.c.condition != practice,
            rounds.c.reward > 0,
        )
        .group_by(plays.c.participant_id)
    )
    return {int(participant): int(count) for participant, count in connection.execute(query)}


def good_by_number(connection: Connection, participant: int, seat: int) -> dict[int, float]:
    """Return the sum of what a seat has seen in each finished episode, by its place in the participant's plan.

    Of good and bad outcomes it is the number of good ones.
    """
    query = (
        select(plays.c.number, rounds.c.seen, func.count())
        .join(plays, plays.c.id == rounds.c.episode_id)
        .where(plays.c.participant_id == participant, plays.c.finished_at.is_not(None))
        .group_by(plays.c.number, rounds.c.seen)
    )
    good: dict[int, float] = defaultdict(int)
    for number, seen, count in connection.execute(query):
        outcome = _over_seats(seen)[seat] or 0
        good[number] += int(count) * (int(outcome) if outcome == int(outcome) else outcome)
    return dict(good)


def count_rounds(connection: Connection, participant: int) -> int:
    """Return how many rounds are stored of a participant."""
    theirs = select(plays.c.id).where(plays.c.participant_id == participant)
    return connection.scalar(select(func.count()).select_from(rounds).where(rounds.c.episode_id.in_(theirs))) or 0
