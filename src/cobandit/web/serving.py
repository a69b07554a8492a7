"""Prepare a database and serve it: register studies, set the password, bind the socket, start the processes."""

from __future__ import annotations

import contextlib
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cobandit.base.errors import InvalidInput
from cobandit.studies import StudyDesign
from cobandit.web.config import WebConfig
from cobandit.web.security import hash_password, password_fits
from cobandit.web.services.admission import (
    Availability,
    availability,
    store_consent_elsewhere,
    stored_consent_elsewhere,
)
from cobandit.web.services.registration import register_study
from cobandit.web.storage.accounts import PASSWORD
from cobandit.web.storage.audit import OWNER, command_line, record
from cobandit.web.storage.database import Database, unsafe_settings
from cobandit.web.storage.logins import end_logins, forget_browsers, forget_networks
from cobandit.web.storage.participants import DEMO_MS, delete_demos
from cobandit.web.storage.settings import read_setting, write_setting
from cobandit.web.storage.studies import Study
from cobandit.web.storage.values import now_ms

if TYPE_CHECKING:
    import uvicorn

    from cobandit.web.edge import Limits
    from cobandit.web.operations.settings import Operations
    from cobandit.web.schedule import BackupSchedule
    from cobandit.web.supervisor import Line

APP = "cobandit.web.app:from_environment"
SHORTEST_PASSWORD = 8
SHUTDOWN_SECONDS = 5
WAIT_SECONDS = 300.0


@dataclass(frozen=True)
class Ready:
    """What preparing has found: the studies, their states, and a password where one had to be made up."""

    studies: tuple[Study, ...]
    states: tuple[Availability, ...]
    new_password: str | None


def wait_for_database(url: str, tell: Callable[[str], None], seconds: float = WAIT_SECONDS) -> None:
    """Wait until a PostgreSQL server is there: after a power cut it may well come up later than this one."""
    database = Database(url)
    if database.sqlite:
        return  # a look would create the file, and other accounts could read it until `Database.migrate`
    try:
        until, announced = time.monotonic() + seconds, False
        while (absence := database.absence()) is not None and time.monotonic() < until:
            if not announced:
                tell(f"Waiting for the database {database.name}, for {seconds:g} s at most: {absence}")
                announced = True
            time.sleep(min(1.0, max(0.0, until - time.monotonic())))
        if announced and absence is None:
            tell("The database is there.")
    finally:
        database.close()


def prepare(
    url: str,
    designs: Sequence[StudyDesign],
    *,
    password: str | None = None,
    make_password: bool = True,
    seed: int | None = None,
    consent_elsewhere: bool | None = None,
) -> Ready:
    """Make a database ready to be served; nothing that is stored is lost by doing it again.

    ``consent_elsewhere`` is stored for the commands that state which studies take people; None keeps what is stored.
    """
    if password is not None and len(password) < SHORTEST_PASSWORD:
        raise InvalidInput(f"The password has {len(password)} characters; at least {SHORTEST_PASSWORD} are needed.")
    database = Database(url)
    try:
        database.migrate()
        with database.write() as connection:
            studies = tuple(register_study(connection, design, seed) for design in designs)
            if consent_elsewhere is not None:
                store_consent_elsewhere(connection, consent_elsewhere)
            elsewhere = stored_consent_elsewhere(connection)
            states = tuple(availability(connection, study, consent_elsewhere=elsewhere) for study in studies)
            delete_demos(connection, now_ms() - DEMO_MS)
            stored, new_password = read_setting(connection, PASSWORD), None
            if password is None and stored is None and make_password:
                password = new_password = secrets.token_urlsafe(12)
            if password is not None and (stored is None or not password_fits(password, stored)):
                write_setting(connection, PASSWORD, hash_password(password))
                end_logins(connection)
                forget_networks(connection)
                forget_browsers(connection, OWNER)
                record(connection, command_line(), "password-changed", account=OWNER)
        database.forget_deleted()
    finally:
        database.close()
    return Ready(studies, states, new_password)


