"""Bots play through a proxy that cuts, delays, doubles and reorders requests, and that kills the server."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import re
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import text

from cobandit.studies import Difference, StudyDesign, verify_participant
from cobandit.web.clients.bots import Acknowledged, BotResult, play_study_async
from cobandit.web.storage.database import Database
from cobandit.web.storage.studies import find_study
from cobandit.web.storage.study_data import study_data
from tests.faults.listener import Listener

BEHAVIOURS = ("softmax", "win-stay-lose-shift", "epsilon-greedy", "knowledge-gradient")
SHARE = 0.7
"""Faults fall on so large a share of the requests of a quiet run, from its beginning, so that all of them happen."""

PATIENCE = 3_600.0
"""Seconds for which a bot asks again: the server is killed every 17 requests and serves nobody while it starts."""

FINE = (200, 201, 204, 409, 503)
"""How the server may answer what a second tab or a late copy asks for; 503 says that nothing was stored."""


@dataclass(frozen=True)
class Request:
    """One request as it came."""

    raw: bytes = field(repr=False)
    method: str
    path: str
    body: dict[str, Any]

    @property
    def owner(self) -> str:
        """Whose it is: the part of the path that names the participant, or the study for arrivals."""
        return self.path.split("/")[3]

    @property
    def move(self) -> dict[str, Any] | None:
        """The first move in it, if it plays rounds."""
        return self.body["moves"][0] if self.path.partition("?")[0].endswith("/rounds") else None

    def other_move(self, **changes: Any) -> Request:
        """The same request with another move, as a second tab would send it."""
        assert self.move is not None
        body = self.body | {"moves": [self.move | changes]}
        content = json.dumps(body).encode()
        head = self.raw.split(b"\r\n\r\n", 1)[0]
        head = re.sub(rb"(?i)content-length: *\d+", b"content-length: %d" % len(content), head)
        return Request(head + b"\r\n\r\n" + content, self.method, self.path, body)


@dataclass(frozen=True)
class Answer:
    """What the server said."""

    raw: bytes = field(repr=False)
    status: int
    body: dict[str, Any]


class Gone(Exception):
    """The other side has hung up."""


class NotNow(Gone):
    """The fault could not happen at this moment; it is still due."""


async def _message(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """The head and the whole of one HTTP message."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: *(\d+)", head)
        body = await reader.readexactly(int(length[1])) if length else b""
    except (asyncio.IncompleteReadError, OSError) as error:
        raise Gone from error
    return head, head + body


async def _closed(writer: asyncio.StreamWriter, *, at_once: bool = False) -> None:
    """Hang up; ``at_once``: without a word."""
    if at_once:
        writer.transport.abort()
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()


def _table(raw: bytes) -> dict[str, Any]:
    content = raw.split(b"\r\n\r\n", 1)[1]
    return dict(json.loads(content)) if content else {}


