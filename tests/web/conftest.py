"""Databases with studies in them, servers in front of them, and people who know the interface."""

from __future__ import annotations

import contextlib
import shutil
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import Connection, insert, text

from cobandit.studies import ParticipantPlan, StudyDesign, load_design
from cobandit.web import WebConfig
from cobandit.web.access import COOKIE
from cobandit.web.security import digest, new_token
from cobandit.web.serving import prepare, running
from cobandit.web.storage.database import Database
from cobandit.web.storage.schema import admin_logins
from cobandit.web.storage.settings import write_setting
from cobandit.web.storage.values import now_ms
from tests.clients import PATIENCE, http_client
from tests.web import servers
from tests.web.prepared import prepare_copy

PASSWORD = "correct horse"
SEED = 20_240_601


def _short_design() -> StudyDesign:
    """A study with every kind of step but meeting partners, two languages and few rounds."""
    data = load_design("burger").to_dict()
    data |= {
        "name": "short",
        "version": 1,
        "rounds": 5,
        "episodes": 2,
        "practice": {"agent": "very-naive-ucb", "rounds": 2, "options": {}},
        "partners": [],
        "languages": ["en", "de"],
        "translations": {"de": {"title": "Burger mit einem Roboter", "task.arms.0.0": "Bratling"}},
        "completion_code": "THANKS42",
    }
    data["survey"] |= {"shuffled": True}
    data["consent"] |= {"text": "I want to take part in this test."}
    data["attention"] = [data["attention"][0] | {"apart": False}]
    return StudyDesign.from_dict(data)


SHORT = _short_design()


@pytest.fixture(scope="session")
def short() -> StudyDesign:
    """A study with every kind of step and few rounds: practice, then two sets of two episodes."""
    return SHORT


@pytest.fixture
def sqlite(tmp_path: Path) -> str:
    """The address of a SQLite database that is not there yet."""
    return f"sqlite:///{tmp_path / 'studies.sqlite'}"


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with the short study and nobody in it, to copy: faster than making one each time."""
    path = tmp_path_factory.mktemp("template") / "studies.sqlite"
    prepare(f"sqlite:///{path}", [SHORT], password=PASSWORD, seed=SEED)
    return path


class Person:
    """Somebody who takes part and sends what the page would send."""

    def __init__(self, client: httpx.Client, token: str) -> None:
        self.client, self.token = client, token

    @property
    def path(self) -> str:
        return f"/api/participants/{self.token}"

    def state(self, language: str | None = None) -> dict[str, Any]:
        response = self.client.get(self.path, params={} if language is None else {"language": language})
        assert response.status_code == 200, response.text
        return dict(response.json())

    def answer(self, step: str, answers: Any, **more: Any) -> httpx.Response:
        return self.client.post(f"{self.path}/answers/{step}", json={"answers": answers} | more)

    def send(self, episode: int, *moves: tuple[int, int, str]) -> httpx.Response:
        """Moves of (round, arm, key)."""
        sent = [{"t": t, "arm": arm, "key": key, "ms": 500} for t, arm, key in moves]
        return self.client.post(f"{self.path}/rounds?language=en", json={"episode": episode, "moves": sent})

    def good_answers(self, state: dict[str, Any], design: StudyDesign) -> dict[str, Any]:
        kind = state["step"]["kind"]
        if kind == "consent":
            return {"version": design.consent.version}
        if kind == "demographics":
            return {"age": 33, "gender": 0, "ai_researcher": 1}
        if kind == "quiz":
            return {item.id: item.answer for item in design.quiz}
        if kind == "survey":
            right = {check.id: check.answer for check in design.attention}
            return {item["id"]: right.get(item["id"], 3) for item in state["survey"]["items"]}
        return {}

    def go_on(self, design: StudyDesign, until: str | None = None, arm: int = 0) -> dict[str, Any]:
        """Do every step until the one of this id (or kind) is the current one; the state at its beginning."""
        state = self.state()
        while until not in (state["step"]["id"], state["step"]["kind"]) and state["step"]["kind"] != "thanks":
            if state["step"]["kind"] == "episode":
                view = state["episode"]
                for t in range(view["played"] + 1, view["rounds"] + 1):
                    assert self.send(view["index"], (t, arm, uuid.uuid4().hex)).status_code == 200
                state = self.state()
            else:
                response = self.answer(state["step"]["id"], self.good_answers(state, design), ms=1000)
                assert response.status_code == 200, response.text
                state = response.json()["state"]
        return state


class Site:
    """A database with studies, and a server in front of it."""

    def __init__(self, config: WebConfig, url: str) -> None:
        self.config, self.url = config, url
        self.database = Database(config.database)
        self._clients: list[httpx.Client] = []

    def client(self, **options: Any) -> httpx.Client:
        """A browser of its own: no cookies, no connection shared."""
        client = http_client(self.url, **options)
        self._clients.append(client)
        return client

    def arrive(self, study: str = "short", client: httpx.Client | None = None, **body: Any) -> httpx.Response:
        """Agree to take part."""
        sent = {"key": uuid.uuid4().hex, "consent_version": "1"} | body
        return (client or self.client()).post(f"/api/studies/{study}/participants", json=sent)

    def person(self, study: str = "short", **body: Any) -> Person:
        """Somebody who has agreed."""
        client = self.client()
        response = self.arrive(study, client, **body)
        assert response.status_code in (200, 201), response.text
        return Person(client, response.json()["token"])

    def query(self, statement: Any, **values: Any) -> list[Any]:
        """What the database itself says."""
        with self.database.reading.connect() as connection:
            return list(connection.execute(text(statement) if isinstance(statement, str) else statement, values))

    def change(self, statement: str, **values: Any) -> None:
        """Behind the server's back."""
        with self.database.writing.begin() as connection:
            connection.execute(text(statement), values)

    def public_id(self, token: str) -> str:
        """The pseudonym of the person with this link."""
        [(public_id,)] = self.query("SELECT public_id FROM participants WHERE token = :t", t=token)
        return str(public_id)

    def plan_of(self, design: StudyDesign, token: str) -> ParticipantPlan:
        """What the person with this link plays."""
        [(seed, order)] = self.query("SELECT seed, order_index FROM participants WHERE token = :t", t=token)
        return ParticipantPlan(design, int(seed), order)

    def login(self) -> str:
        """The bearer token of a researcher who has asked to see the conditions."""
        token = new_token()
        with self.database.writing.begin() as connection:
            connection.execute(insert(admin_logins).values(digest=digest(token), expires_at=now_ms() + 3_600_000))
            for number in (1, 2, 3):
                write_setting(connection, f"unblinded-{number}", '["owner"]')
        return token

    def close(self) -> None:
        for client in self._clients:
            client.close()
        self.database.close()


