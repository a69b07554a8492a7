"""A progress bar for a person who waits: on a terminal only, and on stderr."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cobandit.cli.output import number

Report = Callable[[int, int], None]
Reporter = Callable[[str], Report | None]

COMPILING = "Compiling the fast engine for this machine: about 20 seconds, this once."
LOOK_EVERY = 0.2


@contextmanager
def progress_bar(total: int) -> Iterator[Reporter]:
    """Gives a function from a label to what `simulate` calls; the bar spans ``total`` runs of all labels together."""
    if not sys.stderr.isatty():
        yield lambda label: None
        return

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining
    from rich.text import Text

    class Rate(ProgressColumn):
        """Runs a second."""

        def render(self, task: Task) -> Text:
            return Text("" if task.speed is None else f"{number(task.speed)} runs/s", style="progress.data.speed")

    console = Console(file=sys.stderr, highlight=False)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), Rate(), Remaining())
    started = threading.Event()
    before = 0
    # Transient: when the work is over, the result takes the bar's place.
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=total)
        watch = threading.Thread(target=_tell_of_compiling, args=(console, started), daemon=True)
        watch.start()

        def labelled(label: str) -> Report:
            bar.update(task, description=label)

            def report(done: int, runs: int) -> None:
                nonlocal before
                started.set()
                bar.update(task, completed=before + done)
                if done == runs:
                    before += runs

            return report

        try:
            yield labelled
        finally:
            started.set()
            watch.join()


def _tell_of_compiling(console: object, started: threading.Event) -> None:
    """Say so, once, if the wait for the first runs is the compiler's."""
    while not started.wait(LOOK_EVERY):
        if _compiling():
            getattr(console, "print")(COMPILING)
            return


def _compiling() -> bool:
    """Whether a kernel was not found in the cache on disk, so that it is being made."""
    for name, module in list(sys.modules.items()):
        if name.startswith("cobandit.engine.fast.") and module is not None:
            for thing in list(vars(module).values()):
                stats = getattr(thing, "stats", None)
                if getattr(stats, "cache_misses", None):
                    return True
    return False
