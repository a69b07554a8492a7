"""Rounds in their columns: what is written is what is read, in each of the forms in which it is asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cobandit.studies import Episode, ParticipantPlan, StudyDesign, load_design
from cobandit.studies.data import EpisodeData
from cobandit.web.serving import prepare
from cobandit.web.storage.database import Database
from cobandit.web.storage.moves import StoreRounds
from cobandit.web.storage.participants import add_participant
from cobandit.web.storage.rounds import (
    NO_ROUNDS,
    Move,
    arms_by_episode,
    count_rounds,
    counts_by_episode,
    load_rounds,
    round_columns,
    rounds_from,
)
from cobandit.web.storage.studies import find_study


class Log:
    """A participant with two episodes, the second one of five rounds."""

    def __init__(self, database: Database, design: StudyDesign) -> None:
        self.database = database
        plan = ParticipantPlan(design, 7, 0)
        with database.write() as connection:
            study = find_study(connection, design.name)
            assert study is not None
            self.participant = add_participant(
                connection, study_id=study.id, token="a-token-of-somebody", kind="real", created_at=1
            )
            for number in (0, 1):
                episode = Episode.open(plan.episode(number))
                self.start = episode.head
                moves = [Move(t, t % 2, f"key-of-{number}-{t}", 100 * t) for t in range(1, episode.plan.rounds + 1)]
                played = [(episode.play(move.t, move.arm), move) for move in moves]
                self.episode_id = StoreRounds(self.participant, number, None, episode, played, 1, 2)(connection)
        self.rounds, self.moves = [r for r, _ in played], moves


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(request.param))


@pytest.fixture
def log(url: str, short: StudyDesign) -> Iterator[Log]:
    prepare(url, [short], seed=1)
    database = Database(url)
    yield Log(database, short)
    database.close()


def test_the_log_comes_back_as_it_was(log: Log) -> None:
    with log.database.read() as connection:
        rounds, keys = load_rounds(connection, log.episode_id, log.start)
        columns = round_columns(connection, [log.participant])
        assert round_columns(connection, [99]) == {}
    assert rounds == log.rounds
    assert keys == [move.key for move in log.moves]
    assert len(columns) == 2
    data = EpisodeData.of_columns(columns[log.episode_id], start=log.start)
    assert list(data.rounds()) == log.rounds
    assert data.reaction_ms.tolist() == [100, 200, 300, 400, 500]
    assert len(EpisodeData.of_columns(NO_ROUNDS, start=log.start)) == 0


def test_some_rounds(log: Log) -> None:
    with log.database.read() as connection:
        some = rounds_from(connection, log.episode_id, 2, 3)
    assert [(r.t, r.arms, r.reward, r.seen, r.predictions, r.at, r.ms) for r in some] == [
        (r.t, r.arms, r.reward, r.seen, r.predictions, 2, 100 * r.t) for r in log.rounds[1:4]
    ]


def test_counts(log: Log) -> None:
    with log.database.read() as connection:
        counts = counts_by_episode(connection, log.participant)[log.episode_id]
        assert count_rounds(connection, log.participant) == 2 + 5
        arms: Any = arms_by_episode(connection, [log.episode_id])[log.episode_id]
    np.testing.assert_array_equal(arms, [r.arms for r in log.rounds])
    assert {cell: count for cell, (count, _) in counts.cells.items()} == Counter(r.arms for r in log.rounds)
    assert (counts.good, counts.ms, counts.timed) == (sum(r.reward for r in log.rounds), 1500, 5)


def test_a_team_of_three(url: str) -> None:
    design = replace(load_design("three-seats"), rounds=5)
    prepare(url, [design], seed=1)
    database = Database(url)
    log = Log(database, design)
    with database.read() as connection:
        rounds, _ = load_rounds(connection, log.episode_id, log.start)
    database.close()
    assert rounds == log.rounds
    assert {len(r.arms) for r in rounds} == {3}
