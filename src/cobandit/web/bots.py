"""Simulated participants over HTTP: whole people, from consent to code, through the very interface the pages use.

A bot knows what the pages tell and nothing more; whoever starts it may hand in the design, so that it passes quiz and
attention checks at once. It draws all that it does from its own seed and label, also the keys of its requests: a bot
that is cut off asks again and is answered from the store, and the same call again goes on where the last one stopped.
"""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
import re
import time
from array import array
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar
from urllib.parse import quote, urlsplit

import httpx
import numpy as np

from cobandit.agents import Agent, Briefing
from cobandit.agents.base import pass_over
from cobandit.base.checks import MOST, one_of, real, whole
from cobandit.base.errors import CobanditError, InvalidInput
from cobandit.base.streams import BotStream, checked_seed, generator
from cobandit.studies import StudyDesign, make_behaviour
from cobandit.studies.data import PEOPLE_KINDS
from cobandit.studies.plan import PARTICIPANT

P = ParamSpec("P")
T = TypeVar("T")

PATIENCE = 120.0
"""For how many seconds a bot asks again when the server does not answer."""

CONCURRENCY = 50
"""How many bots are at it at once."""

_TIMEOUT = 30.0
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.02, 1.0
_TRIES_AFTER_500 = 5
_MOST_STEPS_BACK = 1000  # conflicts that one bot takes before it gives up


class BotsFailed(CobanditError):
    """Simulated participants could not play; the message says why and what to do."""


class ServerUnreachable(BotsFailed):
    """Nobody answers at the address, or not as a server of studies does."""


class LoginRefused(BotsFailed):
    """The password or the login is not accepted."""


class NoSuchStudy(BotsFailed):
    """The server has no study of this name."""


class StudyClosed(BotsFailed):
    """The study takes no new participants."""


class Acknowledged(NamedTuple):
    """A round that the server has said is stored; ``good`` None: nothing was seen."""

    episode: int
    t: int
    arms: tuple[int, int]
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


async def play_study_async(
    url: str,
    study: str,
    participants: int,
    behaviours: str | Agent | Sequence[str | Agent],
    *,
    login: str | None = None,
    design: StudyDesign | None = None,
    seed: int = 0,
    rate: float | None = None,
    concurrency: int = CONCURRENCY,
    kind: str = "rehearsal",
    patience: float = PATIENCE,
    watch: Watch | None = None,
) -> list[BotResult]:
    """Play so many bots through a study, each to its completion code; the results come in the order of arrival.

    Bot i behaves as the i-th of ``behaviours``, over and over. They arrive one after another, so that seed and order
    of each are always the same, and then play ``concurrency`` at a time, each at most ``rate`` rounds a second (None:
    as fast as it goes). Rehearsals need a ``login`` (`log_in`). The same call again goes on with the same bots.
    """
    count = whole(1, MOST)("participants", participants)
    number = checked_seed(seed)
    given = [behaviours] if isinstance(behaviours, (str, Agent)) else list(behaviours)
    if not given:
        raise InvalidInput("There are no behaviours; at least one is needed.")
    made = [make_behaviour(behaviour) for behaviour in given]
    for agent in made:
        if agent.oracle:
            raise InvalidInput(
                f"{agent.name!r} must be told the means, which no participant is; take another behaviour."
            )
    one_of(PEOPLE_KINDS, "kind of participant")("kind", kind)
    pace = None if rate is None else 1.0 / real(1e-3, 1e6)("rate", rate)
    at_once = whole(1, MOST)("concurrency", concurrency)
    if kind == "rehearsal" and login is None:
        raise LoginRefused("Rehearsals need the researcher's login; give the password of the server.")
    async with _client(url, at_once, login) as client:
        about = await _describe(client, study)
        bots = [
            _Bot(client, study, about, design, made[i % len(made)], number, i, kind, pace, patience, watch)
            for i in range(count)
        ]
        for bot in bots:
            await bot.arrive()
        places = asyncio.Semaphore(at_once)

        async def one(bot: _Bot) -> None:
            async with places:
                await bot.play()

        tasks = [asyncio.create_task(one(bot)) for bot in bots]
        try:
            await asyncio.gather(*tasks)
        finally:  # the first that fails stops all
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    return [bot.result for bot in bots]


