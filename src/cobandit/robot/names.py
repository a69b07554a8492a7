"""The drivers of arms by their names, and the extra that each needs: known before anything heavy is loaded."""

from __future__ import annotations

from cobandit.base import plugins
from cobandit.base.errors import UnknownName
from cobandit.base.extras import require_extras

ARMS: dict[str, str | None] = {"simulated": "robot", "rosbridge": "ros", "null": None}
"""The drivers of the package, each with its extra."""


def known_arms() -> list[str]:
    """Return every name that `cobandit.robot.make_arm` knows, ours first."""
    return [*ARMS, *(name for name in plugins.plugin_names(plugins.ARMS) if name not in ARMS)]


def require_arm(name: str, purpose: str) -> None:
    """Refuse an unknown driver, or one whose extra is missing, before any work."""
    if name not in known_arms():
        raise UnknownName("robot arm", name, known_arms())
    require_extras(purpose, robot=ARMS.get(name) == "robot", ros=ARMS.get(name) == "ros")
