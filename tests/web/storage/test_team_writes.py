"""Moves of teams: stored together or alone, once, and never on a game that has changed meanwhile; on both databases."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import text

from cobandit.studies import Choice, Episode
from cobandit.web.services.games import team_plan
from cobandit.web.services.lobby import store_team
from cobandit.web.serving import prepare
from cobandit.web.storage.database import Database
from cobandit.web.storage.participants import Stale, add_participant
from cobandit.web.storage.studies import find_study
from cobandit.web.storage.team_moves import SeatMove, load_team_episode, open_episode
from cobandit.web.storage.team_writes import StoreTeamMoves
from cobandit.web.storage.teams import mark_left, team_by_id
from tests.team_designs import team_design

NOW = 1_700_000_000_000
TEAMS = 70
"""More than one statement takes."""


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> Iterator[Database]:
    """A study for teams, with nobody in it."""
    url = str(request.getfixturevalue(request.param))
    prepare(url, [team_design()], password="correct horse", seed=1)
    opened = Database(url)
    yield opened
    opened.close()


class Started:
    """A team with an open episode, and the jobs that its members would cause."""

    def __init__(self, database: Database, place: int) -> None:
        with database.writing.begin() as connection:
            study = find_study(connection, "team")
            assert study is not None
            people = [_person(connection, study.id, f"{place}-{seat}") for seat in (0, 1)]
            self.team = store_team(connection, study, "real", dict(enumerate(people)), NOW, seed=place, order=0)
            stored = team_by_id(connection, self.team)
            assert stored is not None
            self.episode = Episode.open(team_plan(study, stored, 0))
            open_episode(connection, self.team, self.episode, NOW, NOW + 60_000)
            opened = load_team_episode(connection, self.team, 0)
            assert opened is not None
        self.id, self.people, self.start = opened.id, people, self.episode.head

    def job(self, seat: int, pending: int = 0, *, seal: bool = False, **changes: Any) -> StoreTeamMoves:
        """Return the move of a seat in the first round; ``seal``: it completes the round."""
        new = [SeatMove(seat, 1, "person", f"key-of-seat-{seat}", 400)]
        job = StoreTeamMoves(self.team, 0, self.id, 1, self.start, pending, 0, new, NOW + 1, None, self.people[seat])
        if seal:
            sealed = self.episode.play(1, {0: Choice(1), 1: Choice(1)})
            job = replace(job, sealed=sealed, finished=self.episode.finished)
        return replace(job, **changes)


def _person(connection: Any, study: int, name: str) -> int:
    values = {"token": f"token-{name}", "key": f"key-{name}", "kind": "real", "seed": "1", "order_index": 0}
    times = dict.fromkeys(("created_at", "consented_at", "last_seen"), NOW)
    return add_participant(connection, study_id=study, language="en", recruiting=None, **values, **times)


def _run(database: Database, *jobs: StoreTeamMoves) -> None:
    with database.writing.begin() as connection:
        StoreTeamMoves.together(connection, jobs)


def _rows(database: Database, query: str) -> list[tuple[Any, ...]]:
    with database.reading.connect() as connection:
        return [tuple(row) for row in connection.execute(text(query))]


def test_many_teams_are_stored_together(database: Database) -> None:
    teams = [Started(database, place) for place in range(TEAMS)]
    _run(database, *(team.job(0) for team in teams))
    assert _rows(database, "SELECT count(*) FROM rounds") == [(0,)]
    assert _rows(database, "SELECT DISTINCT revision FROM teams") == [(0,)]  # a pending move is visible to nobody
    _run(database, *(team.job(1, 1, seal=True) for team in teams))
    assert _rows(database, "SELECT count(*), count(DISTINCT episode_id) FROM moves") == [(2 * TEAMS, TEAMS)]
    assert _rows(database, "SELECT DISTINCT t, arms FROM rounds") == [(1, "[1,1]")]
    assert _rows(database, "SELECT DISTINCT played, round_at FROM episodes") == [(1, NOW + 1)]
    assert _rows(database, "SELECT DISTINCT revision FROM teams") == [(1,)]
    heads = "SELECT count(*) FROM episodes e JOIN rounds r ON r.episode_id = e.id AND r.hash = e.head"
    assert _rows(database, heads) == [(TEAMS,)]
    assert _rows(database, "SELECT DISTINCT last_seen FROM participants") == [(NOW + 1,)]


def test_of_two_moves_for_a_seat_the_second_is_stale(database: Database) -> None:
    """A takeover that did not see the person's move, or the other way round."""
    team = Started(database, 0)
    _run(database, team.job(0))
    takeover = replace(team.job(1), new=[SeatMove(1, 0, "takeover")], seen=None)
    with pytest.raises(Stale):
        _run(database, takeover)
    assert _rows(database, "SELECT seat, by FROM moves") == [(0, "person")]


Change = Callable[[Started, Database], StoreTeamMoves]


def _another_round(team: Started, database: Database) -> StoreTeamMoves:
    _run(database, team.job(0))
    _run(database, team.job(1, 1, seal=True))
    return team.job(0)


def _another_head(team: Started, database: Database) -> StoreTeamMoves:
    return team.job(0, head="3:" + "0" * 64)


def _somebody_left(team: Started, database: Database) -> StoreTeamMoves:
    with database.writing.begin() as connection:
        mark_left(connection, team.team, [1], 0, "timeout", NOW)
    return team.job(0)


@pytest.mark.parametrize("change", [_another_round, _another_head, _somebody_left])
def test_nothing_is_stored_on_a_game_that_has_changed(database: Database, change: Change) -> None:
    team, other = Started(database, 0), Started(database, 1)
    job = change(team, database)
    before = _rows(database, "SELECT * FROM moves"), _rows(database, "SELECT * FROM episodes")
    with pytest.raises(Stale):
        _run(database, other.job(0), job)
    assert (_rows(database, "SELECT * FROM moves"), _rows(database, "SELECT * FROM episodes")) == before
