"""One simulated participant over HTTP, from consent to completion code.

A bot knows only what the pages show; the caller may pass the design, so that it passes quiz and attention checks at the
first attempt. It draws all its actions from its own seed and label, also the keys of its requests: a bot that is cut
off asks again and is answered from the store.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import quote

import httpx
import numpy as np

from cobandit.agents import Agent, Briefing
from cobandit.agents.base import HIDDEN, learn_in_one_round, pass_over
from cobandit.base.checks import MOST, one_of, real, whole
from cobandit.base.json_types import JsonObject
from cobandit.base.streams import BotStream, checked_seed, generator
from cobandit.studies import StudyDesign
from cobandit.studies.data import PEOPLE_KINDS
from cobandit.studies.lines import at_line
from cobandit.studies.questionnaire_answers import made_up_answer
from cobandit.studies.questionnaires import ShowIf
from cobandit.web.clients.http import (
    LoginRefused,
    RequestFailed,
    ServerUnreachable,
    StudyClosed,
    address,
    answer_body,
    sentence,
)

PATIENCE = 120.0
"""For how many seconds a bot asks again when the server does not answer."""

CONCURRENCY = 50
"""How many bots play at the same time."""

_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.02, 1.0
_TRIES_AFTER_500 = 5
_TEAM_PAUSE = 0.02
_MOST_STEPS_BACK = 1000  # conflicts that one bot takes before it gives up


class Acknowledged(NamedTuple):
    """A round that the server has said is stored; ``good`` None: nothing was seen."""

    episode: int
    t: int
    arms: tuple[int, ...]
    good: bool | None
    key: str


@dataclass(eq=False)
class BotResult:
    """How far one bot has come; it grows while the bot plays. ``latencies`` are seconds, one for each round."""

    label: str
    behaviour: str
    participant: str = ""
    token: str = field(default="", repr=False)
    step: str = "arriving"
    progress: tuple[int, int] = (0, 0)
    rounds: int = 0
    good: int = 0
    retries: int = 0
    conflicts: int = 0
    code: str | None = None
    seconds: float = 0.0
    latencies: array[float] = field(default_factory=lambda: array("d"), repr=False)

    @property
    def finished(self) -> bool:
        """Whether the bot holds the completion code."""
        return self.code is not None


Watch = Callable[[BotResult, Acknowledged | None], None]
"""Called after every acknowledged round (with the round) and after every step (with None)."""


@dataclass(frozen=True)
class BotOptions:
    """How bots play.

    ``login`` is the researcher's (`clients.researcher.Researcher.token`), which rehearsals need; with the ``design`` a
    bot knows the right answers; each plays at most ``rate`` rounds a second (None: no limit), ``concurrency`` of them
    at a time; they retry for ``patience`` seconds when the server does not answer; ``watch`` sees every step.
    """

    login: str | None = None
    design: StudyDesign | None = None
    seed: int = 0
    rate: float | None = None
    concurrency: int = CONCURRENCY
    kind: str = "rehearsal"
    patience: float = PATIENCE
    watch: Watch | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "seed", checked_seed(self.seed))
        object.__setattr__(self, "concurrency", whole(1, MOST)("concurrency", self.concurrency))
        one_of(PEOPLE_KINDS, "kind of participant")("kind", self.kind)
        if self.rate is not None:
            real(1e-3, 1e6)("rate", self.rate)

    def label(self, place: int) -> str:
        """Return the name of the bot at a place."""
        return f"bot-{place + 1:04d}" if self.seed == 0 else f"bot-{self.seed}-{place + 1:04d}"


class Bot:
    """One simulated participant; ``about`` is the server's description of the study."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        study: str,
        about: Mapping[str, Any],
        behaviour: Agent,
        place: int,
        options: BotOptions,
    ) -> None:
        self._client, self._study, self._about = client, study, about
        self._behaviour, self._options = behaviour, options
        label = options.label(place)
        self._name = f"{options.seed}:{options.kind}:{label}"
        self._root = int.from_bytes(hashlib.sha256(f"bot:{self._name}".encode()).digest(), "big")
        self._next_move = 0.0
        self.result = BotResult(label, behaviour.name)

    def _stream(self, purpose: int, part: int = 0) -> np.random.Generator:
        return generator(self._root, purpose, part)

    def _key(self, *parts: object) -> str:
        return hashlib.sha256(":".join(map(str, ("key", self._name, *parts))).encode()).hexdigest()[:32]

    def _report(self, acknowledged: Acknowledged | None = None) -> None:
        if self._options.watch is not None:
            self._options.watch(self.result, acknowledged)

    async def _ask(self, method: str, path: str, body: Any = None) -> tuple[int, JsonObject]:
        """Return an answer that counts; the same question again while there is none."""
        pause, failures = _SHORTEST_PAUSE, 0
        deadline = time.monotonic() + self._options.patience
        while True:
            wait = 0.0
            try:
                response = await self._client.request(method, path, json=body)
            except httpx.TransportError as error:
                why = str(error) or type(error).__name__
            else:
                answer = answer_body(response)
                status = response.status_code
                if status < 500 and status != 429 and (answer or status == 204):
                    return status, answer
                why = sentence(answer, status)
                failures += status == 500
                later = response.headers.get("retry-after", "")
                wait = float(later) if later.isdigit() else 0.0
            self.result.retries += 1
            if failures >= _TRIES_AFTER_500:
                raise RequestFailed(f"{self.result.label} cannot continue at {self.result.step!r}: {why}")
            if time.monotonic() + wait > deadline:
                raise ServerUnreachable(
                    f"{self.result.label} got no answer from {address(self._client)} for {self._options.patience:g} s: "
                    f"{why} Run the same command again to continue from this step."
                )
            await asyncio.sleep(max(pause, wait))
            pause = min(2 * pause, _LONGEST_PAUSE)

    async def arrive(self) -> None:
        """Agree, and get the personal link."""
        body = {
            "key": self._key("arrival"),
            "consent_version": self._about["consent"]["version"],
            "language": self._about["language"],
            "rehearsal": self._options.kind == "rehearsal",
            "demo": self._options.kind == "demo",
            "recruiting": {"label": self.result.label},
        }
        status, answer = await self._ask("POST", f"/api/studies/{quote(self._study, safe='')}/participants", body)
        if status not in (200, 201):
            why = sentence(answer, status)
            if answer.get("error") == "closed":
                raise StudyClosed(f"The study {self._study!r} takes no new participants: {why}")
            if self._options.kind == "rehearsal" and status in (401, 403):
                raise LoginRefused(f"The login is not accepted, or no more: {why}")
            raise RequestFailed(f"{self.result.label} cannot take part in {self._study!r}: {why}")
        self.result.token = str(answer["token"])
        self.result.step = "arrived"
        self._report()

    async def play(self) -> None:
        """Play all steps up to the completion code."""
        start = time.monotonic()
        state = await self._state()
        while state["step"]["kind"] != "thanks":
            if state["step"]["kind"] == "episode":
                await self._episode(await self._met(state))
                state = await self._state()
            elif state["step"]["kind"] == "lobby":
                state = await self._team()
            else:
                state = await self._answer(state)
            self._note(state)
        self.result.code = str(state["thanks"]["code"])
        self.result.seconds = time.monotonic() - start
        self._note(state)

    async def _team(self) -> JsonObject:
        """Wait in the lobby, always there when asked, until there is a team or the wait is over."""
        path = f"/api/participants/{self.result.token}/lobby"
        while True:
            status, answer = await self._ask("POST", path, {"here": True, "ready": True})
            if status != 200:
                raise RequestFailed(f"{self.result.label} cannot wait for a team: {sentence(answer, status)}")
            if answer["state"] is not None:
                return dict(answer["state"])
            await asyncio.sleep(_TEAM_PAUSE)

    async def _met(self, state: JsonObject) -> JsonObject:
        """Wait until the other members of the team have reached the episode."""
        while state["step"]["kind"] == "episode" and (state.get("team") or {}).get("meeting"):
            await asyncio.sleep(_TEAM_PAUSE)
            state = await self._state()
        return state

    async def _sealed(self, index: int, t: int, answer: JsonObject) -> JsonObject | None:
        """Return the answer to a move after all members of the team have moved; None if the seat was taken over."""
        path = f"/api/participants/{self.result.token}/team?episode={index}&after={t - 1}"
        status = 200
        while status == 200 and not answer["rounds"]:
            await asyncio.sleep(_TEAM_PAUSE)
            status, answer = await self._ask("GET", path)
        return answer if status == 200 else None

    def _note(self, state: Mapping[str, Any]) -> None:
        self.result.participant = str(state["participant"])
        self.result.step = str(state["step"]["id"])
        self.result.progress = state["progress"]["done"], state["progress"]["total"]
        self._report()

    async def _state(self) -> JsonObject:
        status, state = await self._ask("GET", f"/api/participants/{self.result.token}")
        if status != 200:
            raise RequestFailed(f"{self.result.label} is not known to the server any more: {sentence(state, status)}")
        return state

    def _conflict(self) -> None:
        self.result.conflicts += 1
        if self.result.conflicts > _MOST_STEPS_BACK:
            raise RequestFailed(
                f"{self.result.label} and the server do not agree on what was played; is it played twice?"
            )

    # Answering

    async def _answer(self, state: Mapping[str, Any]) -> JsonObject:
        step = str(state["step"]["id"])
        rng = self._stream(BotStream.ANSWERS, _number(step))
        given = self._answers(state, rng)
        ms = 1000 + int(rng.random() * 20_000)
        choices = {question["id"]: len(question["choices"]) for question in state.get("quiz", {}).get("questions", ())}
        for attempt in range(1 + max(choices.values(), default=0)):
            path = f"/api/participants/{self.result.token}/answers/{step}"
            body = {"answers": given, "ms": ms, "key": self._key("answer", step, attempt)}
            status, answer = await self._ask("POST", path, body)
            if status == 409 and "state" in answer:
                self._conflict()
                return dict(answer["state"])
            if status != 200:
                raise RequestFailed(f"{self.result.label} cannot answer {step!r}: {sentence(answer, status)}")
            if answer["accepted"]:
                return dict(answer["state"])
            # A quiz tells which answers are wrong, so the others stay.
            given |= {id: (given[id] + 1) % choices[id] for id in answer["wrong"]}
        raise RequestFailed(f"{self.result.label} has tried every answer to {step!r}, and none is accepted.")

    def _answers(self, state: Mapping[str, Any], rng: np.random.Generator) -> JsonObject:
        def drawn(low: int, high: int) -> int:
            return low + int(rng.random() * (high - low + 1))

        kind, design = state["step"]["kind"], self._options.design
        if kind == "consent":
            return {"version": state["consent"]["version"]}
        if kind == "demographics":
            return {
                asked["id"]: "simulated"
                if asked["answer"] == "text"
                else drawn(0, len(asked["choices"]) - 1)
                if asked["answer"] == "choice"
                else drawn(asked["low"], asked["high"])
                for asked in state["demographics"]
            }
        if kind == "quiz":
            right = {} if design is None else {item.id: item.answer for item in design.quiz}
            guessed = {asked["id"]: drawn(0, len(asked["choices"]) - 1) for asked in state["quiz"]["questions"]}
            return guessed | {id: answer for id, answer in right.items() if id in guessed}
        if kind == "questionnaire":
            return _questionnaire_answers(state["questionnaire"]["items"], drawn)
        if kind == "survey":
            survey = state["survey"]
            wanted = {} if design is None else {check.id: check.answer for check in design.attention}
            answers = {}
            for item in sorted(survey["items"], key=lambda item: str(item["id"])):  # whatever order they are shown in
                opinion = drawn(1, survey["points"])
                answers[item["id"]] = wanted.get(item["id"], _asked_for(item["text"], survey["points"]) or opinion)
            return answers
        return {}

    # Playing

    def _briefed(self, state: Mapping[str, Any]) -> Agent:
        """Return the behaviour before the first round, with the information that a person gets."""
        view, design = state["episode"], self._options.design
        person = at_line(self._behaviour.clone(), int(state["task"].get("layers", 1)))
        problem = None if design is None else design.problem
        briefing = Briefing(
            state["task"]["seat"],
            tuple(state["task"]["arms"]),
            tuple(range(len(state["task"]["arms"])))
            if problem is None or problem.draws_roles
            else problem.known_ranks(),
            view["rounds"],
            binary="score" not in state["task"],
            observation="missed" if problem is None else problem.observation.name,
            actions="hidden" if view.get("hidden") else "observed",
        )
        if briefing.actions == "hidden" and person.needs_actions:
            raise RequestFailed(f"{person.title} needs the choices of its partners, which this study hides.")
        person.reset(briefing, self._stream(BotStream.BEHAVIOUR, view["index"]))
        return person

    async def _episode(self, state: JsonObject) -> None:
        """Play all rounds of an episode, from the first: stored rounds are returned unchanged."""
        if state["step"]["kind"] != "episode":
            return  # a member did not arrive in time, so the episode was skipped
        view = state["episode"]
        index, rounds = int(view["index"]), int(view["rounds"])
        person = self._briefed(state)
        pace = self._stream(BotStream.PACE, index)
        language = quote(state["language"], safe="")  # which the page sends with every move, so bots do, too
        path = f"/api/participants/{self.result.token}/rounds?language={language}"
        moves: list[JsonObject] = []
        seen, t = 0, 1
        while t <= rounds:
            while len(moves) < t:
                key = self._key("round", index, len(moves) + 1)
                ms = 200 + int(pace.random() * 800)
                # Skip rounds that another client of this participant has played in the meantime.
                arm = await _chosen(person) if len(moves) + 1 == t else 0
                moves.append({"t": len(moves) + 1, "arm": arm, "key": key, "ms": ms})
            await self._wait_for_turn()
            start = time.perf_counter()
            status, answer = await self._ask("POST", path, {"episode": index, "moves": [moves[t - 1]]})
            if status == 200:
                self.result.latencies.append(time.perf_counter() - start)
                if not answer["rounds"]:
                    sealed = await self._sealed(index, t, answer)
                    if sealed is None:
                        return
                    answer = sealed
                latest = answer["rounds"][0]
                self.result.rounds += 1
                self.result.good += bool(_seen(latest))
                self._report(Acknowledged(index, t, tuple(latest["arms"]), latest["good"], moves[t - 1]["key"]))
            elif status == 409 and "state" in answer:
                self._conflict()
                now = answer["state"]
                if now["step"]["id"] != f"episode-{index}":
                    return
                played = int(now["episode"]["played"])
                if played < t:  # the server has lost rounds: the same ones again
                    t = played + 1
                    continue
                t, latest = played, {"known": []} if "delay" in view else now["episode"]["latest"]
            else:
                raise RequestFailed(f"{self.result.label} cannot play round {t}: {sentence(answer, status)}")
            if t > seen:
                pass_over(person, t - seen - 1)
                known = [(_arms(past), _seen(past)) for past in latest.get("known", (latest,))]
                learn_in_one_round(person, known) if known else pass_over(person, 1)
                seen = t
            t += 1

    async def _wait_for_turn(self) -> None:
        """Wait until the requested speed allows the next round."""
        if self._options.rate is None:
            return
        now = time.monotonic()
        self._next_move = max(self._next_move, now) if self._next_move else now
        if self._next_move > now:
            await asyncio.sleep(self._next_move - now)
        self._next_move += 1.0 / self._options.rate


