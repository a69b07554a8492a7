"""Several workers of one server: how they start, are replaced and stop."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cobandit.web import WebConfig
from tests.clients import PATIENCE
from tests.web.servers import ForkedServer, processes, spawned_by, until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the tests send signals of POSIX systems")


@pytest.fixture
def server(short_sqlite: str, tmp_path: Path) -> Iterator[ForkedServer]:
    """A real server with two workers."""
    server = ForkedServer(WebConfig(short_sqlite), 2)
    server.log = tmp_path / "log"
    server.start()
    yield server
    server.stop()


def printed(server: ForkedServer) -> str:
    assert server.log is not None
    return server.log.read_text()


def gone(pids: list[int]) -> bool:
    return not {pid for pid, _, command in processes() if command} & set(pids)


def listening(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=PATIENCE).close()
    except ConnectionRefusedError:
        return False
    return True


def test_workers_that_are_still_starting_stop_with_their_supervisor(server: ForkedServer) -> None:
    for worker in server.worker_pids():
        os.kill(worker, signal.SIGKILL)
    workers = until(lambda: "replaces it" in printed(server) and server.worker_pids())
    os.kill(server.pid, signal.SIGKILL)
    until(lambda: gone(workers) and not listening(server.port), "the workers are gone")


def test_a_killed_worker_is_replaced_and_logged_and_all_stop_with_their_supervisor(server: ForkedServer) -> None:
    first, second = server.worker_pids()
    os.kill(first, signal.SIGKILL)
    pattern = r"Worker [12] \(process (\d+)\) was killed by signal 9\. Process (\d+) replaces it\.\n"
    match = until(lambda: re.fullmatch(pattern, printed(server)))
    assert int(match[1]) == first
    workers = [second, int(match[2])]
    assert until(lambda: sorted(server.worker_pids()) == sorted(workers))
    assert server.answers()
    os.kill(server.pid, signal.SIGKILL)
    until(lambda: gone(workers), "the workers are gone")
    assert not listening(server.port)


@pytest.mark.parametrize(
    "number",
    [signal.SIGTERM, *(pytest.param(number, marks=[pytest.mark.long]) for number in (signal.SIGINT, signal.SIGHUP))],
)
def test_a_signal_stops_everything(server: ForkedServer, number: signal.Signals) -> None:
    workers = server.worker_pids()
    os.kill(server.pid, number)
    assert server.wait() == 0
    assert gone(workers)
    assert not listening(server.port)
    assert printed(server) == ""


SLOW = """
import sys, time
from pathlib import Path
from cobandit.web import supervisor

def work(line, folder):
    line.watch(lambda: None)
    while not (folder / "go").exists():
        time.sleep(0.01)
    line.report_ready()
    (folder / "ready").write_text("")
    time.sleep(3600)

if __name__ == "__main__":
    supervisor.SLOW_START_SECONDS = supervisor.STOP_SECONDS = 0.1
    supervisor.Supervisor(1, work, Path(sys.argv[1])).run()
"""


def test_a_slow_start_is_logged_and_not_interrupted(tmp_path: Path) -> None:
    script, log = tmp_path / "slow.py", tmp_path / "log"
    script.write_text(SLOW)
    with log.open("wb") as output:
        process = subprocess.Popen([sys.executable, str(script), str(tmp_path)], stderr=output)
    try:
        (worker,) = until(lambda: spawned_by(process.pid))
        until(lambda: f"Worker 1 (process {worker}) is still starting" in log.read_text())
        assert spawned_by(process.pid) == [worker]
        (tmp_path / "go").write_text("")
        until((tmp_path / "ready").exists)
        assert spawned_by(process.pid) == [worker]
        assert log.read_text().count("\n") == 1
    finally:
        process.terminate()
        process.wait(PATIENCE)
    assert f"(process {worker}) did not stop within" in log.read_text()
    assert gone([worker])


BROKEN = """
import os, sys
from pathlib import Path
from cobandit.web import supervisor

def work(line, folder, served):
    if served and not (folder / "served").exists():
        line.report_ready()
        (folder / "served").write_text("")
    os._exit(7)

if __name__ == "__main__":
    supervisor.RESTART_SECONDS = 0.01
    supervisor.Supervisor(1, work, Path(sys.argv[1]), sys.argv[2] == "served").run()
"""


def run_broken(folder: Path, how: str, **options: Any) -> subprocess.Popen[str]:
    script = folder / "broken.py"
    script.write_text(BROKEN)
    return subprocess.Popen([sys.executable, str(script), str(folder), how], text=True, **options)


def test_workers_that_cannot_start_end_the_server(tmp_path: Path) -> None:
    process = run_broken(tmp_path, "never", stderr=subprocess.PIPE)
    _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "ended with exit code 7 before it could serve." in error


def test_a_server_that_has_served_does_not_give_up(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("w") as output:
        process = run_broken(tmp_path, "served", stderr=output)
    try:
        until(lambda: log.read_text().count("ended with exit code 7. Process") >= 3)
        assert process.poll() is None
    finally:
        process.terminate()
        process.wait(PATIENCE)
