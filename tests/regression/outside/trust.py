"""What was recorded, turned into what a server answers that writes down who does what."""

from __future__ import annotations

from typing import Any

_ROUTES = {
    "/api/admin/log": "get",
    "/api/admin/log/entries.jsonl": "get",
    "/api/admin/sessions": "get",
    "/api/admin/sessions/{session}": "delete",
}


def with_links(value: Any) -> Any:
    """The researcher's pages lead to the audit log and to one's own account."""
    text = value.get("text") if isinstance(value, dict) else None
    if not isinstance(text, list) or "Log out" not in text or "Report" not in text:
        return value
    place = text.index("Report")
    return value | {"text": [*text[:place], "Log", "Account", *text[place:]]}


def with_routes(value: Any) -> Any:
    """The audit log is there for programs, too."""
    refusals = [status for status in value["/api/health"]["get"] if status != "200"]
    return value | {path: {method: ["200", "401", *refusals]} for path, method in _ROUTES.items()}
