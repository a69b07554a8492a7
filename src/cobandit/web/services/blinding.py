"""The monitor is blind to conditions until a researcher asks to see them, which the audit log keeps.

While blind, letters stand for conditions, in an order that is independent of the design. Outcomes (rewards, regret,
survey ratings), the true means and everything that an AI chose, saw or predicted are left out: each of them tells the
conditions apart. Where people meet in some conditions only, this includes who waits for whom in a team. Where the
number of rounds differs between conditions, it includes every count of rounds, and where a robot stacks in some
conditions only, its events. Simulated people and demos are no data and are shown as they are.
"""

from __future__ import annotations

import hashlib
import json
import string
from dataclasses import dataclass

from cobandit.base.json_types import JsonObject
from cobandit.studies import StudyDesign
from cobandit.web.roles import Viewer
from cobandit.web.services.studies import stored_study
from cobandit.web.storage.audit import record
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.settings import claim_setting, read_setting, write_setting
from cobandit.web.storage.studies import Study
from cobandit.web.storage.values import as_json

ROBOT = "robot"
"""What the kinds of all events of a robot begin with."""


@dataclass(frozen=True)
class Masks:
    """The letters that stand for conditions while an account is blind, and what tells the conditions apart otherwise.

    ``rounds``: the number of rounds differs between conditions. ``robot``: events of the robot tell conditions apart,
    because it stacks in some only, or because it has as many of them as there are rounds.
    """

    letters: dict[str, str]
    rounds: bool
    robot: bool

    def of(self, condition: str) -> str:
        """Return the letter of a condition; practice has its own name."""
        return self.letters.get(condition, condition)


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


def masks_for(connection: Connection, study: Study, viewer: Viewer, kind: str) -> Masks | None:
    """Return what hides the conditions of a study, or None where the viewer may see them."""
    sighted = viewer.may_read("conditions") and viewer.account in _sighted(connection, study.id)
    if kind != "real" or sighted:
        return None
    design = study.design
    robots, uneven = {design.has_robot(condition.name) for condition in design.conditions}, not design.even_rounds
    return Masks(letters(study), rounds=uneven, robot=uneven or len(robots) > 1)


def letters(study: Study) -> dict[str, str]:
    """Return a letter for each condition, in an order that follows from the study's seed."""
    # A hash of seed and name, not a shuffle: the letters stay the same after a restart and if conditions are reordered.
    names = [condition.name for condition in study.design.conditions]
    names.sort(key=lambda name: hashlib.sha256(f"letter:{study.seed}:{name}".encode()).digest())
    return dict(zip(names, string.ascii_uppercase, strict=False))


def masked_live(view: JsonObject, masks: Masks | None) -> JsonObject:
    """Return the live view without conditions; rows are sorted again, because their order would reveal them."""
    if masks is None:
        return view | {"blind": False}
    orders = [row | {"order": [masks.of(name) for name in row["order"]]} for row in view["orders"]]
    orders.sort(key=lambda row: row["order"])
    places = [row["order"] for row in orders]
    hidden: JsonObject = {"rounds": None} if masks.rounds else {}
    conditions = [row | {"name": masks.of(row["name"])} | hidden for row in view["conditions"]]
    return view | {
        "blind": True,
        "study": _masked_study(view["study"], masks),
        "orders": orders,
        "conditions": sorted(conditions, key=lambda row: row["name"]),
        "participants": [masked_entry(entry, masks, places) for entry in view["participants"]],
    }


def masked_entry(entry: JsonObject, masks: Masks, places: list[list[str]] | None = None) -> JsonObject:
    """Return one participant's row; ``places`` are the masked orders by which the order is renumbered."""
    order = None if entry["order"] is None else [masks.of(name) for name in entry["order"]]
    index = None if order is None or places is None else places.index(order)
    masked = entry | {"order": order, "order_index": index}
    if entry["episode"] is not None:
        masked["episode"] = _masked_length(entry["episode"], masks)
    if masks.rounds:
        masked["rounds"] = {"played": None, "total": None}
    return masked


