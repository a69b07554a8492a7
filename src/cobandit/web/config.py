"""What a server is started with. It travels to worker processes as JSON in the environment."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from cobandit.base.errors import InvalidInput
from cobandit.web.root_path import checked_root_path
from cobandit.web.storage.database import DEFAULT_URL

VARIABLE = "COBANDIT_WEB_CONFIG"


@dataclass(frozen=True)
class WebConfig:
    """``database`` is an address; ``demo`` lets all visitors try the studies; ``report`` is a folder with a report.

    ``docs`` is a folder with the documentation as a site, or None.

    ``unlisted`` names studies that the home page does not show; their links work.

    ``consent_elsewhere``: participants have agreed elsewhere, so a shipped placeholder consent does not close the
    study.

    ``partners`` adds the partner service, below /v1.

    ``public_url`` is the public address of the server, for links that are copied; without it, the address of the
    request. ``root_path`` is the URL path of the server behind a proxy, such as /lab.

    ``robot`` is "none", "simulated" (``robot_variants`` recordings of each burger, stored in ``robot_folder``,
    with the look ``robot_skin``) or an arm of `cobandit.robot`, which the file ``robot_arm`` may describe.
    """

    database: str = DEFAULT_URL
    demo: bool = False
    unlisted: tuple[str, ...] = ()
    consent_elsewhere: bool = False
    report: str | None = None
    docs: str | None = None
    public_url: str | None = None
    partners: bool = False
    root_path: str = ""
    robot: str = "none"
    robot_url: str | None = None
    robot_arm: str | None = None
    robot_speed: float = 0.25
    robot_folder: str | None = None
    robot_variants: int = 8
    robot_skin: str = "own"

    def __post_init__(self) -> None:
        object.__setattr__(self, "root_path", checked_root_path(self.root_path, self.public_url))

    @property
    def report_page(self) -> Path | None:
        """Return the file of the report, if there is one."""
        path = None if self.report is None else Path(self.report) / "report.html"
        return path if path is not None and path.is_file() else None

    def to_environment(self) -> None:
        """Leave it where `from_environment` finds it, in this process and those it starts."""
        os.environ[VARIABLE] = json.dumps(asdict(self))

    @classmethod
    def from_environment(cls) -> WebConfig:
        """Return the configuration that the starting process has left."""
        text = os.environ.get(VARIABLE)
        if text is None:
            raise InvalidInput(f"{VARIABLE} is not set; start the server with `cobandit study serve`.")
        settings = json.loads(text)
        return cls(**settings | {"unlisted": tuple(settings.get("unlisted", ()))})
