"""Designs between subjects and mixed ones for tests: small, and made of the shipped studies."""

import tomllib
from typing import Any

from cobandit.studies import StudyData, StudyDesign, rehearsed_data
from cobandit.studies.cells import order_cycle
from cobandit.studies.design import design_text


def mixed_burger(**changes: Any) -> StudyDesign:
    """The burger study with two algorithms within people, and two levels of what the robot sees between them."""
    data = tomllib.loads(design_text("burger"))
    algorithms = data["conditions"]
    data["conditions"] = [
        algorithm
        | {"name": f"{kind}-{sight}", "levels": {"algorithm": kind, "sight": sight}, "observability": [1.0, seen]}
        for sight, seen in (("half", 0.5), ("all", 1.0))
        for kind, algorithm in zip(("naive", "aware"), algorithms, strict=True)
    ]
    data |= {"name": "mixed", "factors": [{"name": "algorithm"}, {"name": "sight", "assignment": "between"}]}
    return StudyDesign.from_dict(data | changes)


def between_casino(**changes: Any) -> StudyDesign:
    """A small casino study in which each participant plays with one of three algorithms."""
    data = tomllib.loads(design_text("casino"))
    data["conditions"].append({"name": "very-naive-ucb", "agent": "very-naive-ucb"})
    data |= {"name": "between", "rounds": 30, "episodes": 2, "attention": data["attention"][:1], "partners": []}
    data |= {"languages": ["en"], "translations": {}, "practice": None}
    data |= {"factors": [{"name": "algorithm", "assignment": "between"}]}
    return StudyDesign.from_dict({key: value for key, value in (data | changes).items() if value is not None})


def rehearsed(design: StudyDesign, people: int, first_seed: int = 0, behaviour: str = "softmax") -> StudyData:
    """Simulated participants who arrive one after another and fill the cells in turn."""
    cycle = order_cycle(design)
    crowd = [(behaviour, first_seed + i, cycle[i % len(cycle)]) for i in range(people)]
    return rehearsed_data(design, crowd, answers="drawn")