class Fire(Listener):
    """A proxy before a server. ``faults`` says at which request which fault is due; empty: a quiet run."""

    def __init__(self, server: Any, faults: dict[int, str], seed: int) -> None:
        super().__init__()
        self._server, self._faults = server, faults
        self._rng = random.Random(seed)
        self._due: list[str] = []
        self._up = asyncio.Event()
        self._up.set()
        self._killing = asyncio.Lock()
        self._late: dict[str, list[tuple[int, Request]]] = defaultdict(list)
        self.requests = 0
        self.done: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.acknowledged: list[tuple[str, Acknowledged]] = []  # to the second tab, by token

    async def _send_late_copies(self) -> None:
        for copies in self._late.values():
            for _, copy in copies:
                self._spawn(self._second(copy))

    # Both sides

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(Gone, OSError):
            while True:
                head, raw = await _message(reader)
                method, path = head.split(b" ", 2)[:2]
                request = Request(raw, method.decode(), path.decode(), _table(raw))
                await self._pass_on(request, writer)
                await writer.drain()
        await _closed(writer)

    async def _ask(self, request: Request) -> Answer:
        """What the server says; a connection of its own for every request, so that any worker may get it."""
        reader, writer = await self._open(request)
        try:
            head, raw = await _message(reader)
            return Answer(raw, int(head.split(b" ", 2)[1]), _table(raw))
        finally:
            await _closed(writer)

    async def _open(self, request: Request) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self._server.port)
        except OSError as error:
            raise Gone from error
        writer.write(request.raw)
        return reader, writer

    def _spawn(self, work: Any) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # Faults

    async def _pass_on(self, request: Request, client: asyncio.StreamWriter) -> None:
        if not self._up.is_set():
            raise Gone  # the server is dead just now
        self._let_late_ones_go(request.owner)
        if (fault := self._faults.get(self.requests)) is not None:
            self._due.append(fault)
        self.requests += 1
        kind = next((kind for kind in self._due if not kind.startswith("tab") or request.move is not None), None)
        if kind is None:
            answer = await self._ask(request)
            client.write(answer.raw)
            return
        self._due.remove(kind)
        try:
            await getattr(self, "_" + kind.replace("-", "_"))(request, client)
        except NotNow:
            self._due.append(kind)
            raise
        except Gone:
            self.done[kind] += 1
            raise
        self.done[kind] += 1

    def _let_late_ones_go(self, owner: str) -> None:
        waiting = [(left - 1, copy) for left, copy in self._late.pop(owner, [])]
        self._late[owner] = [(left, copy) for left, copy in waiting if left > 0]
        for left, copy in waiting:
            if left <= 0:
                self._spawn(self._second(copy))

    async def _second(self, request: Request) -> Answer | None:
        """Ask for something beside what the bot itself asks for."""
        try:
            answer = await self._ask(request)
        except Gone:
            return None
        if answer.status not in FINE:
            self.wrong.append(f"{request.method} {request.path.rsplit('/', 1)[-1]} -> {answer.status} {answer.body}")
        return answer

    async def _cut_before(self, request: Request, client: asyncio.StreamWriter) -> None:
        """The request never gets there."""
        raise Gone

    async def _cut_after(self, request: Request, client: asyncio.StreamWriter) -> None:
        """The request is carried out, the answer is lost."""
        await self._second(request)
        raise Gone

    async def _give_up(self, request: Request, client: asyncio.StreamWriter) -> None:
        """The client hangs up while the server is at it."""
        _, writer = await self._open(request)
        await asyncio.sleep(self._rng.random() * 0.005)
        await _closed(writer, at_once=True)
        raise Gone

    async def _cut_within(self, request: Request, client: asyncio.StreamWriter) -> None:
        """Half of the answer."""
        answer = await self._ask(request)
        client.write(answer.raw[: self._rng.randrange(1, len(answer.raw))])
        await client.drain()
        raise Gone

    async def _delay(self, request: Request, client: asyncio.StreamWriter) -> None:
        await asyncio.sleep(self._rng.random() * 0.05)
        client.write((await self._ask(request)).raw)

    async def _double_click(self, request: Request, client: asyncio.StreamWriter) -> None:
        """The same request twice at once: the same answer twice."""
        twice = await asyncio.gather(self._second(request), self._second(request))
        first, second = twice
        if first is None or second is None:
            raise Gone
        both = {first.status, second.status}
        # In a team, only the second of the two may find that everybody has moved.
        differ = request.move is not None and both == {200} and first.body["rounds"] != second.body["rounds"]
        if differ and {first.body.get("waiting"), second.body.get("waiting")} != {None, True}:
            self.wrong.append(f"one move, two answers: {first.body} {second.body}")
        if request.path.endswith("/participants") and first.body.get("token") != second.body.get("token"):
            self.wrong.append(f"one arrival, two people: {first.body} {second.body}")
        client.write(first.raw)

    async def _reorder(self, request: Request, client: asyncio.StreamWriter) -> None:
        """The request is held up, and arrives when others of the same person have overtaken it."""
        self._late[request.owner].append((self._rng.randint(2, 4), request))
        raise Gone

    async def _late_copy(self, request: Request, client: asyncio.StreamWriter) -> None:
        """The request arrives, and a copy of it once more, later."""
        answer = await self._ask(request)
        self._late[request.owner].append((self._rng.randint(1, 4), request))
        client.write(answer.raw)

    async def _tab_old(self, request: Request, client: asyncio.StreamWriter) -> None:
        """A second tab plays the round before again, with another arm; it must be refused."""
        assert request.move is not None
        move = request.move
        if move["t"] == 1:
            await self._tab_early(request, client)
            return
        await self._refused(request.other_move(t=move["t"] - 1, arm=1 - move["arm"], key=self._key()))
        client.write((await self._ask(request)).raw)

    async def _tab_early(self, request: Request, client: asyncio.StreamWriter) -> None:
        """A second tab is ahead of the game; it must be refused."""
        assert request.move is not None
        await self._refused(request.other_move(t=request.body["moves"][-1]["t"] + 2, key=self._key()))
        client.write((await self._ask(request)).raw)

    async def _tab_race(self, request: Request, client: asyncio.StreamWriter) -> None:
        """A second tab plays the same round and arm at the same moment; only one of the two counts."""
        other = request.other_move(key=self._key())
        sides = [("own", request), ("other", other)]
        self._rng.shuffle(sides)
        asked = {side: self._spawn(self._second(sent)) for side, sent in sides}
        own, others = await asked["own"], await asked["other"]
        if others is not None and others.status == 200 and others.body["rounds"]:
            assert other.move is not None
            made = others.body["rounds"][0]
            seen = Acknowledged(other.body["episode"], made["t"], tuple(made["arms"]), made["good"], other.move["key"])
            self.acknowledged.append((request.owner, seen))
        if own is None:
            raise Gone
        if others is not None and (own.status, others.status) == (200, 200):
            self.wrong.append(f"one round for two tabs: {own.body} {others.body}")
        client.write(own.raw)

    async def _refused(self, request: Request) -> None:
        answer = await self._second(request)
        if answer is not None and answer.status not in (409, 503):
            self.wrong.append(f"a second tab got through: {request.body} {answer.body}")

    async def _kill(self, request: Request, client: asyncio.StreamWriter) -> None:
        """kill -9 while the request is on its way."""
        async with self._killing:
            if not self._up.is_set() or not await asyncio.to_thread(self._server.worker_pids):
                raise NotNow
            _, writer = await self._open(request)
            await asyncio.sleep(self._rng.random() * 0.01)
            if self._server.workers == 1:
                self._up.clear()
                await asyncio.to_thread(self._server.kill)
                self._spawn(self._start_again())
            else:
                await asyncio.to_thread(self._server.kill)  # the others go on, and a new one comes
            await _closed(writer, at_once=True)
        raise Gone

    async def _start_again(self) -> None:
        await asyncio.to_thread(self._server.start)
        self._up.set()

    def _key(self) -> str:
        return f"second-tab-{self._rng.getrandbits(64):016x}"