async def log_in_async(url: str, password: str) -> str:
    """The researcher's login as a bearer token; rehearsals need one."""
    async with _client(url, 1, None) as client:
        status, answer = await _first(client, "POST", "/api/admin/login", {"password": password})
        if status == 200 and isinstance(answer.get("token"), str):
            return str(answer["token"])
        raise LoginRefused(f"The server at {_shown(client)} gives no login: {_sentence(answer, status)}")


def _synchronous(work: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    @wraps(work)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        return asyncio.run(work(*args, **kwargs))

    return run


play_study = _synchronous(play_study_async)
log_in = _synchronous(log_in_async)


# The other side


def _client(url: str, connections: int, login: str | None) -> httpx.AsyncClient:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidInput(f"The server is {url!r}; an address such as http://127.0.0.1:8000 is needed.")
    return httpx.AsyncClient(
        base_url=url.rstrip("/"),
        headers={} if login is None else {"authorization": f"Bearer {login}"},
        timeout=_TIMEOUT,
        limits=httpx.Limits(max_connections=connections, max_keepalive_connections=connections),
        trust_env=not _local(parts.hostname),  # a proxy for the internet knows nothing of this machine
    )


def _local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _shown(client: httpx.AsyncClient) -> str:
    return str(client.base_url).rstrip("/")


def _sentence(answer: Mapping[str, Any], status: int) -> str:
    return str(answer.get("message") or f"it answers with status {status}.")


def _table(response: httpx.Response) -> dict[str, Any]:
    """The JSON of an answer; empty, where it is none."""
    try:
        data = response.json()
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


async def _first(client: httpx.AsyncClient, method: str, path: str, body: Any = None) -> tuple[int, dict[str, Any]]:
    """The first question to a server, which is asked once: whoever mistyped the address should know at once."""
    try:
        response = await client.request(method, path, json=body)
    except (httpx.TransportError, httpx.InvalidURL) as error:
        why = str(error) or type(error).__name__
        raise ServerUnreachable(f"No server answers at {_shown(client)}: {why}. Is it running?") from error
    return response.status_code, _table(response)


async def _describe(client: httpx.AsyncClient, study: str) -> dict[str, Any]:
    status, answer = await _first(client, "GET", f"/api/studies/{quote(study, safe='')}")
    if status == 404 and answer.get("error") == "not-found":
        raise NoSuchStudy(f"The server at {_shown(client)} has no study {study!r}.")
    if status != 200 or "consent" not in answer:
        raise ServerUnreachable(f"{_shown(client)} does not answer as a server of studies: {_sentence(answer, status)}")
    return answer


# One bot


def _label(seed: int, place: int) -> str:
    return f"bot-{place + 1:04d}" if seed == 0 else f"bot-{seed}-{place + 1:04d}"


class _Bot:
    """One simulated participant."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        study: str,
        about: Mapping[str, Any],
        design: StudyDesign | None,
        behaviour: Agent,
        seed: int,
        place: int,
        kind: str,
        pace: float | None,
        patience: float,
        watch: Watch | None,
    ) -> None:
        self._client, self._study, self._about, self._design = client, study, about, design
        self._behaviour, self._kind, self._pace, self._patience, self._watch = behaviour, kind, pace, patience, watch
        self._name = f"{seed}:{kind}:{_label(seed, place)}"
        self._root = int.from_bytes(hashlib.sha256(f"bot:{self._name}".encode()).digest(), "big")
        self._next_move = 0.0
        self.result = BotResult(_label(seed, place), behaviour.name)

    def _stream(self, purpose: int, part: int = 0) -> np.random.Generator:
        return generator(self._root, purpose, part)

    def _key(self, *parts: object) -> str:
        return hashlib.sha256(":".join(map(str, ("key", self._name, *parts))).encode()).hexdigest()[:32]

    def _tell(self, made: Acknowledged | None = None) -> None:
        if self._watch is not None:
            self._watch(self.result, made)

    async def _ask(self, method: str, path: str, body: Any = None) -> tuple[int, dict[str, Any]]:
        """An answer that counts; the same question again while there is none."""
        pause, failures = _SHORTEST_PAUSE, 0
        deadline = time.monotonic() + self._patience
        while True:
            wait = 0.0
            try:
                response = await self._client.request(method, path, json=body)
            except httpx.TransportError as error:
                why = str(error) or type(error).__name__
            else:
                answer = _table(response)
                status = response.status_code
                if status < 500 and status != 429 and (answer or status == 204):
                    return status, answer
                why = _sentence(answer, status)
                failures += status == 500
                later = response.headers.get("retry-after", "")
                wait = float(later) if later.isdigit() else 0.0
            self.result.retries += 1
            if failures >= _TRIES_AFTER_500:
                raise BotsFailed(f"{self.result.label} cannot go on at {self.result.step!r}: {why}")
            if time.monotonic() + wait > deadline:
                raise ServerUnreachable(
                    f"{self.result.label} got no answer from {_shown(self._client)} for {self._patience:g} s: {why} "
                    f"The same command goes on where this one stopped."
                )
            await asyncio.sleep(max(pause, wait))
            pause = min(2 * pause, _LONGEST_PAUSE)

    async def arrive(self) -> None:
        """Agree, and get the personal link."""
        body = {
            "key": self._key("arrival"),
            "consent_version": self._about["consent"]["version"],
            "language": self._about["language"],
            "rehearsal": self._kind == "rehearsal",
            "demo": self._kind == "demo",
            "recruiting": {"label": self.result.label},
        }
        status, answer = await self._ask("POST", f"/api/studies/{quote(self._study, safe='')}/participants", body)
        if status not in (200, 201):
            why = _sentence(answer, status)
            if answer.get("error") == "closed":
                raise StudyClosed(f"The study {self._study!r} takes no new participants: {why}")
            if self._kind == "rehearsal" and status in (401, 403):
                raise LoginRefused(f"The login is not accepted, or no more: {why}")
            raise BotsFailed(f"{self.result.label} cannot take part in {self._study!r}: {why}")
        self.result.token = str(answer["token"])
        self.result.step = "arrived"
        self._tell()

    async def play(self) -> None:
        """Everything from here to the completion code."""
        start = time.monotonic()
        state = await self._state()
        while state["step"]["kind"] != "thanks":
            if state["step"]["kind"] == "episode":
                await self._episode(state)
                state = await self._state()
            else:
                state = await self._answer(state)
            self._note(state)
        self.result.code = str(state["thanks"]["code"])
        self.result.seconds = time.monotonic() - start
        self._note(state)

    def _note(self, state: Mapping[str, Any]) -> None:
        self.result.participant = str(state["participant"])
        self.result.step = str(state["step"]["id"])
        self.result.progress = state["progress"]["done"], state["progress"]["total"]
        self._tell()

    async def _state(self) -> dict[str, Any]:
        status, state = await self._ask("GET", f"/api/participants/{self.result.token}")
        if status != 200:
            raise BotsFailed(f"{self.result.label} is not known to the server any more: {_sentence(state, status)}")
        return state

    def _conflict(self) -> None:
        self.result.conflicts += 1
        if self.result.conflicts > _MOST_STEPS_BACK:
            raise BotsFailed(f"{self.result.label} and the server do not agree on what was played; is it played twice?")

    # Answering

    async def _answer(self, state: Mapping[str, Any]) -> dict[str, Any]:
        step = str(state["step"]["id"])
        rng = self._stream(BotStream.ANSWERS, _number(step))
        given = self._answers(state, rng)
        ms = 1000 + int(rng.random() * 20_000)
        choices = {question["id"]: len(question["choices"]) for question in state.get("quiz", {}).get("questions", ())}
        for _ in range(1 + max(choices.values(), default=0)):
            path = f"/api/participants/{self.result.token}/answers/{step}"
            status, answer = await self._ask("POST", path, {"answers": given, "ms": ms})
            if status == 409 and "state" in answer:
                self._conflict()
                return dict(answer["state"])
            if status != 200:
                raise BotsFailed(f"{self.result.label} cannot answer {step!r}: {_sentence(answer, status)}")
            if answer["accepted"]:
                return dict(answer["state"])
            # A quiz tells which answers are wrong, so the others stay.
            given |= {id: (given[id] + 1) % choices[id] for id in answer["wrong"]}
        raise BotsFailed(f"{self.result.label} has tried every answer to {step!r}, and none is accepted.")

    def _answers(self, state: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
        def drawn(low: int, high: int) -> int:
            return low + int(rng.random() * (high - low + 1))

        kind, design = state["step"]["kind"], self._design
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
        if kind == "survey":
            survey = state["survey"]
            wanted = {} if design is None else {check.id: check.answer for check in design.attention}
            made = {}
            for item in sorted(survey["items"], key=lambda item: str(item["id"])):  # whatever order they are shown in
                opinion = drawn(1, survey["points"])
                made[item["id"]] = wanted.get(item["id"], _asked_for(item["text"], survey["points"]) or opinion)
            return made
        return {}

    # Playing

    def _briefed(self, state: Mapping[str, Any]) -> Agent:
        """The behaviour before the first round, told what a person is told."""
        view, design = state["episode"], self._design
        person = self._behaviour.clone()
        problem = None if design is None else design.problem
        briefing = Briefing(
            PARTICIPANT,
            tuple(state["task"]["arms"]),
            (0, 1) if problem is None else problem.known_ranks(),
            view["rounds"],
            binary=True,
            observation="missed" if problem is None else problem.observation.name,
        )
        person.reset(briefing, self._stream(BotStream.BEHAVIOUR, view["index"]))
        return person

    async def _episode(self, state: dict[str, Any]) -> None:
        """All rounds of an episode, from the first: those that are stored come back as they were."""
        view = state["episode"]
        index, rounds = int(view["index"]), int(view["rounds"])
        person = self._briefed(state)
        pace = self._stream(BotStream.PACE, index)
        path = f"/api/participants/{self.result.token}/rounds"
        moves: list[dict[str, Any]] = []
        seen, t = 0, 1
        while t <= rounds:
            while len(moves) < t:
                key = self._key("round", index, len(moves) + 1)
                ms = 200 + int(pace.random() * 800)
                # A round that somebody else has played in between is passed over.
                arm = int(person.choose()) if len(moves) + 1 == t else 0
                moves.append({"t": len(moves) + 1, "arm": arm, "key": key, "ms": ms})
            await self._breathe()
            start = time.perf_counter()
            status, answer = await self._ask("POST", path, {"episode": index, "moves": [moves[t - 1]]})
            if status == 200:
                self.result.latencies.append(time.perf_counter() - start)
                made = answer["rounds"][0]
                self.result.rounds += 1
                self.result.good += bool(made["good"])
                self._tell(Acknowledged(index, t, tuple(made["arms"]), made["good"], moves[t - 1]["key"]))
            elif status == 409 and "state" in answer:
                self._conflict()
                now = answer["state"]
                if now["step"]["id"] != f"episode-{index}":
                    return
                played = int(now["episode"]["played"])
                if played < t:  # the server has lost rounds: the same ones again
                    t = played + 1
                    continue
                t, made = played, now["episode"]["latest"]
            else:
                raise BotsFailed(f"{self.result.label} cannot play round {t}: {_sentence(answer, status)}")
            if t > seen:
                pass_over(person, t - seen - 1)
                person.observe(tuple(made["arms"]), None if made["good"] is None else float(made["good"]))
                seen = t
            t += 1

    async def _breathe(self) -> None:
        """Not faster than asked for."""
        if self._pace is None:
            return
        now = time.monotonic()
        self._next_move = max(self._next_move, now) if self._next_move else now
        if self._next_move > now:
            await asyncio.sleep(self._next_move - now)
        self._next_move += self._pace


def _number(step: str) -> int:
    """A whole number for a step, the same on every machine."""
    return int.from_bytes(hashlib.sha256(step.encode()).digest()[:4], "big")


def _asked_for(text: str, points: int) -> int | None:
    """The answer that an item asks for in so many words ("please choose 2 here"), as attention checks do."""
    numbers = {int(found) for found in re.findall(r"\b\d{1,3}\b", text)}
    return numbers.pop() if len(numbers) == 1 and 1 <= min(numbers) <= points else None