def _arms(latest: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the arms of a round as an agent observes them; those of others may be hidden."""
    return tuple(HIDDEN if arm is None else arm for arm in latest["arms"])


def _seen(latest: Mapping[str, Any]) -> float | None:
    """Return what the person saw of a round: its score, or 1 or 0 for a good or a bad outcome."""
    seen = latest["score"] if "score" in latest else latest["good"]
    return None if seen is None else float(seen)


async def _chosen(person: Agent) -> int:
    """Return the arm of a simulated person; one that waits for answers, such as a language model, waits in a thread."""
    return int(await asyncio.to_thread(person.choose) if person.waits else person.choose())


def _number(step: str) -> int:
    """Return an integer for a step, the same on every machine."""
    return int.from_bytes(hashlib.sha256(step.encode()).digest()[:4], "big")


def _questionnaire_answers(items: list[JsonObject], drawn: Callable[[int, int], int]) -> JsonObject:
    """Return answers to all items of a questionnaire that their conditions let appear."""
    answers: JsonObject = {}
    for item in items:  # an item comes after the one that it depends on
        condition = item.get("show_if")
        if condition is not None and not ShowIf.read("show_if", condition).met(answers.get(condition["item"])):
            continue
        low, high = (1, item["points"]) if "points" in item else (item.get("lowest", 0), item.get("highest", 0))
        if "choices" in item:
            low, high = 0, len(item["choices"]) - 1
        for row in item.get("rows", (item,)):
            answers[row["id"]] = made_up_answer(item["kind"], low, high, item.get("longest", 0), drawn)
    return answers


def _asked_for(text: str, points: int) -> int | None:
    """Return the answer that an item explicitly asks for ("please choose 2 here"), as attention checks do."""
    numbers = {int(digits) for digits in re.findall(r"\b\d{1,3}\b", text)}
    return numbers.pop() if len(numbers) == 1 and 1 <= min(numbers) <= points else None
