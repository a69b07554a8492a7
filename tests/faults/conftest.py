"""Servers to shoot at."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from cobandit.studies import StudyDesign, load_design
from cobandit.web import WebConfig
from tests.faults import harness
from tests.web.prepared import prepare_copy
from tests.web.servers import ForkedServer, StudyServer

SEED = 20_240_601
FAULTS = int(os.environ.get("COBANDIT_FAULTS", "48"))
BOTS = int(os.environ.get("COBANDIT_FAULT_BOTS", "8"))


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
            prepare_copy(database, designs, "correct horse", SEED)
            kind = StudyServer if environment else ForkedServer
            server = kind(WebConfig(database=database, consent_elsewhere=True), workers)
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
def quiet(burger: StudyDesign, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What the bots do and leave behind when nothing happens to them."""
    with _starting() as begin:
        server = begin(f"sqlite:///{tmp_path_factory.mktemp('quiet') / 'studies.sqlite'}", burger)
        return harness.run(server, burger, BOTS)
