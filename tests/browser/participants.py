"""A study site with a real server, guests with browsers of their own, and what they do on the pages."""

from __future__ import annotations

import contextlib
import socket
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

uvicorn = pytest.importorskip("uvicorn")
httpx = pytest.importorskip("httpx")
pytest.importorskip("sqlalchemy")
pytest.importorskip("fastapi")
expect = pytest.importorskip("playwright.sync_api").expect

from cobandit.studies import StudyDesign, load_design  # noqa: E402
from cobandit.web import WebConfig, create_app  # noqa: E402
from cobandit.web.edge import guarded  # noqa: E402
from cobandit.web.serving import address_of, bound_socket  # noqa: E402

# A press that is short however busy the machine is: real keys may stay down long enough to repeat.
TAP = """(keys) => {
  for (const key of keys) {
    for (const kind of ["keydown", "keyup"]) {
      document.activeElement.dispatchEvent(new KeyboardEvent(kind, { key, bubbles: true, cancelable: true }));
    }
  }
}"""
PAPER = "() => getComputedStyle(document.body).backgroundColor"
ROUNDS = "**/rounds*"


def small(name: str, new: str, **changes: Any) -> StudyDesign:
    return StudyDesign.from_dict(load_design(name).to_dict() | {"name": new, "completion_code": "DONE4242"} | changes)


DESIGNS = (
    small("burger", "shop", rounds=3),
    small(
        "casino",
        "den",
        rounds=8,
        episodes=2,
        practice={"agent": "very-naive-ucb", "options": {"exploration": 0.01}, "rounds": 30, "episodes": 1},
    ),
    small("casino", "hall", rounds=5000, episodes=1, practice=None),
    small("three-by-three", "tea", rounds=3),
    small("three-seats", "sundae", rounds=5),
    small(
        "three-by-three",
        "flowers",
        rounds=3,
        languages=["en"],
        translations={},
        task=load_design("three-by-three").to_dict()["task"]
        | {
            "arms": [
                ["Chrysanthemums", "Snapdragons", "Forget-me-nots"],
                ["Chrysanthemums", "Lilies of the valley", "Rhododendrons"],
            ]
        },
    ),
)
RIGHT = {
    "shop": {"layers": 0, "order": 1, "simultaneous": 1, "sensor": 2},
    "den": {"row": 0, "simultaneous": 1, "coins": 2},
    "sundae": {"choice": 0},
}
RIGHT["hall"] = RIGHT["den"]
ABOUT = {"age": 33, "gender": 0, "ai_researcher": 1}


class Api:
    """The interface of a server, for what a test does not do on a page."""

    address: str

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        with httpx.Client(timeout=60, trust_env=False) as client:
            answer = client.request(method, f"{self.address}/api/{path}", json=body)
        answer.raise_for_status()
        return answer.json()

    def post(self, path: str, body: Any) -> Any:
        return self._ask("POST", path, body)

    def state(self, token: str) -> Any:
        return self._ask("GET", f"participants/{token}")

    def someone(self, study: str, *, ready: bool = True, **more: Any) -> str:
        """The token of a new participant, by default brought to the first round."""
        body = {"key": str(uuid.uuid4()), "consent_version": "1", "language": "en"} | more
        token = str(self.post(f"studies/{study}/participants", body)["token"])
        answers = {"demographics": ABOUT, "instructions": {}, "quiz": RIGHT.get(study, {}), "partner-1": {}}
        while ready and (step := self.state(token)["step"]["id"]) in answers:
            self.post(f"participants/{token}/answers/{step}", {"answers": answers[step]})
        return token


class Site(Api):
    """A server that can go away and come back at the same address, with the connection limits of ``study serve``."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._server: Any = None
        # Bound and never listened at: while the server is away, nobody else on the machine is given its port.
        self._place = socket.socket()
        self._place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._place.bind(("127.0.0.1", 0))
        self.start()

    def start(self) -> None:
        self._socket = bound_socket(*self._place.getsockname())
        self.address = address_of(self._socket)
        app = create_app(WebConfig(database=self._url, demo=True, consent_elsewhere=True))
        settings = uvicorn.Config(
            app, http=guarded(), log_level="error", access_log=False, ws="none", timeout_graceful_shutdown=1
        )
        self._server = uvicorn.Server(settings)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True)
        self._thread.start()
        self._ask("GET", "health")

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()

    def close(self) -> None:
        self.stop()
        self._place.close()

    @contextlib.contextmanager
    def away(self) -> Iterator[None]:
        """It is back afterwards in any case: the other tests need it, too."""
        self.stop()
        try:
            yield
        finally:
            self.start()


class Guest:
    """A browser of its own, and everything its pages complained of."""

    def __init__(self, context: Any, site: Site) -> None:
        self.context = context
        self.site = site
        self.complaints: list[str] = []

    def tab(self, path: str = "") -> Any:
        page = self.context.new_page()
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        if path:
            page.goto(self.site.address + path)
        return page


Invite = Callable[..., Guest]
Check = Callable[..., None]
Until = Callable[..., None]


def at(page: Any, step: str) -> Any:
    """Wait for a step."""
    expect(page.locator("#app")).to_have_attribute("data-step", step)
    return page


def wait_shown(page: Any, n: int) -> None:
    """Wait until the outcome of a round of a burger or a grid is shown."""
    expect(page.locator("#app")).to_have_attribute("data-shown", str(n))


def unsent(page: Any, n: int) -> None:
    """Wait until so many choices are without an answer."""
    expect(page.locator("#app")).to_have_attribute("data-unsent", str(n))


def pulled(page: Any, n: int) -> None:
    """Wait until so many pulls of a casino are shown."""
    expect(page.locator(".casino")).to_have_attribute("data-played", str(n))


def tap(page: Any, *keys: str) -> None:
    """Press keys shortly, one after the other."""
    page.evaluate(TAP, keys)


def choose(page: Any, arm: int) -> None:
    """One round of a burger or a grid by mouse, until its outcome is shown."""
    before = int(page.locator("#app").get_attribute("data-shown"))
    page.locator(".choice").nth(arm).click()
    wait_shown(page, before + 1)


def fill(page: Any, *places: int) -> None:
    """Choose one answer in each group, by its place; the last place serves all that follow."""
    for i, group in enumerate(page.locator("fieldset").all()):
        group.locator("label").nth(places[min(i, len(places) - 1)]).click()


def go_on(page: Any) -> None:
    page.locator("main .primary").click()


def counted(page: Any) -> int:
    """The sum of all that the counts on the page say."""
    return sum(int(text) for text in page.locator(".tally b").all_inner_texts())
