"""Seeded random requests to every route of /v1: refusals have our own form, change nothing and show no other tenant.

Each request is a valid one with one to three mutations: of the method, the address, the query, the headers, a value or
the text of the body. A refusal must leave the database and the game in memory as they were; an internal error fails.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from sqlalchemy import text

from tests.web.partner.conftest import TEAM, Service
from tests.web.partner.test_keys import BODIES, SCOPE

REQUESTS = {"sqlite": 20, "postgresql": 60}
"""How many requests a route gets: `make test` runs SQLite, `make long` PostgreSQL."""

SECRET = "only-for-the-other-tenant"
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
TABLES = (
    "SELECT * FROM partner_teams ORDER BY id",
    "SELECT id, team_id, name, seed, origin, created_at FROM partner_games ORDER BY id",
    "SELECT * FROM partner_log ORDER BY game_id, number",
    "SELECT * FROM api_keys ORDER BY id",
)
DEEP = b"[" * 5000 + b"]" * 5000

VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1,
    2,
    2**31 - 1,
    2**31,
    2**53 + 1,
    2**63,
    2**64,
    -(2**70),
    10**400,
    0.5,
    -0.0,
    1e308,
    5e-324,
    float("nan"),
    float("inf"),
    -float("inf"),
    "",
    " ",
    "0",
    "1.0",
    "null",
    "x" * 101,
    "x" * 300,
    "a b",
    "../../other",
    "%2e%2e",
    "a\0b",
    "\ud800",
    "\u202e\u0645\u0631\u062d\u0628\u0627",
    "\U0001f354",
    "'; DROP TABLE partner_log; --",
    SECRET,
    [],
    [0],
    [0, 0],
    [0, 1],
    [1, 0, 1],
    [0.0, 1.0],
    ["0", "1"],
    [None, None],
    [[0], [1]],
    [-1, 2**31],
    [2] * 9,
    [1] * 5000,
    {},
    {"": {}},
    {"reward": 1},
    {"team": {}, "state": {}},
    {"partner_game": 1},
    {"partner_game": 1, "partner": {}, "open": []},
    {"a": {"b": {"c": [{"d": None}]}}},
    {f"k{number}": number for number in range(60)},
)
NAMES = ("drinks", "g", "nobody", SECRET, ".", "..", "...", "a%20b", "%00", "%2F", "%F0%9F%8D%94", "x" * 100, "x" * 101)
QUERIES = ("after", "limit", "seed", "team", "game", "round", "")
HEADERS: tuple[dict[str, str], ...] = (
    {"content-type": "text/plain"},
    {"content-type": "application/json; charset=utf-16"},
    {"content-type": "application/x-www-form-urlencoded"},
    {"content-type": "multipart/form-data; boundary=x"},
    {"content-type": ""},
    {"content-type": ";;;=,"},
    {"content-type": "application/json, application/json"},
    {"content-encoding": "gzip"},
    {"accept": "text/html"},
    {"accept-language": "\\xff;q=nan"},
    {"authorization": ""},
    {"authorization": "Bearer cb_000000000000_" + "A" * 43},
    {"x-forwarded-for": "1.2.3.4, \\0"},
    {"x-http-method-override": "DELETE"},
    {"host": "evil.example"},
    {"expect": "x"},
    {"cookie": "session=" + "a" * 3000},
)


def wrong_value(rng: random.Random, was: Any, depth: int = 0) -> Any:
    """Return another value: from the list, or the one before with a part of it replaced."""
    if depth < 3 and isinstance(was, dict) and was and rng.random() < 0.6:
        changed = dict(was)
        name = rng.choice(list(changed))
        changed[name] = wrong_value(rng, changed[name], depth + 1)
        return changed
    if depth < 3 and isinstance(was, list) and was and rng.random() < 0.6:
        place = rng.randrange(len(was))
        return [*was[:place], wrong_value(rng, was[place], depth + 1), *was[place + 1 :]]
    return rng.choice(VALUES)


class Draft:
    """A request that is being made."""

    def __init__(self, method: str, address: str, body: Any) -> None:
        self.method, self.address = method, address
        self.names = ["drinks", "g"]
        self.body, self.query, self.headers = body, dict[str, Any](), dict[str, str]()
        self.spoil: Callable[[random.Random, bytes], bytes] | None = None

    def mutate(self, rng: random.Random) -> None:
        """Change one thing."""
        kind = rng.choice(("value", "value", "value", "value", "key", "text", "method", "name", "query", "header"))
        if kind == "value":
            self.body = wrong_value(rng, self.body)
        elif kind == "key" and isinstance(self.body, dict):
            self.body = dict(self.body)
            if self.body and rng.random() < 0.5:
                del self.body[rng.choice(list(self.body))]
            else:
                known = (
                    "round",
                    "event",
                    "after",
                    "reward",
                    "key",
                    "state",
                    "seed",
                    "default",
                    "\U0001f354",
                    "__class__",
                )
                self.body[rng.choice(known)] = rng.choice(VALUES)
        elif kind == "text":
            self.spoil = rng.choice((truncated, doubled, flipped, other_text))
        elif kind == "method":
            self.method = rng.choice(METHODS)
        elif kind == "name":
            self.names[rng.randrange(2)] = rng.choice(NAMES)
        elif kind == "query":
            self.query[rng.choice(QUERIES)] = rng.choice(VALUES[:37])
        else:
            self.headers |= rng.choice(HEADERS)

    def send(self, rng: random.Random, http: httpx.Client) -> httpx.Response:
        """Send it."""
        content = b"" if self.body is None else json.dumps(self.body).encode("utf-8")
        if self.spoil is not None:
            content = self.spoil(rng, content)
        query = {name: str(value).encode("utf-8", "replace").decode() for name, value in self.query.items()}
        path = self.address.replace("{team}", self.names[0]).replace("{game}", self.names[1])
        headers = {"content-type": "application/json"} | self.headers
        return http.request(self.method, path, params=query, content=content, headers=headers)


def truncated(rng: random.Random, content: bytes) -> bytes:
    """Return the beginning of a body."""
    return content[: rng.randrange(len(content) + 1)]


def doubled(rng: random.Random, content: bytes) -> bytes:
    """Return an object in which every key is there twice, with different values."""
    other = json.dumps(wrong_value(rng, json.loads(content or b"{}"))).encode()
    if content.startswith(b"{") and other.startswith(b"{") and min(len(content), len(other)) > 2:
        return content[:-1] + b"," + other[1:]
    return content + content


def flipped(rng: random.Random, content: bytes) -> bytes:
    """Return a body with a few other bytes."""
    changed = bytearray(content or b"{}")
    for _ in range(rng.randint(1, 4)):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def other_text(rng: random.Random, content: bytes) -> bytes:
    """Return something else than an object, or an object in another form."""
    return rng.choice(
        (
            DEEP,
            b'{"a":' * 3000 + b"1" + b"}" * 3000,
            b"\xff\xfe" + content,
            b"\xef\xbb\xbf" + content,
            content.decode("utf-8", "replace").encode("utf-16"),
            b" " * 2000 + content,
            content + b"\0",
            b"round=1&reward=1",
            b"<round>1</round>",
            b'{"round":1e400,"reward":1}',
            b'{"round":' + b"9" * 5000 + b"}",
        )
    )


class Target:
    """A service with a game of the default tenant, and a game of another one that nothing may touch or show."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.mine = service.http()
        self.other = service.http(service.key(tenant="other"))
        self.build()
        self.other.post("/v1/teams", json=TEAM | {"team": SECRET})
        self.other.post("/v1/teams", json=TEAM)
        for team in (SECRET, "drinks"):
            for game in (SECRET, "g"):
                self.other.post(f"/v1/teams/{team}/games", json={"game": game, "seed": 77})
                path = f"/v1/teams/{team}/games/{game}"
                self.other.post(f"{path}/choose", json={"event": SECRET})
                self.other.post(f"{path}/observe", json={"event": SECRET, "action": [1, 1], "override": True})
        self.theirs = self.of_other()

    def build(self) -> None:
        """Create what is missing: a team, a game with complete rounds, with an open one and with an event."""
        self.mine.post("/v1/teams", json=TEAM)
        self.mine.post("/v1/teams/drinks/games", json={"game": "g", "seed": 3})
        path = "/v1/teams/drinks/games/g"
        for t, reward in ((1, 1.0), (2, 0.0)):
            body = {"round": t, "action": [0, 0], "reward": reward, "override": True}
            self.mine.post(f"{path}/observe", json=body)
        self.mine.post(f"{path}/observe", json={"round": 3, "action": [1, 0], "override": True})
        self.mine.post(f"{path}/choose", json={"event": "order"})

    def rows(self) -> list[list[tuple[Any, ...]]]:
        """Everything that the database holds of teams, games and keys."""
        with self.service.opened() as database, database.read() as connection:
            return [[tuple(row) for row in connection.execute(text(query))] for query in TABLES]

    def state(self) -> Any:
        """The game as the server has it in memory."""
        return self.mine.get("/v1/teams/drinks/games/g/state").text

    def of_other(self) -> list[str]:
        """Everything that the other tenant sees."""
        paths = ["/v1/teams"]
        for team in (SECRET, "drinks"):
            paths.append(f"/v1/teams/{team}/games")
            for game in (SECRET, "g"):
                paths += [f"/v1/teams/{team}/games/{game}/{what}" for what in ("rounds", "state")]
        return [self.other.get(path).text for path in paths]


