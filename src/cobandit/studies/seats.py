"""Recorded seats: a choice as it goes into the log, and what a service in a seat is given and gives back.

A service (a language model, a policy on another machine) is asked in a thread of its own, once for each round. It knows
what its seat knows: its own seen rewards and the arms of all sealed rounds.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from cobandit.base.errors import CobanditError, UnknownName
from cobandit.studies.episode import Episode
from cobandit.studies.rounds import Choice as Choice


class NoMove(CobanditError):
    """A service gives up on a round: the takeover agent of its seat plays it.

    ``record`` contains requests and answers, as that of a `ServiceMove` does, because failed calls cost money, too.
    """

    def __init__(self, message: str, record: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.record: Mapping[str, Any] = {} if record is None else record


@dataclass(frozen=True)
class SeatRound:
    """A past round as one seat knows it: the arms of all seats, and the reward as this seat saw it."""

    t: int
    arms: tuple[int, ...]
    seen: float | None


@dataclass(frozen=True)
class SeatView:
    """Everything that the player of a seat may know before round ``t``, made of sealed rounds alone."""

    seat: int
    t: int
    rounds: int
    names: tuple[str, ...]
    arms: tuple[tuple[str, ...], ...]
    observability: tuple[float, ...]
    observation: str
    instructions: tuple[str, ...]
    words: Mapping[str, str]
    history: tuple[SeatRound, ...]


@dataclass(frozen=True)
class ServiceMove:
    """The choice of a service: ``evidence`` is the SHA-256 of request and answer, which ``record`` holds."""

    arm: int
    evidence: str
    record: Mapping[str, Any] = field(default_factory=dict)


class SeatPlayer(Protocol):
    """A player of a service's seat."""

    def choose(self, view: SeatView, seconds: float) -> ServiceMove:
        """Return the arm for round ``view.t`` within ``seconds``, or raise `NoMove`."""
        ...


SERVICES: dict[str, str] = {
    "language-model": "cobandit.studies.services:language_model_seat",
    "http": "cobandit.studies.services:http_seat",
}
"""The kinds of services and where each is made: ``"module:factory"``, called with the table of the design."""


def make_player(options: Mapping[str, Any]) -> SeatPlayer:
    """Return the player that the table of a service describes."""
    kind = options.get("kind")
    if kind not in SERVICES:
        raise UnknownName("kind of service", str(kind), SERVICES)
    module, _, name = SERVICES[str(kind)].partition(":")
    factory: Callable[[Mapping[str, Any]], SeatPlayer] = getattr(importlib.import_module(module), name)
    return factory({key: value for key, value in options.items() if key != "kind"})


def seat_view(episode: Episode, seat: int, language: str | None = None) -> SeatView:
    """Return what the player of a seat may know before the next round of an episode."""
    plan = episode.plan
    design, texts = plan.design, plan.design.texts(language)
    return SeatView(
        seat=seat,
        t=episode.played + 1,
        rounds=plan.rounds,
        names=tuple(place.name for place in design.seating),
        arms=tuple(tuple(texts[f"task.arms.{i}.{arm}"] for arm in range(count)) for i, count in enumerate(design.arms)),
        observability=design.observability_of(plan.condition),
        observation=design.observation_of(plan.condition),
        instructions=tuple(texts[f"task.instructions.{i}"] for i in range(len(design.task.instructions))),
        words={key: texts[f"task.{key}"] for key in ("configuration", "good", "bad")},
        history=tuple(SeatRound(played.t, played.arms, played.seen[seat]) for played in episode.rounds),
    )
