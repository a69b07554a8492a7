"""Nothing is acknowledged before the disk has it: the order of writes, syncs and answers, recorded in the server."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cobandit.studies import StudyDesign, load_design
from tests.clients import http_client

pytestmark = pytest.mark.slow

CLIENTS, MOVES = 6, 20
KEY = re.compile(rb"order-[0-9]+-[0-9]+-end")
UNSAFE = (
    "from sqlalchemy import event\n"
    "from sqlalchemy.pool import Pool\n"
    "event.listen(Pool, 'checkout', lambda driver, *more: driver.execute('PRAGMA synchronous = OFF'))\n"
)


class Record(NamedTuple):
    """What the server did: a kind of `order.c`, the number of the file, and the bytes."""

    kind: str
    file: int
    data: bytes


@pytest.fixture(scope="module")
def recorder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that records, compiled."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or sys.platform != "linux":
        missing = "The order of writes and answers is recorded on Linux, with a C compiler."
        if os.environ.get("CI", "").lower() in ("1", "true"):
            pytest.fail(missing, pytrace=False)
        pytest.skip(missing)
    library = tmp_path_factory.mktemp("order") / "order.so"
    source = Path(__file__).with_name("order.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl", "-lpthread"], check=True)
    return library


def records(path: Path) -> Iterator[Record]:
    data, place = path.read_bytes(), 0
    while place < len(data):
        end = data.index(b"\n", place)
        kind, file, length = data[place:end].split()
        place = end + 1 + int(length)
        yield Record(kind.decode(), int(file), data[end + 1 : place])


def early(log: list[Record]) -> tuple[list[str], int]:
    """The moves that were acknowledged before the log with them was synced, and how many were acknowledged."""
    asked: dict[int, bytes] = {}
    written, synced = set[bytes](), set[bytes]()
    problems, acknowledged = [], 0
    for record in log:
        if record.kind == "r" and (match := KEY.search(record.data)):
            asked[record.file] = match[0]
        elif record.kind == "w":
            written.update(KEY.findall(record.data))
        elif record.kind == "s":
            synced |= written
        elif record.kind == "a" and record.file in asked and record.data.startswith(b"HTTP/1.1 200"):
            key = asked.pop(record.file)
            acknowledged += 1
            if key not in synced:
                problems.append(f"{key.decode()} was acknowledged before it was synced")
    return problems, acknowledged


def _play(url: str, client: int) -> None:
    with http_client(url) as http:
        version = http.get("/api/studies/plain").json()["consent"]["version"]
        arrival = {"key": f"arrival-{client:06d}", "consent_version": version}
        token = http.post("/api/studies/plain/participants", json=arrival).json()["token"]
        state, given = http.get(f"/api/participants/{token}").json(), dict[str, Any]()
        while state["step"]["kind"] != "episode":
            if state["step"]["kind"] == "quiz":
                given = given or {asked["id"]: 0 for asked in state["quiz"]["questions"]}
            else:
                given = {a["id"]: a["low"] if a["answer"] == "whole" else 0 for a in state.get("demographics", ())}
            step = f"/api/participants/{token}/answers/{state['step']['id']}"
            answer = http.post(step, json={"answers": given}).json()
            given = given | {id: given[id] + 1 for id in answer["wrong"]} if answer["wrong"] else {}
            state = answer["state"]
        for t in range(1, MOVES + 1):
            body = f'{{"episode":0,"moves":[{{"t":{t},"arm":0,"key":"order-{client}-{t}-end","ms":1}}]}}'
            moved = http.post(
                f"/api/participants/{token}/rounds?language=en",
                content=body,
                headers={"content-type": "application/json"},
            )
            assert moved.status_code == 200, moved.text


@pytest.mark.parametrize("safe", [True, False])
def test_every_move_is_synced_before_it_is_acknowledged(
    recorder: Path, start: Callable[..., Any], tmp_path: Path, safe: bool
) -> None:
    """And where SQLite is told not to sync, that is seen."""
    data = load_design("casino").to_dict() | {"name": "plain", "practice": None, "rounds": MOVES}
    server = start(
        f"sqlite:///{tmp_path / 'studies.sqlite'}",
        StudyDesign.from_dict(data),
        script="" if safe else UNSAFE,
        environment={"LD_PRELOAD": str(recorder), "ORDER_LOG": str(tmp_path / "order.log")},
    )
    threads = [threading.Thread(target=_play, args=(server.url, client)) for client in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    server.stop()
    problems, acknowledged = early(list(records(tmp_path / "order.log")))
    assert acknowledged == CLIENTS * MOVES
    assert bool(problems) != safe, problems[:5]
