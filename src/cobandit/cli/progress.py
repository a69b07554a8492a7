"""A progress bar for a person who waits: on a terminal only, and on stderr."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cobandit.cli.output import number

if TYPE_CHECKING:
    from rich.progress import Progress

Report = Callable[[int, int], None]
Reporter = Callable[[str], Report | None]

COMPILING = "Compiling the fast engine for this machine: some 20 s, the first time only."
LOOK_EVERY = 0.2


def run_bars(*, transient: bool) -> Progress:
    """Bars on stderr that count runs, with rate and remaining time."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining
    from rich.text import Text

    class Rate(ProgressColumn):
        """Runs a second."""

        def render(self, task: Task) -> Text:
            return Text("" if not task.speed else f"{number(task.speed)} runs/s", style="progress.data.speed")

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), Rate(), Remaining())
    return Progress(*columns, console=Console(file=sys.stderr, highlight=False), transient=transient)


@contextmanager
def progress_bar(teams: int) -> Iterator[Reporter]:
    """Gives a function from a label to what `simulate` calls; the bar spans the runs of all teams."""
    if not sys.stderr.isatty():
        yield lambda label: None
        return

    before = 0
    # Transient: when the work is over, the result takes the bar's place.
    with run_bars(transient=True) as bar, _CompilerWatch(bar.console.print) as watch:
        task = bar.add_task("", total=None)

        def labelled(label: str) -> Report:
            bar.update(task, description=label)
            watch.wait_for_runs()

            def report(done: int, runs: int) -> None:
                nonlocal before
                watch.runs_came()
                bar.update(task, total=runs * teams, completed=before + done)
                if done == runs:
                    before += runs

            return report

        yield labelled


class _CompilerWatch:
    """Says so, once, if the wait for a team's first runs is the compiler's."""

    def __init__(self, say: Callable[[str], object]) -> None:
        self._say = say
        self._over = threading.Event()
        self._waiting = False
        self._known = 0
        self._thread = threading.Thread(target=self._look, name="compiler-watch", daemon=True)

    def __enter__(self) -> _CompilerWatch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def wait_for_runs(self) -> None:
        """From now on a new kernel is what is waited for."""
        self._known = kernels_compiled()
        self._waiting = True

    def runs_came(self) -> None:
        """The kernel is there."""
        self._waiting = False

    def _look(self) -> None:
        while not self._over.wait(LOOK_EVERY):
            if self._waiting and kernels_compiled() > self._known:
                self._say(COMPILING)
                return


def kernels_compiled() -> int:
    """How many kernels were, or are just being, compiled by this process for want of a copy on disk.

    Numba keeps count in each compiled function's ``stats``; numba itself need not be imported to ask.
    """
    missed = 0
    for name, module in list(sys.modules.items()):
        if name.startswith("cobandit.engine.fast."):
            for thing in list(vars(module).values()):
                missed += len(getattr(getattr(thing, "stats", None), "cache_misses", ()))
    return missed