@contextlib.contextmanager
def _opened() -> Iterator[Callable[..., Site]]:
    with contextlib.ExitStack() as stack:

        def start(database: str, *designs: StudyDesign, **options: Any) -> Site:
            if designs:
                prepare_copy(database, designs, PASSWORD, SEED)
            config = WebConfig(database=database, **({"consent_elsewhere": True} | options))
            site = Site(config, stack.enter_context(running(config)))
            stack.callback(site.close)
            return site

        yield start


@pytest.fixture
def open_site() -> Iterator[Callable[..., Site]]:
    """Start a server in a thread over a database, with these studies registered, where any are named."""
    with _opened() as start:
        yield start


@pytest.fixture
def short_sqlite(template: Path, tmp_path: Path) -> str:
    """The address of a SQLite database with the short study in it."""
    return f"sqlite:///{shutil.copy(template, tmp_path / 'studies.sqlite')}"


@pytest.fixture
def site(open_site: Callable[..., Site], short_sqlite: str) -> Site:
    """The short study on SQLite."""
    return open_site(short_sqlite)


@pytest.fixture(scope="module")
def shared_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The same for a whole file of tests, which must not mind what the others leave behind."""
    with _opened() as start:
        yield start(f"sqlite:///{tmp_path_factory.mktemp('shared') / 'studies.sqlite'}", SHORT, demo=True)


@pytest.fixture
def ask() -> Iterator[httpx.Client]:
    """A client for whole addresses on this machine: patient, and through no proxy."""
    with http_client() as client:
        yield client


@pytest.fixture
def kept_port() -> Iterator[Any]:
    """A port for a server that is yet to come."""
    port = servers.KeptPort()
    yield port
    port.close()


@pytest.fixture
def start_server() -> Iterator[Callable[..., Any]]:
    """Start servers in processes of their own, over databases that are prepared already."""
    started: list[Any] = []

    def start(config: WebConfig, workers: int = 1, kind: type[servers.StudyServer] = servers.ForkedServer) -> Any:
        server = kind(config, workers)
        started.append(server)
        return server.start()

    yield start
    for server in started:
        server.stop()


@pytest.fixture
def admin(site: Site) -> httpx.Client:
    """A program of the researcher."""
    client = site.client()
    client.headers["authorization"] = f"Bearer {site.login()}"
    return client


@pytest.fixture(scope="module")
def shared_admin(shared_site: Site) -> httpx.Client:
    """The same at the server that tests share which leave nothing behind."""
    client = shared_site.client()
    client.headers["authorization"] = f"Bearer {shared_site.login()}"
    return client


@pytest.fixture
def browser_of(site: Site) -> httpx.Client:
    """A browser in which the researcher is logged in."""
    client = site.client()
    client.cookies.set(COOKIE, site.login())
    return client


@pytest.fixture(scope="session")
def problem() -> Callable[[httpx.Response, int, str], dict[str, Any]]:
    """A check that an answer is an error of this status and code; gives its body."""

    def body(response: httpx.Response, status: int, code: str) -> dict[str, Any]:
        assert (response.status_code, response.json().get("error")) == (status, code), response.text
        assert response.json()["message"]
        return dict(response.json())

    return body


@pytest.fixture
def database(short_sqlite: str) -> Iterator[Database]:
    """The short study on SQLite, without a server."""
    opened = Database(short_sqlite)
    yield opened
    opened.close()


class Gate:
    """A job that keeps the writer busy until it is opened, so that others gather behind it."""

    def __init__(self) -> None:
        self.entered, self.opened = threading.Event(), threading.Event()

    def __call__(self, connection: Connection) -> None:
        self.entered.set()
        assert self.opened.wait(PATIENCE)


@pytest.fixture
def gate() -> Gate:
    """A gate that is closed."""
    return Gate()
