"""What each role may read and do: one table of the data, one of the routes, and a refusal for what is in neither.

An owner may do everything. A researcher runs studies: opens, closes, pays, exports, deletes, ends teams, reads the
audit log. An assistant looks after participants: watches, invites, sends messages, operates the robot, and takes no
data out.

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
    "invitations": "assistant",  # personal links that are still unused
    "messages": "assistant",  # sending them; what was sent is among the events of a participant
    "teams": "researcher",  # ending a team, or replacing a member by an AI; watching teams needs "participants"
    "links": "researcher",  # personal links of people who have begun: they open the participation
    "payments": "researcher",  # recruiting ids with amounts
    "conditions": "researcher",  # what the monitor is blind to, after unblinding
    "export": "researcher",
    "audit log": "researcher",
    "removal": "researcher",  # leaving a participant out of the analysis, and taking them back
    "designs": "researcher",  # drafts of designs, and publishing them
}
"""The least role for each kind of data, in whatever form it is asked for, and for acting on teams."""

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
        "POST /api/admin/studies/{number}/messages",
        "GET /api/admin/studies/{number}/stream",
        "GET /api/admin/studies/{number}/teams",
    ),
    "researcher": (
        "GET /admin/designs",
        "GET /admin/designs/preview",
        "GET /admin/designs/{number}",
        "GET /admin/log",
        "GET /api/admin/designs",
        "POST /api/admin/designs",
        "POST /api/admin/designs/edit",
        "POST /api/admin/designs/files",
        "POST /api/admin/designs/preview",
        "GET /api/admin/designs/schema",
        "GET /api/admin/designs/{number}",
        "POST /api/admin/designs/{number}",
        "DELETE /api/admin/designs/{number}",
        "POST /api/admin/designs/{number}/differences",
        "POST /api/admin/designs/{number}/publish",
        "GET /admin/studies/{number}/bonuses.csv",
        "GET /admin/studies/{number}/payments",
        "GET /admin/studies/{number}/payments.csv",
        "GET /admin/studies/{number}/results",
        "GET /admin/studies/{number}/results/summary",
        "GET /admin/studies/{number}/results/{kind}/{file}",
        "GET /admin/studies/{number}/results/{kind}/figures/{file}",
        "GET /api/admin/log",
        "GET /api/admin/log/entries.jsonl",
        "POST /api/admin/studies/{number}/blind",
        "POST /api/admin/studies/{number}/close",
        "GET /api/admin/studies/{number}/export",
        "GET /api/admin/studies/{number}/links",
        "GET /api/admin/studies/{number}/links.csv",
        "POST /api/admin/studies/{number}/open",
        "GET /api/admin/studies/{number}/payments",
        "GET /api/admin/studies/{number}/results",
        "GET /api/admin/studies/{number}/results.zip",
        "DELETE /api/admin/studies/{number}/participants/{participant}",
        "POST /api/admin/studies/{number}/participants/{participant}/remove",
        "POST /api/admin/studies/{number}/participants/{participant}/restore",
        "POST /api/admin/studies/{number}/state",
        "POST /api/admin/studies/{number}/teams/{team}/end",
        "POST /api/admin/studies/{number}/teams/{team}/replace",
        "POST /api/admin/studies/{number}/unblind",
    ),
    "owner": (
        "POST /admin/account/accounts",
        "POST /admin/account/accounts/{name}/remove",
        "POST /admin/account/accounts/{name}/reset",
        "GET /admin/keys",
        "POST /admin/keys",
        "POST /admin/keys/{key}/revoke",
    ),
}
"""The least role that may use a route; unlisted routes are for the owner only."""


@lru_cache(maxsize=1)
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple(
        (re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(route))), role)
        for role, routes in ROUTES.items()
        for route in routes
    )


def least_role(method: str, path: str) -> str:
    """Return the least role that may ask for an address."""
    asked = f"{'GET' if method == 'HEAD' else method} {path}"
    return next((role for pattern, role in _patterns() if pattern.fullmatch(asked)), "owner")


def may(role: str, method: str, path: str) -> bool:
    """Return whether a role may ask for an address; one that is not known may nothing."""
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
