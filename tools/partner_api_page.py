"""Write docs/reference/partner-api.md from the OpenAPI document of the partner service.

``python tools/partner_api_page.py``; a test compares the page with the document.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cobandit.web import WebConfig, create_app

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "partner-api.md"

INTRODUCTION = """# Partner API

The HTTP API of [`cobandit partner serve`](command-line.md#partner-serve). This page is generated from the OpenAPI
document, which a server sends at `/v1/openapi.json`. [Serve a partner](../how-to/partner-service.md) shows how the
calls work together.

Every request needs an API key: `Authorization: Bearer cb_...`. Each scope includes the former: `read`, `play`, `admin`.
Bodies are JSON of at most 128 KB (960 KB where a game is imported), and unknown keys are refused. Times are
milliseconds since 1970, UTC.
"""

ERRORS = """## Errors

An error has a code for programs and a sentence for people:
`{"error": "not-open", "message": "Round 9 is not open yet: ..."}`.

| status | `error` | meaning |
|---|---|---|
| 401 | `unauthorized` | the key is missing, wrong or revoked |
| 403 | `not-allowed` | the key has a narrower scope |
| 404 | `not-found` | the tenant has no such team, game or event, or there is nothing at this address |
| 405 | `refused` | the address has no such method |
| 409 | `not-open` | the round is not open yet |
| 409 | `already-open` | the event belongs to another round |
| 409 | `other-round` | the event belongs to another round than the one given |
| 409 | `already-observed` | the round was reported with other values, or with another key |
| 409 | `too-late` | the deadline has passed, and the default reward counts |
| 409 | `reward-needed` | this agent needs action and reward of each round before the next |
| 409 | `too-many-open` | 10,000 rounds wait for feedback |
| 409 | `before-import` | the round was played before the game was imported |
| 409 | `other-setting`, `other-game`, `other-team` | the name is taken, or the state belongs to another team |
| 409 | `too-many-teams` | the tenant has 1,000 teams |
| 413 | `too-large` | the body has more than 128 KB, or an import more than 960 KB |
| 422 | `invalid` | a value is missing, unknown or out of range |
| 422 | `broken-state` | an imported state does not fit its agent |
| 429 | `too-many` | the key has sent too many requests; `Retry-After` says when to try again |
| 500 | `damaged`, `internal` | the log of the game does not fit together, or something went wrong in the server |
| 503 | `busy` | nothing was stored; try again |
"""


def page() -> str:
    """Return the page."""
    app = create_app(WebConfig(database="sqlite:///never-opened.sqlite", partners=True))
    document: dict[str, Any] = app.state.partner_api.openapi()
    schemas = document["components"]["schemas"]
    parts = [INTRODUCTION, _routes(document)]
    for path, methods in document["paths"].items():
        parts += [_operation(method.upper(), path, operation, schemas) for method, operation in methods.items()]
    return "\n".join([*parts, _objects(schemas), ERRORS])


NESTED = ("ChoiceView", "DefaultBody", "TeamView", "ListedGame", "RoundView")
"""Objects inside of bodies and answers."""


def _objects(schemas: dict[str, Any]) -> str:
    parts = ["## Objects"]
    for name in NESTED:
        about = " ".join(schemas[name]["description"].replace("``", "`").split())
        parts += [f"### {name}", about, _fields(schemas[name], name.endswith("Body"))]
    return "\n\n".join(parts) + "\n"


def _routes(document: dict[str, Any]) -> str:
    lines = ["| route | what it does |", "|---|---|"]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            summary = operation["description"].partition("\n\n")[0].replace("\n", " ")
            lines.append(f"| `{method.upper()} {path}` | {summary} |")
    return "\n".join(lines) + "\n"


def _operation(method: str, path: str, operation: dict[str, Any], schemas: dict[str, Any]) -> str:
    about = [" ".join(paragraph.split()) for paragraph in operation["description"].split("\n\n")]
    parts = [f"## {method} {path}", *about]
    query = [parameter for parameter in operation.get("parameters", []) if parameter["in"] == "query"]
    if query:
        rows = [_row(p["name"], p["schema"] | {"description": p.get("description", "")}, False) for p in query]
        parts.append(_table("parameter", rows))
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    if body is not None:
        parts.append("Body:\n\n" + _fields(_resolved(body, schemas), True))
    answer = operation["responses"]["200"]["content"]["application/json"]["schema"]
    parts.append("Answer:\n\n" + _fields(_resolved(answer, schemas), False))
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _resolved(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    options = [schema, *schema.get("anyOf", [])]
    name = next(option["$ref"] for option in options if "$ref" in option).rpartition("/")[2]
    return dict(schemas[name])


def _fields(schema: dict[str, Any], body: bool) -> str:
    required = schema.get("required", []) if body else []
    rows = [_row(name, field, name in required) for name, field in schema["properties"].items()]
    return _table("key", rows)


def _table(first: str, rows: list[str]) -> str:
    return "\n".join([f"| {first} | type | meaning |", "|---|---|---|", *rows])


def _row(name: str, field: dict[str, Any], required: bool) -> str:
    words = [field.get("description", "")]
    if "default" in field and field["default"] not in (None, {}, ""):
        words.append(f"default `{json.dumps(field['default'])}`")
    if required:
        words.append("required")
    return f"| `{name}` | {_type(field)} | {'; '.join(word for word in words if word)} |"


def _type(field: dict[str, Any]) -> str:
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in field:
        return " or ".join(dict.fromkeys(_type(option) for option in field["anyOf"]))
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    if "const" in field:
        return f"`{json.dumps(field['const'])}`"
    if field.get("type") == "array":
        return f"list of {_type(field['items'])}"
    return str(field.get("type", "any"))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