def _masked_length(episode: JsonObject, masks: Masks) -> JsonObject:
    """Return an episode with the letter of its condition; without its length, where that tells the condition."""
    hidden: JsonObject = {"played": None, "rounds": None} if masks.rounds else {}
    return episode | {"condition": masks.of(episode["condition"])} | hidden


def masked_person(view: JsonObject, masks: Masks | None) -> JsonObject:
    """Return all about one participant; while blind, without outcomes by condition, true means and joint actions."""
    if masks is None:
        return view | {"blind": False}
    hidden: JsonObject = {"good": None, "regret": None, "cells": []}
    if masks.rounds:
        hidden["reaction_ms"] = None  # the time of an episode divided by it is the number of rounds
    return masked_entry(view, masks) | {
        "blind": True,
        "study": _masked_study(view["study"], masks),
        "episodes": [_masked_length(row, masks) | hidden for row in view["episodes"]],
        "answers": [_masked_answers(step) for step in view["answers"]],
        "events": [_masked_event(row, masks) for row in view["events"]],
    }


def _masked_event(row: JsonObject, masks: Masks) -> JsonObject:
    """Hide what a robot stacks, which is a joint action, and how often people clicked, where that counts rounds."""
    hides = row["kind"].startswith(ROBOT) or (masks.rounds and row["kind"] == "input")
    return row | {"data": {}} if hides else row


def _masked_answers(step: JsonObject) -> JsonObject:
    """Hide the answers to questions on a set, which follow one condition; attention checks stay."""
    if step["kind"] not in ("survey", "questionnaire"):
        return step
    return step | {"items": [item if item["right"] is not None else item | {"value": None} for item in step["items"]]}


def masked_rounds(view: JsonObject, masks: Masks | None, seat: int) -> JsonObject:
    """Return the rounds of an episode; while blind, only their times and the participant's arm.

    Where the number of rounds tells the condition, there are none.
    """
    if masks is None:
        return view
    masked = view | {"condition": masks.of(view["condition"])}
    if masks.rounds:
        return masked | {"played": None, "rounds": []}
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
    return masked | {"rounds": rounds}


def teams_tell_conditions(design: StudyDesign) -> bool:
    """Return whether a team at work would reveal its condition: people meet in some only, or the lengths differ."""
    return len({condition.alone for condition in design.conditions}) > 1 or not design.even_rounds


def masked_teams(view: JsonObject) -> JsonObject:
    """Return the teams of a study for a blind account, where teams tell the conditions (`teams_tell_conditions`).

    The monitor of participants shows the letter of the condition that each person plays. A member who waits for
    another, a shared round or a move taken over would tell which of the letters has two people in one team, or how many
    rounds it has. A seat that was left stays visible, without its reason and time: researchers have to pay and answer
    that person.
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


def masked_order_ranks(study: Study, masks: Masks | None) -> list[int] | None:
    """Return by which number each order of the design is sorted while blind; None: by its place in the design.

    The design's own sequence of orders would tell which letter stands for which condition.
    """
    if masks is None:
        return None
    orders = [[masks.of(name) for name in order] for order in study.design.orders]
    return [sorted(orders).index(order) for order in orders]


def no_curves(kind: str) -> JsonObject:
    """Return the curves for a blind account: none."""
    return {"kind": kind, "rounds": [], "conditions": [], "pending": 0, "blind": True}


def _masked_study(study: JsonObject, masks: Masks) -> JsonObject:
    return study | {"conditions": sorted(masks.of(name) for name in study["conditions"])}


def _sighted(connection: Connection, number: int) -> set[str]:
    stored = read_setting(connection, _setting(number))
    return set() if stored is None else set(json.loads(stored))


def _setting(number: int) -> str:
    return f"unblinded-{number}"
