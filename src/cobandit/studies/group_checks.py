"""What a design with several people, or with services, must fulfil; and which seats an AI may play in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.studies.service_tables import check_service

if TYPE_CHECKING:
    from cobandit.studies.design import StudyDesign

GROUP_TEXTS = ("people", "agent", "left")
"""The texts of ``[group]`` that participants read."""


def check_group(design: StudyDesign) -> None:
    """Refuse a design whose people, services and conditions do not go together."""
    people = len(design.participant_seats)
    if (people > 1) != (design.group is not None):
        raise InvalidInput(
            f"[group] and two or more participants require each other, but the design has {people}; "
            + ("add [group]." if people > 1 else "leave [group] out.")
        )
    for condition in design.conditions:
        _check_players(design, condition.name)
        if condition.alone and people < 2:
            raise InvalidInput(f"alone of the condition {condition.name!r} requires two or more participants.")
    services = any("service" in players_of(design, condition.name) for condition in design.conditions)
    if people < 2 and not services:
        return
    if design.warm_start is not None:
        raise InvalidInput("warm_start must be left out where people or services play together; it is played by AIs.")
    if people > 1 and design.partners:
        raise InvalidInput(
            "partners must be left out where several people play; group.people and group.agent name them."
        )
    if people > 1 and design.group is not None and design.group.short_pay != "0" and design.payment is None:
        raise InvalidInput("group.short_pay needs the currency of [payment]; add this table.")


def _check_players(design: StudyDesign, name: str) -> None:
    condition, seats = design.condition(name), design.seating
    if condition.players and len(condition.players) != len(seats):
        raise InvalidInput(
            f"players of the condition {name!r} names {len(condition.players)} seats; the design has {len(seats)}."
        )
    for seat, player in zip(seats, condition.players, strict=False):
        if (seat.player == "participant") != (player == "participant"):
            raise InvalidInput(
                f"players of the condition {name!r} gives the seat {seat.name!r} to {player!r}; the seats of "
                "participants must be theirs in all conditions (alone = true lets each of them play alone)."
            )
    for i, player in enumerate(players_of(design, name)):
        if player != "service":
            continue
        options = service_options(design, name, i)
        if "kind" not in options:
            raise InvalidInput(f"The service in the seat {seats[i].name!r} has no kind; service = {{ kind = ... }}.")
        check_service(options)


def check_agents(design: StudyDesign) -> None:
    """Check that conditions name agents for seats that an AI plays in them, in teams of three or more."""
    seats = [seat.name for seat in design.seating]
    for condition in design.conditions:
        for own in condition.agents:
            where = f"agents of the condition {condition.name!r}"
            if len(seats) < 3:
                raise InvalidInput(f"{where} must be left out in a team of two: agent already names its only AI.")
            if own.seat not in seats:
                raise UnknownName(f"seat ({where})", own.seat, seats)
            person = players_of(design, condition.name)[seats.index(own.seat)] == "participant"
            if person and not condition.alone:
                raise InvalidInput(f"{where} must name seats of AIs, got {own.seat!r}, where a person sits.")


def players_of(design: StudyDesign, condition: str) -> tuple[str, ...]:
    """Return who plays in each seat in a condition whose people play together."""
    return design.condition(condition).players or tuple(seat.player for seat in design.seating)


def service_options(design: StudyDesign, condition: str, seat: int) -> dict[str, object]:
    """Return the table of the service in a seat: that of the condition, else that of the seat."""
    own = design.condition(condition).service
    return (own if own.pairs else design.seating[seat].service).to_dict()


def may_be_agent(design: StudyDesign, seat: int) -> bool:
    """Return whether an AI plays the seat in some condition, other than by a takeover."""
    if design.seating[seat].player == "participant":
        several = len(design.participant_seats) > 1
        return several and (design.practice is not None or any(condition.alone for condition in design.conditions))
    known = [players_of(design, condition.name)[seat] for condition in design.conditions]
    return "agent" in known or design.practice is not None


def has_recorded_seats(design: StudyDesign) -> bool:
    """Return whether moves of several seats are recorded in some condition: of people or services."""
    players = [player for condition in design.conditions for player in players_of(design, condition.name)]
    return design.group is not None or "service" in players