@pytest.fixture
def target(service: Service) -> Target:
    """The service on either database, with two tenants."""
    return Target(service)


def check_answer(answer: httpx.Response, sent: str) -> None:
    """An answer is a success, or a refusal in our own form; it holds nothing of the other tenant."""
    assert answer.status_code < 500, (sent, answer.status_code, answer.text)
    assert answer.status_code < 300 or answer.status_code >= 400, (sent, answer.status_code)
    if answer.status_code >= 400 and answer.request.method != "HEAD":
        assert answer.headers["content-type"] == "application/json", (sent, answer.status_code, answer.text)
        refusal = answer.json()
        assert set(refusal) <= {"error", "message", "state"}, (sent, refusal)
        assert refusal["error"], (sent, refusal)
        assert refusal["message"], (sent, refusal)
        assert not any(word in answer.text for word in ("Traceback", "sqlalchemy", "psycopg", "site-packages")), sent


@pytest.mark.parametrize("operation", SCOPE)
def test_random_requests_are_answered_or_refused(target, operation):
    rng = random.Random(f"partner {operation}")
    method, address = operation.split(" ")
    seen: Counter[int] = Counter()
    rows, state = target.rows(), target.state()
    exported = json.loads(state)
    count = REQUESTS[target.service.config.database.partition(":")[0]]
    for number in range(count):
        body = BODIES.get(operation)
        if operation == "POST /v1/teams/{team}/games" and number % 2:
            body = {"game": f"g{number}", "state": exported if number % 4 == 1 else exported["state"]}
        draft = Draft(method, address, body)
        for _ in range(rng.randint(1, 3)):
            draft.mutate(rng)
        answer = draft.send(rng, target.mine)
        sent = f"{number}: {draft.method} {answer.request.url} {answer.request.content[:300]!r}"
        seen[answer.status_code] += 1
        check_answer(answer, sent)
        if SECRET not in str(answer.request.url) and SECRET.encode() not in answer.request.content:
            assert SECRET not in answer.text, sent
        if answer.status_code >= 400:
            assert target.state() == state, sent
            assert target.rows() == rows, sent
        else:
            target.build()
            rows, state = target.rows(), target.state()
    assert target.of_other() == target.theirs
    assert sum(times for status, times in seen.items() if status >= 400) >= count // 10, seen


