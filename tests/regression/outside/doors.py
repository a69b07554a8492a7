"""The doors that outlast every rebuilding of the inside: the command line, a real server, and the files they write."""

from __future__ import annotations

import contextlib
import csv
import importlib.util
import io
import os
import re
import runpy
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from unittest import mock

import httpx

PASSWORD = "correct horse"
PATIENCE = 120.0
"""Seconds after which a server that does not answer is given up; nothing is measured by it."""


# The command line


@dataclass(frozen=True)
class Printed:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


def _plain() -> dict[str, str]:
    left_out = ("FORCE_COLOR", "PY_COLORS", "COBANDIT_DATABASE", "COBANDIT_PASSWORD")
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    return kept | {"COLUMNS": "80", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}


def command(*words: str, folder: Path, stdin: str = "", plots: bool = True) -> Printed:
    """``python -m cobandit`` within this process, which spares each command a second of imports.

    Without ``plots`` it finds no Matplotlib, as on a machine without that extra: figures take most of an analysis.
    """
    out, err, code = io.StringIO(), io.StringIO(), 0
    find = importlib.util.find_spec

    def found(name: str, package: str | None = None) -> Any:
        return None if name == "matplotlib" and not plots else find(name, package)

    with (
        contextlib.chdir(folder),
        mock.patch.dict(os.environ, _plain(), clear=True),
        mock.patch.object(sys, "argv", ["cobandit", *words]),
        mock.patch.object(sys, "stdin", io.StringIO(stdin)),
        mock.patch.object(importlib.util, "find_spec", found),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            runpy.run_module("cobandit", run_name="__main__")
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    return Printed(code, out.getvalue(), err.getvalue())


def program(*words: str, folder: Path, stdin: str = "") -> Printed:
    """The same as a program of its own, for commands that start workers."""
    done = subprocess.run(
        [sys.executable, "-m", "cobandit", *words],
        input=stdin, capture_output=True, text=True, encoding="utf-8", cwd=folder, env=_plain(), check=False,
    )  # fmt: skip
    return Printed(done.returncode, done.stdout, done.stderr)


def worked(printed: Printed) -> Printed:
    """What a command printed that must not fail."""
    if printed.code != 0:
        raise RuntimeError(f"The command ended with {printed.code}: {printed.err[-2000:]}")
    return printed


# The server


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextlib.contextmanager
def serving(folder: Path, *designs: str, database: str, more: tuple[str, ...] = ()) -> Iterator[str]:
    """``cobandit study serve`` at a free port, as a program of its own; gives its address."""
    (folder / "password.txt").write_text(PASSWORD + "\n", encoding="utf-8")
    port = _free_port()
    words = ["study", "serve", *designs, "--port", str(port), "--database", database]
    words += ["--password-file", "password.txt", *more]
    said = folder / "server.txt"
    address = f"http://127.0.0.1:{port}"
    with said.open("w", encoding="utf-8") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "cobandit", *words], stdout=log, stderr=log, cwd=folder, env=_plain()
        )
    try:
        until = time.monotonic() + PATIENCE
        while not _answers(address):
            if server.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"The server does not answer: {said.read_text(encoding='utf-8')}")
            time.sleep(0.05)
        yield address
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(PATIENCE)
    if server.returncode != 0:
        raise RuntimeError(f"The server ended with {server.returncode}: {said.read_text(encoding='utf-8')}")


def _answers(address: str) -> bool:
    try:
        return httpx.get(f"{address}/api/health", trust_env=False).status_code == 200
    except httpx.TransportError:
        return False


# Files and pages as values that can be compared


def cell(text: str) -> Any:
    """A cell of a CSV file: a number where it is one."""
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    try:
        return float(text)
    except ValueError:
        return text


def csv_columns(text: str) -> dict[str, list[Any]]:
    """A CSV table by its columns."""
    header, *rows = csv.reader(io.StringIO(text))
    return {name: [cell(row[place]) for row in rows] for place, name in enumerate(header)}


class _Visible(HTMLParser):
    """The words of a page that somebody sees or hears; not its styles and scripts."""

    SILENT = ("script", "style", "template", "svg")
    SPOKEN = ("alt", "aria-label", "placeholder", "title")

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent += tag in self.SILENT
        if not self._silent:
            self.words += [value for name, value in attrs if name in self.SPOKEN and value]

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in self.SILENT

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.words.append(data)


def visible(page: str) -> list[str]:
    """The visible text of a page, piece by piece, with spaces collapsed."""
    parser = _Visible()
    parser.feed(page)
    pieces = (" ".join(word.split()) for word in parser.words)
    return [piece for piece in pieces if piece]


# What differs from one recording to the next


class Names:
    """Stand-ins for what is drawn anew each time: links, pseudonyms, codes; numbered as they first appear."""

    PATTERNS = (
        (re.compile(r"(?<=/p/)[A-Za-z0-9_-]{32}"), "link"),
        (re.compile(r"\bp-[a-z0-9]{8}\b"), "person"),
        (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?( ?UTC|Z|\+00:00)?"), "time"),
        (re.compile(r"\b\d{1,2} [A-Z][a-z]{2} \d{4}, \d\d:\d\d UTC"), "time"),
        (re.compile(r"\b\d+\.\d+ s(?= in all$|$)"), "time"),
        (re.compile(r"(?<=^Free disk space: ).*"), "size"),
        (re.compile(r"http://127\.0\.0\.1:\d+"), "address"),
    )
    TIMES = range(1_600_000_000_000, 2_600_000_000_000)
    """Whole numbers that can only be times, in milliseconds since 1970."""
    LEFT_OUT = frozenset(
        {"minutes", "seconds", "sha256", "cobandit", "numpy", "analysed_with", "engine", "engine_reason", "successes"}
    )
    """Keys and columns whose values hang on the clock, on installed versions, or on what the process has loaded."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self._codes: list[str] = []

    def code(self, drawn: str) -> None:
        """A completion code, which has no form to be known by."""
        self._codes.append(drawn)

    def _standing(self, text: str, kind: str) -> str:
        if kind in ("time", "address", "size"):
            return f"<{kind}>"
        if text not in self._known:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            self._known[text] = f"<{kind} {self._counts[kind]}>"
        return self._known[text]

    def _named(self, kind: str, found: re.Match[str]) -> str:
        return self._standing(found[0], kind)

    def settled(self, value: Any) -> Any:
        """A value without what differs from one recording to the next: the one place where anything is left out."""
        if isinstance(value, dict):
            left_out = self.LEFT_OUT | ({"idle_seconds"} if "last_seen" in value else set())
            if "step" in value:  # of a participant: sums of rounds that are compared one by one
                left_out |= {"results"}
            made = {
                self.settled(key): left_out_value(part) if key in left_out else self.settled(part)
                for key, part in value.items()
            }
            if "token" in value:
                made["token"] = self._standing(value["token"], "login" if "expires_at" in value else "link")
            return made
        if isinstance(value, list | tuple):
            return [self.settled(part) for part in value]
        if isinstance(value, str):
            for place, drawn in enumerate(self._codes):
                value = value.replace(drawn, f"<code {place + 1}>")
            for pattern, kind in self.PATTERNS:
                value = pattern.sub(partial(self._named, kind), value)
            return value
        if isinstance(value, int) and not isinstance(value, bool) and value in self.TIMES:
            return "<time>"
        return value


def left_out_value(value: Any) -> Any:
    """What stands in place of a value that is not compared; empty stays empty."""
    if isinstance(value, list):
        return [left_out_value(part) for part in value]
    return value if value in (None, "") else "<left out>"
