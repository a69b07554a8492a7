"""The process that fills the pool: the physics of a burger takes about a second, which no request should wait for.

The server starts it as ``python -m cobandit.web.services.robot.filler FOLDER VARIANTS SKIN``; it exits when all
recordings exist.
"""

from __future__ import annotations

import contextlib
import logging
import os
import subprocess
import sys
import threading

from cobandit.web.services.robot.pool import Pool

log = logging.getLogger("cobandit.web")

NICENESS = 15


def fill(pool: Pool, turn: int = 0) -> list[str]:
    """Record everything that is missing; what did not work, in words."""
    from cobandit.robot import scene_description, simulate_burger  # the engine, which servers do not load

    if not pool.has_scene:
        pool.add_scene(scene_description(pool.skin))
    trouble = []
    for burger in pool.missing(turn):
        recording = simulate_burger(burger.configuration, burger.seed)
        if recording.status == "done":
            pool.add(burger, recording.to_bytes())
        else:
            trouble.append(f"Burger {burger.name} is left out: {recording.message}")
    return trouble


class Filler:
    """Fills a pool in a process of its own, as long as the server runs."""

    def __init__(self, pool: Pool) -> None:
        command = [sys.executable, "-m", __name__, str(pool.home), str(pool.variants), pool.skin]
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        self._stopped = False
        self._thread = threading.Thread(target=self._watch, name="burger-pool", daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        _, said = self._process.communicate()
        if self._stopped:
            return
        for line in said.strip().splitlines()[-5:]:
            log.warning("Recording burgers: %s", line)

    def stop(self) -> None:
        """End the process, if it is still at it."""
        self._stopped = True
        self._process.terminate()
        self._thread.join()


def main() -> None:
    """Fill the pool that the arguments name: one of each burger first, the others while the machine is idle."""
    folder, variants, skin = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    with contextlib.suppress(KeyboardInterrupt):
        fill(Pool.open(folder, 1, skin), turn=os.getpid())
        with contextlib.suppress(OSError, AttributeError):  # not on every system
            os.nice(NICENESS)
        for line in fill(Pool.open(folder, variants, skin), turn=os.getpid()):
            print(line, file=sys.stderr)


if __name__ == "__main__":
    main()
