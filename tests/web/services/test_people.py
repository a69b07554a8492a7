"""Trouble while somebody plays: a full disk, a foreign lock, a request given up, a second process."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Connection, event, text

from cobandit.studies import Episode, ParticipantPlan, StudyDesign
from cobandit.web.refusals import Refused
from cobandit.web.services.arrivals import Arrival
from cobandit.web.services.participants import Given, Participants
from cobandit.web.serving import prepare
from cobandit.web.storage.database import Database
from cobandit.web.storage.rounds import Move


class Game:
    """Somebody in the middle of an episode, without HTTP."""

    def __init__(self, database: Database, design: StudyDesign) -> None:
        self.database, self.design = database, design
        self.service = Participants(database)

    async def begin(self) -> None:
        study = await self.service.study(self.design.name)
        self.token, _ = await self.service.arrive(study, Arrival("a-key-of-a-page", consent_version="1"))
        for step, answers in (
            ("demographics", {"age": 33, "gender": 0, "ai_researcher": 1}),
            ("instructions", {}),
            ("quiz", {item.id: item.answer for item in self.design.quiz}),
        ):
            await self.service.answer(self.token, step, Given(answers))
        await self.play(0, 1, 2)
        await self.service.answer(self.token, "rest-1", Given({}))

    async def play(self, episode: int, *rounds: int) -> Any:
        moves = [Move(t, t % 2, f"key-of-{episode}-{t}", 500) for t in rounds]
        return await self.service.play(self.token, episode, moves)

    def stored(self, episode: int = 1) -> list[tuple[Any, ...]]:
        query = (
            "SELECT r.t, r.arms FROM rounds r JOIN episodes e ON e.id = r.episode_id "
            "WHERE e.number = :episode ORDER BY r.t"
        )
        with self.database.reading.connect() as connection:
            return [(t, *json.loads(arms)) for t, arms in connection.execute(text(query), {"episode": episode})]

    def expected(self, rounds: int, episode: int = 1) -> list[tuple[Any, ...]]:
        with self.database.reading.connect() as connection:
            seed, order = connection.execute(text("SELECT seed, order_index FROM participants")).one()
        replay = Episode.open(ParticipantPlan(self.design, int(seed), order).episode(episode))
        return [(t, *replay.play(t, t % 2).arms) for t in range(1, rounds + 1)]


async def refused(work: Any) -> Refused:
    with pytest.raises(Refused) as error:
        await work
    return error.value


def test_a_full_disk_loses_nothing(sqlite: str, short: StudyDesign) -> None:
    design = replace(short, rounds=500)
    prepare(sqlite, [design])
    database = Database(sqlite)
    full = [True]

    async def scene() -> None:
        game = Game(database, design)
        await game.begin()

        @event.listens_for(database.writing, "begin")
        def limit(connection: Connection) -> None:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages if full[0] else 10**9}")

        played = 0
        answer: Refused | None = None
        while answer is None:  # until there is no room left in the pages that are there
            try:
                played = (await game.play(1, played + 1))["played"]
            except Refused as error:
                answer = error
        assert (answer.status, answer.code, answer.retry_after) == (503, "busy", 1)
        assert (await refused(game.play(1, played + 1))).status == 503
        assert (await game.service.state(game.token))["episode"]["played"] == played
        assert game.stored() == game.expected(played)
        full[0] = False  # somebody has made room
        assert (await game.play(1, played + 1))["played"] == played + 1
        await game.play(1, *range(played + 1, played + 40))
        assert game.stored() == game.expected(played + 39)

    asyncio.run(scene())
    database.close()


def test_a_foreign_lock_is_waited_for(database: Database, short: StudyDesign) -> None:
    async def scene() -> None:
        game = Game(database, short)
        await game.begin()
        other = sqlite3.connect(str(database.url.database), isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")
        move = asyncio.create_task(game.play(1, 1))
        await asyncio.sleep(0.2)
        assert not move.done()
        assert game.stored() == []  # reading goes on meanwhile
        other.execute("ROLLBACK")
        other.close()
        assert (await move)["played"] == 1
        assert game.stored() == game.expected(1)

    asyncio.run(scene())


def test_a_lock_that_stays_is_told_and_tried_again(database: Database, short: StudyDesign) -> None:
    @event.listens_for(database.writing, "connect")
    def impatient(connection: sqlite3.Connection, record: Any) -> None:
        connection.execute("PRAGMA busy_timeout = 20")

    async def scene() -> None:
        game = Game(database, short)
        await game.begin()
        other = sqlite3.connect(str(database.url.database), isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        assert (await refused(game.play(1, 1))).status == 503
        assert (await refused(game.service.answer(game.token, "rest-2", Given({})))).status == 409  # reading works
        other.execute("ROLLBACK")
        other.close()
        for t in range(1, 6):
            await game.play(1, t)
        assert game.stored() == game.expected(5)

    asyncio.run(scene())


def test_a_request_that_is_given_up_is_finished_once(database: Database, short: StudyDesign, gate: Any) -> None:
    async def scene() -> None:
        game = Game(database, short)
        await game.begin()
        busy = asyncio.create_task(database.writer.run(gate))
        await asyncio.to_thread(gate.entered.wait)
        move = asyncio.create_task(game.play(1, 1))
        while database.writer._queue.empty():
            await asyncio.sleep(0.001)
        move.cancel()
        with pytest.raises(asyncio.CancelledError):
            await move
        again = asyncio.create_task(game.play(1, 1))  # the page tries again while the first is still queued
        await asyncio.sleep(0.01)
        gate.opened.set()
        await busy
        assert (await again)["played"] == 1
        assert (await game.play(1, 2))["played"] == 2
        assert game.stored() == game.expected(2)

    asyncio.run(scene())


def test_memory_never_runs_ahead_of_the_disk(database: Database, short: StudyDesign) -> None:
    """A write that fails leaves the AI where it was: its next move is that of the plan."""

    async def scene() -> None:
        game = Game(database, short)
        await game.begin()
        await game.play(1, 1)
        failing = [True]

        @event.listens_for(database.writing, "before_cursor_execute")
        def fail(connection: Connection, cursor: Any, statement: str, *rest: Any) -> None:
            if failing[0] and statement.startswith("INSERT INTO rounds"):
                raise sqlite3.OperationalError("disk I/O error")

        for _ in range(3):
            with pytest.raises((Refused, sqlite3.OperationalError)):
                await game.play(1, 2, 3)
        failing[0] = False
        assert game.stored() == game.expected(1)
        assert (await game.service.state(game.token))["episode"]["played"] == 1
        await game.play(1, 2, 3, 4, 5)
        assert game.stored() == game.expected(5)

    asyncio.run(scene())


def test_two_services_on_one_database_stay_in_step(database: Database, short: StudyDesign) -> None:
    """As two worker processes: each has its own memory, and the database decides."""

    async def scene() -> None:
        game = Game(database, short)
        await game.begin()
        other = Participants(database)
        for t in range(1, 6):
            move = [Move(t, t % 2, f"key-{t}", 500)]
            service = (game.service, other)[t % 2]
            assert (await service.play(game.token, 1, move))["played"] == t
            for each in (game.service, other):  # a retry at either of them gets the same answer
                assert (await each.play(game.token, 1, move))["rounds"][0]["t"] == t
        assert game.stored() == game.expected(5)
        for service in (other, game.service):  # the second finds it answered
            assert (await service.answer(game.token, "rest-2", Given({})))["state"]["step"]["id"] == "episode-2"
        late = await refused(other.play(game.token, 2, [Move(2, 0, "key-of-2-2")]))
        assert (late.code, (late.state or {})["step"]["id"]) == ("out-of-order", "episode-2")

    asyncio.run(scene())


def test_a_worker_that_has_missed_something_refuses_nothing(database: Database, short: StudyDesign) -> None:
    """What one worker remembers may be old: before it refuses, it looks."""

    async def scene() -> None:
        game = Game(database, short)
        await game.begin()
        other = Participants(database)
        await other.state(game.token)  # from now on the other remembers that nothing is played
        await game.play(1, 1)
        await game.play(1, 2)
        move = [Move(3, 1, "key-of-1-3", 500)]
        assert (await other.play(game.token, 1, move))["played"] == 3
        await other.play(game.token, 1, [Move(t, t % 2, f"key-of-1-{t}", 500) for t in (4, 5)])
        assert (await game.service.answer(game.token, "rest-2", Given({})))["accepted"] is True
        assert game.stored() == game.expected(5)

    asyncio.run(scene())


def test_who_has_been_forgotten_is_remembered(database: Database, short: StudyDesign, monkeypatch: Any) -> None:
    monkeypatch.setattr("cobandit.web.services.people.MOST_PEOPLE_IN_MEMORY", 1)

    async def scene() -> None:
        game = Game(database, short)
        await game.begin()
        study = await game.service.study("short")
        for t in range(1, 6):
            token, _ = await game.service.arrive(study, Arrival(f"another-key-{t}", consent_version="1"))
            await game.service.state(token)
            await game.play(1, t)
            assert len(game.service.people) == 1
        assert len(game.service.people.turns) == 0
        with database.reading.connect() as connection:
            seed, order = connection.execute(
                text("SELECT seed, order_index FROM participants WHERE token = :t"), {"t": game.token}
            ).one()
        replay = Episode.open(ParticipantPlan(short, int(seed), order).episode(1))
        assert game.stored() == [(t, *replay.play(t, t % 2).arms) for t in range(1, 6)]

    asyncio.run(scene())
