"""What was recorded, turned into pages that are good to use: partners with names, results, four languages."""

from __future__ import annotations

from typing import Any

from cobandit.studies import design_text
from cobandit.studies.page_texts import page_texts

from .doors import left_out_value

_DESIGN = {"task", "survey", "consent", "limits"}
"""Keys by which a design is known."""

_STATE = {"step", "progress", "texts", "task", "limits"}
"""Keys by which the state of a participant is known."""

_NEW = (
    *("partner.", "ribbon.demo.short", "ribbon.rehearsal.short", "casino.best", "casino.sound", "survey.apart"),
    *("rest.record", "rest.best", "rest.average", "rest.chart", "robot.credit"),
)
_REWORDED = (
    *("episode.burger.many", "episode.casino.many", "episode.grid.many"),
    *("rest.burger.done", "rest.casino.done", "rest.grid.done"),
)


def with_texts(value: Any) -> Any:
    """The pages name partners and whose looks an arm has, count over both parts, tell results and speak of sound."""
    body = value["body"]
    now = page_texts(body["language"])
    new = {key: text for key, text in now.items() if key.startswith(_NEW) or key in _REWORDED}
    return value | {"body": body | {"messages": body["messages"] | new}}


def french(value: Any) -> Any:
    """Asked for French, the server answered in English; it speaks French now."""
    return value | {"body": value["body"] | {"language": "fr", "messages": page_texts("fr")}}


def with_partners(value: Any) -> Any:
    """Designs may name partners and word the pages; an attention check may stand apart."""
    if isinstance(value, list):
        return [with_partners(part) for part in value]
    if not isinstance(value, dict):
        return value
    value = {key: with_partners(part) for key, part in value.items()}
    if not value.keys() >= _DESIGN:
        return value
    checks = [{"apart": False} | check for check in value.get("attention", [])]
    return {"partners": [], "messages": {}} | value | {"attention": checks}


def named_example(value: Any) -> Any:
    """The example names its partners and speaks two languages more; nothing else of it has changed."""
    lines, now = value["lunch.toml"], design_text("three-by-three").splitlines()
    now = [{'name = "three-by-three"': 'name = "lunch"', "version = 2": "version = 1"}.get(line, line) for line in now]
    before = [line for line in lines if not line.startswith("languages")]
    rest = iter(now)
    assert all(line in rest for line in before), "every line is still there, in its order"
    return value | {"lunch.toml": now}


def with_results(value: Any) -> Any:
    """Who plays several casinos is told how the ones before went; how well is seen where it was recorded before."""
    if isinstance(value, list):
        return [with_results(part) for part in value]
    if not isinstance(value, dict):
        return value
    value = {key: with_results(part) for key, part in value.items()}
    kind = value["step"]["kind"] if value.keys() >= _STATE else ""
    if kind == "rest":
        rest = value["rest"]
        finished = 0 if rest["practice"] else (rest["set"] - 1) * rest["of"] + rest["done"]
    elif kind == "episode":
        view = value["episode"]
        finished = 0 if view["practice"] else (view["set"] - 1) * view["episodes"] + view["episode"] - 1
    else:
        return value
    return value | {"results": left_out_value([1] * finished)}
