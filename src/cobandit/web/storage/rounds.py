"""Rounds as they are stored: no other module of the server knows in which columns a round stands."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, bindparam, func, insert, select

from cobandit.studies import Round
from cobandit.web.storage.schema import episodes, rounds


@dataclass(frozen=True)
class Move:
    """One choice as it came: for which round, which arm, its key, and how long it took."""

    t: int
    arm: int
    key: str
    ms: int | None = None


@dataclass(frozen=True)
class StoredRound:
    """A round as a researcher sees it; ``predicted`` is the participant's arm that the AI foresaw."""

    t: int
    arms: tuple[int, ...]
    reward: float
    seen: tuple[float | None, ...]
    predicted: int | None
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


def arms_of(r: Round) -> tuple[int, ...]:
    """The team action of a round, the participant's arm first."""
    return r.arm_0, r.arm_1


def seen_by_participant(r: Round) -> float | None:
    """What the participant saw of the reward."""
    return r.seen_0


_ARMS = (rounds.c.arm_0, rounds.c.arm_1)
_SEEN = (rounds.c.seen_0, rounds.c.seen_1)
_PREDICTED = rounds.c.predicted_1_0
_SEATS = len(_ARMS)


def round_values(episode_id: int, r: Round, move: Move, now: int) -> dict[str, Any]:
    """Every column of a round with its value."""
    return {
        "episode_id": episode_id,
        "t": r.t,
        "arm_0": r.arm_0,
        "arm_1": r.arm_1,
        "reward": r.reward,
        "seen_0": r.seen_0,
        "seen_1": r.seen_1,
        "predicted_1_0": r.predicted_1_0,
        "hash": r.hash,
        "key": move.key,
        "at": now,
        "ms": move.ms,
    }


_INSERT = insert(rounds)


def insert_rounds(connection: Connection, episode_id: int, played: Sequence[tuple[Round, Move]], now: int) -> None:
    """Rounds at the end of a log, each with the move that it answers."""
    connection.execute(_INSERT, [round_values(episode_id, r, move, now) for r, move in played])


_LOG = (
    select(rounds.c.t, *_ARMS, rounds.c.reward, *_SEEN, _PREDICTED, rounds.c.hash, rounds.c.key)
    .where(rounds.c.episode_id == bindparam("episode"))
    .order_by(rounds.c.t)
)


def load_rounds(connection: Connection, episode_id: int, start: str) -> tuple[list[Round], list[str]]:
    """The rounds of an episode, and the keys they came with; ``start`` is the hash before them."""
    log: list[Round] = []
    keys: list[str] = []
    previous = start
    rows: Any = connection.execute(_LOG, {"episode": episode_id})
    for t, arm_0, arm_1, reward, seen_0, seen_1, predicted, own_hash, key in rows:
        log.append(Round(t, arm_0, arm_1, reward, seen_0, seen_1, predicted, previous, own_hash))
        keys.append(key)
        previous = own_hash
    return log, keys


_COLUMNS = ("t", "arm_0", "arm_1", "reward", "seen_0", "seen_1", "predicted_1_0", "hash", "at", "ms")
_NAMES = (*_COLUMNS[:-2], "answered_at", "reaction_ms")


def round_columns(connection: Connection, episode_id: int) -> dict[str, Sequence[Any]]:
    """The rounds of an episode column by column, under the names that `EpisodeData.of_columns` takes."""
    query = select(*(rounds.c[name] for name in _COLUMNS))
    rows = connection.execute(query.where(rounds.c.episode_id == episode_id).order_by(rounds.c.t)).all()
    return dict(zip(_NAMES, zip(*rows, strict=True), strict=True)) if rows else dict.fromkeys(_NAMES, ())


def rounds_from(connection: Connection, episode_id: int, first: int, limit: int) -> list[StoredRound]:
    """Some rounds of an episode, from a round on."""
    rows = connection.execute(
        select(rounds.c.t, *_ARMS, rounds.c.reward, *_SEEN, _PREDICTED, rounds.c.at, rounds.c.ms)
        .where(rounds.c.episode_id == episode_id, rounds.c.t >= first)
        .order_by(rounds.c.t)
        .limit(limit)
    )
    return [
        StoredRound(t, (arm_0, arm_1), reward, (seen_0, seen_1), predicted, at, ms)
        for t, arm_0, arm_1, reward, seen_0, seen_1, predicted, at, ms in rows
    ]


def arms_by_episode(connection: Connection, episode_ids: Sequence[int]) -> dict[int, NDArray[np.int64]]:
    """The arms of every round of some episodes, rounds by seats; columns of numbers, since there may be a million."""
    rows = connection.execute(
        select(rounds.c.episode_id, *_ARMS)
        .where(rounds.c.episode_id.in_(episode_ids))
        .order_by(rounds.c.episode_id, rounds.c.t)
    )
    flat = np.fromiter(itertools.chain.from_iterable(rows), dtype=np.int64).reshape(-1, 1 + _SEATS)
    starts = np.flatnonzero(np.diff(flat[:, 0], prepend=-1))
    return {int(part[0, 0]): part[:, 1:] for part in np.split(flat, starts[1:]) if len(part)}


def counts_by_episode(connection: Connection, participant: int) -> dict[int, EpisodeCounts]:
    """The rounds of a participant counted, by the number of the episode in the database."""
    cells: dict[int, dict[tuple[int, ...], tuple[int, float]]] = defaultdict(dict)
    times: dict[int, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for episode_id, count, reward, ms, timed, *arms in connection.execute(
        select(
            rounds.c.episode_id,
            func.count(),
            func.sum(rounds.c.reward),
            func.coalesce(func.sum(rounds.c.ms), 0),
            func.count(rounds.c.ms),
            *_ARMS,
        )
        .join(episodes, episodes.c.id == rounds.c.episode_id)
        .where(episodes.c.participant_id == participant)
        .group_by(rounds.c.episode_id, *_ARMS)
    ):
        cells[episode_id][tuple(arms)] = int(count), float(reward)
        earlier_ms, earlier_timed = times[episode_id]
        times[episode_id] = earlier_ms + int(ms), earlier_timed + int(timed)
    return {episode_id: EpisodeCounts(counted, *times[episode_id]) for episode_id, counted in cells.items()}


def count_rounds(connection: Connection, participant: int) -> int:
    """How many rounds are stored of a participant."""
    theirs = select(episodes.c.id).where(episodes.c.participant_id == participant)
    return connection.scalar(select(func.count()).select_from(rounds).where(rounds.c.episode_id.in_(theirs))) or 0
