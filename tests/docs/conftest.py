"""The pages of the documentation, cut into blocks, and ways to run what they show."""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from tests.terminal import ServeCommand

ROOT = Path(__file__).resolve().parents[2]

AT_THE_ROOT = ("README.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "SECURITY.md")

FENCE = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```[ ]*$", re.MULTILINE | re.DOTALL)
NOTE = re.compile(r"<!-- ([^\n]*) -->\s*\Z")
DRAWN = "docs/gallery.md"  # run by tests/browser/test_documentation.py, which looks at the pictures, too
LONG = {
    "docs/discussion/arm-labels.md",
    "docs/discussion/heavy-tails.md",
    "docs/discussion/theorem-1.md",
    "docs/how-to/analyse-a-study.md",
    "docs/how-to/arena.md",
    "docs/how-to/between-subjects.md",
    "docs/how-to/compare-teams.md",
    "docs/how-to/compile-an-agent.md",
    "docs/how-to/drifting-means.md",
    "docs/how-to/edit-designs-in-the-browser.md",
    "docs/how-to/fit-models-to-choices.md",
    "docs/how-to/hidden-actions.md",
    "docs/how-to/mixed-teams-and-more-agents.md",
    "docs/how-to/other-rewards-and-sight.md",
    "docs/how-to/pilot-a-study.md",
    "docs/how-to/plan-a-sample-size.md",
    "docs/how-to/reproduce-the-figures.md",
    "docs/how-to/run-a-team-study.md",
    "docs/how-to/scores-and-drift-in-a-study.md",
    "docs/how-to/serve-with-a-robot.md",
    "docs/how-to/tasks-with-states.md",
    "docs/how-to/your-own-rewards.md",
    "docs/reference/command-line.md",
    "docs/reference/paper-map.md",
    "docs/tutorials/custom-agent.md",
    "docs/tutorials/first-study.md",
    "docs/tutorials/why-did-this-team-lose.md",
}
"""Pages whose examples take longest; the tests of the commands run the same code on less data."""

NOT_RUN = "not run:"  # and then the reason
TYPED = "typed:"
FILE = "file:"

PASSWORD = re.compile(r"(?<=Password: {4})\S+")
ENGINE = re.compile(r"\b(?:fast|reference) engine\b")
TOOK = re.compile(r"\b\d+(?:\.\d+)? (?:s|min)\b")
LOOSE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """One fenced block. ``note`` is the HTML comment just above it, ``before`` the text between it and the last one."""

    kind: str
    text: str
    line: int
    note: str
    before: str

    @property
    def runs(self) -> bool:
        """Whether the tests run it."""
        return not self.note.startswith(NOT_RUN)

    def commands(self) -> list[Command]:
        """Return every ``cobandit`` line of a shell block, continued lines joined, with the output shown below it."""
        if self.kind not in ("console", "sh"):
            return []
        typed = "\n".join(self.note.removeprefix(TYPED).split()) if self.note.startswith(TYPED) else "q"
        commands: list[Command] = []
        shown: list[str] | None = None
        for line in re.sub(r"\\\n\s*", " ", self.text).splitlines():
            command = line.removeprefix("$ ")
            if (self.kind == "sh" or line.startswith("$ ")) and command.startswith("cobandit"):
                commands.append(Command(command, typed + "\n", ""))
                shown = []
            elif line.startswith("$ "):
                shown = None
            elif shown is not None and self.kind == "console":
                shown.append(line)
                commands[-1] = Command(commands[-1].line, commands[-1].typed, "\n".join(shown))
        return commands


@dataclass(frozen=True)
class Command:
    """One command line of a console block, what a person types meanwhile, and the output shown below it."""

    line: str
    typed: str
    shown: str


@dataclass(frozen=True)
class Page:
    """One page of the documentation."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.relative_to(ROOT).as_posix()

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def prose(self) -> str:
        """The page without its fenced blocks."""
        return FENCE.sub("", self.text)

    @cached_property
    def blocks(self) -> list[Block]:
        found, last = [], 0
        for match in FENCE.finditer(self.text):
            before = self.text[last : match.start()]
            note = NOTE.search(before)
            body = re.sub(f"^{match[1]}", "", match[3], flags=re.MULTILINE)
            line = self.text.count("\n", 0, match.start()) + 2
            found.append(Block(match[2], body, line, note[1] if note else "", before))
            last = match.end()
        return found

    def section(self, heading: str) -> str:
        """The text below a heading of the second level, up to the next one."""
        match = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", self.text, re.MULTILINE | re.DOTALL)
        assert match, f"{self.name} has no section called {heading!r}"
        return match[1]

    def python_blocks(self) -> Iterator[tuple[Block, str | None]]:
        """The Python blocks to run, each with the output shown right below it, if any."""
        for place, block in enumerate(self.blocks):
            if block.kind == "python" and block.runs:
                below = self.blocks[place + 1 : place + 2]
                shows = bool(below) and below[0].kind == "text" and not below[0].before.strip()
                yield block, below[0].text if shows else None

    def files(self) -> dict[str, str]:
        """The files whose text the page shows, by name: the commands may use them."""
        noted = [block for block in self.blocks if block.note.startswith(FILE)]
        return {block.note.removeprefix(FILE).strip(): block.text for block in noted}

    def commands(self) -> list[Command]:
        """Return every command of the page that the tests run."""
        return [command for block in self.blocks if block.runs for command in block.commands()]

    def runs_code(self) -> bool:
        """Return whether the page has anything to run."""
        return any(self.python_blocks()) or bool(self.commands())


def _pages() -> list[Page]:
    documents = [path for path in (ROOT / "docs").rglob("*.md") if "decisions" not in path.parts]
    return [Page(path) for path in [*(ROOT / name for name in AT_THE_ROOT), *sorted(documents)]]


PAGES = _pages()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test with ``running_page`` for every page with code to run."""
    if "running_page" in metafunc.fixturenames:
        running = [page for page in PAGES if page.runs_code() and page.name != DRAWN]
        marked = [pytest.param(page, marks=[pytest.mark.long] * (page.name in LONG), id=page.name) for page in running]
        metafunc.parametrize("running_page", marked)


@pytest.fixture
def pages() -> list[Page]:
    """Every page."""
    return PAGES


@pytest.fixture
def page_called() -> Any:
    """A page by its path from the root of the repository."""
    return lambda name: Page(ROOT / name)


@pytest.fixture
def module(request: pytest.FixtureRequest) -> Iterator[types.ModuleType]:
    """An empty module that can be found by name, as pickling what is defined in it needs."""
    made = types.ModuleType(re.sub(r"\W", "_", f"docs_{request.node.name}"))
    sys.modules[made.__name__] = made
    yield made
    del sys.modules[made.__name__]


@pytest.fixture
def run_python(module: types.ModuleType) -> Any:
    """Run code in that module and give back what it prints; a traceback names the page and its line."""

    def run(code: str, origin: str, line: int = 1) -> str:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("\n" * (line - 1) + code, origin, "exec"), module.__dict__)
        return printed.getvalue()

    return run


@pytest.fixture
def run_command(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run a ``cobandit`` line in this process; gives typer's result with exit_code and output."""
    from typer.testing import CliRunner

    from cobandit.cli import app

    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")

    def run(line: str, typed: str = "") -> Any:
        program, *arguments = shlex.split(line, comments=True)
        assert program == "cobandit"
        return CliRunner().invoke(app, arguments, input=typed, prog_name="cobandit")

    return run


@pytest.fixture
def serve() -> Iterator[Any]:
    """Start a ``cobandit study serve`` line at a free port until the test ends; gives its output with port 8000."""
    servers: list[ServeCommand] = []

    def start(line: str) -> str:
        servers.append(ServeCommand(line, Path.cwd()))
        return servers[-1].printed.replace(servers[-1].address, "http://127.0.0.1:8000")

    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def same_output() -> Any:
    """Whether an output is as the page shows it: white space counts as one blank, ``...`` stands for anything.

    Durations, drawn passwords and the engine, which depends on what is compiled already, are not compared.
    """
    checker = doctest.OutputChecker()

    def plain(text: str) -> str:
        return PASSWORD.sub("<password>", TOOK.sub("some time", ENGINE.sub("an engine", text))).strip() + "\n"

    return lambda shown, came: checker.check_output(plain(shown), plain(came), LOOSE)
