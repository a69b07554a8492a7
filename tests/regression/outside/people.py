"""Somebody who takes part by HTTP: seeded, and as careful or careless as wanted."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

Ask = Callable[[str, str, Any], httpx.Response]
"""How a request is sent: method, path, body."""

PAGE_CLOCK = 1_700_000_000_000


@dataclass
class Visitor:
    """One participant; ``attentive`` passes attention checks, ``quick`` chooses in no time.

    Quizzes are passed as people pass them: by trying.
    """

    ask: Ask
    study: str
    name: str
    language: str = "en"
    attentive: bool = True
    quick: bool = False
    at_once: tuple[int, ...] = (50,)
    recruiting: dict[str, str] = field(default_factory=dict)
    token: str = ""
    state: dict[str, Any] = field(default_factory=dict)
    played: int = 0

    def __post_init__(self) -> None:
        self._rng = random.Random(f"{self.study}:{self.name}")
        self._requests = 0

    def _drawn(self, low: int, high: int) -> int:
        return low + int(self._rng.random() * (high - low + 1))

    def _key(self, *parts: object) -> str:
        return "-".join(map(str, (self.study, self.name.replace(" ", "-"), *parts)))

    def arrival(self, version: str = "1") -> dict[str, Any]:
        """The body with which the visitor agrees."""
        about = {"consent_version": version, "language": self.language, "recruiting": self.recruiting}
        return {"key": self._key("arrival"), **about}

    def arrive(self) -> None:
        """Agree, and get the personal link."""
        self.come_back(_fine(self.ask("POST", f"/api/studies/{self.study}/participants", self.arrival()))["token"])

    def come_back(self, token: str) -> None:
        """Go on from a personal link."""
        self.token = token
        self.look()

    def look(self) -> None:
        """Open the page: where am I?"""
        self.state = _fine(self.ask("GET", f"/api/participants/{self.token}", None))

    @property
    def step(self) -> str:
        """Where the visitor is."""
        return str(self.state["step"]["id"])

    def go_on(self, until: str = "thanks", rounds: int | None = None) -> None:
        """Do everything up to a step, or up to so many rounds in all."""
        while self.step != until and (rounds is None or self.played < rounds):
            if self.state["step"]["kind"] == "episode":
                self._play(rounds)
                self.look()
            else:
                self._answer()

    def move(self, t: int, arm: int | None = None) -> dict[str, Any]:
        """A move of the current episode, as the page would send it."""
        chosen = self._drawn(0, self.state["task"]["arms"][0] - 1) if arm is None else arm
        ms = self._drawn(60, 140) if self.quick else self._drawn(300, 1500)
        return {"t": t, "arm": chosen, "key": self._key(self.step, t), "ms": ms}

    def _play(self, most: int | None) -> None:
        view = self.state["episode"]
        path, t, left = f"/api/participants/{self.token}/rounds", view["played"], view["rounds"] - view["played"]
        if most is not None:
            left = min(left, most - self.played)
        while left:
            count = min(left, self.at_once[self._requests % len(self.at_once)])
            moves = [self.move(t + 1 + place) for place in range(count)]
            self._requests += 1
            _fine(self.ask("POST", path, {"episode": view["index"], "moves": moves}))
            t, left, self.played = t + count, left - count, self.played + count

    def _answer(self) -> None:
        given, step = self.answers(), self.step
        for _ in range(10):
            body = {"answers": given, "ms": self._drawn(2000, 20_000)}
            answer = _fine(self.ask("POST", f"/api/participants/{self.token}/answers/{step}", body))
            self.state = answer["state"]
            if answer["accepted"]:
                return
            choices = {item["id"]: len(item["choices"]) for item in self.state["quiz"]["questions"]}
            given |= {wrong: (given[wrong] + 1) % choices[wrong] for wrong in answer["wrong"]}
        raise RuntimeError(f"{self.name} cannot pass {step}.")

    def answers(self) -> dict[str, Any]:
        """What the visitor answers to the current step."""
        kind = self.state["step"]["kind"]
        if kind == "consent":
            return {"version": self.state["consent"]["version"]}
        if kind == "demographics":
            return {item["id"]: self._told(item) for item in self.state["demographics"]}
        if kind == "quiz":
            return {item["id"]: self._drawn(0, len(item["choices"]) - 1) for item in self.state["quiz"]["questions"]}
        if kind == "survey":
            survey = self.state["survey"]
            made = {item["id"]: self._drawn(1, survey["points"]) for item in survey["items"]}
            if "attention" in made:
                made["attention"] = 2 if self.attentive else 4
            return made
        return {}

    def _told(self, item: dict[str, Any]) -> Any:
        if item["answer"] == "choice":
            return self._drawn(0, len(item["choices"]) - 1)
        return "a text" if item["answer"] == "text" else self._drawn(item["low"], item["high"])

    def notice(self, *kinds: str) -> None:
        """Tell what happened at the page."""
        events = [{"kind": kind, "at": PAGE_CLOCK + place, "data": {"n": place}} for place, kind in enumerate(kinds)]
        self.ask("POST", f"/api/participants/{self.token}/events", {"events": events}).raise_for_status()


def _fine(response: httpx.Response) -> dict[str, Any]:
    if response.status_code not in (200, 201):
        raise RuntimeError(f"{response.request.method} {response.request.url}: {response.text[:500]}")
    made: dict[str, Any] = response.json()
    return made
