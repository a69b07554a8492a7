"""A server with a robot, for the tests of its pages."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import expect

from cobandit.studies import StudyDesign, load_design
from cobandit.web import WebConfig
from cobandit.web.serving import prepare, running
from cobandit.web.storage.database import Database
from cobandit.web.storage.events import events_by_participant
from cobandit.web.storage.participants import participant_by_token
from tests.browser.accessibility import violations

PASSWORD = "only for tests"
DESIGN = StudyDesign.from_dict(load_design("burger").to_dict() | {"name": "shop", "rounds": 6})
Visit = Callable[..., Any]


class Site:
    """A server with a robot, and people who have come to the first round."""

    def __init__(self, address: str, database: str) -> None:
        self.address, self.database = address, Database(database)
        self._client = httpx.Client(base_url=address, timeout=60, trust_env=False)

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        answer = self._client.request(method, f"/api/{path}", json=body)
        assert answer.status_code < 300, answer.text
        return answer.json()

    def someone(self) -> str:
        body = {"key": str(uuid.uuid4()), "consent_version": DESIGN.consent.version, "language": "en"}
        token = str(self._ask("POST", "studies/shop/participants", body)["token"])
        answers: dict[str, Any] = {
            "demographics": {"age": 33, "gender": 0, "ai_researcher": 1},
            "instructions": {},
            "quiz": {item.id: item.answer for item in DESIGN.quiz},
            "partner-1": {},
        }
        while (step := self.state(token)["step"]["id"]) in answers:
            self._ask("POST", f"participants/{token}/answers/{step}", {"answers": answers[step]})
        return token

    def state(self, token: str) -> Any:
        return self._ask("GET", f"participants/{token}")

    def events(self, token: str) -> list[tuple[str, Any]]:
        with self.database.read() as connection:
            person = participant_by_token(connection, token)
            assert person is not None
            return [(event.kind, event.data) for event in events_by_participant(connection, [person.id])[person.id]]

    def close(self) -> None:
        self._client.close()
        self.database.close()


def serve(folder: Path, **robot: Any) -> Iterator[Site]:
    """A server whose study has its database in a folder."""
    database = f"sqlite:///{folder / 'studies.sqlite'}"
    prepare(database, [DESIGN], password=PASSWORD, seed=7)
    with running(WebConfig(database=database, consent_elsewhere=True, **robot)) as address:
        site = Site(address, database)
        yield site
        site.close()


@contextmanager
def quiet_pages(new_context: Callable[..., Any], width: int = 1100, height: int = 800) -> Iterator[Visit]:
    """Opens pages that must not complain."""
    complaints: list[str] = []

    def open_page(address: str, script: str = "", **options: Any) -> Any:
        context = new_context(**({"viewport": {"width": width, "height": height}, "locale": "en-GB"} | options))
        if script:
            context.add_init_script(script)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address)
        return page

    yield open_page
    assert complaints == []


def choose(page: Any, arm: int) -> None:
    page.locator(".choice").nth(arm).click()


def shown(page: Any, n: int) -> None:
    expect(page.locator("#app")).to_have_attribute("data-shown", str(n))


def clean(page: Any) -> None:
    assert violations(page) == []
