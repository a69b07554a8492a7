"""The partner service under faults: every acknowledged report is stored once, and the game is that of a quiet run.

Clients play through a proxy that loses requests and answers, doubles requests, sends late copies of them, and kills the
server with SIGKILL. Rewards come late and in random order. Afterwards, the exported state of each game must equal the
state of the same reports applied in this process, without a server.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from cobandit.engine.partner_game import PartnerGame
from cobandit.remote.partner import LATER, AsyncPartnerClient
from cobandit.web import WebConfig
from cobandit.web.services.partner.keys import MOST_RATE, add_key
from cobandit.web.services.partner.settings import TeamSetting
from cobandit.web.serving import prepare
from cobandit.web.storage.database import Database
from tests.faults.harness import Gone, _closed, _message
from tests.faults.listener import Listener
from tests.web.servers import ForkedServer, StudyServer

pytestmark = [pytest.mark.slow, pytest.mark.long]

KINDS = ("request lost", "answer lost", "doubled", "late copy", "kill")
SETTING = TeamSetting("partner-aware-ts", (2, 3), 1, 300, {}, (1.0, 0.4))


class Proxy(Listener):
    """Passes requests on, one at a time on each connection, and draws a fault for a share of them."""

    def __init__(self, server: StudyServer, faults: int, seed: int) -> None:
        super().__init__()
        self._server, self.left, self._rng = server, faults, random.Random(seed)
        self._late: list[bytes] = []
        self._restart = asyncio.Lock()
        self._up = asyncio.Event()
        self._up.set()
        self.done: Counter[str] = Counter()
        self.wrong: list[bytes] = []

    async def _send_late_copies(self) -> None:
        for copy in self._late:
            self._check(await self._ask(copy))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                _, raw = await _message(reader)
                answer = await self._pass_on(raw)
                if answer is None:
                    raise Gone
                writer.write(answer)
                await writer.drain()
        except (Gone, OSError):
            await _closed(writer, at_once=True)

    async def _pass_on(self, raw: bytes) -> bytes | None:
        fault = self._rng.choice(KINDS) if self.left > 0 and self._rng.random() < 0.3 else None
        if fault == "kill" and self._rng.random() < 0.75:
            fault = "answer lost"  # a restart takes as long as hundreds of requests
        if fault is not None and self.left <= 8 and not self.done["kill"]:
            fault = "kill"  # every run has at least one
        if fault is not None:
            self.left -= 1
            self.done[fault] += 1
        if fault == "request lost":
            return None
        if fault == "kill":
            asking = asyncio.create_task(self._ask(raw))
            await asyncio.sleep(self._rng.choice((0, 0.001, 0.003)))
            await self._kill()
            await asking
            return None
        if fault == "late copy":
            self._late.append(raw)
        if fault == "doubled":
            self._check(await self._ask(raw))
        answer = await self._ask(raw)
        if self._late and self._rng.random() < 0.2:
            self._check(await self._ask(self._late.pop(self._rng.randrange(len(self._late)))))
        return None if fault == "answer lost" else answer

    async def _kill(self) -> None:
        async with self._restart:
            self._up.clear()
            try:
                await asyncio.to_thread(self._server.kill)
                if self._server.workers == 1:
                    await asyncio.to_thread(self._server.start)
            finally:
                self._up.set()  # else a failure would leave all clients waiting

    async def _ask(self, raw: bytes) -> bytes | None:
        await self._up.wait()
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self._server.port)
            try:
                writer.write(raw)
                await writer.drain()
                return (await _message(reader))[1]
            finally:
                await _closed(writer)
        except (Gone, OSError):
            return None

    def _check(self, answer: bytes | None) -> None:
        """A repeated request is answered as a success, or nothing was done."""
        if answer is not None and answer.split(b" ", 2)[1] not in (b"200", b"201", b"503"):
            self.wrong.append(answer)


async def play(client: AsyncPartnerClient, number: int, rounds: int) -> tuple[PartnerGame, list[Any]]:
    """Play a game, apply the same reports here, and return the local game with what was acknowledged."""
    rng, told, owed = random.Random(number), list[Any](), list[int]()
    game = await client.new_game("team", f"g{number}", seed=number)
    local = SETTING.new_game(number)

    async def report(t: int, action: Any, reward: Any) -> None:
        made = local.feedback(t, action, reward is not LATER, None if reward is LATER else reward, 0)
        assert made is not None
        local.apply(made)
        observed = await game.observe(action, reward, round=t)
        told.append((t, action, reward))
        assert observed.next.round == local.round

    for t in range(1, rounds + 1):
        choice = await game.choose()
        assert (choice.round, choice.arm) == (t, local.newest.arm)
        late = rng.random() < 0.4
        await report(t, (rng.randrange(2), choice.arm), LATER if late else float(rng.random() < 0.5))
        owed += [t] if late else []
        while owed and rng.random() < 0.4:
            await report(owed.pop(rng.randrange(len(owed))), None, float(rng.random() < 0.5))
    return local, told


async def under_fire(server: StudyServer, key: str, faults: int, games: int, seed: int) -> Counter[str]:
    rounds = 30
    async with (
        Proxy(server, faults, seed) as proxy,
        AsyncPartnerClient(proxy.url, key, timeout=120, retries=200) as client,
    ):
        setting = SETTING.to_dict()
        named = {name: setting.pop(name) for name in ("agent", "arms", "seat", "options")}
        await client.create_team("team", **named, **setting)
        played = list[tuple[PartnerGame, list[Any]]]()
        while proxy.left > 0 or not played:
            first = len(played)
            played += await asyncio.gather(*(play(client, first + place, rounds) for place in range(games)))
    assert proxy.wrong == []
    async with AsyncPartnerClient(server.url, key, timeout=120, retries=200) as client:
        for place, (local, told) in enumerate(played):
            game = client.game("team", f"g{place}")
            state = (await game.state())["state"]
            assert [state["partner"], state["waiting"]] == [local.state()["partner"], local.state()["waiting"]]
            rows = {row.round: row async for row in game.history()}
            assert len(rows) == rounds
            for t, action, reward in told:
                assert action is None or rows[t].action == action
                assert reward is LATER or rows[t].reward == reward
    return proxy.done


def serve(database: str, workers: int = 1) -> tuple[StudyServer, str]:
    prepare(database, [], password="correct horse")
    opened = Database(database)
    try:
        with opened.write() as connection:
            key = add_key(connection, "faults", "faults", scope="admin", rate=MOST_RATE)[1]
    finally:
        opened.close()
    return ForkedServer(WebConfig(database=database, partners=True), workers), key


@pytest.mark.parametrize("backend", ["sqlite", "postgresql"])
def test_acknowledged_reports_survive_faults(
    backend: str, tmp_path: Path, size: tuple[int, int], request: pytest.FixtureRequest
) -> None:
    faults, games = size
    if backend == "sqlite":
        server, key = serve(f"sqlite:///{tmp_path / 'partner.sqlite'}")
    else:
        server, key = serve(request.getfixturevalue("postgresql"), workers=2)
    server.log = tmp_path / "server.log"
    server.start()
    try:
        done = asyncio.run(under_fire(server, key, faults, games, seed=len(backend)))
    finally:
        server.stop()
    print(f"\n{backend}: {dict(done)}, {os.cpu_count()} cores")
    assert sum(done.values()) >= faults
    assert set(done) == set(KINDS)
    assert "Traceback" not in server.log.read_text()
