"""A ``cobandit study serve`` command as a person runs it: a process at a terminal, until it is stopped."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import threading
from pathlib import Path

from tests.clients import PATIENCE, http_client

READY = "Stop with Ctrl-C."


class ServeCommand:
    """A running server; ``printed`` is what the person reads, ``address`` where it listens."""

    def __init__(self, line: str, folder: Path, port: int = 0) -> None:
        words = [sys.executable, "-m", *shlex.split(line, comments=True), "--port", str(port)]
        environment = os.environ | {"COLUMNS": "100", "NO_COLOR": "1"}
        self._terminal, end = os.openpty()  # into a pipe the server would print no password
        try:
            self._process = subprocess.Popen(words, stdin=end, stdout=end, stderr=end, env=environment, cwd=folder)
        finally:
            os.close(end)
        self.printed = ""
        while READY not in self.printed:
            text = self._read()
            if not text:
                self.stop()
                raise AssertionError(f"{line} ended with\n{self.printed}")
            self.printed += text
        # A terminal holds little: a server that nobody reads would wait.
        self._reader = threading.Thread(target=self._read_on, daemon=True)
        self._reader.start()
        self.address = self._printed(r"http://127\.0\.0\.1:\d+")
        self.port = int(self.address.rpartition(":")[2])
        # The server prints its address before it handles signals: a Ctrl-C that comes sooner may be lost.
        with http_client(self.address) as client:
            client.get("/api/health")

    def _read(self) -> str:
        try:
            return os.read(self._terminal, 65_536).decode().replace("\r\n", "\n")
        except OSError:  # the process has ended and closed its side
            return ""

    def _read_on(self) -> None:
        while text := self._read():
            self.printed += text

    def _printed(self, pattern: str) -> str:
        match = re.search(pattern, self.printed)
        assert match, f"{pattern} is not in\n{self.printed}"
        return match[0]

    @property
    def password(self) -> str:
        """The password that was printed."""
        return self._printed(r"(?<=Password: {4})\S+")

    @property
    def demo(self) -> str:
        """The address of the demo."""
        return self._printed(r"http://\S+\?demo=1")

    def stop(self) -> None:
        """Send what Ctrl-C sends, and wait for the end; kill a server that does not stop."""
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise
        if hasattr(self, "_reader"):
            self._reader.join()
        os.close(self._terminal)
