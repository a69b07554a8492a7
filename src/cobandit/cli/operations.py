"""Options of every server for the people who operate it: log, metrics, alerts."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cobandit.base.errors import InvalidInput
from cobandit.base.files import read_text
from cobandit.cli.declare import option

if TYPE_CHECKING:
    from cobandit.web.operations.settings import Operations

THE_OPERATION = "Operation"
TOKEN_VARIABLE, SECRET_VARIABLE = "COBANDIT_METRICS_TOKEN", "COBANDIT_ALERT_SECRET"
LONGEST_SECRET = 2**20


@dataclass(frozen=True)
class OperationOptions:
    """How the server is operated."""

    log: Annotated[str, option("text|json", "Format of the log on stderr", THE_OPERATION)] = "text"
    metrics: Annotated[
        str | None, option("ADDRESS:PORT", "Where to serve Prometheus metrics, such as 127.0.0.1:9100", THE_OPERATION)
    ] = None
    metrics_token_file: Annotated[
        Path | None, option("FILE", "File with the bearer token of the metrics", THE_OPERATION)
    ] = None
    alert_url: Annotated[str | None, option("URL", "Address that gets signed alerts", THE_OPERATION)] = None
    alert_secret_file: Annotated[
        Path | None, option("FILE", "File with the secret that signs alerts", THE_OPERATION)
    ] = None

    def checked(self) -> Operations:
        """Return the settings, or the error of invalid ones."""
        from cobandit.web.operations.settings import Operations, metrics_address

        address, url = metrics_address(self.metrics), self.alert_url
        token = secret_given(self.metrics_token_file, TOKEN_VARIABLE, "token file")
        secret = secret_given(self.alert_secret_file, SECRET_VARIABLE, "secret file")
        # A variable may be set for all servers of a machine, also for those without metrics and alerts.
        if address is None and self.metrics_token_file is None:
            token = None
        if url is None and self.alert_secret_file is None:
            secret = None
        return Operations(self.log, address, token, url, secret)


def secret_given(file: Path | None, variable: str, what: str) -> str | None:
    """Return the first line of a file, else the value of an environment variable, else None; ``what`` is the file."""
    if file is None:
        return os.environ.get(variable) or None
    line = next(iter(read_text(file, what, LONGEST_SECRET).splitlines()), "").strip()
    if not line:
        raise InvalidInput(f"The {what} {str(file)!r} has no first line.")
    return line
