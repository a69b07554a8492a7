"""The order of the files of tests, where they keep state, and a PostgreSQL server."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import gc
import os
import shutil
import sys
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import NoReturn

import pytest
import typer.main

from cobandit.remote import settings
from cobandit.report.kit import assets
from tools import third_party

LONGEST = (
    "tests/regression/test_recorded.py",
    "tests/browser/test_robot.py",
    "tests/faults/test_history.py",
    "tests/equivalence/test_compiled.py",
    "tests/browser/test_admin.py",
    "tests/docs/test_examples.py",
    "tests/browser/test_participant.py",
    "tests/regression/outside/test_outside.py",
    "tests/contracts/test_registered_agents.py",
)
"""Files that take a minute or more, in the order in which workers take them: one that begins last is waited for by all.

What compiles is put apart: of two files that begin at once each would compile what the other does, too.
"""


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Collect all files without looking for garbage: every worker imports everything, and keeps it to the end."""
    gc.disable()
    try:
        with compiled_once(session.config):
            return (yield)
    finally:
        gc.freeze()
        gc.enable()


@contextlib.contextmanager
def compiled_once(config: pytest.Config) -> Iterator[None]:
    """Let other workers wait while one collects changed tests: pytest's rewriting of them takes long in each.

    The process that starts the workers collects nothing.
    """
    stamp = config.rootpath / "tests" / "__pycache__" / "collected"
    if sys.dont_write_bytecode or config.getoption("dist", "no") != "no" or is_newest(stamp):
        yield
        return
    stamp.parent.mkdir(exist_ok=True)
    with (stamp.parent / "collecting").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if is_newest(stamp):
            fcntl.flock(lock, fcntl.LOCK_UN)
        yield
        stamp.touch()


def is_newest(stamp: Path) -> bool:
    """Return whether all tests are as they were when the file was last touched."""
    if not stamp.exists():
        return False
    return stamp.stat().st_mtime > max(path.stat().st_mtime for path in (stamp.parents[1]).rglob("*.py"))


@pytest.fixture(scope="session", autouse=True)
def own_state_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Heads of audit logs are kept in a folder of the tests, by servers in other processes, too."""
    before = os.environ.get("XDG_STATE_HOME")
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))
    yield
    if before is None:
        del os.environ["XDG_STATE_HOME"]
    else:
        os.environ["XDG_STATE_HOME"] = before


@pytest.fixture(scope="session", autouse=True)
def demo_language_model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The built-in stand-in answers for language models, and replies go to a folder of the tests."""
    with pytest.MonkeyPatch.context() as environment:
        for name in settings.SETTINGS:
            environment.delenv(name, raising=False)
        environment.setenv(settings.URL, settings.DEMO)
        environment.setenv(settings.REPLIES, str(tmp_path_factory.mktemp("replies")))
        yield


@pytest.fixture(scope="session", autouse=True)
def commands_built_once() -> Iterator[None]:
    """Keep the tree of commands: typer's runner builds it for each call, which takes longer than most of the calls."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("typer.testing._get_command", functools.cache(typer.main.get_command))
        yield


def unable(reason: str) -> NoReturn:
    """Skip a test that lacks something, or fail it with CI=true, where a skipped test would go unnoticed."""
    if os.environ.get("CI", "").lower() in ("1", "true"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def third_party_scripts() -> None:
    """Require the scripts that `tools/third_party.py` fetches."""
    if missing := third_party.missing_files(third_party.listed_files()):
        unable(f"Third-party scripts are missing, run tools/third_party.py: {[file.target.name for file in missing]}")


@pytest.fixture
def without_scripts(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Pretend that no third-party script was copied into the package."""
    folder = tmp_path_factory.mktemp("vendor")
    shutil.copy(third_party.ROOT / third_party.TABLE, folder)
    monkeypatch.setattr(assets, "VENDOR", folder)
    return folder


@pytest.fixture
def svg_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write figures as SVG alone, for tests of something else: PDF and PNG take twice the time of all the rest."""
    monkeypatch.setattr("cobandit.report.kit.figure.FORMATS", ("svg",))


@pytest.fixture(scope="session")
def postgresql_address() -> Iterator[str]:
    """A real PostgreSQL server, for the whole session."""
    from tests.web import prepared, servers

    with contextlib.ExitStack() as stack:
        try:
            address = stack.enter_context(servers.postgresql_server())
        except servers.NoPostgreSQL as error:
            unable(str(error))
        yield address
        prepared.drop_templates()


@pytest.fixture
def postgresql(postgresql_address: str) -> Iterator[str]:
    """The address of an empty database on the server."""
    from tests.web import servers

    with servers.fresh_database(postgresql_address) as address:
        yield address


def pytest_itemcollected(item: pytest.Item) -> None:
    """Leave services and partners on PostgreSQL to `make long`, where the same test runs on SQLite.

    `make test` keeps PostgreSQL in `tests/web/storage` and in the tests of whole servers.
    """
    folder = item.nodeid.startswith(("tests/web/services/", "tests/web/partner/"))
    if folder and "postgresql" in getattr(item, "callspec", SimpleNamespace(params={})).params.values():
        item.add_marker(pytest.mark.long)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first, then those with slow tests, then the others, the more tests the sooner."""
    files = {item: item.nodeid.partition("::")[0] for item in items}
    slow = {files[item] for item in items if item.get_closest_marker("slow")}
    tests = Counter(files.values())

    def place(item: pytest.Item) -> tuple[int, bool, int, str]:
        name = files[item]
        return LONGEST.index(name) if name in LONGEST else len(LONGEST), name not in slow, -tests[name], name

    items.sort(key=place)
