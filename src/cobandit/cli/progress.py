"""A progress bar for a person who waits: on a terminal only, and on stderr."""

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