@pytest.mark.parametrize("scope", ["read", "play", "admin"])
def test_random_values_of_a_state_are_refused_or_play_on(on_sqlite, scope):
    """An imported state is data from outside: a game that it starts goes on, or says that the state is broken."""
    target = Target(on_sqlite)
    rng = random.Random(f"state {scope}")
    exported = json.loads(target.state())["state"]
    statuses: Counter[int] = Counter()
    for number in range(REQUESTS["sqlite"]):
        state = exported
        for _ in range(rng.randint(1, 2)):
            state = deeply_changed(rng, state)
        http = on_sqlite.http(on_sqlite.keys[scope])
        answer = http.post(
            "/v1/teams/drinks/games",
            content=json.dumps({"game": f"i{number}", "state": state}).encode(),
            headers={"content-type": "application/json"},
        )
        sent = f"{number}: {json.dumps(state)[:2000]}"
        statuses[answer.status_code] += 1
        check_answer(answer, sent)
        if answer.status_code == 201:
            path = f"/v1/teams/drinks/games/i{number}"
            newest = answer.json()["next"]["round"]
            for t in range(newest, newest + 3):
                body = {"round": t, "action": [0, 0], "reward": 1, "override": True}
                observed = http.post(f"{path}/observe", json=body)
                check_answer(observed, sent)
                for what in ("", "/state", "/rounds"):
                    check_answer(http.get(path + what), sent)
    assert set(statuses) == ({403} if scope == "read" else set(statuses))
    assert max(statuses) < 500


