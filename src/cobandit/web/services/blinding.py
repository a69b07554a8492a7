"""The monitor is blind to conditions until a researcher asks to see them, which the audit log keeps.

Blind, conditions stand as letters in an order that says nothing, regret by condition is not told, and neither is what
an AI foresaw, for that tells the algorithms apart. Simulated people and demos are no data and are shown as they are.
"""

from __future__ import annotations

import hashlib
import json
import string
from collections.abc import Mapping
from typing import Any

from cobandit.web.services.studies import stored_study
from cobandit.web.storage.audit import record
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.settings import claim_setting, read_setting, write_setting
from cobandit.web.storage.studies import Study
from cobandit.web.storage.values import as_json


async def unblind(database: Database, number: int, by: str) -> None:
    """Show the conditions of a study to one account from now on; the one place where that is done, and written down."""

    def job(connection: Connection) -> None:
        study = stored_study(connection, number)
        sighted = set(json.loads(claim_setting(connection, _setting(number), "[]")))
        if by not in sighted:
            write_setting(connection, _setting(number), as_json(sorted({*sighted, by})))
            record(connection, by, "unblinded", study.label)

    await database.commit(job)


async def blind(database: Database, number: int, by: str) -> None:
    """Hide the conditions from an account again."""

    def job(connection: Connection) -> None:
        stored_study(connection, number)
        sighted = set(json.loads(claim_setting(connection, _setting(number), "[]")))
        write_setting(connection, _setting(number), as_json(sorted(sighted - {by})))

    await database.commit(job)


async def masks_for(database: Database, number: int, by: str, kind: str) -> dict[str, str]:
    """Letters for the conditions of a study, where an account is blind to them; empty where it may see them."""

    def ask(connection: Connection) -> dict[str, str]:
        study = stored_study(connection, number)
        return {} if kind != "real" or by in _sighted(connection, number) else letters(study)

    return await database.ask(ask)


def letters(study: Study) -> dict[str, str]:
    """A letter for each condition, in an order that follows from the study's seed."""
    names = [condition.name for condition in study.design.conditions]
    names.sort(key=lambda name: hashlib.sha256(f"letter:{study.seed}:{name}".encode()).digest())
    return dict(zip(names, string.ascii_uppercase, strict=False))


def masked_live(view: dict[str, Any], masks: Mapping[str, str]) -> dict[str, Any]:
    """Who is where, without what tells conditions apart; rows are sorted anew, for their places would tell."""
    if not masks:
        return view | {"blind": False}
    orders = [row | {"order": [masks[name] for name in row["order"]]} for row in view["orders"]]
    orders.sort(key=lambda row: row["order"])
    places = [row["order"] for row in orders]
    conditions = [row | {"name": masks[row["name"]]} for row in view["conditions"]]
    return view | {
        "blind": True,
        "study": _masked_study(view["study"], masks),
        "orders": orders,
        "conditions": sorted(conditions, key=lambda row: row["name"]),
        "participants": [masked_entry(entry, masks, places) for entry in view["participants"]],
    }


def masked_entry(
    entry: dict[str, Any], masks: Mapping[str, str], places: list[list[str]] | None = None
) -> dict[str, Any]:
    """One participant in a line; ``places`` are the masked orders by which the order is numbered anew."""
    order = None if entry["order"] is None else [masks[name] for name in entry["order"]]
    episode = entry["episode"]
    if episode is not None:
        episode = episode | {"condition": masks.get(episode["condition"], episode["condition"])}
    index = None if order is None or places is None else places.index(order)
    return entry | {"order": order, "order_index": index, "episode": episode}


def masked_person(view: dict[str, Any], masks: Mapping[str, str]) -> dict[str, Any]:
    """All about one participant."""
    if not masks:
        return view | {"blind": False}
    episodes = [row | {"condition": masks.get(row["condition"], row["condition"])} for row in view["episodes"]]
    study = _masked_study(view["study"], masks)
    return masked_entry(view, masks) | {"blind": True, "study": study, "episodes": episodes}


def masked_rounds(view: dict[str, Any], masks: Mapping[str, str]) -> dict[str, Any]:
    """Rounds of an episode; what the AI foresaw is left out."""
    if not masks:
        return view
    rounds = [row | {"predictions": [[None] * len(seat) for seat in row["predictions"]]} for row in view["rounds"]]
    return view | {"condition": masks.get(view["condition"], view["condition"]), "rounds": rounds}


def no_curves(kind: str) -> dict[str, Any]:
    """What somebody who is blind is told of regret by condition."""
    return {"kind": kind, "rounds": [], "conditions": [], "pending": 0, "blind": True}


def _masked_study(study: dict[str, Any], masks: Mapping[str, str]) -> dict[str, Any]:
    return study | {"conditions": sorted(masks[name] for name in study["conditions"])}


def _sighted(connection: Connection, number: int) -> set[str]:
    stored = read_setting(connection, _setting(number))
    return set() if stored is None else set(json.loads(stored))


def _setting(number: int) -> str:
    return f"unblinded-{number}"
