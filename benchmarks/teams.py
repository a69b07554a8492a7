"""Teams of two people under load: ``python -m benchmarks teams``.

Every request is the page's (`benchmarks.pairs`), every member has a stream, and every round is durable before anybody
sees it. People who play alone are measured at this version and at the one before teams in turn.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

from benchmarks import before
from benchmarks.crowd import Met, Order
from benchmarks.measure import NOW, Pair, environment
from benchmarks.report import Report
from benchmarks.studies import FLAT_OUT, PASSWORD, SECONDS, last_core, play, serving
from cobandit.studies import StudyDesign, load_design
from cobandit.studies.journey import journey
from cobandit.web.serving import prepare
from cobandit.web.storage.answers import add_answer
from cobandit.web.storage.database import Database
from cobandit.web.storage.participants import add_participant
from cobandit.web.storage.studies import find_study
from cobandit.web.storage.teams import join_lobby, update_lobby

PEOPLE = 200


def pair() -> StudyDesign:
    """Return the casino for two people as one long episode that they play together, without questions before it."""
    data = load_design("casino-pair").to_dict()
    for name in ("practice", "quiz", "attention", "demographics", "translations", "messages"):
        data.pop(name, None)
    data["conditions"] = [condition for condition in data["conditions"] if not condition.get("alone")]
    for seat in data["seats"]:
        seat["timeout_seconds"] = 3600  # the first teams wait for the last ones before all begin
    return StudyDesign.from_dict(data | {"rounds": 10_000, "episodes": 1, "languages": ["en"]})


def pairs(order: Order) -> Met:
    """Send teams, from a process of its own."""
    command = [sys.executable, "-m", "benchmarks.pairs", json.dumps(asdict(order))]
    with last_core():
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return Met(**json.loads(done.stdout))


def measured(people: int = PEOPLE, rate: float | None = None, seconds: float = SECONDS, *, pinned: bool = True) -> Met:
    """Return what teams meet at a server of one process with SQLite; ``rate`` None: as fast as it goes."""
    with tempfile.TemporaryDirectory() as folder:
        database = f"sqlite:///{folder}/studies.sqlite"
        prepare(database, [pair()], password=PASSWORD)
        with serving(database, pinned=pinned) as server:
            return pairs(Order(server.url, "casino-pair", people, seconds, rate, server=tuple(server.worker_pids())))


LOBBY = 1000
TURNS = 3


def single(source: Path) -> Met:
    """Return what 100 people who play alone meet at a version of the server."""
    with tempfile.TemporaryDirectory() as folder:
        database = f"sqlite:///{folder}/studies.sqlite"
        command = [sys.executable, "-m", "benchmarks.stored", database, "0", "0"]
        subprocess.run(command, check=True, cwd=before.ROOT, env=environment(source))
        with serving(database, source) as server:
            return play(server, FLAT_OUT)


def lobby_megabytes(people: int = LOBBY) -> tuple[float, float]:
    """Return by how much a server grows when people wait in the lobby with open streams, and the cores it uses then.

    They have not answered that they are there, so that no team is formed of them.
    """
    with tempfile.TemporaryDirectory() as folder:
        database = f"sqlite:///{folder}/studies.sqlite"
        prepare(database, [pair()], password=PASSWORD)
        tokens = _waiting(database, people + 1)
        with serving(database) as server:
            command = [sys.executable, "-m", "benchmarks.waiting", server.url, str(server.pid), *tokens]
            with last_core():
                done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    grown, cores = json.loads(done.stdout)
    return float(grown), float(cores)


def _waiting(url: str, people: int) -> list[str]:
    """Store people who are in the lobby; return their tokens."""
    database, now = Database(url), time.time_ns() // 1_000_000
    try:
        with database.write() as connection:
            study = find_study(connection, "casino-pair")
            assert study is not None
            tokens = [f"waiting-for-a-team-{place:06d}" for place in range(people)]
            for token in tokens:
                person = add_participant(
                    connection,
                    study_id=study.id,
                    token=token,
                    key=token,
                    kind="real",
                    seed="1",
                    order_index=0,
                    language="en",
                    created_at=now,
                    consented_at=now,
                    last_seen=now,
                )
                for step in journey(study.design).steps:
                    if step.kind == "lobby":
                        break
                    add_answer(connection, person, step.id, {}, now, None)
                join_lobby(connection, person, study.id, "real", now, now + 3_600_000)
                update_lobby(connection, [person], asked_at=1)
        return tokens
    finally:
        database.close()


def add_lines(report: Report) -> None:
    """Teams of two as fast as it goes and at a round a second; waiting people; and people alone, beside before."""
    fast = [measured() for _ in range(TURNS)]
    rounds, cpu = (
        statistics.median(values) for values in zip(*((m.a_second, m.cpu_per_thousand) for m in fast), strict=True)
    )
    name = f"{PEOPLE // 2} teams of two, as fast as it goes, median of {TURNS}"
    report.limit(name, rounds, "rounds/s", "at least 2,500", lambda now: now >= 2500)
    report.add(f"{name}, CPU a round", cpu, "ms")
    report.add(f"{name}, cores used by the clients", statistics.median(m.own_cpu / m.seconds for m in fast))
    # The writer's thread may use what the clients leave of the last core, as it does for everybody who does not pin.
    free = [measured(pinned=False) for _ in range(TURNS)]
    rounds = statistics.median(met.a_second for met in free)
    name = name.replace("as it goes", "as it goes, server on all cores")
    report.limit(name, rounds, "rounds/s", "at least 2,500", lambda now: now >= 2500)
    paced = min((measured(rate=1.0) for _ in range(TURNS)), key=lambda met: met.p99)
    name = f"{PEOPLE} people in teams of two, 1 round/s, from the last move to both screens"
    report.add(f"{name}, p50", paced.p50, "ms")
    report.limit(f"{name}, p99, best of {TURNS}", paced.p99, "ms", "under 100", lambda now: now < 100)
    report.add("teams, errors", sum(met.errors for met in [*fast, paced]), "", "0", not any(m.errors for m in fast))
    grown, cores = lobby_megabytes()
    report.limit(f"{LOBBY:,} people in the lobby, the server grows by", grown, "MB", "under 100", lambda now: now < 100)
    report.add(f"{LOBBY:,} people in the lobby, cores used by the server", cores)
    earlier = before.source(before.TEAMS_BASE)
    if earlier is not None:
        turns = [[single(source) for source in (NOW, earlier)[:: -1 if turn % 2 else 1]] for turn in range(TURNS)]
        ordered = [met[:: -1 if turn % 2 else 1] for turn, met in enumerate(turns)]
        alone = [
            statistics.median(met.cpu_per_thousand for met in of_version) for of_version in zip(*ordered, strict=True)
        ]
        report.add(f"{FLAT_OUT} people alone, CPU a round, beside the version before teams", Pair(*alone), "ms")
        ratio = alone[0] / alone[1]
        report.limit("the same as a ratio", ratio, "x", "at most 1.05", lambda now: now <= 1.05)
