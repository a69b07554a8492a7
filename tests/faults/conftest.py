"""Servers to shoot at; the files with the tools are opened by their paths, for test folders are no packages."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from cobandit.studies import StudyDesign, load_design
from cobandit.web import WebConfig
from cobandit.web.serving import prepare

HERE = Path(__file__).parent
SEED = 20_240_601
FAULTS = int(os.environ.get("COBANDIT_FAULTS", "48"))
BOTS = int(os.environ.get("COBANDIT_FAULT_BOTS", "8"))


def _opened(name: str, path: Path) -> ModuleType:
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


servers = _opened("cobandit_test_servers", HERE.parent / "web" / "servers.py")


@pytest.fixture(scope="session")
def fire() -> ModuleType:
    """The proxy with its faults."""
    return _opened("cobandit_test_faults", HERE / "harness.py")


@pytest.fixture(scope="session")
def past() -> ModuleType:
    """The clients who write everything down, and the checker."""
    return _opened("cobandit_test_history", HERE / "history.py")


@pytest.fixture(scope="session")
def size() -> tuple[int, int]:
    """How many faults and bots; COBANDIT_FAULTS and COBANDIT_FAULT_BOTS make the tests larger."""
    return FAULTS, BOTS


@pytest.fixture(scope="session")
def burger() -> StudyDesign:
    return load_design("burger")


@contextlib.contextmanager
def _starting() -> Iterator[Callable[..., Any]]:
    with contextlib.ExitStack() as stack:

        def begin(
            database: str,
            *designs: StudyDesign,
            workers: int = 1,
            script: str = "",
            environment: dict[str, str] | None = None,
        ) -> Any:
            prepare(database, designs, password="correct horse", seed=SEED)
            server = servers.StudyServer(WebConfig(database=database, consent_elsewhere=True), workers)
            server.script = script + server.script
            server.environment = environment or {}
            stack.callback(server.stop)
            return server.start()

        yield begin


@pytest.fixture
def start() -> Iterator[Callable[..., Any]]:
    """Start a server in a process of its own over a new database with these studies."""
    with _starting() as begin:
        yield begin


@pytest.fixture(scope="session")
def quiet(fire: ModuleType, burger: StudyDesign, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What the bots do and leave behind when nothing happens to them."""
    with _starting() as begin:
        server = begin(f"sqlite:///{tmp_path_factory.mktemp('quiet') / 'studies.sqlite'}", burger)
        return fire.run(server, burger, BOTS)


@pytest.fixture
def postgresql() -> Iterator[str]:
    """The address of an empty database of a real server."""
    with contextlib.ExitStack() as stack:
        try:
            address = stack.enter_context(servers.postgresql_server())
        except servers.NoPostgreSQL as error:
            if os.environ.get("CI", "").lower() in ("1", "true"):
                pytest.fail(str(error), pytrace=False)
            pytest.skip(str(error))
        yield stack.enter_context(servers.fresh_database(address))
