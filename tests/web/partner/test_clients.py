"""The clients at a real server: Python, asyncio and JavaScript play the same game, and retry what may be retried."""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from cobandit.base.errors import InvalidInput
from cobandit.remote.partner import LATER, AsyncPartnerClient, PartnerClient, PartnerError, ServiceUnreachable
from tests.clients import PATIENCE, http_client
from tests.web.partner.conftest import TEAM, Service

SETTING = {name: value for name, value in TEAM.items() if name != "team"}
ROUNDS = 12

SCRIPT = """
import { PartnerClient, PartnerError } from %(module)s;
const client = new PartnerClient(%(url)s, %(key)s, { timeout: 300_000 });
await client.createTeam("js", %(setting)s);
const game = await client.newGame("js", "g", { seed: 5 });
const arms = [];
for (let t = 1; t <= %(rounds)d; t++) {
  const choice = await game.choose();
  arms.push(choice.arm);
  const late = t %% 4 === 0;
  await game.observe({ round: choice.round, action: [t %% 2, choice.arm], ...(late ? {} : { reward: t %% 2 }) });
  if (late) await game.observe({ round: t, reward: 1 });
}
const copy = await client.newGame("js", "copy", { state: await game.state() });
let refused = null;
try { await game.observe({ round: 1, reward: 0.5 }); } catch (error) {
  if (!(error instanceof PartnerError)) throw error;
  refused = [error.status, error.code];
}
let unsent = null;
try { await game.observe({ round: 1, reward: NaN }); } catch (error) { unsent = error.name; }
let foreign = null;
try { await new PartnerClient(%(other)s, "cb_x").newGame("js", "g"); } catch (error) { foreign = error.status; }
const history = await game.history({ limit: 5 });
const view = await copy.view();
await game.delete();
const { rounds, more } = history;
console.log(JSON.stringify({ arms, refused, unsent, foreign, rounds: rounds.length, more, next: view.next.round }));
"""


def arms_of_python(client: PartnerClient) -> list[int]:
    client.create_team("py", **SETTING)
    game, arms = client.new_game("py", "g", seed=5), list[int]()
    for t in range(1, ROUNDS + 1):
        choice = game.choose()
        arms.append(choice.arm)
        game.observe((t % 2, choice.arm), LATER if t % 4 == 0 else float(t % 2), round=t)
        if t % 4 == 0:
            game.observe(None, 1.0, round=t)
    return arms


@pytest.mark.parametrize("served", [False, True], ids=["file", "served"])
def test_javascript_plays_as_python_does(on_sqlite: Service, tmp_path: Path, served: bool) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    module = Path(__file__).parents[3] / "src/cobandit/web/static/partner/client.js"
    if served:
        with http_client(on_sqlite.url) as http:
            answer = http.get("/v1/client.js")
        assert answer.headers["content-type"].startswith("text/javascript")
        module = tmp_path / "client.mjs"
        module.write_text(answer.text, encoding="utf-8")
    other = Flaky([b"HTTP/1.1 404 X\r\nconnection: close\r\ncontent-length: 6\r\n\r\n<html>"])
    values = {
        "url": on_sqlite.url,
        "other": other.url,
        "key": on_sqlite.keys["admin"],
        "setting": SETTING,
        "module": module.as_uri(),
    }
    script = tmp_path / "play.mjs"
    script.write_text(SCRIPT % ({name: json.dumps(value) for name, value in values.items()} | {"rounds": ROUNDS}))
    done = subprocess.run([node, str(script)], capture_output=True, text=True, timeout=PATIENCE, check=False)
    other.close()
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said.pop("arms") == arms_of_python(on_sqlite.client())
    expected = {"refused": [409, "already-observed"], "unsent": "RangeError", "rounds": 5, "more": True}
    assert said == expected | {"foreign": 404, "next": ROUNDS + 1}