def bound_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens at the address; port 0 takes any free one."""
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, _, _, address = addresses[0]
        listening = socket.socket(family, kind)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen(2048)
        except BaseException:
            listening.close()
            raise
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InvalidInput(f"The server cannot listen at {host} port {port}: {reason}. Try another --port.") from error
    listening.setblocking(False)
    return listening


def address_of(listening: socket.socket) -> str:
    """Return the address of the server for a browser on this machine."""
    host, port = listening.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{port}"


def durability_warnings(url: str) -> list[str]:
    """Return settings of a PostgreSQL server that may lose acknowledged rounds; empty for SQLite."""
    database = Database(url)
    try:
        return [
            f"PostgreSQL has {name} = off: acknowledged rounds may be lost in {event}. Set it to on."
            for name, event in unsafe_settings(database).items()
        ]
    finally:
        database.close()


def serve(
    config: WebConfig,
    listening: socket.socket,
    workers: int = 1,
    backups: BackupSchedule | None = None,
    limits: Limits | None = None,
    operations: Operations | None = None,
) -> None:
    """Serve until a signal stops the server."""
    from cobandit.web.edge import raise_file_limit
    from cobandit.web.meter import shared_cells
    from cobandit.web.operations.settings import Operations
    from cobandit.web.supervisor import Supervisor

    config.to_environment()
    raise_file_limit()
    operations = operations or Operations()
    cells = shared_cells(workers)
    observing = Observing(cells, operations.metrics is not None, operations.log == "json")
    observing.start(0)
    with (
        contextlib.suppress(KeyboardInterrupt),
        backups or contextlib.nullcontext(),
        operations.running(config, cells, backups),
    ):
        if workers == 1:
            _server(_settings(observing.app, limits, factory=True, **observing.settings)).run(sockets=[listening])
        else:
            Supervisor(workers, _work, listening, limits, observing).run()


@dataclass(frozen=True)
class Observing:
    """How a process counts and logs its requests; workers get it from their supervisor."""

    cells: Any
    counts: bool
    as_json: bool

    def start(self, row: int) -> None:
        """Prepare this process, before its server is built."""
        from cobandit.web.meter import Meter, use_meter
        from cobandit.web.operations.logs import log_as_json

        use_meter(Meter(self.cells, row))
        if self.as_json:
            log_as_json()

    def app(self) -> Any:
        """Return the server of this process, observed if that is wanted."""
        from importlib import import_module

        from cobandit.web.meter import current_meter
        from cobandit.web.operations.observing import Observed

        module, _, factory = APP.partition(":")
        app = getattr(import_module(module), factory)()
        return Observed(app, current_meter() if self.counts else None, self.as_json) if self.active else app

    @property
    def active(self) -> bool:
        """Whether requests are counted or logged."""
        return self.counts or self.as_json

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of uvicorn; its own log would not be JSON."""
        return {"log_config": None} if self.as_json else {}


def _work(line: Line, listening: socket.socket, limits: Limits | None, observing: Observing) -> None:
    """Serve in a worker process, as long as its supervisor is there."""

    async def ready() -> None:
        line.report_ready()

    def stop() -> None:
        server.should_exit = True

    observing.start(line.number - 1)
    settings = _settings(observing.app, limits, factory=True, callback_notify=ready, **observing.settings)
    server = _server(settings)
    line.watch(stop)
    with contextlib.suppress(KeyboardInterrupt):
        server.run(sockets=[listening])


def _server(settings: uvicorn.Config) -> uvicorn.Server:
    """Return a server that ends its streams of events before it waits for answers under way."""
    import uvicorn

    class Server(uvicorn.Server):
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            state = getattr(self.config.loaded_app, "state", None)
            if state is not None:
                state.participants.together.close_streams()
            await super().shutdown(sockets)

    return Server(settings)


def _settings(app: Any, limits: Limits | None, **more: Any) -> uvicorn.Config:
    import uvicorn

    from cobandit.web.edge import guarded

    return uvicorn.Config(
        app,
        http=guarded(limits),
        ws="none",
        access_log=False,  # it would fill with personal links
        log_level="warning",
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        server_header=False,
        proxy_headers=False,  # the app reads them itself, where it needs them
        **more,
    )


@contextlib.contextmanager
def running(config: WebConfig, limits: Limits | None = None) -> Iterator[str]:
    """Run a server in a thread of this process at a free port of 127.0.0.1; yield its address."""
    from cobandit.web.app import create_app

    listening = bound_socket("127.0.0.1", 0)
    server = _server(_settings(create_app(config), limits))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.005)
    if not server.started:
        raise InvalidInput("The server did not start.")
    try:
        yield address_of(listening)
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
