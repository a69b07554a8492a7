"""Progress bars on stderr, on terminals only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cobandit.cli.door import notices
from cobandit.cli.output import number

if TYPE_CHECKING:
    from rich.progress import Progress

Report = Callable[[int, int], None]
Reporter = Callable[[str], Report | None]


def run_bars(*, transient: bool, unit: str = "runs") -> Progress:
    """Return bars on stderr that count runs, or another unit, with rate and remaining time."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining
    from rich.text import Text

    class Rate(ProgressColumn):
        """Units a second."""

        def render(self, task: Task) -> Text:
            return Text("" if not task.speed else f"{number(task.speed)} {unit}/s", style="progress.data.speed")

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), Rate(), Remaining())
    return Progress(*columns, console=Console(file=sys.stderr, highlight=False), transient=transient)


@contextmanager
def progress_bar(teams: int) -> Iterator[Reporter]:
    """Yield a function that takes a label and returns the callback for `simulate`. The bar covers the runs of all
    teams.
    """
    if not sys.stderr.isatty():
        yield lambda label: None
        return

    before = 0
    # Transient: when the work is done, the result replaces the bar.
    with run_bars(transient=True) as bar, notices(bar.console.print):
        task = bar.add_task("", total=None)

        def labelled(label: str) -> Report:
            bar.update(task, description=label)

            def report(done: int, runs: int) -> None:
                nonlocal before
                bar.update(task, total=runs * teams, completed=before + done)
                if done == runs:
                    before += runs

            return report

        yield labelled


@contextmanager
def counting(label: str, unit: str) -> Iterator[Report | None]:
    """Yield what work on many equal parts calls with (done, all), or None where stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    with run_bars(transient=True, unit=unit) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def working(label: str) -> Iterator[None]:
    """Show a moving bar and the elapsed time on a terminal while work runs that cannot be counted."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(file=sys.stderr, highlight=False), transient=True) as bar:
        bar.add_task(label, total=None)
        yield
