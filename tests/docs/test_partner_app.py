"""The app of the tutorial is a real server: killed and started again, its partner goes on."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pytest

import cobandit as cb
from tests.clients import PATIENCE

APP = Path(__file__).resolve().parents[2] / "examples" / "partner_app" / "app.py"


class Server:
    """The app in a process of its own, on a free port of this machine."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen([sys.executable, str(APP), "0"], cwd=folder, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.greeting, _, self.url = self.process.stdout.readline().strip().partition(" at ")

    def ask(self, body: str | None = None) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(self.url, None if body is None else body.encode(), timeout=PATIENCE) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refusal:
            with refusal:
                return refusal.code, refusal.read().decode()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture
def started(tmp_path):
    servers = []

    def start():
        servers.append(Server(tmp_path))
        return servers[-1]

    yield start
    for server in servers:
        server.kill()


def test_goes_on_after_being_killed(started, tmp_path):
    straight = cb.Partner(
        "partner-aware-ucb", arms=(2, 2), seat=1, horizon=1000, observability=(1.0, 0.4), seed=7, window=5
    )
    rng = np.random.default_rng(4)
    server = started()
    for t in range(1, 41):
        if t % 10 == 0:
            server.kill()
            server = started()
            assert server.greeting == f"round {t}"
        status, told = server.ask()
        assert (status, json.loads(told)) == (200, {"round": t, "drink": straight.choose()})
        dish, happy = int(rng.integers(2)), bool(rng.random() < 0.5)
        straight.observe((dish, straight.choose()), happy)
        status, told = server.ask(json.dumps({"round": t, "dish": dish, "happy": happy}))
        assert (status, json.loads(told)) == (200, {"round": t + 1, "drink": straight.choose()})
    stored = cb.Partner.from_state(json.loads((tmp_path / "partner.json").read_text()))
    stored.choose()
    assert stored.state() == straight.state()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["partner.json"]


@pytest.mark.parametrize(
    ("body", "status", "sentence"),
    [
        ('{"round": 2, "dish": 0, "happy": true}', 409, "this round is over, or still to come"),
        ('{"round": 1, "dish": 5, "happy": true}', 400, "the arms of agent 0 are the integers from 0 to 1"),
        ('{"round": 1, "dish": 0, "happy": NaN}', 400, "reward is nan; a finite number is needed"),
        ('{"round": 1, "dish": 0}', 400, "happy"),
        ("[1]", 400, "list indices"),
        ("hello", 400, "Expecting value"),
    ],
)
def test_refuses_what_cannot_be(started, tmp_path, body, status, sentence):
    server = started()
    came, told = server.ask(body)
    assert came == status
    assert sentence in json.loads(told)["error"]
    assert server.ask() == (200, '{"round": 1, "drink": 0}')
    assert not (tmp_path / "partner.json").exists()


class TestThePage:
    @pytest.fixture
    def tutorial(self, page_called):
        return page_called("docs/tutorials/partner-in-an-app.md")

    def test_shows_the_app_as_it_is(self, tutorial):
        assert APP.read_text(encoding="utf-8") in [block.text for block in tutorial.blocks]

    def test_shows_what_the_app_answers(self, tutorial, started):
        [console] = [block.text for block in tutorial.blocks if block.kind == "console"]
        server = None
        lines = iter(console.splitlines())
        for line in lines:
            if "app.py" in line:
                if server is not None:
                    server.kill()
                server = started()
                came = f"{server.greeting} at http://127.0.0.1:8080"
            else:
                body = re.search(r"-d '(.*)'$", line)
                came = server.ask(body and body[1])[1]  # type: ignore[union-attr]
            assert next(lines) == came, line
