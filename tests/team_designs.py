"""Small designs in which several people make up one team."""

from __future__ import annotations

from typing import Any

from cobandit.studies import StudyDesign, load_design

PLAIN = {"name": "very-naive-ucb", "agent": "very-naive-ucb", "options": {"exploration": 0.01}}


def team_design(people: int = 2, ais: int = 0, **changes: Any) -> StudyDesign:
    """People (and AIs) with two arms each; together in one condition, alone with an AI in the other."""
    data = load_design("three-by-three").to_dict()
    for name in ("arms", "observability", "warm_start", "practice", "partners", "attention", "quiz", "demographics"):
        data.pop(name, None)
    data["task"] |= {"arms": [], "icons": [], "participant": "", "partner": "", "kind": "grid"}
    players = ["participant"] * people + ["agent"] * ais
    data |= {
        "name": "team",
        "languages": ["en"],
        "translations": {},
        "messages": {},
        "rounds": 4,
        "episodes": 1,
        "swap_labels": False,
        "order": "counterbalanced",
        "means": {"draw": "uniform", "per": "participant"},
        "seats": [
            {"name": f"Seat {i}", "player": player, "observability": 1.0 if i == 0 else 0.5, "arms": ["A", "B"]}
            for i, player in enumerate(players)
        ],
        "conditions": [
            {"name": "human", "agent": "partner-aware-ucb", "options": {"exploration": 0.01}},
            {"name": "naive-ucb", "agent": "naive-ucb", "options": {"exploration": 0.01}, "alone": True},
        ],
        "group": {"lobby_seconds": 300, "check_in_seconds": 30},
    }
    return StudyDesign.from_dict(data | changes)


def service_design(**changes: Any) -> StudyDesign:
    """One person and one service."""
    data = team_design().to_dict()
    data["seats"][1] |= {"player": "service", "service": {"kind": "echo"}}
    data["conditions"] = [
        {"name": "service", "agent": "naive-ucb"},
        {"name": "naive-ucb", "agent": "naive-ucb", "players": ["participant", "agent"]},
    ]
    data["group"] = None
    return StudyDesign.from_dict(data | changes)
