"""Options of every server for the people who operate it: log, metrics, alerts."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cobandit.base.errors import InvalidInput

if TYPE_CHECKING:
    from cobandit.web.operations.settings import Operations

THE_OPERATION = "Operation"
TOKEN_VARIABLE, SECRET_VARIABLE = "COBANDIT_METRICS_TOKEN", "COBANDIT_ALERT_SECRET"


@dataclass(frozen=True)
class OperationOptions:
    """How the server is operated."""

    log: Annotated[
        str, typer.Option(metavar="text|json", help="Format of the log on stderr", rich_help_panel=THE_OPERATION)
    ] = "text"
    metrics: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS:PORT",
            help="Where to serve Prometheus metrics, such as 127.0.0.1:9100",
            rich_help_panel=THE_OPERATION,
        ),
    ] = None
    metrics_token_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File with the bearer token of the metrics", rich_help_panel=THE_OPERATION),
    ] = None
    alert_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Address that gets signed alerts", rich_help_panel=THE_OPERATION),
    ] = None
    alert_secret_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File with the secret that signs alerts", rich_help_panel=THE_OPERATION),
    ] = None

    def checked(self) -> Operations:
        """Return the settings, or the error of invalid ones."""
        from cobandit.web.operations.settings import Operations, metrics_address

        address, url = metrics_address(self.metrics), self.alert_url
        token = secret_given(self.metrics_token_file, TOKEN_VARIABLE, "--metrics-token-file")
        secret = secret_given(self.alert_secret_file, SECRET_VARIABLE, "--alert-secret-file")
        # A variable may be set for all servers of a machine, also for those without metrics and alerts.
        if address is None and self.metrics_token_file is None:
            token = None
        if url is None and self.alert_secret_file is None:
            secret = None
        return Operations(self.log, address, token, url, secret)


def secret_given(file: Path | None, variable: str, option: str) -> str | None:
    """Return the first line of a file, else the value of an environment variable, else None."""
    if file is None:
        return os.environ.get(variable) or None
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{option} must be a readable text file, got {str(file)!r}.") from error
    if not lines or not lines[0].strip():
        raise InvalidInput(f"{option} must be a file with a first line, got {str(file)!r}.")
    return lines[0].strip()
