"""Who takes part in a simulated study: a mixture of behaviours, from text or from names and agents."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cobandit.agents import Agent
from cobandit.base.checks import real, short_repr
from cobandit.base.errors import InvalidInput
from cobandit.studies.behaviours import make_behaviour
from cobandit.studies.crowd import Mixture, checked_mixture

_PART = re.compile(r"\s*([A-Za-z][\w-]*)\s*(?:\(([^()]*)\))?\s*(?::\s*([^,()\s]+)\s*)?")

EXAMPLE = "softmax:0.5,knowledge-gradient:0.5 or softmax(temperature=0.2,memory=4) or population.json"


@dataclass(frozen=True)
class Population:
    """Who takes part: behaviours with their shares, and what the mixture is called.

    A team of several people is of one kind with probability ``alike``; else its members draw their behaviours one by
    one. Each person leaves before the end with probability ``dropout``.
    """

    label: str
    members: tuple[tuple[Agent, float], ...]
    alike: float = 0.0
    dropout: float = 0.0

    def __post_init__(self) -> None:
        real(0.0, 1.0)("alike", self.alike)
        real(0.0, 0.95)("dropout", self.dropout)

    def __str__(self) -> str:
        return self.label


def read_population(text: str) -> Population:
    """Return a mixture from text: ``NAME(option=value,...):WEIGHT`` and so on, separated by commas.

    Options and weights may be left out; weights for all or for none (then all are equal). Nothing is evaluated: a value
    is a number, true, false, none or a word. A text that ends with ``.json`` is the file of a fitted population
    (`FittedPopulation.save`).
    """
    if not isinstance(text, str) or not text.strip():
        raise InvalidInput(f"The behaviour must be a mixture such as {EXAMPLE}, got {short_repr(text)}.")
    if is_population_file(text):
        from cobandit.analysis.fitted_population import read_fitted_population  # which imports this module

        return read_fitted_population(text.strip())
    parts: list[tuple[Agent, str | None]] = []
    place = 0
    while True:
        part = _PART.match(text, place)
        if part is None or (part.end() < len(text) and text[part.end()] != ","):
            raise InvalidInput(f"The behaviour must be a mixture such as {EXAMPLE}, got {short_repr(text)}.")
        parts.append((make_behaviour(part[1], **_options(part[2] or "")), part[3]))
        place = part.end() + 1
        if part.end() == len(text):
            break
    weighted = sum(weight is not None for _, weight in parts)
    if weighted not in (0, len(parts)):
        raise InvalidInput(
            f"The behaviour {short_repr(text)} has {weighted} weights for {len(parts)} parts; all or none."
        )
    return population([(behaviour, 1.0 if weight is None else _value(weight)) for behaviour, weight in parts])


def is_population_file(text: str) -> bool:
    """Return whether a behaviour is the name of a file, rather than of an agent."""
    return text.strip().lower().endswith(".json")


def population(
    behaviours: Mixture | Population, label: str = "", *, alike: float = 0.0, dropout: float = 0.0
) -> Population:
    """Return the same from names and agents, as `studies.simulate_participants` takes them; labelled by its parts.

    ``alike`` and ``dropout`` as in `Population`, which keeps its own.
    """
    if isinstance(behaviours, Population):
        return behaviours
    members, shares = checked_mixture(behaviours)
    mixed = tuple(zip(members, shares.tolist(), strict=True))
    return Population(label or _label(mixed), mixed, alike, dropout)


def _options(text: str) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for part in text.split(",") if text.strip() else []:
        name, sign, value = part.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise InvalidInput(f"An option must be name=value, such as temperature=0.2, got {short_repr(part)}.")
        key = name.strip().replace("-", "_")
        if key in options:
            raise InvalidInput(f"The option {key} was given twice; once is needed.")
        options[key] = _value(value.strip())
    return options


def _value(text: str) -> Any:
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _label(members: Sequence[tuple[Agent, float]]) -> str:
    """Return the names with their shares, and with the options that differ from their defaults."""
    parts = []
    for behaviour, share in members:
        defaults = {name: default for name, default, _ in behaviour.option_rows()}
        own = {key: value for key, value in behaviour.options.items() if value != defaults.get(key, value)}
        title = behaviour.title + (f"({','.join(f'{key}={value}' for key, value in own.items())})" if own else "")
        parts.append(title if len(members) == 1 else f"{title} {100 * share:.3g} %")
    return ", ".join(parts)