KINDS = (
    "kill",
    "cut-before",
    "cut-after",
    "give-up",
    "cut-within",
    "delay",
    "double-click",
    "reorder",
    "late-copy",
    "tab-old",
    "tab-early",
    "tab-race",
)
"""Every fault, each as often as the others; but one of 40 is a kill in a large run, because each costs a start."""


def drawn(count: int, requests: int, seed: int) -> dict[int, str]:
    """Return so many faults at random places of a run with so many requests.

    The first request is spared: with it the bots ask once whether there is a server at all.
    """
    rng = random.Random(seed)
    places = rng.sample(range(1, int(requests * SHARE)), count)
    kills = min(count, max(4, count // 40))
    others = [kind for kind in KINDS if kind != "kill"]
    kinds = ["kill"] * kills + [others[i % len(others)] for i in range(count - kills)]
    rng.shuffle(kinds)
    return dict(zip(places, kinds, strict=True))


@dataclass(frozen=True)
class Outcome:
    """What came of a run: what the bots and the second tabs were told, and what the database holds."""

    results: list[BotResult]
    told: list[tuple[str, Acknowledged]]
    requests: int
    faults: Counter[str]
    wrong: list[str]
    log: dict[str, list[tuple[Any, ...]]]
    stored: dict[str, dict[tuple[int, int], tuple[Any, ...]]]
    differences: list[Difference]
    starts: int
    seconds: float

    def __str__(self) -> str:
        counted = ", ".join(f"{kind} {self.faults[kind]}" for kind in KINDS if self.faults[kind])
        rounds = sum(len(rounds) for rounds in self.stored.values())
        retries = sum(result.retries for result in self.results)
        return (
            f"{sum(self.faults.values())} faults ({counted or 'none'}); {len(self.results)} bots, "
            f"{rounds} rounds stored, {len(self.told)} acknowledgements, "
            f"{retries} retries, {self.starts} starts of the server, {self.seconds:.1f} s"
        )


def run(server: Any, design: StudyDesign, bots: int, faults: dict[int, str] | None = None, seed: int = 0) -> Outcome:
    """Play the bots through the proxy to the end, and look at what is stored."""
    return asyncio.run(_run(server, design, bots, faults or {}, seed))


async def _run(server: Any, design: StudyDesign, bots: int, faults: dict[int, str], seed: int) -> Outcome:
    told: list[tuple[str, Acknowledged]] = []

    def watch(result: BotResult, made: Acknowledged | None) -> None:
        if made is not None:
            told.append((result.token, made))

    start = time.monotonic()
    async with Fire(server, faults, seed) as fire:
        results = await play_study_async(
            fire.url,
            design.name,
            bots,
            BEHAVIOURS,
            kind="real",
            design=design,
            concurrency=bots,
            patience=PATIENCE,
            watch=watch,
        )
    database = Database(server.config.database)
    try:
        log, stored = _log(database), _stored(database)
        differences = _differences(database, design)
    finally:
        database.close()
    return Outcome(
        results,
        told + fire.acknowledged,
        fire.requests,
        fire.done,
        fire.wrong,
        log,
        stored,
        differences,
        server.starts,
        time.monotonic() - start,
    )


_LOG = {
    "people": "SELECT p.label, p.kind, p.seed, p.order_index, p.language, p.quiz_attempts, p.revision, "
    "p.finished_at IS NOT NULL FROM participants p ORDER BY p.label",
    "answers": "SELECT p.label, a.step, a.answers, a.ms FROM answers a "
    "JOIN participants p ON p.id = a.participant_id ORDER BY p.label, a.step",
    "episodes": "SELECT p.label, e.number, e.condition, e.played, e.head, e.finished_at IS NOT NULL FROM episodes e "
    "JOIN participants p ON p.id = e.participant_id ORDER BY p.label, e.number",
    "rounds": "SELECT p.label, e.number, r.t, r.arms, r.reward, r.seen, r.predictions, r.hash, "
    "r.ms FROM rounds r JOIN episodes e ON e.id = r.episode_id JOIN participants p ON p.id = e.participant_id "
    "ORDER BY p.label, e.number, r.t",
    "studies": "SELECT name, arrivals FROM studies",
}
"""Everything that is stored, but for times, keys and names drawn at random."""


def _log(database: Database) -> dict[str, list[tuple[Any, ...]]]:
    with database.reading.connect() as connection:
        return {
            name: [tuple(int(v) if isinstance(v, bool) else v for v in row) for row in connection.execute(text(query))]
            for name, query in _LOG.items()
        }


def _stored(database: Database) -> dict[str, dict[tuple[int, int], tuple[Any, ...]]]:
    """Rounds by token, episode and t; a round that is there twice would be an error of the query."""
    query = (
        "SELECT p.token, e.number, r.t, r.arms, r.seen, r.key FROM rounds r "
        "JOIN episodes e ON e.id = r.episode_id JOIN participants p ON p.id = e.participant_id"
    )
    found: dict[str, dict[tuple[int, int], tuple[Any, ...]]] = defaultdict(dict)
    with database.reading.connect() as connection:
        for token, episode, t, arms, seen, key in connection.execute(text(query)):
            assert (episode, t) not in found[token], f"round {t} of episode {episode} is stored twice"
            outcome = json.loads(seen)[0]
            found[token][episode, t] = (tuple(json.loads(arms)), None if outcome is None else bool(outcome), key)
    return dict(found)


def _differences(database: Database, design: StudyDesign) -> list[Difference]:
    """What a computation of every AI move, reward and hash from the start finds wrong."""
    found: list[Difference] = []
    with database.reading.connect() as connection:
        study = find_study(connection, design.name)
        assert study is not None
        for person in study_data(connection, study).participants:
            plan = person.plan(design)
            assert plan is not None
            logs = {index: episode.rounds() for index, episode in person.episodes.items()}
            found += verify_participant(plan, logs, finished=True)
    return found


def lost_or_changed(outcome: Outcome) -> list[str]:
    """Every acknowledged round that is not stored just as it was acknowledged."""
    return [
        f"{made} was told, {outcome.stored.get(token, {}).get((made.episode, made.t))} is stored"
        for token, made in outcome.told
        if outcome.stored.get(token, {}).get((made.episode, made.t)) != (made.arms, made.good, made.key)
    ]
