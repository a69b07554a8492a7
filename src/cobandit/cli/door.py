"""Error handling of all commands: errors as one line, exit code 130 after Ctrl-C, no message for a closed pipe."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from cobandit.base.errors import CobanditError

WRONG_INPUT = 2
INTERRUPTED = 130  # 128 + SIGINT, the convention of shells


class ErrorHandlingGroup(TyperGroup):
    """The group of all commands. Expected errors end a command without a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command and turn its errors into one line and an exit code."""
        try:
            with notices(say):
                return super().invoke(ctx)
        except CobanditError as error:
            _fail(str(error))
        except KeyboardInterrupt:
            say("Interrupted: stopped before the end; nothing was kept.")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            raise
        except OSError as error:
            _fail(os_error_line(error))
        except MemoryError:
            _fail("The memory of this machine is full; ask for fewer runs, checkpoints, rounds or arms.")

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program, and flush its output before Python shuts down, or detect that the output cannot be
        delivered.
        """
        try:
            try:
                return super().main(*args, **kwargs)
            finally:
                sys.stdout.flush()
        except BrokenPipeError:
            _forget_stdout()
            sys.exit(1)
        except OSError as error:  # such as a full disk behind `> file`
            _forget_stdout()
            say(f"Error: {os_error_line(error)}")
            sys.exit(WRONG_INPUT)


class _Notices(logging.Handler):
    """A log handler that prints the package's messages on stderr. Messages about compiling appear on terminals only."""

    def __init__(self, show: Callable[[str], object]) -> None:
        super().__init__(logging.WARNING)
        self._show = show

    def emit(self, record: logging.LogRecord) -> None:
        if sys.stderr.isatty() or not getattr(record, "compiling", False):
            self._show(record.getMessage())


@contextlib.contextmanager
def notices(show: Callable[[str], object]) -> Iterator[None]:
    """Show the package's log messages with ``show`` inside of the with block."""
    log, handler = logging.getLogger("cobandit"), _Notices(show)
    outside, propagates = log.handlers, log.propagate
    log.handlers, log.propagate = [handler], False
    try:
        yield
    finally:
        log.handlers, log.propagate = outside, propagates


def say(text: str) -> None:
    """Print one line on stderr, so that stdout contains only data."""
    with contextlib.suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def os_error_line(error: OSError) -> str:
    """Return a line with the error of the operating system and the file."""
    reason = error.strerror or str(error) or type(error).__name__
    return f"{reason}: {str(error.filename)!r}." if error.filename is not None else f"{reason}."


def _fail(message: str) -> NoReturn:
    say(f"Error: {message}")
    raise typer.Exit(WRONG_INPUT) from None


def _forget_stdout() -> None:
    """Make Python's own flush at shutdown succeed even if data are left in the buffer."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
