"""Regular backups of a server, each in a separate process, so that participants do not wait for them."""

from __future__ import annotations

import contextlib
import logging
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Self

from cobandit.base.errors import InvalidInput

log = logging.getLogger("cobandit.web")

SCHEDULED = "COBANDIT_SCHEDULED_BACKUP"
"""An environment variable by which the command knows that the clock has asked for it, and not a person."""

STOP_SECONDS = 5
NICENESS = 10


class BackupSchedule:
    """Runs `cobandit study backup` immediately and then at a fixed interval, one after the other, until it is
    closed.
    """

    def __init__(self, database: str, folder: Path, seconds: int, keep: int) -> None:
        self._database, self._seconds, self._keep = database, seconds, keep
        self.folder = folder
        self.problem: str | None = None
        """Why the last backup failed; None if it did not, or if there was none yet."""
        self._stopped = threading.Event()
        self._child: subprocess.Popen[str] | None = None
        self._thread = threading.Thread(target=self._work, name="backups", daemon=True)
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidInput(f"The folder {str(folder)!r} for backups cannot be made: {error.strerror}.") from error

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        if (child := self._child) is not None:
            child.terminate()
        self._thread.join(STOP_SECONDS)

    def _work(self) -> None:
        while not self._stopped.is_set():
            problem = self._run()
            if not self._stopped.is_set():
                self.problem = problem
                if problem is not None:
                    log.error("The backup did not work: %s", problem)
            self._stopped.wait(self._seconds)

    def _run(self) -> str | None:
        """Make one backup and return its error, or None."""
        # The address may hold a password, so it is not among the words that others can see.
        environment = os.environ | {"COBANDIT_DATABASE": self._database, SCHEDULED: "1", "NO_COLOR": "1"}
        command = [sys.executable, "-m", "cobandit", "study", "backup", str(self.folder), "--keep", str(self._keep)]
        try:
            self._child = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,  # Ctrl-C is the server's
            )
        except OSError as error:
            return str(error)
        with contextlib.suppress(AttributeError, OSError):  # not every system knows priorities
            os.setpriority(os.PRIO_PROCESS, self._child.pid, NICENESS)
        if self._stopped.is_set():  # the server has stopped between the two
            self._child.terminate()
        _, said = self._child.communicate()
        code, self._child = self._child.returncode, None
        return None if code == 0 else " ".join(said.split())[:500] or f"it ended with {code}"
