"""What each role may do at the server: one table of every route, and a refusal for whatever is not in it.

An owner may do everything. A researcher runs studies: opens, closes, exports, deletes, reads the audit log. An
assistant looks after participants: watches, invites, operates the robot, and takes no data out.
"""

from __future__ import annotations

import re
from functools import lru_cache

ROLES = ("assistant", "researcher", "owner")
"""Each may do what those before it may."""

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
        "GET /admin/studies/{number}/payments",
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
        "GET /api/admin/studies/{number}/links",
        "POST /api/admin/studies/{number}/links",
        "GET /api/admin/studies/{number}/live",
        "GET /api/admin/studies/{number}/participants/{participant}",
        "GET /api/admin/studies/{number}/participants/{participant}/episodes/{episode}",
        "GET /api/admin/studies/{number}/payments",
        "GET /api/admin/studies/{number}/stream",
    ),
    "researcher": (
        "GET /admin/log",
        "GET /admin/studies/{number}/bonuses.csv",
        "GET /admin/studies/{number}/payments.csv",
        "GET /api/admin/log",
        "GET /api/admin/log/entries.jsonl",
        "POST /api/admin/studies/{number}/blind",
        "POST /api/admin/studies/{number}/close",
        "GET /api/admin/studies/{number}/export",
        "GET /api/admin/studies/{number}/links.csv",
        "POST /api/admin/studies/{number}/open",
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