def test_asyncio_plays_as_the_blocking_client_does(on_sqlite: Service) -> None:
    async def play() -> list[int]:
        async with AsyncPartnerClient(on_sqlite.url, on_sqlite.keys["admin"], timeout=PATIENCE) as client:
            await client.create_team("py", **SETTING)
            game, arms = await client.new_game("py", "async", seed=5), list[int]()
            for t in range(1, ROUNDS + 1):
                choice = await game.choose()
                arms.append(choice.arm)
                await game.observe((t % 2, choice.arm), LATER if t % 4 == 0 else float(t % 2), round=t)
                if t % 4 == 0:
                    await game.observe(None, 1.0, round=t)
            assert [row.round async for row in game.history()] == list(range(1, ROUNDS + 1))
            copy = await client.new_game("py", state=await game.state())
            assert (await copy.view())["next"] == (await game.view())["next"]
            assert (await client.team("py"))["seat"] == 1
            await copy.delete()
            await client.delete_team("py")
            return arms

    assert asyncio.run(play()) == arms_of_python(on_sqlite.client())


class Flaky:
    """A server that answers the first requests with errors or not at all, and keeps what was sent."""

    def __init__(self, answers: list[bytes | None]) -> None:
        self._answers, self.bodies = answers, list[bytes]()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        for answer in self._answers:
            line, _ = self._socket.accept()
            with line:
                data = b""
                while b"\r\n\r\n" not in data or not data.rstrip().endswith(b"}"):
                    data += line.recv(65536)
                self.bodies.append(data.partition(b"\r\n\r\n")[2])
                if answer is not None:
                    line.sendall(answer)

    def close(self) -> None:
        self._socket.close()


def reply(status: int, body: Any, **headers: str) -> bytes:
    content = json.dumps(body).encode()
    head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    head = f"HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {len(content)}\r\n{head}\r\n"
    return head.encode() + content


DONE = reply(200, {"round": 1, "duplicate": False, "complete": True, "next": {"round": 2, "arm": 0}})


def test_a_retry_sends_the_same_request(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses = list[float]()
    monkeypatch.setattr("cobandit.remote.partner.time.sleep", pauses.append)
    flaky = Flaky([None, reply(503, {"error": "busy"}, retry_after="3"), reply(429, {}), DONE])
    with PartnerClient(flaky.url, "cb_x", timeout=PATIENCE) as client:
        observed = client.game("t", "g").observe((0, 0), 1.0, round=1, key="0123456789")
    flaky.close()
    assert observed.next.round == 2
    assert len(flaky.bodies) == 4
    assert set(flaky.bodies) == {flaky.bodies[0]}
    assert len(pauses) == 3
    assert 3 <= pauses[1] <= 4


def test_what_cannot_succeed_is_not_retried() -> None:
    flaky = Flaky([reply(409, {"error": "already-observed", "message": "Another."})])
    with PartnerClient(flaky.url, "cb_x", timeout=PATIENCE) as client, pytest.raises(PartnerError) as refused:
        client.game("t", "g").observe((0, 0), 1.0, round=1)
    flaky.close()
    assert (refused.value.status, refused.value.code, str(refused.value)) == (409, "already-observed", "Another.")


def test_a_server_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cobandit.remote.partner.time.sleep", lambda _: None)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with (
        PartnerClient(f"http://127.0.0.1:{port}", "cb_x", retries=2) as client,
        pytest.raises(ServiceUnreachable, match="cannot be reached"),
    ):
        client.game("t", "g").choose()


@pytest.mark.parametrize(("url", "key"), [("ftp://x", "cb_x"), ("", "cb_x"), ("http://x", "x"), ("http://x", None)])
def test_a_wrong_address_or_key_is_refused(url: str, key: Any) -> None:
    with pytest.raises(InvalidInput):
        PartnerClient(url, key)


def test_a_report_needs_a_round_or_an_event() -> None:
    with PartnerClient("http://127.0.0.1:1", "cb_x") as client, pytest.raises(InvalidInput, match="round="):
        client.game("t", "g").observe((0, 0), 1.0)


@pytest.mark.parametrize("action", [(0.9, 0), ("0", 0), (None, 0)])
def test_an_action_that_would_be_rounded_is_refused(action: Any) -> None:
    with PartnerClient("http://127.0.0.1:1", "cb_x") as client, pytest.raises(TypeError, match="integer"):
        client.game("t", "g").observe(action, 1.0, round=1)


def test_the_client_loads_nothing_of_the_server() -> None:
    code = (
        "import sys, cobandit.remote.partner\n"
        "print([name for name in ('fastapi', 'sqlalchemy', 'uvicorn', 'cobandit.web') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