def deeply_changed(rng: random.Random, was: Any) -> Any:
    """Return plain data with one leaf replaced."""
    if isinstance(was, dict) and was and rng.random() < 0.95:
        name = rng.choice(list(was))
        return was | {name: deeply_changed(rng, was[name])}
    if isinstance(was, list) and was and rng.random() < 0.95:
        place = rng.randrange(len(was))
        return [*was[:place], deeply_changed(rng, was[place]), *was[place + 1 :]]
    return rng.choice(VALUES)


def at_once(clients: Sequence[httpx.Client], request: Callable[[httpx.Client, int], httpx.Response]) -> list[Any]:
    """Send requests at the same time and return status and body of each."""
    with ThreadPoolExecutor(len(clients)) as pool:
        answers = list(pool.map(request, clients, range(len(clients))))
    for answer in answers:
        check_answer(answer, str(answer.request.url))
    return [(answer.status_code, answer.json()) for answer in answers]


def test_races_with_the_same_names_have_one_winner(target):
    """Two processes on PostgreSQL, one on SQLite: of many requests for one name, one counts."""
    service = target.service
    urls = [service.url] if "sqlite" in service.config.database else [service.url, service.second()]
    clients = [service.http(url=url) for url in urls for _ in range(6 // len(urls))]
    for rally in range(6):
        one_winner_each(clients, rally)
    assert target.of_other() == target.theirs


def one_winner_each(clients: Sequence[httpx.Client], rally: int) -> None:
    """Six clients create, choose, observe and delete the same at the same time."""
    path = "/v1/teams/race/games/r"
    created = at_once(clients, lambda http, i: http.post("/v1/teams", json=TEAM | {"team": "race"}))
    assert sorted(status for status, _ in created) == [200] * 5 + [201]
    games = at_once(clients, lambda http, i: http.post("/v1/teams/race/games", json={"game": "r"}))
    assert sorted(status for status, _ in games) == [200] * 5 + [201]
    assert len({body["seed"] for _, body in games}) == 1
    chosen = at_once(clients, lambda http, i: http.post(f"{path}/choose", json={"event": f"e{rally}"}))
    assert chosen == [chosen[0]] * 6
    assert chosen[0][1]["event"] == f"e{rally}"
    report = {"round": 1, "action": [0, 0], "reward": 1, "override": True, "key": f"one-report-{rally}"}
    same = at_once(clients, lambda http, i: http.post(f"{path}/observe", json=report))
    assert {status for status, _ in same} == {200}
    assert sorted(body["duplicate"] for _, body in same) == [False] + [True] * 5
    several = [report | {"round": 2, "key": f"reporter-{i}", "reward": i % 2} for i in range(6)]
    other = at_once(clients, lambda http, i: http.post(f"{path}/observe", json=several[i]))
    assert sorted(status for status, _ in other) == [200] + [409] * 5
    [history] = {http.get(f"{path}/rounds").text for http in clients}
    assert [played["round"] for played in json.loads(history)["rounds"]] == [1, 2]
    gone = at_once(clients, lambda http, i: http.delete("/v1/teams/race"))
    assert sorted(status for status, _ in gone) == [200] + [404] * 5
