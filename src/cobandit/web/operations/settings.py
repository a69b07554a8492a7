"""How a server is operated: the format of its log, where its metrics are, and who gets alerts."""

from __future__ import annotations

import contextlib
import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from cobandit.base.errors import InvalidInput
from cobandit.remote.policy import unusable_secret
from cobandit.web.config import WebConfig
from cobandit.web.operations.alerts import AlertHook, Watch
from cobandit.web.operations.conditions import Conditions
from cobandit.web.operations.exposition import MetricsServer
from cobandit.web.operations.logs import FORMATS
from cobandit.web.schedule import BackupSchedule


@dataclass(frozen=True)
class Operations:
    """``log`` is text or json; ``metrics`` an address and a port, or None; ``alert_url`` gets alerts.

    Metrics at an address that other machines can reach need a token.
    """

    log: str = "text"
    metrics: tuple[str, int] | None = None
    metrics_token: str | None = field(default=None, repr=False)
    alert_url: str | None = None
    alert_secret: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.log not in FORMATS:
            raise InvalidInput(f"--log must be {' or '.join(FORMATS)}, got {self.log!r}.")
        if self.metrics_token is not None:
            if self.metrics is None:
                raise InvalidInput("A token for the metrics requires --metrics ADDRESS:PORT.")
            if (problem := unusable_secret(self.metrics_token)) is not None:
                raise InvalidInput(f"The token of the metrics {problem}.")
        elif self.metrics is not None and not is_loopback(self.metrics[0]):
            raise InvalidInput(
                f"Metrics at {self.metrics[0]} can be read by other machines, so they need a token: set "
                "COBANDIT_METRICS_TOKEN or --metrics-token-file, or serve them at 127.0.0.1."
            )
        if (self.alert_url is None) != (self.alert_secret is None):
            raise InvalidInput(
                "--alert-url and a secret that signs the messages (COBANDIT_ALERT_SECRET or "
                "--alert-secret-file) require each other."
            )
        if self.alert_url is not None and self.alert_secret is not None:
            AlertHook(self.alert_url, self.alert_secret)

    @contextlib.contextmanager
    def running(self, config: WebConfig, cells: Any, backups: BackupSchedule | None) -> Iterator[None]:
        """Answer for the metrics and watch for reasons to alert, until the server ends."""
        if self.metrics is None and self.alert_url is None:
            yield
            return
        conditions = Conditions(config.database, backups, consent_elsewhere=config.consent_elsewhere)
        try:
            with contextlib.ExitStack() as stack:
                if self.metrics is not None:
                    server = MetricsServer(self.metrics, self.metrics_token, cells, conditions.gauges)
                    stack.enter_context(server)
                if self.alert_url is not None and self.alert_secret is not None:
                    hook = AlertHook(self.alert_url, self.alert_secret, config.public_url)
                    stack.enter_context(Watch(conditions.look, hook))
                yield
        finally:
            conditions.close()


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def metrics_address(text: str | None) -> tuple[str, int] | None:
    """Return address and port of a text such as 127.0.0.1:9100, [::1]:9100 or 9100; None for None."""
    if text is None:
        return None
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not (port.isascii() and port.isdigit() and int(port) <= 65535) or (":" in text and not host):
        raise InvalidInput(f"--metrics must be an address and a port, such as 127.0.0.1:9100, got {text!r}.")
    return host or "127.0.0.1", int(port)
