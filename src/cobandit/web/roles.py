"""What each role may read and do: one table of the data, one of the routes, and a refusal for what is in neither.

An owner may do everything. A researcher runs studies: opens, closes, pays, exports, deletes, reads the audit log. An
assistant looks after participants: watches, invites, operates the robot, and takes no data out.

Services check the table of data themselves, so that no route, page or format gives a role more than another does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from cobandit.web.refusals import Refused

ROLES = ("assistant", "researcher", "owner")
"""Each may do what those before it may."""

DATA: dict[str, str] = {
    "participants": "assistant",  # who is where, and one participant at a time
    "invitations": "assistant",  # personal links that nobody has used yet
    "links": "researcher",  # personal links of people who have begun: they open the participation
    "payments": "researcher",  # recruiting ids with amounts
    "conditions": "researcher",  # what the monitor is blind to, after unblinding
    "export": "researcher",
    "audit log": "researcher",
}
"""The least role that may read each kind of data, in whatever form it is asked for."""

ROUTES: dict[str, tuple[str, ...]] = {
    "assistant": (
        "GET /admin",
        "GET /admin/account",
        "POST /admin/account/password",
        "POST /admin/account/codes",
        "POST /admin/account/codes/confirm",
        "POST /admin/account/codes/off",
        "POST /admin/account/sessions/{session}/end",
        "POST /admin/logout",
        "GET /admin/robot",
        "GET /admin/studies/{number}",
        "GET /admin/studies/{number}/participants/{participant}",
        "POST /api/admin/logout",
        "GET /api/admin/robot",
        "POST /api/admin/robot/connect",
        "POST /api/admin/robot/placed",
        "POST /api/admin/robot/release",
        "POST /api/admin/robot/retry",
        "POST /api/admin/robot/skip",
        "POST /api/admin/robot/stop",
        "GET /api/admin/sessions",
        "DELETE /api/admin/sessions/{session}",
        "GET /api/admin/studies",
        "GET /api/admin/studies/{number}/curves",
        "POST /api/admin/studies/{number}/links",
        "GET /api/admin/studies/{number}/live",
        "GET /api/admin/studies/{number}/participants/{participant}",
        "GET /api/admin/studies/{number}/participants/{participant}/episodes/{episode}",
        "GET /api/admin/studies/{number}/stream",
    ),
    "researcher": (
        "GET /admin/log",
        "GET /admin/studies/{number}/bonuses.csv",
        "GET /admin/studies/{number}/payments",
        "GET /admin/studies/{number}/payments.csv",
        "GET /api/admin/log",
        "GET /api/admin/log/entries.jsonl",
        "POST /api/admin/studies/{number}/blind",
        "POST /api/admin/studies/{number}/close",
        "GET /api/admin/studies/{number}/export",
        "GET /api/admin/studies/{number}/links",
        "GET /api/admin/studies/{number}/links.csv",
        "POST /api/admin/studies/{number}/open",
        "GET /api/admin/studies/{number}/payments",
        "DELETE /api/admin/studies/{number}/participants/{participant}",
        "POST /api/admin/studies/{number}/state",
        "POST /api/admin/studies/{number}/unblind",
    ),
    "owner": (
        "POST /admin/account/accounts",
        "POST /admin/account/accounts/{name}/remove",
        "POST /admin/account/accounts/{name}/reset",
    ),
}
"""The least role that may use a route; what stands nowhere is the owner's alone."""


@lru_cache(maxsize=1)
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple(
        (re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(route))), role)
        for role, routes in ROUTES.items()
        for route in routes
    )


def least_role(method: str, path: str) -> str:
    """The least role that may ask for an address."""
    asked = f"{'GET' if method == 'HEAD' else method} {path}"
    return next((role for pattern, role in _patterns() if pattern.fullmatch(asked)), "owner")


def may(role: str, method: str, path: str) -> bool:
    """Whether a role may ask for an address; one that is not known may nothing."""
    return role in ROLES and ROLES.index(role) >= ROLES.index(least_role(method, path))


@dataclass(frozen=True)
class Viewer:
    """The account that asks for data, and its role."""

    account: str
    role: str

    def may_read(self, data: str) -> bool:
        """Return whether the role may read a kind of data, a key of `DATA`."""
        return self.role in ROLES and ROLES.index(self.role) >= ROLES.index(DATA[data])

    def require(self, data: str) -> None:
        """Refuse a role that may not read a kind of data."""
        if not self.may_read(data):
            raise not_allowed(self.role, DATA[data])


def not_allowed(role: str, needed: str) -> Refused:
    """Return the refusal of a role that is below the one needed."""
    return Refused(403, "not-allowed", f"Your account has the role {role}; this needs the role {needed}.")
