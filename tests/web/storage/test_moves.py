"""Moves of many people in one statement: the same as one after the other, or not at all."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import event

from cobandit.base.errors import InvalidInput
from cobandit.studies import Episode, ParticipantPlan, StudyDesign
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.events import Event
from cobandit.web.storage.moves import LARGEST, StoreRounds
from cobandit.web.storage.participants import Stale, add_participant
from cobandit.web.storage.rounds import Move
from cobandit.web.storage.studies import find_study

PEOPLE = 2 * LARGEST + 18


def _players(database: Database, design: StudyDesign, count: int) -> list[tuple[int, Episode, int]]:
    """People who have played their first round: their number, their episode, and its number."""
    players = []
    with database.write() as connection:
        study = find_study(connection, design.name)
        assert study is not None
        for place in range(count):
            values = {"study_id": study.id, "token": f"token-{place}", "kind": "real", "created_at": 1}
            person = add_participant(connection, **values, seed=str(place), order_index=0, consented_at=1, last_seen=1)
            episode = Episode.open(ParticipantPlan(design, place, 0, study.secret_for("real")).episode(0))
            first = StoreRounds(person, 0, None, episode, [(episode.play(1, 0), Move(1, 0, "key-first", 5))], 1, 2)
            players.append((person, episode, first(connection)))
    return players


def _second(player: tuple[int, Episode, int], revision: int = 1) -> StoreRounds:
    person, episode, number = player
    played = [(episode.play(2, 1), Move(2, 1, f"key-{person:05d}", None))]
    return StoreRounds(person, revision, number, episode, played, 1, 3)


def _tables(site: Any) -> list[list[Any]]:
    return [
        site.query("SELECT token, revision, last_seen FROM participants ORDER BY token"),
        site.query("SELECT number, played, head, opened_at, finished_at FROM episodes ORDER BY participant_id"),
        site.query(
            "SELECT p.token, r.t, r.arms, r.reward, r.seen, r.predictions, r.hash, r.at, r.ms FROM rounds r JOIN "
            "episodes e ON e.id = r.episode_id JOIN participants p ON p.id = e.participant_id ORDER BY p.token, r.t"
        ),
    ]


@pytest.mark.parametrize("where", ["short_sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def test_together_and_apart_are_the_same(
    open_site: Callable[..., Any], short: StudyDesign, request: pytest.FixtureRequest, where: str
) -> None:
    site = open_site(request.getfixturevalue(where), short)
    database = site.database
    players = _players(database, short, PEOPLE)
    jobs = [_second(player) for player in players]

    def undone(run: Callable[[Connection], Any]) -> list[list[Any]]:
        """What the tables hold after it, in a transaction that is given up."""
        seen: list[list[Any]] = []
        with database.writing.connect() as connection:
            run(connection)
            site_query, site.query = site.query, lambda text: connection.exec_driver_sql(text).all()
            try:
                seen = [[tuple(row) for row in table] for table in _tables(site)]
            finally:
                site.query = site_query
                connection.rollback()
        return seen

    apart = undone(lambda connection: [job(connection) for job in jobs])
    together = undone(lambda connection: StoreRounds.together(connection, jobs))
    assert together == apart
    assert len(together[2]) == 2 * PEOPLE
    # Somebody else has written to one of them meanwhile: it is not known to whom, so nothing counts.
    for wrong in (StoreRounds(**vars(jobs[-1]) | {"revision": 0}), jobs[0]):
        with pytest.raises((Stale, InvalidInput)), database.write() as connection:
            StoreRounds.together(connection, [*jobs[:-1], wrong])
    assert site.query("SELECT count(*) FROM rounds") == [(PEOPLE,)]


def test_only_the_stale_one_fails(site: Any, short: StudyDesign) -> None:
    """The writer tries all of them together, then each by itself."""
    database = site.database
    players = _players(database, short, 5)
    jobs = [_second(player, revision=1 if place != 2 else 0) for place, player in enumerate(players)]

    async def write() -> list[Any]:
        return await asyncio.gather(*(database.commit(job) for job in jobs), return_exceptions=True)

    results = asyncio.run(write())
    assert [type(result) for result in results] == [int, int, Stale, int, int]
    assert [result for result in results if isinstance(result, int)] == [
        number for place, (_, _, number) in enumerate(players) if place != 2
    ]
    assert site.query("SELECT played, count(*) FROM episodes GROUP BY played ORDER BY played") == [(1, 1), (2, 4)]


def test_first_rounds_several_moves_and_events_are_stored_together(site: Any, short: StudyDesign) -> None:
    """One request each, of people who are at different places: the same function stores all of them."""
    players = _players(site.database, short, 3)
    (person, episode, number), (other, later, later_number), (third, last, _) = players
    plan = ParticipantPlan(short, 2, 0).episode(1)
    opened = Episode.open(plan)
    jobs = [
        StoreRounds(other, 1, later_number, later, [(later.play(2, 1), Move(2, 1, "key-later", None))], 1, 3),
        StoreRounds(third, 1, None, opened, [(opened.play(1, 0), Move(1, 0, "key-opened", 7))], 2, 4),
        StoreRounds(
            person,
            1,
            number,
            episode,
            [(episode.play(2, 0), Move(2, 0, "key-two-x", 1))],
            1,
            5,
            [Event(5, "robot", {"told": 1}, "key-event")],
        ),
    ]
    with site.database.write() as connection:
        ids = StoreRounds.together(connection, jobs)
    assert (ids[0], ids[2]) == (later_number, number)
    assert site.query("SELECT participant_id, number, played, opened_at FROM episodes WHERE id = :id", id=ids[1]) == [
        (third, 1, 1, 2)
    ]
    assert site.query("SELECT id, revision, last_seen FROM participants ORDER BY id") == [
        (person, 2, 5),
        (other, 2, 3),
        (third, 2, 4),
    ]
    assert site.query("SELECT participant_id, kind FROM events") == [(person, "robot")]
    assert last.played == 1
    keys = [key for (key,) in site.query("SELECT key FROM rounds WHERE key != 'key-first' ORDER BY key")]
    assert keys == ["key-later", "key-opened", "key-two-x"]


def test_a_job_that_opens_an_episode_runs_again_after_a_rollback(site: Any, short: StudyDesign) -> None:
    """The writer rolls back a batch and runs its jobs again; the id of the first try must not survive."""
    [(person, _, number)] = _players(site.database, short, 1)
    episode = Episode.open(ParticipantPlan(short, 0, 0).episode(1))
    job = StoreRounds(person, 1, None, episode, [(episode.play(1, 0), Move(1, 0, "key-again", 5))], 1, 2)
    with site.database.writing.connect() as connection:
        job(connection)
        connection.rollback()
    with site.database.write() as connection:
        stored = job(connection)
    assert site.query("SELECT id, participant_id FROM episodes WHERE number = 1") == [(stored, person)]
    assert stored != number


def test_sqlite_without_update_from(site: Any, short: StudyDesign, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before version 3.33 every row has a statement of its own, with the same result."""
    monkeypatch.setattr("cobandit.web.storage.moves.LARGEST", 1)
    jobs = [_second(player) for player in _players(site.database, short, 5)]
    statements: list[str] = []
    event.listen(site.database.writing, "before_cursor_execute", lambda c, cursor, text, *more: statements.append(text))
    with site.database.write() as connection:
        StoreRounds.together(connection, jobs)
    assert statements
    assert not [text for text in statements if "FROM" in text]
    assert site.query("SELECT count(*), sum(played) FROM episodes") == [(5, 10)]
    with pytest.raises(Stale), site.database.write() as connection:
        StoreRounds.together(connection, [StoreRounds(**vars(jobs[0]) | {"revision": 0})])


@pytest.mark.parametrize("where", ["short_sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def test_a_round_that_another_process_has_stored_is_stale(
    open_site: Callable[..., Any], short: StudyDesign, request: pytest.FixtureRequest, where: str
) -> None:
    """A stale job must not reach the primary key of the rounds, whose violation would look like a broken database."""
    site = open_site(request.getfixturevalue(where), short)
    [player] = _players(site.database, short, 1)
    job = _second(player)
    with site.database.write() as connection:
        job(connection)
    with pytest.raises(Stale), site.database.write() as connection:
        job(connection)
    assert site.query("SELECT count(*) FROM rounds") == [(2,)]
