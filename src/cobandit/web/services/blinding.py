"""The monitor is blind to conditions until a researcher asks to see them, which the audit log keeps.

While blind, letters stand for conditions, in an order that is independent of the design. Outcomes (rewards, regret,
survey ratings), the true means and everything that an AI chose, saw or predicted are left out: each of them tells the
conditions apart. Where people meet in some conditions only, this includes who waits for whom in a team. Simulated
people and demos are no data and are shown as they are.
"""

from __future__ import annotations

import hashlib
import json
import string
from collections.abc import Mapping

from cobandit.base.json_types import JsonObject
from cobandit.studies import StudyDesign
from cobandit.web.roles import Viewer
from cobandit.web.services.studies import stored_study
from cobandit.web.storage.audit import record
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.settings import claim_setting, read_setting, write_setting
from cobandit.web.storage.studies import Study
from cobandit.web.storage.values import as_json


async def unblind(database: Database, number: int, viewer: Viewer) -> None:
    """Show the conditions of a study to one account from now on; the one place where that is done, and written down."""
    viewer.require("conditions")
    by = viewer.account

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


def masks_for(connection: Connection, study: Study, viewer: Viewer, kind: str) -> dict[str, str]:
    """Return letters for the conditions of a study, or nothing where the viewer may see the conditions."""
    sighted = viewer.may_read("conditions") and viewer.account in _sighted(connection, study.id)
    return {} if kind != "real" or sighted else letters(study)


def letters(study: Study) -> dict[str, str]:
    """Return a letter for each condition, in an order that follows from the study's seed."""
    # A hash of seed and name, not a shuffle: the letters stay the same after a restart and if conditions are reordered.
    names = [condition.name for condition in study.design.conditions]
    names.sort(key=lambda name: hashlib.sha256(f"letter:{study.seed}:{name}".encode()).digest())
    return dict(zip(names, string.ascii_uppercase, strict=False))


def masked_live(view: JsonObject, masks: Mapping[str, str]) -> JsonObject:
    """Return the live view without conditions; rows are sorted again, because their order would reveal them."""
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


def masked_entry(entry: JsonObject, masks: Mapping[str, str], places: list[list[str]] | None = None) -> JsonObject:
    """Return one participant's row; ``places`` are the masked orders by which the order is renumbered."""
    order = None if entry["order"] is None else [masks[name] for name in entry["order"]]
    episode = entry["episode"]
    if episode is not None:
        episode = episode | {"condition": masks.get(episode["condition"], episode["condition"])}
    index = None if order is None or places is None else places.index(order)
    return entry | {"order": order, "order_index": index, "episode": episode}


def masked_person(view: JsonObject, masks: Mapping[str, str]) -> JsonObject:
    """Return all about one participant; while blind, without outcomes by condition, true means and joint actions."""
    if not masks:
        return view | {"blind": False}
    hidden: JsonObject = {"good": None, "regret": None, "cells": []}
    episodes = [row | {"condition": masks.get(row["condition"], row["condition"])} | hidden for row in view["episodes"]]
    return masked_entry(view, masks) | {
        "blind": True,
        "study": _masked_study(view["study"], masks),
        "episodes": episodes,
        "answers": [_masked_answers(step) for step in view["answers"]],
        # What a robot stacks is a joint action, so events of the robot tell the AI's moves.
        "events": [row | {"data": {}} if row["kind"].startswith("robot") else row for row in view["events"]],
    }


def _masked_answers(step: JsonObject) -> JsonObject:
    """Hide the answers to questions on a set, which follow one condition; attention checks stay."""
    if step["kind"] not in ("survey", "questionnaire"):
        return step
    return step | {"items": [item if item["right"] is not None else item | {"value": None} for item in step["items"]]}


def masked_rounds(view: JsonObject, masks: Mapping[str, str], seat: int) -> JsonObject:
    """Return the rounds of an episode; while blind, only their times and the participant's arm."""
    if not masks:
        return view
    rounds = [
        row
        | {
            "arms": [arm if place == seat else None for place, arm in enumerate(row["arms"])],
            "reward": None,
            "seen": [None] * len(row["seen"]),
            "predictions": [[None] * len(seen) for seen in row["predictions"]],
            "regret": None,
        }
        for row in view["rounds"]
    ]
    return view | {"condition": masks.get(view["condition"], view["condition"]), "rounds": rounds}


def tells_people_apart(design: StudyDesign) -> bool:
    """Return whether people meet in some conditions only, so that a team at work would reveal its condition."""
    return len({condition.alone for condition in design.conditions}) > 1


def masked_teams(view: JsonObject) -> JsonObject:
    """Return the teams of a study in which people meet in some conditions only, for a blind account.

    The monitor of participants shows the letter of the condition that each person plays. A member who waits for
    another, a shared round or a move taken over would tell which of the letters has two people in one team. A seat
    that was left stays visible, without its reason and time: researchers have to pay and answer that person.
    """
    shown = ("team", "formed_at")
    hidden = dict.fromkeys(("condition", "set", "round", "rounds", "round_at", "waiting"))
    teams = [
        {name: team[name] for name in shown}
        | {
            "status": "over" if team["status"] == "over" else "at-work",
            "members": [_masked_member(member) for member in team["members"]],
            "takeovers": [],
        }
        | hidden
        for team in view["teams"]
    ]
    counts = view["counts"]
    left = sum(counts["left"].values())
    masked = counts | {"takeovers": None, "left": {"left": left} if left else {}}
    return view | {"teams": teams, "counts": masked}


def _masked_member(member: JsonObject) -> JsonObject:
    left = None if member["left"] is None else {"at": None, "reason": None}
    return member | {"step": None, "left": left}


def masked_order_ranks(study: Study, masks: Mapping[str, str]) -> list[int] | None:
    """Return by which number each order of the design is sorted while blind; None: by its place in the design.

    The design's own sequence of orders would tell which letter stands for which condition.
    """
    if not masks:
        return None
    orders = [[masks[name] for name in order] for order in study.design.orders]
    return [sorted(orders).index(order) for order in orders]


def no_curves(kind: str) -> JsonObject:
    """Return the curves for a blind account: none."""
    return {"kind": kind, "rounds": [], "conditions": [], "pending": 0, "blind": True}


def _masked_study(study: JsonObject, masks: Mapping[str, str]) -> JsonObject:
    return study | {"conditions": sorted(masks[name] for name in study["conditions"])}


def _sighted(connection: Connection, number: int) -> set[str]:
    stored = read_setting(connection, _setting(number))
    return set() if stored is None else set(json.loads(stored))


def _setting(number: int) -> str:
    return f"unblinded-{number}"
