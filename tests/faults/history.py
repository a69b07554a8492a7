"""A history of everything that participants did, and what a store must hold after it: in the manner of Jepsen.

Clients write down every call before it is sent and every answer when it has come, in the order of one clock. Whatever
was answered with success must be stored, just once, as it was sent, and in the order in which the calls followed each
other; whatever was sent and never answered may be stored or not; nothing else may be there.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx
from sqlalchemy import Connection, text

from cobandit.studies import StudyDesign, verify_study
from cobandit.web.storage.database import Database
from cobandit.web.storage.studies import find_study
from cobandit.web.storage.study_data import study_data
from tests.clients import PATIENCE

SUCCESS = (200, 201, 204)
TRIES = 400
HURRIED = 0.3
"""The share of moves in a team for which the time is over at the moment they are sent."""


HURRIED_LOOKS = 60
"""How often a client at most looks whether the first takeover has come."""


def _pause(number: int) -> float:
    """A little longer each time: a server that was killed takes its time on a busy machine."""
    return min(0.05 * (number + 1), 0.5)


@dataclass
class Call:
    """One request: of whom, what, when it was sent, and when which answer came (None: never)."""

    client: str
    kind: str
    body: dict[str, Any]
    sent: int
    answered: int | None = None
    status: int | None = None
    answer: dict[str, Any] = field(default_factory=dict)
    mark: int = 0

    @property
    def acknowledged(self) -> bool:
        return self.status in SUCCESS


def _still_open(state: dict[str, Any], episode: int, t: int) -> bool:
    """Return whether a member of a team may still make the move of a round."""
    view, team = state.get("episode") or {}, state.get("team") or {"moved": True}
    return not team["moved"] and (view.get("index"), view.get("played")) == (episode, t - 1)


class History:
    """Calls in the order of their sending; ``mark`` is asked for a number whenever an answer has come."""

    def __init__(self, mark: Any = lambda: 0) -> None:
        self.calls: list[Call] = []
        self.tokens: dict[str, str] = {}
        self._clock, self._mark = itertools.count(1), mark

    def sent(self, client: str, kind: str, body: dict[str, Any]) -> Call:
        self.calls.append(Call(client, kind, body, next(self._clock)))
        return self.calls[-1]

    def answered(self, call: Call, status: int, answer: dict[str, Any]) -> None:
        call.mark = self._mark()
        call.answered, call.status, call.answer = next(self._clock), status, answer


class Client:
    """A participant who makes mistakes at the quiz, sends events, and repeats what was not answered."""

    def __init__(
        self,
        url: str,
        name: str,
        design: StudyDesign,
        history: History,
        seed: int,
        *,
        twice: bool = False,
        hurry: Callable[[str], None] | None = None,
    ) -> None:
        """``twice``: everything is sent once more when it was answered, as by an impatient browser.

        ``hurry`` ends the time for the current move of a person's team, so that a takeover races with the move.
        """
        self._url, self.name, self._design, self._history, self._twice = url, name, design, history, twice
        self._rng = random.Random(f"{seed}:{name}")
        self._hurry = hurry
        self._hurried = False

    def _key(self) -> str:
        return f"{self._rng.getrandbits(64):016x}"

    async def play(self) -> None:
        async with httpx.AsyncClient(base_url=self._url, timeout=PATIENCE, trust_env=False) as self._http:
            body = {"key": self._key(), "consent_version": self._design.consent.version}
            arrived = await self._do("arrive", f"/api/studies/{self._design.name}/participants", body)
            self._path = f"/api/participants/{arrived['token']}"
            self._history.tokens[self.name] = arrived["token"]
            while (state := await self._state())["step"]["kind"] != "thanks":
                await self._step(state)
                if state.get("team") and state["team"]["meeting"]:
                    continue  # nothing happens while somebody waits for the others
                assert (await self._get("/robot"))["robot"] is None  # there is none, and the page may ask
                events = [{"kind": "hidden", "at": 1, "data": {}, "key": self._key()} for _ in range(2)]
                await self._do("events", f"{self._path}/events", {"events": events})

    async def _step(self, state: dict[str, Any]) -> None:
        step = state["step"]
        if step["kind"] == "lobby":
            await self._wait_for_team()
            return
        if state.get("team"):
            await self._play_together(state)
            return
        if step["kind"] == "episode":
            view = state["episode"]
            left = range(view["played"] + 1, view["rounds"] + 1)
            while left:
                several, left = self._split(left)
                moves = [{"t": t, "arm": self._rng.randrange(2), "key": self._key(), "ms": 500} for t in several]
                body = {"episode": view["index"], "moves": moves}
                path = f"{self._path}/rounds{self._rng.choice(('', '?language=en'))}"
                if await self._do("rounds", path, body) == {}:
                    return  # a second tab was faster: where am I?
            return
        # Some pages name a language, which is stored with the answers.
        path = f"{self._path}/answers/{step['id']}{self._rng.choice(('', '?language=en'))}"
        if step["kind"] == "quiz":
            wrong = {item.id: (item.answer + 1) % len(item.choices) for item in self._design.quiz}
            await self._do("quiz-wrong", path, {"answers": wrong, "key": self._key()})
        await self._do(f"answer {step['id']}", path, {"answers": self._good(state), "ms": 1000, "key": self._key()})

    async def _wait_for_team(self) -> None:
        for number in itertools.count():
            visit = await self._do("lobby", f"{self._path}/lobby", {"here": True, "ready": True})
            if visit.get("lobby") is None:
                return
            await asyncio.sleep(_pause(number))

    async def _play_together(self, state: dict[str, Any]) -> None:
        """Play one round with the others, as far as it is open: a takeover may be faster."""
        view = state["episode"]
        if state["team"]["meeting"] is not None:
            await asyncio.sleep(_pause(0))
            return
        t = view["played"] + 1
        if not state["team"]["moved"]:
            if self._hurry is not None and self._rng.random() < HURRIED:
                await asyncio.to_thread(self._hurry, self._history.tokens[self.name])
                # The first time the takeover is waited for; later it comes sooner, later or with the move.
                looks = self._rng.randrange(12) if self._hurried else HURRIED_LOOKS
                self._hurried = True
                for number in range(looks):
                    if not _still_open(await self._get(""), view["index"], t):
                        break
                    await asyncio.sleep(_pause(number))
                    if number % 8 == 7:  # a restarted server may have given the round its full time again
                        await asyncio.to_thread(self._hurry, self._history.tokens[self.name])
            move = {"t": t, "arm": self._rng.randrange(2), "key": self._key(), "ms": 500}
            if await self._do("rounds", f"{self._path}/rounds", {"episode": view["index"], "moves": [move]}) == {}:
                return
        await self._see_round(view["index"], t)

    async def _see_round(self, episode: int, t: int) -> None:
        """Wait until the round is sealed, and write down what is shown of it."""
        for number in range(TRIES):
            call = self._history.sent(self.name, "shown", {"episode": episode, "t": t})
            try:
                answer = await self._http.get(f"{self._path}/team?episode={episode}&after={t - 1}")
                said = dict(answer.json())
            except (httpx.HTTPError, ValueError):
                await asyncio.sleep(_pause(number))
                continue
            self._history.answered(call, answer.status_code, said)
            if answer.status_code == 409 or said.get("rounds") or said.get("team", {}).get("seats") is None:
                return
            if any(seat["you"] and seat["left"] for seat in said["team"]["seats"]):
                return  # the seat was taken over for good
            await asyncio.sleep(_pause(number))
        raise AssertionError(f"{self.name} waits in vain for round {t} of episode {episode}")

    def _split(self, left: range) -> tuple[range, range]:
        """Split off the rounds of one request: often a single one, several as by a page that was offline."""
        number = self._rng.choice((1, 1, 2, 3))
        return left[:number], left[number:]

    def _good(self, state: dict[str, Any]) -> dict[str, Any]:
        kind = state["step"]["kind"]
        if kind == "demographics":
            return {"age": self._rng.randint(20, 70), "gender": 0, "ai_researcher": 1}
        if kind == "quiz":
            return {item.id: item.answer for item in self._design.quiz}
        if kind == "survey":
            right = {check.id: check.answer for check in self._design.attention}
            return {item["id"]: right.get(item["id"], self._rng.randint(1, 5)) for item in state["survey"]["items"]}
        return {}

    async def _state(self) -> dict[str, Any]:
        return await self._get(self._rng.choice(("", "?language=en")))

    async def _get(self, rest: str) -> dict[str, Any]:
        """Read an address of the participant, again and again until an answer comes."""
        for number in range(TRIES):
            try:
                answer = await self._http.get(self._path + rest)
                if answer.status_code == 200:
                    return dict(answer.json())
            except (httpx.HTTPError, ValueError):
                pass
            await asyncio.sleep(_pause(number))
        raise AssertionError(f"{self.name} gets no answer to GET {rest}")

    async def _do(self, kind: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
        first = await self._until_answered(kind, path, body)
        if self._twice:
            await self._until_answered(kind, path, body)
        return first

    async def _until_answered(self, kind: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """The same body again and again until an answer comes; every try is a call of its own."""
        for number in range(TRIES):
            call = self._history.sent(self.name, kind, body)
            try:
                answer = await self._http.post(path, json=body)
                said = dict(answer.json()) if answer.content else {}
            except (httpx.HTTPError, ValueError):
                await asyncio.sleep(_pause(number))
                continue
            self._history.answered(call, answer.status_code, said)
            if answer.status_code in SUCCESS:
                return said or {"stored": True}
            if answer.status_code == 409 or said.get("error") == "too-many-events":
                return {}
            assert answer.status_code in (429, 500, 503), (kind, answer.status_code, answer.text)
            await asyncio.sleep(_pause(number))
        raise AssertionError(f"{self.name} gets no answer to {kind}")


@dataclass
class StoredTeam:
    """What a database holds of a team: tokens by seat; rounds by episode and t; moves by episode, t and seat."""

    members: dict[int, str | None] = field(default_factory=dict)
    heads: dict[int, str] = field(default_factory=dict)  # by episode
    rounds: dict[tuple[int, int], tuple[list[int], str]] = field(default_factory=dict)  # arms and hash
    moves: dict[tuple[int, int], dict[int, tuple[int, str, str]]] = field(default_factory=dict)  # arm, by, previous


@dataclass
class Stored:
    """What a database holds of each participant, by link."""

    rounds: dict[str, list[tuple[int, int, str, list[int] | None]]]  # episode, t, key, arms; None: not sealed
    answers: dict[str, list[tuple[str, Any]]]
    events: dict[str, list[tuple[str, str]]]  # kind and key, in the order of storing
    attempts: dict[str, int]
    differences: list[str]
    teams: list[StoredTeam] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)  # links of people in the lobby


def stored(database: Database, design: StudyDesign) -> Stored:
    """Everything, and what playing it again finds wrong."""
    rounds: dict[str, list[Any]] = defaultdict(list)
    answers: dict[str, list[Any]] = defaultdict(list)
    events: dict[str, list[Any]] = defaultdict(list)
    with database.reading.connect() as connection:
        query = (
            "SELECT p.token, e.number, r.t, r.key, r.arms FROM rounds r JOIN episodes e ON e.id = r.episode_id "
            "JOIN participants p ON p.id = e.participant_id ORDER BY e.number, r.t"
        )
        for token, episode, t, key, arms in connection.execute(text(query)):
            rounds[token].append((episode, t, key, json.loads(arms)))
        for token, episode, t, key, arms in connection.execute(text(_TEAM_ROUNDS)):
            rounds[token].append((episode, t, key, None if arms is None else json.loads(arms)))
        query = "SELECT p.token, a.step, a.answers FROM answers a JOIN participants p ON p.id = a.participant_id"
        for token, step, given in connection.execute(text(query)):
            answers[token].append((step, json.loads(given)))
        query = (
            "SELECT p.token, v.kind, v.key FROM events v JOIN participants p ON p.id = v.participant_id ORDER BY v.id"
        )
        for token, kind, key in connection.execute(text(query)):
            # The server keeps keys of the quiz and of events apart.
            events[token].append((kind, key and key.rpartition(":")[2]))
        attempts = {
            str(token): int(n) for token, n in connection.execute(text("SELECT token, quiz_attempts FROM participants"))
        }
        study = find_study(connection, design.name)
        assert study is not None
        differences = [f"{who}: {what}" for who, what in verify_study(study_data(connection, study))]
        waiting = "SELECT p.token FROM lobby l JOIN participants p ON p.id = l.participant_id"
        waits = [str(token) for (token,) in connection.execute(text(waiting))]
        return Stored(rounds, answers, events, attempts, differences, _stored_teams(connection), waits)


_TEAM_ROUNDS = (
    "SELECT p.token, e.number, m.t, m.key, r.arms FROM moves m JOIN episodes e ON e.id = m.episode_id "
    "JOIN members s ON s.team_id = e.team_id AND s.seat = m.seat JOIN participants p ON p.id = s.participant_id "
    "LEFT JOIN rounds r ON r.episode_id = m.episode_id AND r.t = m.t WHERE m.by = 'person' ORDER BY e.number, m.t"
)
"""The own moves of members, with the arms of all where the round is sealed."""


def _stored_teams(connection: Connection) -> list[StoredTeam]:
    teams: dict[int, StoredTeam] = defaultdict(StoredTeam)
    query = "SELECT s.team_id, s.seat, p.token FROM members s LEFT JOIN participants p ON p.id = s.participant_id"
    for team, seat, token in connection.execute(text(query)):
        teams[team].members[seat] = token
    query = "SELECT team_id, number, head FROM episodes WHERE team_id IS NOT NULL"
    for team, number, head in connection.execute(text(query)):
        teams[team].heads[number] = head
    query = (
        "SELECT e.team_id, e.number, r.t, r.arms, r.hash FROM rounds r JOIN episodes e ON e.id = r.episode_id "
        "WHERE e.team_id IS NOT NULL"
    )
    for team, number, t, arms, own_hash in connection.execute(text(query)):
        teams[team].rounds[number, t] = json.loads(arms), own_hash
    query = (
        "SELECT e.team_id, e.number, m.t, m.seat, m.arm, m.by, m.previous "
        "FROM moves m JOIN episodes e ON e.id = m.episode_id"
    )
    for team, number, t, seat, arm, by, previous in connection.execute(text(query)):
        teams[team].moves.setdefault((number, t), {})[seat] = arm, by, previous
    return list(teams.values())


def check(history: History, held: Stored, until: int | None = None) -> list[str]:
    """Everything lost, doubled, changed, reordered or made up; calls with marks beyond ``until`` may be lost."""
    problems = list(held.differences) + _teams(held)
    calls: dict[str, list[Call]] = defaultdict(list)
    for call in history.calls:
        calls[call.client].append(call)
    for client, done in calls.items():
        token = history.tokens.get(client) or next(
            (c.answer["token"] for c in done if c.kind == "arrive" and c.answer), ""
        )
        sure = [call for call in done if call.acknowledged and (until is None or call.mark <= until)]
        if token not in held.attempts:
            problems += [f"{client}: lost altogether"] if sure else []
            continue
        found = _rounds(done, sure, held.rounds.get(token, [])) + _shown(sure, token, held)
        found += _lobby(sure, token, held) + _answers(done, sure, held.answers.get(token, []))
        found += _events(done, sure, held.events.get(token, []), held.attempts[token])
        problems += [f"{client}: {problem}" for problem in found]
    strangers = set(held.attempts) - {str(call.answer.get("token")) for call in history.calls}
    return problems + [f"{token} came from nowhere" for token in strangers if until is None]


def _teams(held: Stored) -> list[str]:
    """Return what is wrong with teams: somebody in two, a round without its moves, a move that knew too much."""
    seated = Counter(token for team in held.teams for token in team.members.values() if token is not None)
    problems = [f"{token} is in {count} teams" for token, count in seated.items() if count > 1]
    problems += [f"{token} is in a team and in the lobby" for token in held.waiting if token in seated]
    for team in held.teams:
        played = {number: max((t for n, t in team.rounds if n == number), default=0) for number in team.heads}
        for (number, t), (arms, _) in team.rounds.items():
            moved = {seat: move[0] for seat, move in team.moves.get((number, t), {}).items()}
            if set(moved) != set(team.members) or any(arms[seat] != arm for seat, arm in moved.items()):
                problems.append(f"round {t} of episode {number} has arms {arms}, its moves are {moved}")
        for (number, t), moves in team.moves.items():
            if t > played[number] + 1 or (t > played[number] and set(moves) == set(team.members)):
                problems.append(
                    f"moves of round {t} of episode {number} are stored, {played[number]} rounds are sealed"
                )
            heads = {previous for _, _, previous in moves.values()}
            before = team.rounds[number, t - 1][1] if (number, t - 1) in team.rounds else None
            if len(heads) != 1 or (before is not None and heads != {before}):
                problems.append(f"moves of round {t} of episode {number} were not made on the round before")
    return problems


def _shown(sure: list[Call], token: str, held: Stored) -> list[str]:
    """Return each round that was shown otherwise than it is stored."""
    team = next((team for team in held.teams if token in team.members.values()), StoredTeam())
    return [
        f"round {said['t']} of episode {call.body['episode']} was shown as {said['arms']}, not as it is stored"
        for call in sure
        if call.kind == "shown" or (call.kind == "rounds" and (call.body["episode"], 1) in team.rounds)
        for said in call.answer["rounds"]
        if team.rounds.get((call.body["episode"], said["t"]), (None,))[0] != said["arms"]
    ]


def _lobby(sure: list[Call], token: str, held: Stored) -> list[str]:
    """Return whether somebody was led out of the lobby and has no team, or is in it twice."""
    visits = [call for call in sure if call.kind == "lobby"]
    if not visits:
        return []
    places = [token in team.members.values() for team in held.teams]
    left = any(call.answer["lobby"] is None for call in visits)
    if left and not any(places):
        return ["was led out of the lobby and is in no team"]
    return [] if any(places) or token in held.waiting else ["has joined the lobby and is neither there nor in a team"]


def _rounds(done: list[Call], sure: list[Call], held: list[tuple[int, int, str, list[int] | None]]) -> list[str]:
    sent = {(c.body["episode"], m["t"], m["key"]): m for c in done if c.kind == "rounds" for m in c.body["moves"]}
    there = {(episode, t, key): arms for episode, t, key, arms in held}
    problems = [f"round {place} stored twice" for place, n in Counter(row[:2] for row in held).items() if n > 1]
    problems += [
        f"round {row} was never sent" for row in there if row not in sent and not row[2].startswith("second-tab")
    ]
    for call in (call for call in done if call.kind == "rounds"):
        rows = [(call.body["episode"], move["t"], move["key"]) for move in call.body["moves"]]
        if 0 < sum(row in there for row in rows) < len(rows):
            problems.append(f"of the rounds {rows}, sent in one request, only some are stored")
    for call in (call for call in sure if call.kind == "rounds"):
        waits = call.answer.get("waiting", False)  # stored, but others have not moved
        for move, said in zip(call.body["moves"], [{}] if waits else call.answer["rounds"], strict=True):
            row = (call.body["episode"], move["t"], move["key"])
            if row not in there:
                problems.append(f"round {row} was acknowledged and is lost")
            elif not waits and there[row] != said["arms"]:
                problems.append(f"round {row} was acknowledged as {said['arms']}, stored is {there[row]}")
    return problems


def _answers(done: list[Call], sure: list[Call], held: list[tuple[str, Any]]) -> list[str]:
    there = dict(held)
    problems = ["answers stored twice"] if len(there) != len(held) else []
    sent = defaultdict(list)
    for call in done:
        if call.kind.startswith("answer "):
            sent[call.kind.removeprefix("answer ")].append(call.body["answers"])
    for step, given in there.items():
        if step in sent and not any(_same(body, given) for body in sent[step]):
            problems.append(f"answers to {step} were never sent so: {given}")
    for call in sure:
        step = call.kind.removeprefix("answer ")
        if call.kind.startswith("answer ") and call.answer["accepted"] and step not in there:
            problems.append(f"answers to {step} were acknowledged and are lost")
    return problems


def _same(body: dict[str, Any], given: Any) -> bool:
    """What was sent is in what is stored, which may say more (the order of the items, the version of the consent)."""
    inside = given.get("answers", given) if isinstance(given, dict) else given
    return isinstance(inside, dict) and all(inside.get(name) == value for name, value in body.items())


def _events(done: list[Call], sure: list[Call], held: list[tuple[str, str]], attempts: int) -> list[str]:
    order = {key: place for place, (_, key) in enumerate(held)}
    problems = [f"event {key} stored twice" for key, n in Counter(k for _, k in held if k).items() if n > 1]
    keys = {event["key"] for c in done if c.kind == "events" for event in c.body["events"]}
    wrong = {call.body["key"] for call in done if call.kind == "quiz-wrong"}
    counted = {call.body["key"] for call in sure if call.kind == "quiz-wrong"}
    problems += [f"event {key} was never sent" for kind, key in held if key and kind == "hidden" and key not in keys]
    # The right attempt may be among those that are counted.
    if not len(counted) <= attempts <= len(wrong) + 1:
        problems.append(f"{attempts} attempts at the quiz are counted, {len(counted)} wrong ones were acknowledged")
    known = [(c, [e["key"] for e in c.body["events"]]) for c in sure if c.kind == "events"]
    known += [(c, [c.body["key"]]) for c in sure if c.kind == "quiz-wrong"]
    for call, names in known:
        problems += [f"{call.kind} {name} was acknowledged and is lost" for name in names if name not in order]
    for (first, names), (second, later) in itertools.product(known, known):
        if first.answered is not None and first.answered < second.sent and not set(names) & set(later):
            swapped = [
                n
                for n in names
                for m in later
                if order.get(n, -1) > order.get(m, len(order)) and _first(done, m) > first.answered
            ]
            problems += [f"event {n} was answered before a later one was sent, and stands after it" for n in swapped]
    return problems


def _first(done: list[Call], key: str) -> int:
    """When something of this key was first sent."""
    return min(
        call.sent
        for call in done
        if call.body.get("key") == key or key in {event["key"] for event in call.body.get("events", ())}
    )


def play(url: str, design: StudyDesign, clients: int, history: History, seed: int, *, twice: bool = False) -> None:
    """So many participants at once, to the end."""

    async def everybody() -> None:
        names = [f"c{number}" for number in range(clients)]
        await asyncio.gather(*(Client(url, name, design, history, seed, twice=twice).play() for name in names))

    asyncio.run(everybody())
